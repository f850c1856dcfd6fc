package weft

import (
	"sync"
	"sync/atomic"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/prune"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// lock takes the lock that keeps others from reading or changing a table while it is redefined.
func (d *definition) lock(t *catalog.Table) error {
	return d.w.txn.LockTable(d.r.ctx, t.ID, storage.AccessExclusive, storage.Wait)
}

// collect reads a table's rows under a view, which it releases, on the session's workers.
func (r *running) collect(t *catalog.Table, view *storage.View) (*catalog.Stats, error) {
	defer view.Release()
	type morsel struct {
		leaf  *catalog.Table
		cols  []int // of the leaf, in the order of the table's
		store catalog.StoreID
		group int
	}
	var morsels []morsel
	for _, leaf := range view.Catalog().Leaves(t) {
		cols := prune.ColumnMap(t, leaf)
		for _, store := range leaf.Stores {
			groups, err := view.Groups(store)
			if err != nil {
				return nil, err
			}
			for g := range groups {
				morsels = append(morsels, morsel{leaf, cols, store, g})
			}
		}
	}
	workers := max(min(r.s.derived().threads, len(morsels)), 1)
	collectors := make([]*catalog.Collector, workers)
	errs := make([]error, workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		collectors[w] = catalog.NewCollector(t.Columns, uint64(w))
		wg.Add(1)
		go func() {
			defer wg.Done()
			b := &vector.Batch{}
			for {
				i := int(next.Add(1)) - 1
				if i >= len(morsels) || errs[w] != nil {
					return
				}
				m := &morsels[i]
				errs[w] = r.collectGroup(view, m.leaf, m.store, m.group, m.cols, b, collectors[w])
			}
		}()
	}
	wg.Wait()
	for w := range workers {
		if errs[w] != nil {
			return nil, errs[w]
		}
		if w > 0 {
			collectors[0].Merge(collectors[w])
		}
	}
	return collectors[0].Stats(), nil
}

func (r *running) collectGroup(view *storage.View, t *catalog.Table, store catalog.StoreID, group int, cols []int, b *vector.Batch, c *catalog.Collector) (err error) {
	cursor, err := view.ScanGroup(t, store, group, cols, storage.ScanOptions{})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := cursor.Close(); err == nil {
			err = cerr
		}
	}()
	for {
		if err := r.ctx.Err(); err != nil {
			return canceled(r.ctx)
		}
		more, err := cursor.Next(b)
		if err != nil || !more {
			return err
		}
		c.Add(b)
	}
}
