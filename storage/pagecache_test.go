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

// scanRows reads a kv table of one group.
func scanRows(v *View, tbl *catalog.Table, o ScanOptions) (map[int64]storedRow, error) {
	out := map[int64]storedRow{}
	c, err := v.ScanGroup(tbl, tbl.Stores[0], 0, []int{0, 1}, o)
	if err != nil {
		return nil, err
	}
	var b vector.Batch
	for {
		more, err := c.Next(&b)
		if err != nil || !more {
			return out, errors.Join(err, c.Close())
		}
		for i := range b.N {
			out[vector.Of[int64](b.Vecs[0])[i]] = storedRow{RowRef(vector.Of[int64](b.Vecs[2])[i]), string(b.Vecs[1].BytesAt(i))}
		}
	}
}
