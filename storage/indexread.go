package storage

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// entryReader reads columns out of index entries, without their rows.
type entryReader struct {
	kinds   []vector.Kind
	fromKey []int // per wanted column: its part of the key, −1 = it is an included one
	fromRow []int // … its place among the included columns
	// keyTo and rowTo are the vectors to add to, per part of the key and per included column; nil =
	// not wanted. lastKey is the number of parts up to the last wanted one.
	keyTo, rowTo []*vector.Vector
	lastKey      int
	scratch      []byte
}

// Read makes NextRows read the columns at positions cols of the table's Columns. Every one must be
// included in the index or a part of its key whose type has exact keys (catalog.Type.ExactKeys).
func (c *IndexCursor) Read(tbl *catalog.Table, cols []int) error {
	ix, r := c.codec, &c.reader
	for _, col := range cols {
		r.kinds = append(r.kinds, tbl.Columns[col].Type.Kind())
		at := slices.Index(ix.inputs, col)
		included, key := slices.Index(ix.includeAt, at), slices.Index(ix.keyAt, at)
		switch {
		case at >= 0 && included >= 0:
			key = -1
		case at >= 0 && key >= 0 && ix.cols[key].typ.ExactKeys():
			included, r.lastKey = -1, max(r.lastKey, key+1)
		default:
			return sqlerr.New(sqlerr.InternalError, "index entries do not hold column %s: index=%s", tbl.Columns[col].Name, ix.index.Name)
		}
		r.fromKey, r.fromRow = append(r.fromKey, key), append(r.fromRow, included)
	}
	r.keyTo, r.rowTo = make([]*vector.Vector, len(ix.cols)), make([]*vector.Vector, len(ix.includeAt))
	return nil
}

// NextRows makes b the next rows, at most a batch and as many as refs, which gets their references;
// no rows are the end. Vectors are new in every batch.
func (c *IndexCursor) NextRows(b *vector.Batch, refs []RowRef) (int, error) {
	r := &c.reader
	b.Sel, b.Vecs = nil, make([]*vector.Vector, len(r.kinds))
	for i, kind := range r.kinds {
		b.Vecs[i] = vector.New(kind, len(refs))
		if key := r.fromKey[i]; key >= 0 {
			r.keyTo[key] = b.Vecs[i]
		} else {
			r.rowTo[r.fromRow[i]] = b.Vecs[i]
		}
	}
	for b.N = 0; b.N < len(refs); b.N++ {
		key, payload, ref, ok, err := c.next()
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		refs[b.N] = ref
		if err := r.readKey(c.codec, key[indexPrefixLen:]); err != nil {
			return 0, err
		}
		if len(r.rowTo) > 0 {
			if err := c.codec.include.decode(payload, r.rowTo); err != nil {
				return 0, err
			}
		}
	}
	return b.N, nil
}

// readKey adds the wanted parts of a key to their vectors.
func (r *entryReader) readKey(ix *indexCodec, key []byte) error {
	for n := range r.lastKey {
		k, to := &ix.cols[n], r.keyTo[n]
		if len(key) == 0 {
			return errBadKey
		}
		flag := key[0]
		key = key[1:]
		if flag == k.nullFlag() {
			if to != nil {
				appendNull(to)
			}
			continue
		}
		payload := key
		if k.desc {
			r.scratch = append(r.scratch[:0], key...)
			complement(r.scratch)
			payload = r.scratch
		}
		used, ok := k.appendDecoded(to, payload)
		if !ok || flag != flagValue {
			return errBadKey
		}
		key = key[used:]
	}
	return nil
}

// appendDecoded reads one value from the front of b, adds it to a vector unless that is nil, and
// returns the bytes it took.
func (k *keyColumn) appendDecoded(v *vector.Vector, b []byte) (used int, ok bool) {
	switch k.op {
	case keyInt32:
		if len(b) < 4 {
			return 0, false
		}
		if v != nil {
			vector.Append(v, readKeyInt32(b))
		}
		return 4, true
	case keyInt64:
		if len(b) < 8 {
			return 0, false
		}
		if v != nil {
			vector.Append(v, readKeyInt64(b))
		}
		return 8, true
	}
	d, used, ok := k.decodePayload(b)
	if ok && v != nil {
		vector.AppendDatum(v, d)
	}
	return used, ok
}
