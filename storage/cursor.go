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
}

// Cursor reads one group after another in ascending row id order. It belongs to one goroutine and
// allocates nothing per batch once its buffers have grown.
type Cursor struct {
	pageReader
	group     int
	positions *GroupBits
	own       []overlayRow // the overlay's rows of the group not read yet
	ownBuf    []overlayRow
	started   bool
}

// ScanGroup opens a cursor over the live rows of a group. cols are positions in tbl.Columns; with
// none the cursor only counts. The cursor retains the view until it is closed.
func (v *View) ScanGroup(tbl *catalog.Table, store catalog.StoreID, group int, cols []int, o ScanOptions) (*Cursor, error) {
	c := &Cursor{}
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
	c.store, c.group, c.positions, c.started = store, group, positions, false
	c.low, c.high = appendGroupBounds(c.low[:0], c.high[:0], store, group)
	if err := c.bound(); err != nil {
		return err
	}
	c.ownBuf = c.ownBuf[:0]
	if c.view.overlay != nil {
		c.ownBuf = c.view.overlay.groupRows(c.ownBuf, store, group, c.view.cmd)
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

// advance loads the next page that has something wanted on it.
func (c *Cursor) advance() (bool, error) {
	c.skipPacked()
	if !c.started {
		c.started = true
		if c.positions == nil {
			c.valid = c.it.First()
		} else if !c.seekWanted(0) {
			return false, nil
		}
	}
	for {
		page, ok, err := c.following()
		if err != nil || !ok {
			return false, err
		}
		want := ^uint64(0)
		if c.positions != nil {
			if want = c.positions[page&1023]; want == 0 {
				if !c.seekWanted(int(page&1023) + 1) {
					return false, nil
				}
				continue
			}
		}
		own := c.own
		for len(c.own) > 0 && uint64(c.own[0].pos>>6) == page&1023 {
			c.own = c.own[1:]
		}
		if err := c.load(page, want, own[:len(own)-len(c.own)]); err != nil {
			return false, err
		}
		if c.live != 0 {
			return true, nil
		}
		c.skipPacked()
	}
}

// following returns the first page not read yet, of the store or of the overlay.
func (c *Cursor) following() (page uint64, ok bool, err error) {
	if c.valid {
		if page, err = c.nextPage(); err != nil {
			return 0, false, err
		}
		ok = true
	} else if err := c.it.Error(); err != nil {
		return 0, false, ioError("read rows", err)
	}
	if len(c.own) > 0 {
		if p := uint64(c.group)<<10 | uint64(c.own[0].pos>>6); !ok || p < page {
			page, ok = p, true
		}
	}
	return page, ok, nil
}

// seekWanted moves to the first page of the group, from a page number on, that has wanted
// positions, and reports whether there is one.
func (c *Cursor) seekWanted(from int) bool {
	for from < GroupPages && c.positions[from] == 0 {
		from++
	}
	if from == GroupPages {
		return false
	}
	for len(c.own) > 0 && int(c.own[0].pos>>6) < from {
		c.own = c.own[1:]
	}
	page := uint64(c.group)<<10 | uint64(from)
	c.low = appendPageKey(c.low[:0], c.store, page, bits.TrailingZeros64(c.positions[from]))
	c.valid = c.it.SeekGE(c.low)
	return true
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
