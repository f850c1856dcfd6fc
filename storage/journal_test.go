package storage

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// groupContents maps the in-group positions of the rows that a view sees to their text.
func groupContents(t *testing.T, v *View, tbl *catalog.Table, store catalog.StoreID, group int) map[int]string {
	c, err := v.ScanGroup(tbl, store, group, []int{1}, ScanOptions{Refs: true})
	must(t, err)
	rows := map[int]string{}
	var b vector.Batch
	for {
		more, err := c.Next(&b)
		must(t, err)
		if !more {
			break
		}
		for i, ref := range vector.Of[int64](b.Vecs[1])[:b.N] {
			rows[int(RowRef(ref).Row()&(GroupRows-1))] = string(b.Vecs[0].BytesAt(i))
		}
	}
	must(t, c.Close())
	return rows
}

// The journal is exact: whatever differs between the build view and a later view is touched in the
// bits loaded after the later view was taken.
func TestJournalExact(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	store := tbl.Stores[0]
	var pairs []any
	for i := range 500 {
		pairs = append(pairs, i, "start")
	}
	for len(pairs) > 0 {
		n := min(len(pairs), 2*vector.BatchCap)
		insertKV(t, e, tbl, pairs[:n]...)
		pairs = pairs[n:]
	}
	seed := newRand(t).Uint64()
	var stop atomic.Bool
	var writers, checkers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			for n := range scaled(400) {
				randomChange(t, e, tbl, r, 1000+w*100000+n*3)
			}
		})
	}
	for w := range 2 {
		checkers.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(100+w)))
			for !stop.Load() {
				checkVersion(t, e, tbl, store, r)
			}
		})
	}
	checkers.Go(func() {
		for !stop.Load() {
			_, err := e.FoldGroup(bg, tbl, store, 0, e.CommitNumber())
			must(t, err)
		}
	})
	writers.Wait()
	stop.Store(true)
	checkers.Wait()
	mustCheck(t, e)
}

// randomChange inserts, updates or deletes a few rows.
func randomChange(t *testing.T, e *Engine, tbl *catalog.Table, r *rand.Rand, id int) {
	x := e.Begin(TxnOptions{})
	x.BeginStatement()
	v := x.View()
	refs := indexRefs(t, v, tbl, &tbl.Indexes[0], IndexRange{})
	v.Release()
	var err error
	switch r.IntN(3) {
	case 0:
		_, err = x.Insert(bg, tbl, kv(id, "new", id+1, "new", id+2, "new"))
	case 1:
		_, err = x.Delete(bg, tbl, refs[r.IntN(len(refs)):][:1])
	case 2:
		ref := refs[r.IntN(len(refs)):][:1]
		var b vector.Batch
		lv := x.View()
		_, err = lv.Fetch(tbl, ref[0].Store(), []uint64{ref[0].Row()}, []int{0}, &b)
		lv.Release()
		must(t, err)
		_, err = x.Update(bg, tbl, ref, kv(int(vector.Of[int64](b.Vecs[0])[0]), "u"+string(rune('a'+r.IntN(26)))))
	}
	if err != nil {
		wantCode(t, err, sqlerr.SerializationFailure)
		x.Rollback()
		return
	}
	if r.IntN(5) == 0 {
		x.Rollback()
		return
	}
	must(t, x.Commit(bg))
}

// checkVersion registers a version and compares its bits with later views.
func checkVersion(t *testing.T, e *Engine, tbl *catalog.Table, store catalog.StoreID, r *rand.Rand) {
	version, built, err := e.RegisterVersion(store, 0)
	must(t, err)
	equal(t, version.BuiltAt, built.CommitNumber())
	before := groupContents(t, built, tbl, store, 0)
	built.Release()
	for range 1 + r.IntN(4) {
		v := e.View()
		var bits GroupBits
		version.Touched(&bits)
		after := groupContents(t, v, tbl, store, 0)
		if v.CommitNumber() < version.BuiltAt {
			t.Error("a view from before the version was registered")
		}
		v.Release()
		for pos := range before {
			if before[pos] != after[pos] && !bits.Get(pos) {
				t.Errorf("position %d: %q became %q untouched", pos, before[pos], after[pos])
			}
		}
		for pos := range after {
			if _, was := before[pos]; !was && !bits.Get(pos) {
				t.Errorf("position %d: inserted untouched", pos)
			}
		}
	}
	e.UnregisterVersion(version)
}

// Bits belong to versions; unregistered ones gain none, and DDL voids them.
func TestVersions(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	store := tbl.Stores[0]
	insertKV(t, e, tbl, 1, "a", 2, "b")
	register := func() *GroupVersion {
		g, v, err := e.RegisterVersion(store, 0)
		must(t, err)
		v.Release()
		return g
	}
	g1 := register()
	x := e.Begin(TxnOptions{})
	_, err := x.Delete(bg, tbl, []RowRef{refOf(t, x, tbl, 1)})
	must(t, err)
	equal(t, g1.TouchedCount(), 0) // not before the commit
	g2 := register()               // between the write and the commit
	must(t, x.Commit(bg))
	equal(t, g1.TouchedCount(), 1)
	equal(t, g2.TouchedCount(), 1)
	g3 := register()
	e.UnregisterVersion(g1)
	insertKV(t, e, tbl, 3, "c")
	equal(t, g1.TouchedCount(), 1)
	equal(t, g2.TouchedCount(), 2)
	equal(t, g3.TouchedCount(), 1)
	var bits GroupBits
	g3.Touched(&bits)
	if !bits.Get(2) || bits[0] != 4 {
		t.Errorf("bits %x", bits[0])
	}
	last, err := e.GroupLastChange(store, 0)
	must(t, err)
	equal(t, last, e.CommitNumber())

	next := tbl.Clone()
	next.Epoch++
	x = e.Begin(TxnOptions{})
	must(t, x.SetCatalog(bg, x.Catalog().WithTable(next)))
	equal(t, g3.VoidedAt(), 0)
	must(t, x.Commit(bg))
	equal(t, g3.VoidedAt(), e.CommitNumber())
	equal(t, g1.VoidedAt(), 0)
	e.UnregisterVersion(g2)
	e.UnregisterVersion(g3)
}

func TestPageLastChange(t *testing.T) {
	e := memEngine(t)
	tbl := createTable(t, e, kvTable(e, "t"))
	store := tbl.Stores[0]
	for i := range 200 {
		insertKV(t, e, tbl, i, "x")
	}
	n := e.CommitNumber()
	equal(t, e.PageLastChange(store, 0), n-200+64)
	equal(t, e.PageLastChange(store, 3), n)
	x := e.Begin(TxnOptions{})
	_, err := x.Delete(bg, tbl, []RowRef{refOf(t, x, tbl, 70)})
	must(t, err)
	must(t, x.Commit(bg))
	equal(t, e.PageLastChange(store, 1), n+1)
	equal(t, e.PageLastChange(store, 3), n)
	// When the numbers per page are dropped, that of the group stands for them.
	g := e.journal.find(groupID{store, 0})
	g.pages.Store(nil)
	equal(t, e.PageLastChange(store, 3), n+1)
}
