package vector

// A flat vector of strings that does not change any more can serve as the dictionary of vectors
// that hold some of its rows: their codes are row numbers, and no string is copied.

// Words returns src, a flat Bytes vector with at least one row, as a dictionary: the same strings,
// without NULLs.
func Words(src *Vector) *Vector {
	words := &Vector{}
	words.show(Vector{Kind: src.Kind, Form: src.Form, Len: src.Len, Dict: src.Dict, data: src.data, heap: src.heap})
	return words
}

// ViewRows makes dst the rows idx of src, whose dictionary is words, in dictionary form. NoRow gives
// NULL.
func ViewRows(dst, src, words *Vector, idx []uint32) {
	dst.viewOf(words, len(idx))
	copy(dst.Codes(), idx)
	missing := false
	for _, i := range idx {
		missing = missing || i == NoRow
	}
	if !missing && src.Valid == nil {
		return
	}
	valid, codes := dst.AllValid(len(idx)), dst.Codes()
	for k, i := range idx {
		if i == NoRow {
			codes[k] = 0
		}
		if i == NoRow || src.IsNull(int(i)) {
			valid.Clear(k)
		}
	}
}

// ViewRowsAt makes dst a vector of n rows in dictionary form whose row sel[k] is row idx[k] of src,
// NULL where that is NoRow. Rows outside the selection are arbitrary.
func ViewRowsAt(dst, src, words *Vector, n int, sel Sel, idx []uint32) {
	dst.viewOf(words, n)
	clear(dst.data)
	codes, missing := dst.Codes(), src.Valid != nil
	sel = sel[:len(idx)]
	for k, i := range idx {
		if i == NoRow {
			missing = true
			continue
		}
		codes[sel[k]] = i
	}
	if missing {
		pickValidAt(dst, src, n, sel, idx)
	}
}

func (v *Vector) viewOf(words *Vector, n int) {
	v.own()
	v.Kind, v.Form, v.Dict, v.Valid, v.Len = words.Kind, Dict, words, nil, n
	v.data = growAligned(v.data, n*4)
}
