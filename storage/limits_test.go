package storage

import (
	"strings"
	"testing"
	"time"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// A catalog that stems from an older state than the latest changes only what it means to change.
func TestCatalogLineage(t *testing.T) {
	e := memEngine(t)
	x := e.Begin(TxnOptions{})
	x.BeginStatement()
	next := x.Catalog().WithTable(kvTable(e, "mine"))
	createTable(t, e, kvTable(e, "theirs"))
	must(t, x.SetCatalog(bg, next))
	x.EndStatement()
	x.BeginStatement()
	if x.Catalog().Lookup("public", "theirs") == nil {
		t.Error("the next statement does not see what others committed")
	}
	x.EndStatement()
	must(t, x.Commit(bg))
	for _, name := range []string{"mine", "theirs"} {
		if e.Catalog().Lookup("public", name) == nil {
			t.Errorf("table %s is gone", name)
		}
	}
}

func TestStaleDescription(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "a")
	wider := tbl.Clone()
	wider.SchemaVersion = 2
	wider.Columns = append(wider.Columns, catalog.Column{ID: 3, Name: "n", Type: int4Type, AddedIn: 2, Missing: "7"})
	wider = createTable(t, e, wider)
	v := e.View()
	defer v.Release()
	_, err := v.ScanGroup(tbl, tbl.Stores[0], 0, []int{0}, ScanOptions{})
	wantCode(t, err, sqlerr.SerializationFailure)
	x := e.Begin(TxnOptions{})
	_, err = x.Insert(bg, tbl, kv(2, "b"))
	wantCode(t, err, sqlerr.SerializationFailure)
	x.Rollback()
	var b vector.Batch
	_, err = v.Fetch(wider, wider.Stores[0], []uint64{0}, []int{2, 1}, &b)
	must(t, err)
	equal(t, vector.Of[int32](b.Vecs[0])[0], 7)
	equal(t, string(b.Vecs[1].BytesAt(0)), "a")
}

func TestLimits(t *testing.T) {
	e := memEngine(t)
	tbl := kvTable(e, "t")
	tbl.Indexes = append(tbl.Indexes, catalog.Index{ID: e.NewIndexID(), Name: "t_v", Columns: []catalog.ColumnID{2}})
	tbl = createTable(t, e, tbl)
	long := strings.Repeat("x", 40<<10)
	x := e.Begin(TxnOptions{})
	_, err := x.Insert(bg, tbl, kv(1, long))
	wantCode(t, err, sqlerr.ProgramLimitExceeded)
	l, err := x.NewLoader(bg, tbl)
	must(t, err)
	wantCode(t, l.Append(0, kv(1, long)), sqlerr.ProgramLimitExceeded)
	l.Abort()
	_, err = x.Insert(bg, tbl, &vector.Batch{N: 1, Vecs: kv(1, "a").Vecs[:1]})
	wantCode(t, err, sqlerr.InternalError)
	b := kv(1, "a")
	b.Vecs[0], b.Vecs[1] = b.Vecs[1], b.Vecs[0]
	_, err = x.Insert(bg, tbl, b)
	wantCode(t, err, sqlerr.InternalError)
	_, err = x.Insert(bg, tbl, kv(1, "a"))
	must(t, err)
	if n := x.OverlayBytes(); n < 100 || n > 10000 && *spillFlag == 0 {
		t.Errorf("overlay of one row takes %d bytes", n)
	}
	x.Rollback()
	_, err = x.Insert(bg, tbl, kv(1, "a"))
	wantCode(t, err, sqlerr.NoActiveTransaction)
	wantCode(t, x.Commit(bg), sqlerr.NoActiveTransaction)
	x = e.Begin(TxnOptions{ReadOnly: true})
	_, err = x.Insert(bg, tbl, kv(1, "a"))
	wantCode(t, err, sqlerr.ReadOnlyTransaction)
	must(t, x.Commit(bg))
}

// Rows written one by one become packed pages, deleted ones leave nothing.
func TestFoldWorn(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	var pairs []any
	for i := range 300 {
		pairs = append(pairs, i, "x")
	}
	for len(pairs) > 0 {
		n := min(len(pairs), 2*vector.BatchCap)
		insertKV(t, e, tbl, pairs[:n]...)
		pairs = pairs[n:]
	}
	x := e.Begin(TxnOptions{})
	_, err := x.Delete(bg, tbl, mustRefs(t, x, tbl)[64:200])
	must(t, err)
	must(t, x.Commit(bg))
	want := committed(t, e, tbl)
	equal(t, countKeys(t, e, kindRow), 4+44+136) // packed pages, single rows behind them, tombstones
	e.foldWorn(bg, e.CommitNumber())
	equal(t, countKeys(t, e, kindRow), 3) // pages 0, 3 and 4; 1 and 2 are gone
	equal(t, committed(t, e, tbl), want)
	mustCheck(t, e)
	equal(t, len(e.journal.worn(e.CommitNumber())), 0)
}

func TestOpenIsFast(t *testing.T) {
	dir := t.TempDir()
	e := openTest(t, Options{Dir: dir})
	insertKV(t, e, createTable(t, e, kvTable(e, "t")), 1, "a")
	must(t, e.Close())
	best := time.Hour
	for range 5 {
		start := time.Now()
		e = openTest(t, Options{Dir: dir})
		best = min(best, time.Since(start))
		must(t, e.Close())
	}
	if best > 200*time.Millisecond { // 50 ms on a machine of one's own
		t.Errorf("opening took %v", best)
	}
	t.Logf("opened in %v", best)
}
