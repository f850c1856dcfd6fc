package storage

import (
	"bytes"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
)

// spillReader looks spilled versions up. It is used within one holding of the overlay's mu, in which
// nothing is spilled, and closed before that ends. Its zero value but for the store is ready.
type spillReader struct {
	store *spillStore // nil = nothing was spilled
	it    *pebble.Iterator
}

// open makes the iterator, unless it is there already.
func (r *spillReader) open(low, high []byte) error {
	if r.it != nil {
		return nil
	}
	if err := r.store.failed(); err != nil {
		return err
	}
	it, err := r.store.db.NewIter(&pebble.IterOptions{LowerBound: low, UpperBound: high})
	r.it = it
	return ioError("read spilled writes", err)
}

// close ends the look-ups and returns err, or what else went wrong.
func (r *spillReader) close(err error) error {
	if r.it == nil {
		return err
	}
	closeErr := r.it.Close()
	r.it = nil
	if err != nil {
		return err
	}
	return ioError("read spilled writes", closeErr)
}

// find returns the version of a row or index entry that a view with command number cmd sees. Its key and
// what it holds are valid until the next call.
func (r *spillReader) find(key []byte, cmd uint32) (v spilledVersion, found bool, err error) {
	if r.store == nil || r.store.firstCmd >= cmd {
		return v, false, nil
	}
	if err := r.open(nil, nil); err != nil {
		return v, false, err
	}
	numbers := r.store.numbers(key)
	for ok := r.it.SeekPrefixGE(beforeVersions(key)); ok; ok = r.it.Next() {
		if err := v.decode(r.it); err != nil {
			return v, false, err
		}
		if v.cmd < cmd && !numbers.isDead(v.number) {
			return v, true, nil
		}
	}
	return v, false, ioError("read spilled writes", r.it.Error())
}

// findRow is find for a row; most rows have a bit that says they were never spilled.
func (r *spillReader) findRow(ref RowRef, cmd uint32) (v spilledVersion, found bool, err error) {
	if r.store == nil || !r.store.mayHaveRow(ref) {
		return v, false, nil
	}
	var key [rowKeyLen]byte
	return r.find(appendRowKey(key[:0], ref.Store(), ref.Row()), cmd)
}

// findKey is find for an index entry.
func (r *spillReader) findKey(id catalog.IndexID, key []byte, cmd uint32) (v spilledVersion, found bool, err error) {
	if r.store == nil {
		return v, false, nil
	}
	bounds := r.store.indexes[id]
	if bounds == nil || bytes.Compare(key, bounds.low) < 0 || bytes.Compare(key, bounds.high) > 0 {
		return v, false, nil
	}
	return r.find(key, cmd)
}

// mayHaveRow reports whether there is a version of a row, dead or alive.
func (s *spillStore) mayHaveRow(ref RowRef) bool {
	g := s.groups[groupID{ref.Store(), ref.Group()}]
	return g != nil && g.Get(int(ref.Row()&(GroupRows-1)))
}

// spilledGroup returns the bits of the rows of a group of which a view with command number cmd may see
// spilled versions, nil if there are none. mu is held.
func (o *overlay) spilledGroup(store catalog.StoreID, group int, cmd uint32) *GroupBits {
	if o.spill == nil || o.spill.firstCmd >= cmd {
		return nil
	}
	return o.spill.groups[groupID{store, group}]
}

// hasRow reports whether the transaction has written a row. mu is held.
func (o *overlay) hasRow(ref RowRef) (bool, error) {
	if _, ok := o.newest(ref); ok {
		return true, nil
	}
	if o.spill == nil || !o.spill.mayHaveRow(ref) {
		return false, nil
	}
	if len(o.spill.rows.dead) == 0 {
		return true, nil
	}
	r := spillReader{store: o.spill}
	_, found, err := r.findRow(ref, math.MaxUint32)
	return found, r.close(err)
}

// newestRow returns a row's newest version whatever its command; row is nil if it was deleted, and
// valid until r's next call. mu is held.
func (o *overlay) newestRow(r *spillReader, ref RowRef) (row []byte, cmd uint32, ok bool, err error) {
	if v, ok := o.newest(ref); ok {
		return o.arena.at(v.row), v.cmd, true, nil
	}
	v, ok, err := r.findRow(ref, math.MaxUint32)
	if !ok || err != nil {
		return nil, 0, false, err
	}
	return v.row(), v.cmd, true, nil
}

// pageRows appends those of the wanted rows of a page of which a view with command number cmd sees a
// version. The overlay's mu is held.
func (s *spillStore) pageRows(dst []overlayRow, store catalog.StoreID, page, want uint64, cmd uint32) ([]overlayRow, error) {
	low := beforeVersions(appendPageKey(nil, store, page, 0))
	high := beforeVersions(appendPageKey(nil, store, page, pageSlot))
	r := spillReader{store: s}
	err := r.open(low, high)
	var data []byte
	if err == nil {
		var v spilledVersion
		for ok := r.it.First(); ok && err == nil; ok = r.it.Next() {
			if err = v.decode(r.it); err != nil {
				break
			}
			_, slot := splitRowKey(v.key)
			if want>>slot&1 == 0 || v.cmd >= cmd || s.rows.isDead(v.number) {
				continue
			}
			want &^= 1 << slot
			row := overlayRow{pos: uint16(page&1023)<<6 | uint16(slot)}
			if !v.deleted() {
				start := len(data)
				data = append(data, v.rest...)
				row.row = data[start:len(data):len(data)]
			}
			dst = append(dst, row)
		}
		if err == nil {
			err = ioError("read spilled writes", r.it.Error())
		}
	}
	return dst, r.close(err)
}

// entries appends up to limit spilled entries of an index with low <= key < high that a view with
// command number cmd sees, in the order of their keys or in reverse. more tells that the limit ended it:
// there may be others behind the last one. The overlay's mu is held.
func (s *spillStore) entries(dst []indexEntry, id catalog.IndexID, low, high []byte, cmd uint32, limit int, reverse bool) (_ []indexEntry, more bool, err error) {
	if s.firstCmd >= cmd || s.indexes[id] == nil {
		return dst, false, nil
	}
	r := spillReader{store: s}
	if err := r.open(beforeVersions(low), beforeVersions(high)); err != nil {
		return dst, false, err
	}
	first, step := r.it.First, r.it.Next
	if reverse {
		first, step = r.it.Last, r.it.Prev
	}
	start := len(dst)
	var v spilledVersion
	var ok bool
	for ok = first(); ok; ok = step() {
		if err = v.decode(r.it); err != nil {
			break
		}
		if v.cmd >= cmd || s.keys.isDead(v.number) {
			continue
		}
		n := len(dst)
		same := n > start && bytes.Equal(dst[n-1].key, v.key)
		switch {
		case same && reverse: // backwards, the newest version comes last
			dst[n-1] = v.entry(dst[n-1].key)
		case same:
		case n-start == limit:
			more = true
		default:
			dst = append(dst, v.entry(bytes.Clone(v.key)))
		}
		if more {
			break
		}
	}
	if err == nil {
		err = ioError("read spilled writes", r.it.Error())
	}
	return dst, more, r.close(err)
}

// entry returns what a version says of an index entry.
func (v *spilledVersion) entry(key []byte) indexEntry {
	return indexEntry{key: key, payload: bytes.Clone(v.payload()), ref: readRef(v.rest), deleted: v.deleted()}
}
