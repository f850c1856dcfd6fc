package storage

import (
	"strings"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// packedPages returns how many pages of a table are stored packed, and how many rows are stored one by one.
func packedPages(t *testing.T, e *Engine, tbl *catalog.Table) (packed, single int) {
	t.Helper()
	must(t, scanKind(e.db, kindRow, func(key, _ []byte) error {
		if _, slot := splitRowKey(key); slot == pageSlot {
			packed++
		} else {
			single++
		}
		return nil
	}))
	return packed, single
}

// commitSizes lets commits be batches, files, and files of what was spilled.
var commitSizes = []Options{{SpillBytes: 64 << 20}, {CommitFileBytes: 1, SpillBytes: 64 << 20}, {CommitFileBytes: 1, SpillBytes: 1}}

// TestCommitPacksPages commits transactions of many rows: of the pages that are all theirs they store packed ones,
// of others single rows, and nothing is left for folding but those.
func TestCommitPacksPages(t *testing.T) {
	if *spillFlag > 0 {
		t.Skip("sizes are this test's")
	}
	for _, o := range commitSizes {
		e := openTest(t, Options{InMemory: true, CommitFileBytes: o.CommitFileBytes, SpillBytes: o.SpillBytes, NoFold: true})
		tbl := createTable(t, e, kvTable(e, "t"))
		x := e.Begin(TxnOptions{})
		insertMany(t, x, tbl, 0, 200, "first")
		must(t, x.Commit(bg))
		packed, single := packedPages(t, e, tbl)
		equal(t, [2]int{packed, single}, [2]int{3, 8})

		x = e.Begin(TxnOptions{})
		insertMany(t, x, tbl, 200, 1000, "new") // in the same page at first
		_, err := x.Delete(bg, tbl, []RowRef{refOf(t, x, tbl, 500), refOf(t, x, tbl, 99)})
		must(t, err)
		_, err = x.Update(bg, tbl, []RowRef{refOf(t, x, tbl, 300), refOf(t, x, tbl, 0)}, kv(300, "changed", 0, "changed"))
		must(t, err)
		undo := x.Savepoint()
		insertMany(t, x, tbl, 2000, 2010, "undone")
		x.RollbackTo(undo)
		must(t, x.Commit(bg))
		want := committed(t, e, tbl)
		if strings.Count(want, "=") != 998 || !strings.Contains(want, " 300=changed ") || !strings.HasPrefix(want, "0=changed ") {
			t.Errorf("size %d: %d rows", o.SpillBytes, strings.Count(want, "="))
		}
		if packed, _ = packedPages(t, e, tbl); packed < 14 {
			t.Errorf("%d packed pages", packed)
		}
		mustCheck(t, e)
		for _, g := range e.journal.worn(e.CommitNumber()) {
			if n := g.changes.Load(); n > 128 {
				t.Errorf("%d single rows are left in a group", n)
			}
		}

		// Rows in packed pages change as others do, and are folded again.
		x = e.Begin(TxnOptions{NoSyncWait: true})
		_, err = x.Update(bg, tbl, []RowRef{refOf(t, x, tbl, 400)}, kv(400, "later"))
		must(t, err)
		_, err = x.Delete(bg, tbl, []RowRef{refOf(t, x, tbl, 401)})
		must(t, err)
		must(t, x.Commit(bg))
		want = strings.Replace(strings.Replace(want, " 400=new", " 400=later", 1), " 401=new", "", 1)
		equal(t, committed(t, e, tbl), want)
		_, err = e.FoldGroup(bg, tbl, tbl.Stores[0], 0, e.CommitNumber())
		must(t, err)
		equal(t, committed(t, e, tbl), want)
		if _, single = packedPages(t, e, tbl); single != 0 {
			t.Errorf("%d single rows after folding", single)
		}
		mustCheck(t, e)
		must(t, e.Close())
	}
}

// TestCommitPagesTooLarge leaves rows single that make no page.
func TestCommitPagesTooLarge(t *testing.T) {
	for _, o := range commitSizes {
		e := openTest(t, Options{InMemory: true, CommitFileBytes: o.CommitFileBytes, SpillBytes: o.SpillBytes, NoFold: true})
		tbl := createTable(t, e, kvTable(e, "t"))
		x := e.Begin(TxnOptions{})
		insertMany(t, x, tbl, 0, 64, strings.Repeat("wide", 130)) // 33,280 bytes together
		insertMany(t, x, tbl, 64, 128, strings.Repeat("w", 300))
		insertMany(t, x, tbl, 128, 192, strings.Repeat("very wide", 10_000))
		must(t, x.Commit(bg))
		packed, single := packedPages(t, e, tbl)
		equal(t, [2]int{packed, single}, [2]int{1, 128})
		v := e.View()
		rows, err := scanRows(v, tbl, ScanOptions{Refs: true})
		must(t, err)
		v.Release()
		for id, size := range map[int64]int{0: 520, 63: 520, 64: 300, 127: 300, 128: 90_000, 191: 90_000} {
			equal(t, len(rows[id].text), size)
		}
		mustCheck(t, e)
		must(t, e.Close())
	}
}

// TestCommitPagesVersions commits rows of several schema versions of a table altered by the same transaction.
func TestCommitPagesVersions(t *testing.T) {
	for _, o := range commitSizes {
		e := openTest(t, Options{InMemory: true, CommitFileBytes: o.CommitFileBytes, SpillBytes: o.SpillBytes, NoFold: true})
		tbl := createTable(t, e, kvTable(e, "t"))
		x := e.Begin(TxnOptions{})
		insertMany(t, x, tbl, 0, 100, "old")
		altered := tbl.Clone()
		altered.SchemaVersion++
		altered.Columns = append(altered.Columns, catalog.Column{ID: altered.NextColumn, Name: "more", Type: catalog.Type{ID: catalog.Int4}, AddedIn: altered.SchemaVersion})
		altered.NextColumn++
		must(t, x.SetCatalog(bg, x.Catalog().WithTable(altered)))
		more := numbered(100, 300, "new")
		more.Vecs = append(more.Vecs, vector.ConstOf(vector.IntDatum(vector.I32, 7)))
		_, err := x.Insert(bg, altered, more)
		must(t, err)
		must(t, x.Commit(bg))
		tbl = e.Catalog().Table(tbl.ID)
		mustCheck(t, e)
		v := e.View()
		rows, err := scanRows(v, tbl, ScanOptions{Refs: true})
		must(t, err)
		v.Release()
		equal(t, len(rows), 300)
		for id, row := range rows {
			want := "new"
			if id < 100 {
				want = "old"
			}
			if row.text != want {
				t.Fatalf("row %d has %q", id, row.text)
			}
		}
		if packed, _ := packedPages(t, e, tbl); packed < 3 {
			t.Errorf("%d packed pages", packed)
		}
		must(t, e.Close())
	}
}

// TestCommitPagesApart fills pages of one table and empties them again, in the transaction that changes a row of
// another, on a page of the same number: that page is not the transaction's.
func TestCommitPagesApart(t *testing.T) {
	for _, o := range commitSizes {
		e := openTest(t, Options{InMemory: true, CommitFileBytes: o.CommitFileBytes, SpillBytes: o.SpillBytes, NoFold: true})
		first, second := createTable(t, e, kvTable(e, "first")), createTable(t, e, kvTable(e, "second"))
		x := e.Begin(TxnOptions{})
		insertMany(t, x, second, 0, 192, "b")
		must(t, x.Commit(bg))
		want := strings.Replace(committed(t, e, second), " 5=b", " 5=changed", 1)

		x = e.Begin(TxnOptions{})
		refs, err := x.Insert(bg, first, numbered(0, 192, "a"))
		must(t, err)
		_, err = x.Delete(bg, first, refs)
		must(t, err)
		_, err = x.Update(bg, second, []RowRef{refOf(t, x, second, 5)}, kv(5, "changed"))
		must(t, err)
		must(t, x.Commit(bg))
		equal(t, committed(t, e, second), want)
		equal(t, committed(t, e, first), "")
		mustCheck(t, e)
		must(t, e.Close())
	}
}
