package storage

import (
	"errors"
	"testing"
	"time"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// TestWholeTable follows a transaction that locks so much of a table that it gets the table.
func TestWholeTable(t *testing.T) {
	e := openTest(t, Options{WholeTableLocks: 1000, Nodes: 2})
	defer e.Close()
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "a", 2, "b", 3, "c")
	x := e.Begin(TxnOptions{})
	insertMany(t, x, tbl, 1000, 9000, "own")
	if n := x.owner.locks(); n > 3000 {
		t.Errorf("%d locks", n)
	}
	// Others wait for the table whatever they want to write or lock there.
	refs := mustRefs(t, x, tbl)
	other := e.Begin(TxnOptions{})
	other.SetLockTimeout(10 * time.Millisecond)
	_, err := other.Insert(bg, tbl, kv(8999, "same key"))
	wantCode(t, err, sqlerr.LockNotAvailable)
	_, _, err = other.LockRows(bg, tbl, refs[:1], KeyShare, Wait)
	wantCode(t, err, sqlerr.LockNotAvailable)
	key, _, err := e.EncodeKey(tbl, &tbl.Indexes[0], []vector.Datum{vector.IntDatum(vector.I64, 8999)})
	must(t, err)
	_, _, _, err = other.LookupOrLock(bg, tbl, &tbl.Indexes[0], key)
	wantCode(t, err, sqlerr.LockNotAvailable)
	_, err = other.LockReferenced(bg, tbl, &tbl.Indexes[0], key)
	wantCode(t, err, sqlerr.LockNotAvailable)
	other.Rollback()
	v := e.View()
	equal(t, len(indexRefs(t, v, tbl, &tbl.Indexes[0], IndexRange{})), 3) // readers do not wait
	v.Release()
	must(t, x.Commit(bg))
	insertKV(t, e, tbl, 20000, "free again")
	mustCheck(t, e)
}

// TestWholeTableInUse holds the table back while another transaction has locks there.
func TestWholeTableInUse(t *testing.T) {
	e := openTest(t, Options{WholeTableLocks: 1000})
	defer e.Close()
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "a")
	other := e.Begin(TxnOptions{})
	_, err := other.Update(bg, tbl, []RowRef{refOf(t, other, tbl, 1)}, kv(1, "changed"))
	must(t, err)
	x := e.Begin(TxnOptions{})
	insertMany(t, x, tbl, 1000, 5000, "own")
	if n := x.owner.locks(); n < 4000 {
		t.Errorf("%d locks of 4000 keys", n)
	}
	must(t, other.Commit(bg))
	insertMany(t, x, tbl, 5000, 9000, "own")
	if n := x.owner.locks(); n > 7000 {
		t.Errorf("%d locks", n)
	}
	must(t, x.Commit(bg))
	mustCheck(t, e)
}

// TestWholeTableConflict finds rows that were changed between a statement's view and the locking of
// the table: once, as with locks of single rows.
func TestWholeTableConflict(t *testing.T) {
	for _, level := range []Isolation{ReadCommitted, Snapshot} {
		e := openTest(t, Options{WholeTableLocks: 1000})
		tbl := createTable(t, e, kvTable(e, "t"))
		insertKV(t, e, tbl, 1, "a", 2, "b")
		x := e.Begin(TxnOptions{Isolation: level})
		x.BeginStatement()
		view := x.View()
		ref, calm := lookup(t, view, tbl, 1), lookup(t, view, tbl, 2)
		view.Release()
		other := e.Begin(TxnOptions{})
		_, err := other.Update(bg, tbl, []RowRef{ref}, kv(1, "changed"))
		must(t, err)
		must(t, other.Commit(bg))
		insertMany(t, x, tbl, 1000, 4000, "own")
		if !x.whole.Load().hasStore(tbl.Stores[0]) {
			t.Fatal("the table is not locked")
		}
		_, err = x.Update(bg, tbl, []RowRef{calm}, kv(2, "x"))
		must(t, err)
		_, err = x.Update(bg, tbl, []RowRef{ref}, kv(1, "mine"))
		var conflict *RowConflict
		if !errors.As(err, &conflict) {
			t.Fatalf("error %v", err)
		}
		_, err = x.Update(bg, tbl, []RowRef{ref}, kv(1, "mine")) // the row has been read again
		must(t, err)
		x.EndStatement()
		must(t, x.Commit(bg))
		mustCheck(t, e)
		must(t, e.Close())
	}
}
