package vector

// Slice makes dst a view of rows from to from+n-1 of src, in any form; from is a multiple of 64.
// Nothing is copied: dst is readable as long as src.
func Slice(dst, src *Vector, from, n int) {
	if src.Form == Const {
		dst.show(Vector{Kind: src.Kind, Form: Const, Len: src.Len, Valid: src.Valid, Dict: src.Dict, data: src.data, heap: src.heap})
		return
	}
	var valid Bitmap
	if src.Valid != nil {
		valid = src.Valid[from>>6:]
	}
	width := src.Kind.Width()
	switch {
	case src.Form == Dict:
		width = 4
	case src.Kind == Bytes:
		dst.show(Vector{Kind: Bytes, Len: n, Valid: valid, data: src.data[from*4 : (from+n+1)*4], heap: src.heap})
		return
	}
	dst.show(Vector{Kind: src.Kind, Form: src.Form, Len: n, Valid: valid, Dict: src.Dict, data: src.data[from*width : (from+n)*width]})
}

// NullRows makes v a constant NULL of a kind, keeping its memory.
func (v *Vector) NullRows(kind Kind) { v.SetConst(NullDatum(kind)) }
