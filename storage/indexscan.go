package storage

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// IndexRange says which part of an index to scan: entries whose first columns equal Prefix, where NULL
// stands for itself, and, if Low or High is set or NotNull says so, whose next column lies between
// them and is not NULL. Low and High are in the order of the values, whatever the column's direction
// in the index.
type IndexRange struct {
	Prefix            []vector.Datum
	Low, High         *vector.Datum
	LowOpen, HighOpen bool // the bound itself is left out
	NotNull           bool
	Reverse           bool // from the last entry to the first
}

func (r *IndexRange) bounded() bool { return r.Low != nil || r.High != nil || r.NotNull }

// IndexCursor lists entries in index order. It belongs to one goroutine.
type IndexCursor struct {
	view    *View
	codec   *indexCodec
	ranges  []keyRange // not begun yet, in scan order
	it      *pebble.Iterator
	reverse bool
	valid   bool
	own     []indexEntry // the overlay's entries in the range not passed yet, in scan order
	// ownRest is the part of the range whose entries of the overlay are not in own yet; nil = none.
	ownRest *keyRange
	ownBuf  []indexEntry
	// stored and passed tell what the entry handed out last was, to be stepped over by the next call.
	stored, passed bool
	reader         entryReader
}

// keyRange is the keys low <= key < high.
type keyRange struct{ low, high []byte }

// ScanIndex opens a cursor over ranges of an index, which are all to be scanned in the same
// direction and must not overlap; of equal ones the first is scanned. The cursor goes through them
// in index order. It retains the view until it is closed.
func (v *View) ScanIndex(tbl *catalog.Table, index *catalog.Index, ranges ...IndexRange) (*IndexCursor, error) {
	codec, err := v.snap.e.codec(tbl)
	if err != nil {
		return nil, err
	}
	ix, err := codec.indexCodec(index)
	if err != nil {
		return nil, err
	}
	c := &IndexCursor{view: v, codec: ix}
	for _, r := range ranges {
		low, high, err := ix.bounds(r)
		if err != nil {
			return nil, err
		}
		c.ranges, c.reverse = append(c.ranges, keyRange{low, high}), r.Reverse
	}
	if v.serial != nil {
		if err := v.serial.readRanges(tbl.ID, index.ID, c.ranges...); err != nil {
			return nil, err
		}
	}
	order := func(a, b keyRange) int { return bytes.Compare(a.low, b.low) }
	slices.SortFunc(c.ranges, order)
	c.ranges = slices.CompactFunc(c.ranges, func(a, b keyRange) bool { return order(a, b) == 0 })
	if c.reverse {
		slices.Reverse(c.ranges)
	}
	if c.it, err = v.snap.db.NewIter(&pebble.IterOptions{}); err != nil {
		return nil, ioError("read index", err)
	}
	v.Retain()
	return c, nil
}

// begin moves to the start of the next range; false means there is none.
func (c *IndexCursor) begin() bool {
	if len(c.ranges) == 0 {
		return false
	}
	r := c.ranges[0]
	c.ranges = c.ranges[1:]
	c.it.SetBounds(r.low, r.high)
	if c.view.overlay != nil {
		c.ownRest = &r
	}
	if c.reverse {
		c.valid = c.it.Last()
	} else {
		c.valid = c.it.First()
	}
	return true
}

// fillOwn reads the overlay's next entries in the range, when those before are passed.
func (c *IndexCursor) fillOwn() (err error) {
	for len(c.own) == 0 && c.ownRest != nil {
		c.ownBuf, c.ownRest, err = c.view.overlay.rangeKeys(c.ownBuf[:0], c.codec.index.ID, *c.ownRest, c.view.cmd, c.reverse)
		if err != nil {
			return err
		}
		c.own = c.ownBuf
	}
	return nil
}

// bounds turns a range into the keys low <= key < high.
func (ix *indexCodec) bounds(r IndexRange) (low, high []byte, err error) {
	n := len(r.Prefix)
	if n > len(ix.keyCodec.cols) || n == len(ix.keyCodec.cols) && r.bounded() {
		return nil, nil, sqlerr.New(sqlerr.InternalError, "index range has more values than the index has columns: index=%s", ix.index.Name)
	}
	prefix, _ := ix.appendDatums(appendIndexPrefix(nil, ix.index.ID), r.Prefix)
	if !r.bounded() {
		return prefix, successor(prefix), nil
	}
	k := &ix.keyCodec.cols[n]
	value := func(d *vector.Datum) []byte {
		key := append(bytes.Clone(prefix), flagValue)
		start := len(key)
		key = k.appendDatum(key, *d)
		if k.desc {
			complement(key[start:])
		}
		return key
	}
	// All values of the column, without NULLs.
	low, high = append(bytes.Clone(prefix), flagValue), append(bytes.Clone(prefix), flagValue+1)
	first, last, firstOpen, lastOpen := r.Low, r.High, r.LowOpen, r.HighOpen
	if k.desc {
		first, last, firstOpen, lastOpen = last, first, lastOpen, firstOpen
	}
	if first != nil {
		if first.Null {
			return low, low, nil // nothing compares with NULL
		}
		if low = value(first); firstOpen {
			low = successor(low)
		}
	}
	if last != nil {
		if last.Null {
			return low, low, nil
		}
		if high = value(last); !lastOpen {
			high = successor(high)
		}
	}
	if bytes.Compare(low, high) > 0 {
		high = low
	}
	return low, high, nil
}

// successor returns the smallest key greater than every key that starts with prefix.
func successor(prefix []byte) []byte {
	s := bytes.Clone(prefix)
	for i := len(s) - 1; i >= 0; i-- {
		if s[i]++; s[i] != 0 {
			return s[:i+1]
		}
	}
	return []byte{0xFF, 0xFF} // no key kind is that high
}

// next moves to the next entry and returns it; ok is false at the end. Key and payload are valid until
// the next call.
func (c *IndexCursor) next() (key, payload []byte, ref RowRef, ok bool, err error) {
	for {
		if c.stored {
			c.step()
		}
		if c.passed {
			c.own = c.own[1:]
		}
		c.stored, c.passed = false, false
		if err := c.fillOwn(); err != nil {
			return nil, nil, 0, false, err
		}
		if !c.valid && len(c.own) == 0 {
			if err := c.it.Error(); err != nil {
				return nil, nil, 0, false, ioError("read index", err)
			}
			if !c.begin() {
				return nil, nil, 0, false, nil
			}
			continue
		}
		order := c.order()
		c.stored, c.passed = order <= 0, order >= 0
		if order >= 0 { // the overlay's entry, also in place of the store's
			e := &c.own[0]
			if e.deleted {
				continue
			}
			return e.key, e.payload, e.ref, true, nil
		}
		value, err := c.it.ValueAndErr()
		if err != nil {
			return nil, nil, 0, false, ioError("read index", err)
		}
		ref, payload, err := c.codec.splitEntry(c.it.Key(), value)
		return c.it.Key(), payload, ref, err == nil, err
	}
}

// order compares the store's entry with the overlay's: below 0 the store's comes first, 0 they have
// one key.
func (c *IndexCursor) order() int {
	switch {
	case !c.valid:
		return 1
	case len(c.own) == 0:
		return -1
	case c.reverse:
		return bytes.Compare(c.own[0].key, c.it.Key())
	}
	return bytes.Compare(c.it.Key(), c.own[0].key)
}

// Next fills dst and returns how many references it holds; 0 means the end.
func (c *IndexCursor) Next(dst []RowRef) (int, error) {
	for n := range dst {
		_, _, ref, ok, err := c.next()
		if err != nil {
			return 0, err
		}
		if !ok {
			return n, nil
		}
		dst[n] = ref
	}
	return len(dst), nil
}

func (c *IndexCursor) step() {
	if c.reverse {
		c.valid = c.it.Prev()
	} else {
		c.valid = c.it.Next()
	}
}

// Close frees the cursor.
func (c *IndexCursor) Close() error {
	if c.view == nil {
		return nil
	}
	err := c.it.Close()
	c.view.Release()
	c.view = nil
	return ioError("read index", err)
}

func appendRef(dst []byte, ref RowRef) []byte { return binary.BigEndian.AppendUint64(dst, uint64(ref)) }

func readRef(b []byte) RowRef { return RowRef(binary.BigEndian.Uint64(b)) }
