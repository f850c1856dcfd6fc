package storage

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// LookupRow finds the row with the given values of a unique index's columns and makes b that one row:
// the columns at positions cols of tbl.Columns. The memory is the caller's. No row has a key with a
// NULL in it.
func (v *View) LookupRow(tbl *catalog.Table, index *catalog.Index, key []vector.Datum, cols []int, b *vector.Batch) (RowRef, bool, error) {
	e := v.snap.e
	codec, err := e.codec(tbl)
	if err != nil {
		return 0, false, err
	}
	ix, err := codec.indexCodec(index)
	if err != nil {
		return 0, false, err
	}
	var keyBuf [64]byte
	encoded, hasNull := ix.appendDatums(appendIndexPrefix(keyBuf[:0], index.ID), key)
	if hasNull || !index.Unique {
		return 0, false, nil
	}
	if err := v.noteKey(tbl, index, encoded); err != nil {
		return 0, false, err
	}
	if v.overlay != nil {
		if ref, found, ok, err := v.lookupOwn(tbl, index, encoded, cols, b); ok || err != nil {
			return ref, found, err
		}
	}
	var rowBuf [256]byte
	row, ref, at, ok := e.rows.get(rowBuf[:0], encoded)
	if !ok || at > v.snap.state.commit || e.journal.pageLastChange(ref.Store(), ref.Row()>>6) > at {
		found := false
		if ref, found, err = getRef(v.snap.db, encoded); err != nil || !found {
			return 0, false, err
		}
		if row, err = readRow(v.snap.db, codec.tableLayout, ref); err != nil {
			return 0, false, err
		}
		if row == nil {
			return 0, false, errBadKey // an entry without its row
		}
		e.rows.put(encoded, row, ref, v.snap.state.commit)
	}
	return ref, true, codec.decodeRow(row, cols, b)
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
	ref, deleted, ok := v.overlay.lookupKey(index.ID, encoded, v.cmd)
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

// decodeRow makes b the one row, which is in single form.
func (l *tableLayout) decodeRow(row []byte, cols []int, b *vector.Batch) error {
	lay, err := l.ofRow(row)
	if err != nil {
		return err
	}
	vecs := make([]vector.Vector, len(cols))
	b.N, b.Sel, b.Vecs = 1, nil, make([]*vector.Vector, len(cols))
	one := [1][]byte{row}
	for i, col := range cols {
		buf := newColumnBuf(l.tbl.Columns[col].Type.Kind(), 1)
		if lay.at[col] < 0 {
			buf.putConst(0, 1, l.missing[col])
		} else {
			buf.putRows(0, lay.row, lay.at[col], one[:])
		}
		buf.view(&vecs[i], 1)
		b.Vecs[i] = &vecs[i]
	}
	return nil
}
