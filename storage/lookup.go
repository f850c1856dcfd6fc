package storage

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// LookupRow finds the row with the given values of a unique index's columns and makes b that one row:
// the columns at positions cols of tbl.Columns. The memory is the caller's. No row has a key with a
// NULL in it.
func (v *View) LookupRow(tbl *catalog.Table, index *catalog.Index, key []vector.Datum, cols []int, b *vector.Batch) (RowRef, bool, error) {
	e := v.snap.e
	var buf [64]byte
	codec, encoded, err := v.uniqueKey(buf[:0], tbl, index, key)
	if encoded == nil || err != nil {
		return 0, false, err
	}
	if v.overlay != nil {
		if ref, found, ok, err := v.lookupOwn(tbl, index, encoded, cols, b); ok || err != nil {
			return ref, found, err
		}
	}
	row, ref, at, ok := e.rows.get(encoded)
	switch commit := v.snap.state.commit; {
	case !ok || at > commit:
		row = nil
	case e.journal.pageLastChange(ref.Store(), ref.Row()>>6) > at:
		// A row that is as it was has the key that it had.
		was := row
		if row, err = v.storedRow(codec, ref); err != nil {
			return 0, false, err
		}
		if bytes.Equal(row, was) {
			e.rows.confirm(encoded, ref, at, commit)
		} else {
			row = nil
		}
	}
	if row == nil {
		found := false
		if ref, found, err = getRef(v.snap.db, encoded); err != nil || !found {
			return 0, false, err
		}
		if row, err = v.storedRow(codec, ref); err != nil {
			return 0, false, err
		}
		if row == nil {
			return 0, false, errBadKey // an entry without its row
		}
		e.rows.put(encoded, row, ref, v.snap.state.commit)
	}
	v.noteFound(ref, row)
	return ref, true, codec.decodeRow(row, cols, b)
}

// fetchOne is Fetch of one row, without an iterator. ok is false, with nothing done, for a row that is not
// there or that the view's transaction may have written.
func (v *View) fetchOne(tbl *catalog.Table, ref RowRef, cols []int, b *vector.Batch) (ok bool, err error) {
	if v.overlay != nil && v.overlay.groups(ref.Store()) > 0 {
		return false, nil
	}
	codec, err := v.snap.e.codec(tbl)
	if err != nil {
		return false, err
	}
	row, err := v.storedRow(codec, ref)
	if row == nil || err != nil {
		return false, err
	}
	v.noteFound(ref, row)
	return true, codec.decodeRow(row, cols, b)
}

// foundRow is a committed row that was there, with these bytes, at a commit.
type foundRow struct {
	ref RowRef
	row []byte
	at  uint64
}

// noteFound keeps a row that a transaction has read by itself, and may be about to write.
func (v *View) noteFound(ref RowRef, row []byte) {
	if v.found != nil {
		v.found.Store(&foundRow{ref, row, v.snap.state.commit})
	}
}

// storedRow returns the committed row that the view sees, nil if there is none. Its page is taken from
// memory, or read whole and put there.
func (v *View) storedRow(codec *tableCodec, ref RowRef) ([]byte, error) {
	page, slot := ref.Row()>>6, int(ref.Row()&63)
	r := &pageReader{view: v, codec: codec, store: ref.Store()}
	r.enterGroup(ref.Group())
	// The view was taken before: what it sees is marked by now.
	switch p := r.inMemory(int(page & 1023)); {
	case p == nil:
		r.low, r.high = storeBounds(kindRow, uint32(r.store))
		if err := r.open(); err != nil {
			return nil, err
		}
		var key [rowKeyLen]byte
		r.valid = r.it.SeekGE(appendPageKey(key[:0], r.store, page, 0))
		err := r.load(page, 1<<slot, nil)
		if err == nil {
			r.keep(true)
		}
		var row []byte
		if err == nil {
			row, err = r.loadedRow(slot)
		}
		if cerr := r.close(); err == nil { // else it says the same again
			err = cerr
		}
		return row, err
	case p.changed.Load()>>slot&1 != 0:
		return readRow(v.snap.db, codec.tableLayout, ref)
	default:
		r.loadCached(page, 1<<slot, p, nil)
		return r.loadedRow(slot)
	}
}

// loadedRow returns a copy of a row of the page being read, nil if it is not live.
func (r *pageReader) loadedRow(slot int) ([]byte, error) {
	switch {
	case r.live>>slot&1 == 0:
		return nil, nil
	case r.single>>slot&1 != 0:
		return bytes.Clone(r.rows[slot]), nil
	}
	return r.packed.appendRow(nil, r.packed.rank(slot))
}

// lookupOwn looks a key up for a view with writes of its own. ok is false when they do not concern
// the row.
func (v *View) lookupOwn(tbl *catalog.Table, index *catalog.Index, encoded []byte, cols []int, b *vector.Batch) (ref RowRef, found, ok bool, err error) {
	own := false
	for _, store := range tbl.Stores {
		own = own || v.overlay.groups(store) > 0
	}
	if !own {
		return 0, false, false, nil
	}
	ref, deleted, ok, err := v.overlay.lookupKey(index.ID, encoded, v.cmd)
	if err != nil {
		return 0, false, true, err
	}
	if found = ok && !deleted; !ok {
		if ref, found, err = getRef(v.snap.db, encoded); err != nil {
			return 0, false, true, err
		}
	}
	if !found {
		return 0, false, true, nil
	}
	missing, err := v.Fetch(tbl, ref.Store(), []uint64{ref.Row()}, cols, b)
	return ref, missing == nil || !missing.Get(0), true, err
}

// decodeRow makes b the one row, which is in single form; the batch keeps views of it. What the columns
// take is allocated together.
func (l *tableLayout) decodeRow(row []byte, cols []int, b *vector.Batch) error {
	lay, err := l.ofRow(row)
	if err != nil {
		return err
	}
	words := 0
	for _, col := range cols {
		words += max(l.tbl.Columns[col].Type.Kind().Width()+7, 8) / 8
	}
	slab := make([]uint64, words+1)
	null := slab[:1:1] // the bitmap of a row that is NULL
	slab = slab[1:]
	vecs := make([]vector.Vector, len(cols))
	list := make([]*vector.Vector, len(cols))
	for i, col := range cols {
		v, kind := &vecs[i], l.tbl.Columns[col].Type.Kind()
		list[i] = v
		at := lay.at[col]
		if at < 0 {
			v.SetConst(vector.DatumAt(l.missing[col], 0))
			continue
		}
		var valid vector.Bitmap
		if row[rowHeader+at>>3]>>(at&7)&1 != 0 {
			valid = null
		}
		own := slab[:max(kind.Width()+7, 8)/8]
		slab = slab[len(own):]
		if width := kind.Width(); width > 0 {
			data := vector.BytesOf(own)
			copy(data, row[lay.row.cols[at].offset:][:width])
			v.SetFixed(kind, data, 1, valid)
			continue
		}
		offsets := unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(own))), 2)
		value := lay.row.bytesOf(row, lay.row.cols[at].offset)
		offsets[1] = int32(len(value))
		v.SetBytes(offsets, value, valid)
	}
	b.N, b.Sel, b.Vecs = 1, nil, list
	return nil
}

// bytesOf returns variable-length value number n of a row that passed check.
func (l *rowLayout) bytesOf(row []byte, n int) []byte {
	ends, width := row[l.fixedEnd:], 2
	if row[0]&rowWide != 0 {
		width = 4
	}
	end := func(i int) int {
		switch {
		case i < 0:
			return 0
		case width == 2:
			return int(binary.LittleEndian.Uint16(ends[2*i:]))
		}
		return int(binary.LittleEndian.Uint32(ends[4*i:]))
	}
	bytes := ends[width*l.nVar:]
	return bytes[end(n-1):end(n):end(n)]
}
