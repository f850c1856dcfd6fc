package storage

import (
	"context"
	"errors"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// foldPages is how many pages are folded in one step under the commit mutex. More hold up commits,
// fewer take the mutex more often.
const foldPages = 32

// foldedPage is a page's new form.
type foldedPage struct {
	number    uint64
	packed    []byte // nil = no rows are left
	overrides uint64 // slots whose overrides go
	hadPacked bool
}

// FoldGroup packs the single rows of a group's pages and drops their tombstones. Nothing that a
// view can see changes, so it may run at any time; pages changed by commits after `before`, or while
// it runs, are left for later. It returns the number of pages that were folded.
func (e *Engine) FoldGroup(ctx context.Context, tbl *catalog.Table, store catalog.StoreID, group int, before uint64) (int, error) {
	v := e.View()
	defer v.Release()
	now := v.Catalog().Table(tbl.ID)
	if now == nil {
		return 0, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", tbl.Name).WithTable(tbl.Name)
	}
	f, err := newFolder(v, now, store, group)
	if err != nil {
		return 0, err
	}
	defer f.reader.close()
	total := 0
	for {
		if err := ctx.Err(); err != nil {
			return total, sqlerr.New(sqlerr.QueryCanceled, "canceling fold: %w", context.Cause(ctx))
		}
		pages, more, err := f.next(min(before, v.CommitNumber()))
		if err != nil {
			return total, err
		}
		n, err := e.replacePages(now.ID, store, pages, v.CommitNumber())
		total += n
		if err != nil || !more {
			return total, err
		}
	}
}

// folder reads a group page by page and packs what is not packed.
type folder struct {
	view   *View
	codec  *tableCodec
	reader pageReader
	store  catalog.StoreID
	batch  vector.Batch
}

func newFolder(v *View, tbl *catalog.Table, store catalog.StoreID, group int) (*folder, error) {
	codec, err := v.snap.e.codec(tbl)
	if err != nil {
		return nil, err
	}
	f := &folder{view: v, codec: codec, store: store}
	cols := make([]int, len(tbl.Columns))
	for i := range cols {
		cols[i] = i
	}
	if err := f.reader.init(v, tbl, cols, PageRows, false); err != nil {
		return nil, err
	}
	r := &f.reader
	r.store = store
	r.low, r.high = appendGroupBounds(nil, nil, store, group)
	r.bound()
	if err := r.open(); err != nil {
		return nil, err
	}
	r.valid = r.it.First()
	return f, nil
}

// next returns up to foldPages pages worth folding.
func (f *folder) next(before uint64) (pages []foldedPage, more bool, err error) {
	r := &f.reader
	for len(pages) < foldPages {
		r.skipPacked()
		if !r.valid {
			return pages, false, ioError("fold rows", r.it.Error())
		}
		number, err := r.nextPage()
		if err != nil {
			return nil, false, err
		}
		if err := r.load(number, ^uint64(0), nil); err != nil {
			return nil, false, err
		}
		p := foldedPage{number: number, overrides: r.single | r.gone, hadPacked: r.packed.n > 0}
		if p.overrides == 0 || f.view.snap.e.journal.pageLastChange(f.store, number) > before {
			r.live = 0
			continue
		}
		present := r.live
		r.begin()
		n, err := r.emit(0, PageRows)
		if err != nil {
			return nil, false, err
		}
		if n > 0 {
			r.finish(&f.batch, n)
			var ok bool
			if p.packed, ok = appendPage(nil, f.codec.tableLayout, f.batch.Vecs, 0, n, present); !ok {
				continue // too large: its rows stay single
			}
		}
		pages = append(pages, p)
	}
	return pages, true, nil
}

// replacePages stores pages in their new form, but for those that were changed after commit seen.
func (e *Engine) replacePages(id catalog.TableID, store catalog.StoreID, pages []foldedPage, seen uint64) (int, error) {
	if len(pages) == 0 {
		return 0, nil
	}
	b := e.newBatch()
	defer e.freeBatch(b)
	e.commitMu.Lock()
	defer e.commitMu.Unlock()
	if err := e.failed(); err != nil {
		return 0, err
	}
	// The store may have been dropped meanwhile; nothing must be written into its key range then.
	if k := spacesOf(e.Catalog().Table(id)); len(k.Stores) == len(k.without(keySpaces{Stores: []catalog.StoreID{store}}).Stores) {
		return 0, nil
	}
	var folded []uint64
	var key []byte
	for i := range pages {
		p := &pages[i]
		if e.journal.pageLastChange(store, p.number) > seen {
			continue
		}
		var err error
		for slot := range PageRows {
			if p.overrides>>slot&1 != 0 {
				key = appendPageKey(key[:0], store, p.number, slot)
				err = errors.Join(err, b.Delete(key, nil))
			}
		}
		key = appendPageKey(key[:0], store, p.number, pageSlot)
		switch {
		case p.packed != nil:
			err = errors.Join(err, b.Set(key, p.packed, nil))
		case p.hadPacked:
			err = errors.Join(err, b.Delete(key, nil))
		}
		if err != nil {
			return 0, ioError("fold rows", err)
		}
		folded = append(folded, p.number)
	}
	if len(folded) == 0 {
		return 0, nil
	}
	if _, err := e.apply(b); err != nil {
		return 0, err
	}
	e.folds.Add(1) // before entries are dropped: later ones must not show what was before
	e.dropShared()
	for _, page := range folded {
		e.pages.forget(groupID{store, int(page >> 10)}, int(page&1023))
	}
	return len(folded), nil
}
