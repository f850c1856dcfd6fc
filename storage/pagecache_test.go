package storage

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// TestCachedPagesEqualStoredOnes reads through views of every age while rows change and pages are
// folded: scans, fetches and look-ups that use the cache give what the store holds. The cache is too
// small for all pages.
func TestCachedPagesEqualStoredOnes(t *testing.T) {
	e := openTest(t, Options{PageCacheBytes: 24 << 10})
	defer func() { must(t, e.Close()) }()
	tbl := createTable(t, e, kvTable(e, "t"))
	r := newRand(t)
	const rows = 3000
	x := e.Begin(TxnOptions{})
	l, err := x.NewLoader(bg, tbl)
	must(t, err)
	must(t, loadRows(r, l, sequence(rows), shortText))
	_, err = l.Finish()
	must(t, err)
	must(t, x.Commit(bg))
	tbl = e.Catalog().Table(tbl.ID)

	done := make(chan struct{})
	var writer, readers sync.WaitGroup
	writer.Go(func() {
		w := rand.New(rand.NewPCG(1, 2))
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			err := changeOne(e, tbl, w, rows)
			if err == nil && i%20 == 0 {
				_, err = e.FoldGroup(bg, tbl, tbl.Stores[0], 0, math.MaxUint64)
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 2 {
		seed := r.Uint64()
		readers.Go(func() {
			reader := rand.New(rand.NewPCG(seed, 3))
			var views []*View
			for range 60 {
				views = append(views, e.View())
				if err := compareCached(views[reader.IntN(len(views))], tbl, reader, rows); err != nil {
					t.Error(err)
				}
			}
			for _, v := range views {
				v.Release()
			}
		})
	}
	readers.Wait()
	close(done)
	writer.Wait()
	if used := e.pages.bytes.Load(); used > 24<<10 || used < 0 {
		t.Errorf("the cache takes %d bytes", used)
	}
}

// changeOne changes, deletes or inserts a row.
func changeOne(e *Engine, tbl *catalog.Table, r *rand.Rand, rows int) error {
	x := e.Begin(TxnOptions{NoSyncWait: true})
	defer x.Rollback()
	id := r.IntN(rows + rows/10)
	v := x.View()
	ref, found, err := v.LookupKey(tbl, tbl.PrimaryKey(), []vector.Datum{vector.IntDatum(vector.I64, int64(id))})
	v.Release()
	switch {
	case err != nil:
	case !found:
		_, err = x.Insert(bg, tbl, kv(id, fmt.Sprint("new", r.IntN(100))))
	case r.IntN(4) == 0:
		_, err = x.Delete(bg, tbl, []RowRef{ref})
	default:
		_, err = x.Update(bg, tbl, []RowRef{ref}, kv(id, fmt.Sprint("changed", r.IntN(100))))
	}
	return errors.Join(err, x.Commit(bg))
}

// compareCached compares what a view shows with and without the cache.
func compareCached(v *View, tbl *catalog.Table, r *rand.Rand, rows int) error {
	stored, err := scanRows(v, tbl, ScanOptions{Refs: true, FromStore: true})
	if err != nil {
		return err
	}
	cached, err := scanRows(v, tbl, ScanOptions{Refs: true})
	if err != nil || !maps.Equal(cached, stored) {
		return fmt.Errorf("view %d: the scan gives %d rows, the store has %d: %w", v.CommitNumber(), len(cached), len(stored), err)
	}
	for range 20 {
		id := int64(r.IntN(rows + rows/10))
		want, exists := stored[id]
		b := &vector.Batch{}
		ref, found, err := v.LookupRow(tbl, tbl.PrimaryKey(), []vector.Datum{vector.IntDatum(vector.I64, id)}, []int{1}, b)
		if err != nil || found != exists || found && (storedRow{ref, string(b.Vecs[0].BytesAt(0))}) != want {
			return fmt.Errorf("view %d: look-up of %d: %v, the store has %v: %w", v.CommitNumber(), id, found, want, err)
		}
		if !found {
			continue
		}
		missing, err := v.Fetch(tbl, ref.Store(), []uint64{ref.Row()}, []int{1}, b)
		if err != nil || missing != nil || string(b.Vecs[0].BytesAt(0)) != want.text {
			return fmt.Errorf("view %d: fetch of %d: the store has %v: %w", v.CommitNumber(), id, want, err)
		}
	}
	var ids []uint64
	texts := map[uint64]string{}
	for _, row := range stored {
		if r.IntN(10) == 0 {
			ids, texts[row.ref.Row()] = append(ids, row.ref.Row()), row.text
		}
	}
	slices.Sort(ids)
	ids = ids[:min(len(ids), vector.BatchCap)]
	var b vector.Batch
	if missing, err := v.Fetch(tbl, tbl.Stores[0], ids, []int{1}, &b); err != nil || missing != nil {
		return fmt.Errorf("view %d: fetch of %d rows: missing %v: %w", v.CommitNumber(), len(ids), missing, err)
	}
	for i, id := range ids {
		if got := string(b.Vecs[0].BytesAt(i)); got != texts[id] {
			return fmt.Errorf("view %d: fetch of row %d among others: %q, the store has %q", v.CommitNumber(), id, got, texts[id])
		}
	}
	return nil
}

type storedRow struct {
	ref  RowRef
	text string
}

// scanRows reads the rows of a table's first store, by key.
func scanRows(v *View, tbl *catalog.Table, o ScanOptions) (map[int64]storedRow, error) {
	out := map[int64]storedRow{}
	groups, err := v.Groups(tbl.Stores[0])
	for group := 0; group < groups && err == nil; group++ {
		err = scanRowsOf(v, tbl, group, o, out)
	}
	return out, err
}

func scanRowsOf(v *View, tbl *catalog.Table, group int, o ScanOptions, out map[int64]storedRow) error {
	c, err := v.ScanGroup(tbl, tbl.Stores[0], group, []int{0, 1}, o)
	if err != nil {
		return err
	}
	var b vector.Batch
	for {
		more, err := c.Next(&b)
		if err != nil || !more {
			return errors.Join(err, c.Close())
		}
		for i := range b.N {
			out[vector.Of[int64](b.Vecs[0])[i]] = storedRow{RowRef(vector.Of[int64](b.Vecs[2])[i]), string(b.Vecs[1].BytesAt(i))}
		}
	}
}

// TestCachedPageWaits puts a page in as an older view saw it while a commit that changes it becomes visible: nobody
// may read it there before it is known that it has changed.
func TestCachedPageWaits(t *testing.T) {
	e := openTest(t, Options{InMemory: true, NoFold: true})
	defer func() { must(t, e.Close()) }()
	tbl := createTable(t, e, kvTable(e, "t"))
	x := e.Begin(TxnOptions{})
	insertMany(t, x, tbl, 0, 128, "old")
	must(t, x.Commit(bg))
	old := e.View()
	defer old.Release()
	ref := lookup(t, old, tbl, 5)
	codec, err := e.codec(tbl)
	must(t, err)
	r := &pageReader{view: old, codec: codec, store: ref.Store()}
	r.low, r.high = storeBounds(kindRow, uint32(r.store))
	must(t, r.open())
	r.valid = r.it.SeekGE(appendPageKey(nil, r.store, ref.Row()>>6, 0))
	must(t, r.load(ref.Row()>>6, allSlots, nil))

	x = e.Begin(TxnOptions{})
	_, err = x.Update(bg, tbl, []RowRef{ref}, kv(5, "new"))
	must(t, err)
	must(t, x.Commit(bg))
	now := e.View()
	defer now.Release()
	var putting sync.WaitGroup
	e.journal.mu.Lock() // where it is found out
	putting.Go(func() { e.pages.put(groupID{r.store, 0}, 0, old.snap, r.packed.data, r.loose, true) })
	for there := false; !there; time.Sleep(time.Millisecond) {
		g := e.pages.find(groupID{r.store, 0})
		there = g != nil && g[0].Load() != nil
	}
	if p := e.pages.find(groupID{r.store, 0}).get(0, now.CommitNumber()); p != nil {
		t.Error("the page is read before it is known whether it has changed")
	}
	e.journal.mu.Unlock()
	putting.Wait()
	must(t, r.close())
	var b vector.Batch
	for range 2 { // the second time from the cache of rows
		_, _, err = now.LookupRow(tbl, tbl.PrimaryKey(), []vector.Datum{vector.IntDatum(vector.I64, 5)}, []int{1}, &b)
		must(t, err)
		equal(t, string(b.Vecs[0].BytesAt(0)), "new")
	}
}

// TestGroupsOfDroppedStores reads a store that a table has given up through views of different age: each finds its
// rows, whoever has asked before.
func TestGroupsOfDroppedStores(t *testing.T) {
	e := openTest(t, Options{InMemory: true, NoFold: true})
	defer func() { must(t, e.Close()) }()
	tbl := createTable(t, e, kvTable(e, "t"))
	x := e.Begin(TxnOptions{})
	insertMany(t, x, tbl, 0, 1000, "a")
	must(t, x.Commit(bg))
	older := e.View()
	defer older.Release()
	x = e.Begin(TxnOptions{})
	insertMany(t, x, tbl, 1000, 70_000, "a")
	must(t, x.Commit(bg))
	newer := e.View()
	defer newer.Release()

	emptied := tbl.Clone()
	emptied.Stores, emptied.Epoch = []catalog.StoreID{e.NewStoreID()}, tbl.Epoch+1
	emptied.Indexes[0].ID = e.NewIndexID()
	x = e.Begin(TxnOptions{})
	must(t, x.SetCatalog(bg, x.Catalog().WithTable(emptied)))
	must(t, x.Commit(bg))
	equal(t, e.RowCount(tbl), 0) // of the latest state
	for _, c := range []struct {
		v            *View
		rows, groups int
	}{{older, 1000, 1}, {newer, 70_000, 2}} {
		limit := c.v.RowLimit(tbl)
		groups, err := c.v.Groups(tbl.Stores[0])
		must(t, err)
		found, err := scanRows(c.v, tbl, ScanOptions{Refs: true})
		must(t, err)
		if groups != c.groups || len(found) != c.rows || limit < int64(c.rows) {
			t.Errorf("%d groups, %d rows, at most %d; want %d and %d", groups, len(found), limit, c.groups, c.rows)
		}
	}
	if s := e.stores.find(tbl.Stores[0]); s != nil {
		t.Error("the state of the dropped store was made again")
	}
}
