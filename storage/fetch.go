package storage

import (
	"math/bits"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// Fetcher reads rows by reference, with one seek for each page they lie on. It belongs to one
// goroutine.
type Fetcher struct {
	pageReader
	rows    int // most rows of a call
	ownBuf  []overlayRow
	entered bool
	inGroup int
	seek    []byte // scratch
	places  []cachedPlace
}

// NewFetcher prepares fetching the columns at positions cols of tbl.Columns. The fetcher retains
// the view until it is closed.
func (v *View) NewFetcher(tbl *catalog.Table, cols []int) (*Fetcher, error) {
	return v.newFetcher(tbl, cols, vector.BatchCap)
}

// newFetcher makes a fetcher for up to a number of rows at a time.
func (v *View) newFetcher(tbl *catalog.Table, cols []int, rows int) (*Fetcher, error) {
	f := &Fetcher{rows: rows}
	if err := f.init(v, tbl, cols, rows, false); err != nil {
		return nil, err
	}
	v.Retain()
	return f, nil
}

// Fetch makes row i of b the version of row ids[i] that the view sees. ids ascend strictly; there
// are at most vector.BatchCap. Rows that do not exist are NULL in every column and set in the
// returned bitmap, which is nil when all exist. The memory is the fetcher's own and valid until its
// next call.
func (f *Fetcher) Fetch(store catalog.StoreID, ids []uint64, b *vector.Batch) (missing vector.Bitmap, err error) {
	if len(ids) > f.rows {
		return nil, sqlerr.New(sqlerr.InternalError, "fetch of more rows than a batch holds: rows=%d", len(ids))
	}
	for i := 1; i < len(ids); i++ {
		if ids[i] <= ids[i-1] {
			return nil, sqlerr.New(sqlerr.InternalError, "fetch of row ids that do not ascend: store=%d", store)
		}
	}
	if f.store != store || f.low == nil {
		f.store, f.entered = store, false
		f.low, f.high = storeBounds(kindRow, uint32(store))
		f.bound()
	}
	f.begin()
	next, pause := 0, fewCached // where rows are tried together again, after how many that cannot be
	for at := 0; at < len(ids); {
		if at >= next {
			together, err := f.fetchCached(at, ids[at:])
			if err != nil {
				return nil, err
			}
			if at += together; at == len(ids) {
				break
			}
			if next = at; together == 0 {
				next, pause = at+pause, 2*pause
			}
		}
		page, want := ids[at]>>6, uint64(0)
		n := 0
		for ; at+n < len(ids) && ids[at+n]>>6 == page; n++ {
			want |= 1 << (ids[at+n] & 63)
		}
		if missing, err = f.fetchPage(page, want, at, n, missing); err != nil {
			return nil, err
		}
		at += n
	}
	f.finish(b, len(ids))
	return missing, nil
}

// fetchPage puts n wanted rows of a page behind the first `at`.
func (f *Fetcher) fetchPage(page, want uint64, at, n int, missing vector.Bitmap) (_ vector.Bitmap, err error) {
	f.ownBuf = f.ownBuf[:0]
	if f.view.overlay != nil {
		if f.ownBuf, err = f.view.overlay.pageRows(f.ownBuf, f.store, page, f.view.cmd); err != nil {
			return nil, err
		}
	}
	if err := f.loadPage(page, want); err != nil {
		return nil, err
	}
	if f.live == want {
		_, err := f.emit(at, n)
		return missing, err
	}
	if missing == nil {
		missing = vector.NewBitmap(f.rows)
	}
	all := f.live
	for want != 0 {
		// The rows up to the next missing one, then that one.
		gap := want &^ all
		f.live = all & want
		if gap != 0 {
			f.live &= gap&-gap - 1
		}
		want &^= f.live
		k, err := f.emit(at, n)
		if err != nil {
			return nil, err
		}
		at += k
		if gap != 0 {
			want &^= gap & -gap
			for _, b := range f.bufs {
				b.putNull(at)
			}
			missing.Set(at)
			at++
		}
	}
	return missing, nil
}

// fewChanged is up to how many changed rows of a page in memory are looked for one by one.
const fewChanged = 2

// loadPage loads wanted rows of a page from memory, else from the store. What is not in memory yet is
// read whole and put there.
func (f *Fetcher) loadPage(page, want uint64) error {
	if group := int(page >> 10); !f.entered || group != f.inGroup {
		f.enterGroup(group)
		f.entered, f.inGroup = true, group
	}
	p := f.inMemory(int(page & 1023))
	if p != nil {
		changed := p.changed.Load() & want
		if changed == 0 {
			f.loadCached(page, want, p, f.ownBuf)
			return nil
		}
		if p.data != nil && bits.OnesCount64(changed) <= fewChanged {
			return f.loadChanged(page, want, changed, p)
		}
	}
	whole := p == nil && !f.uncached
	slot := 0
	if !whole {
		slot = bits.TrailingZeros64(want)
	}
	f.stopEarly = !whole
	f.seek = appendPageKey(f.seek[:0], f.store, page, slot)
	if err := f.open(); err != nil {
		return err
	}
	f.valid, f.onPacked = f.it.SeekGE(f.seek), false
	if err := f.it.Error(); err != nil {
		return ioError("read rows", err)
	}
	err := f.load(page, want, f.ownBuf)
	if err == nil && whole {
		f.keep(true)
	}
	return err
}

// loadChanged is loadCached where a few of the wanted rows have changed.
func (f *Fetcher) loadChanged(page, want, changed uint64, p *cachedPage) error {
	f.loadCached(page, want, p, nil)
	f.live &^= changed
	for ; changed != 0; changed &= changed - 1 {
		slot := bits.TrailingZeros64(changed)
		row, err := readRow(f.view.snap.db, f.codec.tableLayout, MakeRowRef(f.store, page<<6|uint64(slot)))
		if err != nil {
			return err
		}
		if row != nil {
			f.pageReader.rows[slot] = row
			f.single |= 1 << slot
			f.live |= 1 << slot
		}
	}
	f.putOwn(f.ownBuf)
	f.live &= want
	return nil
}

// Close frees the fetcher.
func (f *Fetcher) Close() error {
	err := f.close()
	if f.view != nil {
		f.view.Release()
		f.view = nil
	}
	return err
}

// Fetch is NewFetcher, one Fetch and Close, for callers that fetch once. The rows are copied into
// fresh memory of the caller's batch.
func (v *View) Fetch(tbl *catalog.Table, store catalog.StoreID, ids []uint64, cols []int, b *vector.Batch) (vector.Bitmap, error) {
	if len(ids) == 1 {
		if ok, err := v.fetchOne(tbl, MakeRowRef(store, ids[0]), cols, b); ok || err != nil {
			return nil, err
		}
	}
	f, err := v.newFetcher(tbl, cols, len(ids))
	if err != nil {
		return nil, err
	}
	missing, err := f.Fetch(store, ids, b) // the buffers live on: nobody else has them
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return missing, err
}
