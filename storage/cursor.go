package storage

import (
	"math/bits"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// ScanOptions narrow and widen a scan.
type ScanOptions struct {
	// Refs adds one I64 vector of row references behind the columns.
	Refs bool
	// Positions restricts the scan to these rows of the group. It must not change until the next
	// Reset. nil = all rows.
	Positions *GroupBits
	// FromStore reads what is stored, whatever is kept in memory: for checks.
	FromStore bool
}

// Cursor reads one group after another in ascending row id order. It belongs to one goroutine and
// allocates nothing per batch once its buffers have grown.
type Cursor struct {
	pageReader
	group     int
	positions *GroupBits
	own       []overlayRow // the overlay's rows of the group not read yet
	ownBuf    []overlayRow
	ownIDs    *GroupBits // rows the overlay may have, to be read page by page; nil = own has all
	started   bool       // the iterator stands somewhere in the group, or at its end
	next      int        // page in the group
	seek      []byte     // scratch
}

// ScanGroup opens a cursor over the live rows of a group. cols are positions in tbl.Columns; with
// none the cursor only counts. The cursor retains the view until it is closed.
func (v *View) ScanGroup(tbl *catalog.Table, store catalog.StoreID, group int, cols []int, o ScanOptions) (*Cursor, error) {
	c := &Cursor{}
	c.uncached = o.FromStore
	if err := c.init(v, tbl, cols, vector.BatchCap, o.Refs); err != nil {
		return nil, err
	}
	v.Retain()
	if err := c.Reset(store, group, o.Positions); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// Reset moves the cursor to the start of a group, possibly of another store of the table.
func (c *Cursor) Reset(store catalog.StoreID, group int, positions *GroupBits) error {
	c.store, c.group, c.positions, c.started, c.next = store, group, positions, false, 0
	c.enterGroup(group)
	c.low, c.high = appendGroupBounds(c.low[:0], c.high[:0], store, group)
	c.bound()
	c.ownBuf, c.ownIDs = c.ownBuf[:0], nil
	if o := c.view.overlay; o != nil {
		ok := false
		if c.ownBuf, ok = o.groupRows(c.ownBuf, store, group, c.view.cmd); !ok {
			c.ownIDs = &GroupBits{}
			o.groupIDs(c.ownIDs, store, group, c.view.cmd)
		}
	}
	c.own = c.ownBuf
	return nil
}

// Next makes b.Vecs[i] the column cols[i] of up to vector.BatchCap live rows and, if asked, the
// last vector their references; b.N is their number and b.Sel nil. The memory is the cursor's own
// and valid until the next call of Next, Reset or Close. False means the group is exhausted.
func (c *Cursor) Next(b *vector.Batch) (bool, error) {
	c.begin()
	n := 0
	for n < vector.BatchCap {
		if c.live == 0 {
			more, err := c.advance()
			if err != nil {
				return false, err
			}
			if !more {
				break
			}
		}
		k, err := c.emit(n, vector.BatchCap-n)
		if err != nil {
			return false, err
		}
		n += k
	}
	c.finish(b, n)
	return n > 0, nil
}

// advance loads the next page that has something wanted on it: from memory, else from where the
// iterator stands, which follows behind as far as it is needed.
func (c *Cursor) advance() (bool, error) {
	c.skipPacked()
	for c.next < GroupPages {
		number, page := c.next, uint64(c.group)<<10|uint64(c.next)
		want := ^uint64(0)
		if c.positions != nil {
			want = c.positions[number]
		}
		if want == 0 {
			c.next++
			continue
		}
		own, err := c.takeOwn(number)
		if err != nil {
			return false, err
		}
		p := c.inMemory(number)
		if p != nil && p.changed.Load() == 0 {
			c.loadCached(page, want, p, own)
		} else {
			stored, err := c.seekPage(page, want)
			if err != nil {
				return false, err
			}
			if stored != page && len(own) == 0 { // nothing up to the next stored or written page
				c.next = c.following(stored)
				continue
			}
			if err := c.load(page, want, own); err != nil {
				return false, err
			}
			if len(own) == 0 && want == allSlots {
				c.keep(false)
			}
		}
		c.next++
		if c.live != 0 {
			return true, nil
		}
		c.skipPacked()
	}
	return false, nil
}

// noPage is beyond all pages of a group.
const noPage = ^uint64(0)

// seekPage moves the iterator to the first stored page from a page on, to its first wanted row, and
// returns that page's number, noPage at the end of the group.
func (c *Cursor) seekPage(page, want uint64) (uint64, error) {
	if c.started && c.valid {
		if stored, err := c.nextPage(); stored >= page || err != nil {
			return stored, err
		}
	}
	if !c.started || c.valid { // not at the end
		if err := c.open(); err != nil {
			return 0, err
		}
		c.started = true
		c.seek = appendPageKey(c.seek[:0], c.store, page, bits.TrailingZeros64(want))
		c.valid = c.it.SeekGE(c.seek)
	}
	if c.valid {
		return c.nextPage()
	}
	if err := c.it.Error(); err != nil {
		return 0, ioError("read rows", err)
	}
	return noPage, nil
}

// following returns the first page of the group, from the one after the current on, that is stored or
// in the overlay.
func (c *Cursor) following(stored uint64) int {
	next := GroupPages
	if stored != noPage {
		next = int(stored & 1023)
	}
	if len(c.own) > 0 {
		next = min(next, int(c.own[0].pos>>6))
	}
	if c.ownIDs != nil {
		for page := c.next + 1; page < next; page++ {
			if c.ownIDs[page] != 0 {
				return page
			}
		}
	}
	return next
}

// takeOwn takes the overlay's rows up to and on a page and returns those on it.
func (c *Cursor) takeOwn(page int) (_ []overlayRow, err error) {
	if c.ownIDs != nil {
		if c.ownIDs[page] == 0 {
			return nil, nil
		}
		c.ownBuf, err = c.view.overlay.pageRows(c.ownBuf[:0], c.store, uint64(c.group)<<10|uint64(page), c.view.cmd)
		return c.ownBuf, err
	}
	for len(c.own) > 0 && int(c.own[0].pos>>6) < page {
		c.own = c.own[1:]
	}
	n := 0
	for n < len(c.own) && int(c.own[n].pos>>6) == page {
		n++
	}
	own := c.own[:n]
	c.own = c.own[n:]
	return own, nil
}

// Close frees the cursor.
func (c *Cursor) Close() error {
	err := c.close()
	if c.view != nil {
		c.view.Release()
		c.view = nil
	}
	return err
}
