package exec

import "github.com/weftdb/weft/vector"

// storedColumn is a column of finished, immutable rows from which operators pick. Strings are not
// copied: what is picked has dictionary form, with the column itself as dictionary.
type storedColumn struct {
	v     *vector.Vector
	words *vector.Vector // the column as a dictionary, nil = pick copies
}

func newStoredColumn(v *vector.Vector) storedColumn {
	c := storedColumn{v: v}
	if v.Kind == vector.Bytes && v.Form == vector.Flat && v.Len > 0 {
		c.words = vector.Words(v)
	}
	return c
}

// pick makes dst the given rows, NULL for vector.NoRow.
func (c *storedColumn) pick(dst *vector.Vector, rows []uint32) {
	if c.words != nil {
		vector.ViewRows(dst, c.v, c.words, rows)
		return
	}
	vector.PickOuter(dst, c.v, rows)
}

// pickAt makes row sel[k] of dst, a vector of n rows, the row rows[k].
func (c *storedColumn) pickAt(dst *vector.Vector, n int, sel vector.Sel, rows []uint32) {
	if c.words != nil {
		vector.ViewRowsAt(dst, c.v, c.words, n, sel, rows)
		return
	}
	vector.PickAt(dst, c.v, n, sel, rows)
}
