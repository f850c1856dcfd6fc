package storage

import (
	"fmt"
	"sync"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

func key(n int) []byte { return fmt.Appendf(nil, "key %08d", n) }

func TestAccessSet(t *testing.T) {
	reads, writes := accessSet{}, accessSet{}
	reads.table(1).add(7, keyRange{key(10), key(20)})
	reads.table(1).add(7, keyRange{key(15), key(30)})
	reads.table(1).add(7, keyRange{key(50), key(50)}) // empty
	writes.table(1).addKey(7, key(30))
	writes.table(1).addKey(7, key(50))
	check := func(want bool, what string) {
		t.Helper()
		reads.tidy()
		writes.tidy()
		if got := reads.readsWrite(writes); got != want {
			t.Errorf("%s: conflict %v, want %v", what, got, want)
		}
	}
	check(false, "keys beside the ranges")
	if n := len(reads.table(1).indexes[7].ranges); n != 1 {
		t.Errorf("%d ranges after tidying, want 1", n)
	}
	writes.table(1).addKey(7, key(29))
	check(true, "the last key of the range")
	writes = accessSet{}
	writes.table(2).addKey(7, key(15))
	check(false, "another table")
	writes.table(1).addKey(8, key(15))
	check(true, "an index that the writer did not know")
	writes = accessSet{}
	writes.table(1).of(7)
	check(false, "an index without keys")
	reads.addWhole(1)
	check(true, "the whole table")
	if !reads.covers(1, 99, key(1)) || reads.covers(2, 7, key(15)) {
		t.Error("a whole table covers its keys, and no others")
	}
}

// TestAccessSetBounds adds more than is kept: nothing that was added may be forgotten.
func TestAccessSetBounds(t *testing.T) {
	for _, size := range []int{1, 100, 4000} {
		s := accessSet{}
		a := s.table(1)
		for i := range 3 * maxAccessRanges {
			a.addKey(7, append(make([]byte, size), key(i)...))
			if a.ranges > maxAccessRanges+1 || a.bytes > maxAccessBytes+2*(size+64) {
				t.Fatalf("%d ranges, %d bytes", a.ranges, a.bytes)
			}
			if !s.covers(1, 7, append(make([]byte, size), key(i/2)...)) {
				t.Fatalf("key %d is forgotten after %d", i/2, i)
			}
		}
		if !a.whole {
			t.Errorf("keys of %d bytes do not add up to the table", size)
		}
	}
	s := accessSet{}
	for i := range 10 * maxAccessRanges { // few keys again and again
		s.table(1).addKey(7, key(i%100))
	}
	if s.table(1).whole {
		t.Error("a hundred keys became the table")
	}
}

func TestAccessSetMerge(t *testing.T) {
	one, two := accessSet{}, accessSet{}
	one.table(1).addKey(7, key(1))
	two.table(1).addKey(7, key(2))
	two.table(2).addKey(9, key(3))
	one.merge(two)
	one.tidy()
	if !one.covers(1, 7, key(1)) || !one.covers(1, 7, key(2)) || !one.covers(2, 9, key(3)) || one.covers(1, 7, key(3)) {
		t.Error("a union of sets has the keys of both")
	}
	other := accessSet{}
	other.table(1).addKey(8, key(1)) // written when there was another index
	one.merge(other)
	if !one.table(1).whole {
		t.Error("what was written under different indexes is not known by index")
	}
}

// serialize begins a serializable transaction and takes its snapshot.
func serialize(e *Engine) *Txn {
	x := e.Begin(TxnOptions{Isolation: Serializable})
	x.View().Release()
	return x
}

// TestLongSerializable lets transactions commit while one stays open: what is kept of them is bounded,
// the old one still finds its conflicts, and nothing is left when it ends.
func TestLongSerializable(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	insertKV(t, e, tbl, 1, "a")
	long := serialize(e)
	v := long.View()
	must(t, v.ReadTable(tbl))
	v.Release()
	for i := range 3 * maxSerialDone {
		x := serialize(e)
		v := x.View()
		if _, _, err := v.LookupKey(tbl, tbl.PrimaryKey(), []vector.Datum{vector.IntDatum(vector.I64, int64(1000+i))}); err != nil {
			t.Fatal(err)
		}
		v.Release()
		_, err := x.Insert(bg, tbl, kv(1000+i, "x"))
		must(t, err)
		must(t, x.Commit(bg))
		if m := e.Metrics(); m.SerialDone > maxSerialDone || m.SerialActive != 1 {
			t.Fatalf("%d records of committed transactions, %d active", m.SerialDone, m.SerialActive)
		}
	}
	// It has an edge to each of them. It is a pivot as soon as one has read what it writes.
	_, err := long.Insert(bg, tbl, kv(1000+3*maxSerialDone+5, "y"))
	must(t, err)
	if err := long.CheckSerializable(); err != nil {
		t.Errorf("nobody can have read that key: %v", err)
	}
	wantFailure := func(err error) {
		t.Helper()
		if sqlerr.CodeOf(err) != sqlerr.SerializationFailure {
			t.Errorf("%v, want 40001", err)
		}
	}
	skew := serialize(e)
	v = skew.View()
	must(t, v.ReadTable(tbl))
	v.Release()
	_, err = skew.Insert(bg, tbl, kv(7, "z"))
	must(t, err)
	must(t, skew.Commit(bg))
	wantFailure(long.CheckSerializable())
	wantFailure(long.Commit(bg))
	if m := e.Metrics(); m.SerialDone != 0 || m.SerialActive != 0 || e.serial.doneBytes != 0 {
		t.Errorf("%d records, %d active, %d bytes are left", m.SerialDone, m.SerialActive, e.serial.doneBytes)
	}
}

// TestSerialBytes bounds what is kept by its size.
func TestSerialBytes(t *testing.T) {
	var k serialTracker
	old := newSerialTxn(1)
	k.clock, old.begin = 1, 1
	k.active = map[*serialTxn]struct{}{old: {}}
	for i := range 200 {
		x := newSerialTxn(uint64(i + 2))
		for n := range 1000 {
			must(t, x.note(func() { x.writes.table(catalog.TableID(i+1)).addKey(7, append(make([]byte, 120), key(n)...)) }))
		}
		must(t, k.commit(x, func() error { return nil }))
		if k.doneBytes > maxSerialDoneBytes {
			t.Fatalf("%d bytes after %d", k.doneBytes, i)
		}
	}
	sum := 0
	for _, d := range k.done {
		sum += d.bytes
		if n := d.reads.size() + d.writes.size(); n != d.bytes {
			t.Errorf("a record of %d bytes counts as %d", n, d.bytes)
		}
	}
	if sum != k.doneBytes {
		t.Errorf("records of %d bytes count as %d", sum, k.doneBytes)
	}
	k.abandon(old)
	if len(k.done) != 0 || k.doneBytes != 0 || len(k.active) != 0 {
		t.Errorf("left: %d records, %d bytes, %d active", len(k.done), k.doneBytes, len(k.active))
	}
}

// TestReadOnlySerializable begins readers beside writers.
func TestReadOnlySerializable(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	reader := func() *Txn {
		x := e.Begin(TxnOptions{Isolation: Serializable, ReadOnly: true})
		x.View().Release()
		return x
	}
	alone := reader()
	if m := e.Metrics(); m.SerialActive != 0 {
		t.Error("a reader without writers is watched")
	}
	must(t, alone.Commit(bg))
	writer := serialize(e)
	beside := reader()
	if m := e.Metrics(); m.SerialActive != 2 {
		t.Errorf("%d are watched, want 2", m.SerialActive)
	}
	writer.Rollback()
	if m := e.Metrics(); m.SerialActive != 0 {
		t.Error("a reader whose writers have ended is watched")
	}
	v := beside.View()
	must(t, v.ReadTable(tbl))
	v.Release()
	must(t, beside.Commit(bg))
}

// TestSerializableWorkers reads with several goroutines while others commit.
func TestSerializableWorkers(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 50 {
				x := serialize(e)
				var readers sync.WaitGroup
				for r := range 3 {
					readers.Go(func() {
						v := x.View()
						defer v.Release()
						_, _, err := v.LookupKey(tbl, tbl.PrimaryKey(), []vector.Datum{vector.IntDatum(vector.I64, int64(r*100+i))})
						must(t, err)
					})
				}
				readers.Wait()
				if _, err := x.Insert(bg, tbl, kv(w*1000+i, "x")); err != nil {
					t.Error(err)
				}
				if err := x.Commit(bg); err != nil && sqlerr.CodeOf(err) != sqlerr.SerializationFailure {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if m := e.Metrics(); m.SerialDone != 0 || m.SerialActive != 0 {
		t.Errorf("%d records, %d active are left", m.SerialDone, m.SerialActive)
	}
}

// BenchmarkIsolation shows what each level costs: a look-up and an update of one row.
func BenchmarkIsolation(b *testing.B) {
	for _, level := range []struct {
		name string
		is   Isolation
	}{{"read committed", ReadCommitted}, {"repeatable read", Snapshot}, {"serializable", Serializable}} {
		for _, beside := range []bool{false, true} {
			if beside && level.is != Serializable {
				continue
			}
			name := level.name
			if beside {
				name += " beside an old transaction"
			}
			b.Run(name, func(b *testing.B) {
				e := openTest(b, Options{InMemory: true})
				tbl := createTable(b, e, kvTable(e, "t"))
				for i := range 1000 {
					insertKV(b, e, tbl, i, "a")
				}
				if beside {
					defer serialize(e).Rollback()
				}
				for i := 0; b.Loop(); i++ {
					x := e.Begin(TxnOptions{Isolation: level.is})
					v := x.View()
					ref, _, err := v.LookupKey(tbl, tbl.PrimaryKey(), []vector.Datum{vector.IntDatum(vector.I64, int64(i%1000))})
					v.Release()
					must(b, err)
					_, err = x.Update(bg, tbl, []RowRef{ref}, kv(i%1000, "b"))
					must(b, err)
					must(b, x.Commit(bg))
				}
			})
		}
	}
}
