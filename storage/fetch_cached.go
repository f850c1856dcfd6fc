package storage

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// cachedPlace is where a row lies in a packed page in memory.
type cachedPlace struct {
	entry *cachedPage
	data  []byte
	rank  int
	rows  int // of the page
}

// fewCached is from how many rows on they are worth to be fetched together.
const fewCached = 16

// fetchCached is Fetch for the first of some rows, put behind the first `at`: for those, up to one that is not,
// that are in packed pages in memory, of one schema version, and not changed since, none of them written by the
// view's transaction. It returns how many that are, 0 if they are few.
//
// Scattered rows cost a miss of the processor's caches for each step to them: the page's entry, its
// header, each value. So each step is made for all rows before the next one, in loops short enough for
// the processor to wait for many at once.
func (f *Fetcher) fetchCached(at int, ids []uint64) (n int, err error) {
	if f.view.overlay != nil || f.uncached || len(ids) < fewCached && at > 0 || ids[len(ids)-1]>>6-ids[0]>>6 < uint64(len(ids))/16 {
		return 0, nil // rows close together are copied in runs
	}
	f.places = f.places[:0]
	for from := 0; from < len(ids) && from == len(f.places); {
		group, to := ids[from]>>16, from+1
		for to < min(len(ids), from+placesAtOnce) && ids[to]>>16 == group {
			to++
		}
		f.findCached(int(group), ids[from:to])
		from = to
	}
	if f.places = f.places[:f.locateCached(ids)]; len(f.places) < min(fewCached, len(ids)) {
		return 0, nil
	}
	lay := f.codec.ofVersion(binary.LittleEndian.Uint32(f.places[0].data[4:]))
	for from := 0; from < len(f.places); from += placesAtOnce {
		places := f.places[from:min(from+placesAtOnce, len(f.places))]
		for i, c := range f.cols {
			if lay.at[c] < 0 {
				f.bufs[i].putConst(at+from, len(places), f.codec.missing[c])
			} else if err := f.bufs[i].putPlaces(at+from, places, lay.row, lay.at[c]); err != nil {
				return 0, err
			}
		}
	}
	return len(f.places), nil
}

// placesAtOnce is for how many rows a column is copied before the next one: many more than the misses
// that the processor waits for at once, few enough that the headers of their pages stay in its caches
// from one column to the next, and the translations of their addresses in its tables.
const placesAtOnce = 128

// findCached adds the entries of the pages that rows of a group lie on, up to the first row that is not in
// memory as the view sees it.
func (f *Fetcher) findCached(group int, ids []uint64) {
	if !f.entered || group != f.inGroup {
		f.enterGroup(group)
		f.entered, f.inGroup = true, group
	}
	if f.cached == nil {
		return
	}
	start := len(f.places)
	for _, id := range ids {
		f.places = append(f.places, cachedPlace{entry: f.cached[id>>6&1023].Load()})
	}
	commit := f.view.snap.state.commit
	for i, id := range ids {
		p := f.places[start+i].entry
		if p == nil || !p.ready.Load() || p.at > commit || p.changed.Load()>>(id&63)&1 != 0 {
			f.places = f.places[:start+i]
			return
		}
		if !p.used.Load() {
			p.used.Store(true)
		}
		f.places[start+i].data = p.data
	}
}

// locateCached finds the rows in their pages. It returns how many of the first ones exist, in pages of the same
// layout.
func (f *Fetcher) locateCached(ids []uint64) int {
	if len(f.places) == 0 {
		return 0
	}
	version := binary.LittleEndian.Uint32(f.places[0].data[4:])
	for i, id := range ids[:len(f.places)] {
		p := &f.places[i]
		present, slot := binary.LittleEndian.Uint64(p.data[8:]), id&63
		if present>>slot&1 == 0 || binary.LittleEndian.Uint32(p.data[4:]) != version {
			return i
		}
		p.rank, p.rows = bits.OnesCount64(present&(1<<slot-1)), int(p.data[1])
	}
	return len(f.places)
}

// area returns where the values of a stored column begin in a place's page, and whether the row is NULL
// there.
func (p *cachedPlace) area(col, cols int) (start int, null bool) {
	start = pageHeader + 2*cols
	if col > 0 {
		start = int(binary.LittleEndian.Uint16(p.data[pageHeader+2*col-2:])) & areaEndBits
	}
	if binary.LittleEndian.Uint16(p.data[pageHeader+2*col:])&areaHasNulls == 0 {
		return start, false
	}
	return start + pageNullBytes, binary.LittleEndian.Uint64(p.data[start:])>>p.rank&1 != 0
}

// locate finds where the values of a stored column lie, of width bytes each, and notes NULLs of rows
// behind the first `at`.
func (c *columnBuf) locate(at int, places []cachedPlace, lay *rowLayout, col int) []int32 {
	if cap(c.starts) < len(places) {
		c.starts = make([]int32, placesAtOnce)
	}
	starts := c.starts[:len(places)]
	cols := len(lay.cols)
	for i := range places {
		p := &places[i]
		start, null := p.area(col, cols)
		if null {
			c.setNull(at + i)
		}
		starts[i] = int32(start + p.rank*c.width)
	}
	return starts
}

// putPlaces appends a stored column of rows in pages that were parsed behind the first `at` rows.
// Fixed-width values are zero where they are NULL.
func (c *columnBuf) putPlaces(at int, places []cachedPlace, lay *rowLayout, col int) error {
	if c.width == 0 {
		return c.putPlaceBytes(at, places, lay, col)
	}
	starts := c.locate(at, places, lay, col)
	switch c.width {
	case 4:
		dst := elems[uint32](c)[at : at+len(starts)]
		for i, start := range starts {
			dst[i] = binary.LittleEndian.Uint32(places[i].data[start:])
		}
	case 8:
		dst := elems[uint64](c)[at : at+len(starts)]
		for i, start := range starts {
			dst[i] = binary.LittleEndian.Uint64(places[i].data[start:])
		}
	default:
		for i, start := range starts {
			copy(c.data[(at+i)*c.width:(at+i+1)*c.width], places[i].data[start:])
		}
	}
	return nil
}

// putPlaceBytes finds all values first, then touches them, then copies them: the misses of one row do not wait for
// those of the row before.
func (c *columnBuf) putPlaceBytes(at int, places []cachedPlace, lay *rowLayout, col int) error {
	var spans [placesAtOnce][2]int32
	size := 0
	for i, start := range c.locate(at, places, lay, col) {
		p := &places[i]
		ends := p.data[start:]
		from, to := 0, int(binary.LittleEndian.Uint16(ends[2*p.rank:]))
		if p.rank > 0 {
			from = int(binary.LittleEndian.Uint16(ends[2*p.rank-2:]))
		}
		if from > to || to > len(ends)-2*p.rows {
			return errBadPage
		}
		begin := int(start) + 2*p.rows
		spans[i] = [2]int32{int32(begin + from), int32(begin + to)}
		size += to - from
	}
	touched := byte(0)
	for i := range places {
		if d, begin := places[i].data, int(spans[i][0]); begin < len(d) {
			touched |= d[begin]
		}
	}
	c.touched = touched
	c.heap = slices.Grow(c.heap, size)
	for i := range places {
		c.heap = append(c.heap, places[i].data[spans[i][0]:spans[i][1]]...)
		c.offsets = append(c.offsets, int32(len(c.heap)))
	}
	return nil
}
