package storage

import (
	"math/bits"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// pageReader reads the rows of a store page by page and puts them into columns. Cursor and Fetcher
// are built on it. It belongs to one goroutine.
type pageReader struct {
	view  *View
	codec *tableCodec
	store catalog.StoreID
	it    *pebble.Iterator
	valid bool // it stands on a key

	cols     []int // positions in tbl.Columns
	bufs     []*columnBuf
	refs     []int64 // nil = not wanted
	wantRefs bool
	// stopEarly leaves a page as soon as its wanted rows are found: for readers that seek to every
	// page anyway.
	stopEarly bool

	// uncached readers look at what is stored, not at what is kept in memory.
	uncached bool
	cached   *cachedGroup // of the group that was entered; nil = none

	// The page being read.
	page     uint64
	live     uint64 // slots still to be put into columns
	single   uint64 // slots whose row is in rows
	gone     uint64 // slots overridden by a tombstone
	loose    uint64 // slots with an override, wanted or not
	rows     [PageRows][]byte
	copied   []byte // overrides, which the iterator's next step would invalidate
	packed   page   // n = 0: none. Views the iterator's memory
	onPacked bool   // the iterator stands on the packed page
	list     [PageRows][]byte
	low      []byte // scratch for keys
	high     []byte
}

// init prepares reading columns of a table, up to a number of rows at a time.
func (r *pageReader) init(v *View, tbl *catalog.Table, cols []int, rows int, refs bool) error {
	// A plan made before the table was altered knows less than the rows it would meet.
	if now := v.catalog.Table(tbl.ID); now != nil && now.SchemaVersion > tbl.SchemaVersion {
		return errTableChanged(tbl)
	}
	codec, err := v.snap.e.codec(tbl)
	if err != nil {
		return err
	}
	r.view, r.codec, r.cols, r.wantRefs = v, codec, cols, refs
	r.bufs = make([]*columnBuf, len(cols))
	for i, c := range cols {
		r.bufs[i] = newColumnBuf(tbl.Columns[c].Type.Kind(), rows)
	}
	if refs {
		r.refs = make([]int64, 0, rows)
	}
	return nil
}

// bound restricts the iterator to keys in [r.low, r.high).
func (r *pageReader) bound() {
	r.valid, r.onPacked, r.live = false, false, 0
	if r.it != nil {
		r.it.SetBounds(r.low, r.high)
	}
}

// open opens the iterator unless it is open: rows that are all in memory need none.
func (r *pageReader) open() error {
	if r.it != nil {
		return nil
	}
	it, err := r.view.snap.db.NewIter(&pebble.IterOptions{LowerBound: r.low, UpperBound: r.high})
	if err != nil {
		return ioError("read rows", err)
	}
	r.it = it
	return nil
}

func (r *pageReader) close() error {
	if r.it == nil {
		return nil
	}
	err := r.it.Close()
	r.it = nil
	return ioError("read rows", err)
}

// begin empties the columns.
func (r *pageReader) begin() {
	for _, b := range r.bufs {
		b.reset()
	}
	r.refs = r.refs[:0]
}

// finish makes b a view of the n rows collected.
func (r *pageReader) finish(b *vector.Batch, n int) {
	want := len(r.bufs)
	if r.wantRefs {
		want++
	}
	for len(b.Vecs) < want {
		b.Vecs = append(b.Vecs, &vector.Vector{})
	}
	b.Vecs = b.Vecs[:want]
	for i, buf := range r.bufs {
		buf.view(b.Vecs[i], n)
	}
	if r.wantRefs {
		b.Vecs[want-1].SetFixed(vector.I64, vector.BytesOf(r.refs[:cap(r.refs)]), n, nil)
	}
	b.N, b.Sel = n, nil
}

// skipPacked steps off a packed page whose rows are all taken.
func (r *pageReader) skipPacked() {
	if r.onPacked {
		r.onPacked = false
		r.valid = r.it.Next()
	}
}

// nextPage returns the page of the key the iterator stands on.
func (r *pageReader) nextPage() (uint64, error) {
	if len(r.it.Key()) != rowKeyLen {
		return 0, errBadKey
	}
	page, _ := splitRowKey(r.it.Key())
	return page, nil
}

// load makes page the page being read: its wanted rows as stored, and the overlay's rows in their
// place. The iterator stands on the page's first key at or behind the first wanted slot, or beyond
// the page.
func (r *pageReader) load(page, want uint64, own []overlayRow) error {
	r.page, r.single, r.gone, r.copied, r.loose = page, 0, 0, r.copied[:0], 0
	r.packed.n, r.packed.present = 0, 0
	for r.valid {
		key := r.it.Key()
		if len(key) != rowKeyLen {
			return errBadKey
		}
		p, slot := splitRowKey(key)
		if p != page {
			break
		}
		value, err := r.it.ValueAndErr()
		if err != nil {
			return ioError("read rows", err)
		}
		if slot >= pageSlot {
			r.onPacked = true
			if err := r.packed.parse(value, r.codec.tableLayout); err != nil {
				return err
			}
			break
		}
		bit := uint64(1) << slot
		r.loose |= bit
		switch {
		case want&bit == 0:
		case len(value) == 0:
			r.gone |= bit
		default:
			start := len(r.copied)
			r.copied = append(r.copied, value...)
			r.rows[slot] = r.copied[start:len(r.copied):len(r.copied)]
			r.single |= bit
		}
		if r.stopEarly && want&^(r.gone|r.single) == 0 {
			break
		}
		r.valid = r.it.Next()
	}
	r.live = (r.packed.present | r.single) &^ r.gone
	r.putOwn(own)
	r.live &= want
	return nil
}

// loadCached makes a page that is kept in memory the page being read, as load does. No wanted row is marked
// as changed.
func (r *pageReader) loadCached(page, want uint64, p *cachedPage, own []overlayRow) {
	r.page, r.single = page, 0
	r.packed.adopt(p.data, r.codec.tableLayout)
	r.live = r.packed.present
	r.putOwn(own)
	r.live &= want
}

// enterGroup prepares looking for the cached pages of a group of the reader's store.
func (r *pageReader) enterGroup(group int) {
	if r.uncached {
		return
	}
	r.cached = r.view.snap.e.pages.find(groupID{r.store, group})
}

// inMemory returns a page of the group that was entered, nil if it has to be looked for.
func (r *pageReader) inMemory(page int) *cachedPage {
	return r.cached.get(page, r.view.snap.state.commit)
}

// keep puts the page being read, all of which was looked at, into the cache.
func (r *pageReader) keep(evict bool) {
	s := r.view.snap
	data, changed := r.packed.data, r.loose
	if r.packed.n == 0 {
		data, changed = nil, allSlots
	}
	if r.uncached || data == nil && r.loose == 0 || s.e.journal.pageLastChange(r.store, r.page) > s.state.commit {
		return
	}
	s.e.pages.put(groupID{r.store, int(r.page >> 10)}, int(r.page&1023), s, data, changed, evict)
}

// putOwn puts the overlay's rows in the place of the stored ones.
func (r *pageReader) putOwn(own []overlayRow) {
	for _, o := range own {
		bit := uint64(1) << (o.pos & 63)
		r.single &^= bit
		r.live &^= bit
		if o.row != nil {
			r.rows[o.pos&63] = o.row
			r.single |= bit
			r.live |= bit
		}
	}
}

// emit puts up to room live rows behind the first `at` and returns how many.
func (r *pageReader) emit(at, room int) (int, error) {
	start := at
	for r.live != 0 && room > 0 {
		put := r.emitPacked
		if r.single>>bits.TrailingZeros64(r.live)&1 != 0 {
			put = r.emitSingle
		}
		n, err := put(at, room)
		if err != nil {
			return 0, err
		}
		at += n
		room -= n
	}
	return at - start, nil
}

// emitPacked puts the run of packed rows that starts at the first live slot: rows whose ranks
// follow each other, with no other live row between them.
func (r *pageReader) emitPacked(at, room int) (int, error) {
	slot := bits.TrailingZeros64(r.live)
	inRun := r.packed.present & r.live &^ r.single
	stop := (r.packed.present&^inRun | r.single&r.live) >> slot << slot
	run := inRun >> slot << slot
	if stop != 0 {
		run &= stop&-stop - 1
	}
	n := min(bits.OnesCount64(run), room)
	rank := r.packed.rank(slot)
	lay := r.packed.lay
	for i, c := range r.cols {
		if lay.at[c] < 0 {
			r.bufs[i].putConst(at, n, r.codec.missing[c])
		} else if err := r.bufs[i].putPage(at, &r.packed, lay.at[c], rank, rank+n); err != nil {
			return 0, err
		}
	}
	r.take(n)
	return n, nil
}

// emitSingle puts the run of single rows of one schema version that starts at the first live slot.
func (r *pageReader) emitSingle(at, room int) (int, error) {
	var lay *readLayout
	n := 0
	for left := r.live; left != 0 && n < room; left &= left - 1 {
		slot := bits.TrailingZeros64(left)
		if r.single>>slot&1 == 0 {
			break
		}
		l, err := r.codec.ofRow(r.rows[slot])
		if err != nil {
			return 0, err
		}
		if lay != nil && l != lay {
			break
		}
		lay = l
		r.list[n] = r.rows[slot]
		n++
	}
	for i, c := range r.cols {
		if lay.at[c] < 0 {
			r.bufs[i].putConst(at, n, r.codec.missing[c])
		} else {
			r.bufs[i].putRows(at, lay.row, lay.at[c], r.list[:n])
		}
	}
	r.take(n)
	return n, nil
}

// take removes the first n live slots and notes their references.
func (r *pageReader) take(n int) {
	if !r.wantRefs {
		if n == bits.OnesCount64(r.live) {
			r.live = 0
			return
		}
		for range n {
			r.live &= r.live - 1
		}
		return
	}
	base := int64(MakeRowRef(r.store, r.page<<6))
	for range n {
		r.refs = append(r.refs, base|int64(bits.TrailingZeros64(r.live)))
		r.live &= r.live - 1
	}
}
