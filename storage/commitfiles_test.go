package storage

import (
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/internal/sqlerr"
)

// TestLargeCommit commits a transaction that is all in memory as files: of rows that are new, changed, gone,
// and that came and went; nothing is left behind, and the log did not get them.
func TestLargeCommit(t *testing.T) {
	fs := vfs.NewMem()
	e := openTest(t, Options{Dir: "db", FS: fs, SpillBytes: 64 << 20, CommitFileBytes: 64 << 10})
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "stays", 2, "changes", 3, "goes", 4, "moves")
	logged := e.db.Metrics().WAL.BytesIn
	x := e.Begin(TxnOptions{})
	insertMany(t, x, tbl, 100, 4100, "new")
	_, err := x.Update(bg, tbl, []RowRef{refOf(t, x, tbl, 2), refOf(t, x, tbl, 4)}, kv(2, "changed", 5, "moved"))
	must(t, err)
	_, err = x.Delete(bg, tbl, []RowRef{refOf(t, x, tbl, 3), refOf(t, x, tbl, 4099)})
	must(t, err)
	before := x.Savepoint()
	insertMany(t, x, tbl, 5000, 6000, "undone")
	x.RollbackTo(before)
	if x.overlay.spill != nil {
		t.Fatal("the transaction has spilled")
	}
	must(t, x.Commit(bg))
	if grown := e.db.Metrics().WAL.BytesIn - logged; grown > 64<<10 {
		t.Errorf("the log has got %d bytes", grown)
	}
	check := func() {
		t.Helper()
		mustCheck(t, e)
		equal(t, int(e.RowCount(tbl)), 4002)
		equal(t, len(tempFiles(t, e)), 0)
		v := e.View()
		defer v.Release()
		for _, id := range []int64{1, 2, 5, 100, 4098} {
			if lookup(t, v, tbl, id) == 0 {
				t.Errorf("row %d is lost", id)
			}
		}
		for _, id := range []int64{3, 4, 4099, 5000} {
			if lookup(t, v, tbl, id) != 0 {
				t.Errorf("row %d is there", id)
			}
		}
	}
	check()
	must(t, e.Close())
	e = openTest(t, Options{Dir: "db", FS: fs})
	tbl = e.Catalog().Table(tbl.ID)
	check()
	must(t, e.Close())
}

// TestLargeCommitWithoutSpace has no room for the files: the transaction is rolled back, and the database
// goes on.
func TestLargeCommitWithoutSpace(t *testing.T) {
	var full atomic.Bool
	e := openTest(t, Options{Dir: "db", FS: spaceFS{vfs.NewMem(), "commit-", &full}, CommitFileBytes: 1})
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "one")
	full.Store(true)
	x := e.Begin(TxnOptions{})
	insertMany(t, x, tbl, 2, 500, "lost")
	wantCode(t, x.Commit(bg), sqlerr.DiskFull)
	full.Store(false)
	insertKV(t, e, tbl, 2, "two")
	equal(t, committed(t, e, tbl), "1=one 2=two")
	equal(t, len(tempFiles(t, e)), 0)
	mustCheck(t, e)
	must(t, e.Close())
}

// TestFilesKeepKindsApart makes sure that no file of the store holds rows and something else.
func TestFilesKeepKindsApart(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	for i := range 5 {
		x := e.Begin(TxnOptions{})
		insertMany(t, x, tbl, i*1000, (i+1)*1000, "row")
		must(t, x.Commit(bg))
		must(t, e.db.Flush())
	}
	levels, err := e.db.SSTables()
	must(t, err)
	files := 0
	for _, level := range levels {
		for _, file := range level {
			files++
			low, high := file.Smallest.UserKey[0], file.Largest.UserKey[0]
			if (low < kindRow) != (high < kindRow) || (low < kindIndex) != (high < kindIndex) {
				t.Errorf("a file begins with kind %#x and ends with %#x", low, high)
			}
		}
	}
	if files < 3 {
		t.Errorf("%d files", files)
	}
}
