package vector

// NoRow in a list of rows stands for a row of NULLs.
const NoRow = ^uint32(0)

// Pick makes dst the rows idx of src. A dictionary vector stays one: its codes are copied, its
// strings are not; other forms become flat. dst keeps its memory and is not src.
func Pick(dst, src *Vector, idx []uint32) {
	if src.Form != Dict {
		Gather(dst, src, idx)
		return
	}
	dst.resetCodes(src, len(idx))
	out, in := dst.Codes(), src.Codes()
	out = out[:len(idx)]
	for k, i := range idx {
		out[k] = in[i]
	}
	if src.Valid != nil {
		pickValid(dst, src, idx)
	}
}

// PickOuter is Pick where NoRow gives NULL.
func PickOuter(dst, src *Vector, idx []uint32) {
	missing := false
	for _, i := range idx {
		missing = missing || i == NoRow
	}
	if !missing {
		Pick(dst, src, idx)
		return
	}
	switch {
	case src.Form != Dict && src.Kind == Bytes:
		dst.Reset(Bytes, len(idx))
		for _, i := range idx {
			if i == NoRow {
				dst.closeRow()
			} else {
				dst.AppendBytes(src.BytesAt(int(i)))
			}
		}
	default:
		dst.resetLike(src, len(idx))
		scatterRows(dst, src, nil, idx)
	}
	valid := dst.AllValid(len(idx))
	for k, i := range idx {
		if i == NoRow || src.IsNull(int(i)) {
			valid.Clear(k)
		}
	}
}

// PickAt makes dst a vector of n rows whose row sel[k] is row idx[k] of src, NULL where that is
// NoRow. Rows outside the selection are arbitrary. src is flat or a dictionary vector.
func PickAt(dst, src *Vector, n int, sel Sel, idx []uint32) {
	if src.Form != Dict && src.Kind == Bytes {
		pickBytesAt(dst, src, n, sel, idx)
	} else {
		dst.resetLike(src, n)
		scatterRows(dst, src, sel, idx)
	}
	missing := src.Valid != nil
	for _, i := range idx {
		missing = missing || i == NoRow
	}
	if missing {
		pickValidAt(dst, src, n, sel, idx)
	}
}

// pickValidAt makes row sel[k] of dst NULL where row idx[k] of src is, or there is no such row.
func pickValidAt(dst, src *Vector, n int, sel Sel, idx []uint32) {
	valid := dst.AllValid(n)
	for k, i := range idx {
		if i == NoRow || src.IsNull(int(i)) {
			valid.Clear(int(sel[k]))
		}
	}
}

func pickValid(dst, src *Vector, idx []uint32) {
	valid := dst.AllValid(len(idx))
	for k, i := range idx {
		if !src.Valid.Get(int(i)) {
			valid.Clear(k)
		}
	}
}

func pickBytesAt(dst, src *Vector, n int, sel Sel, idx []uint32) {
	dst.Reset(Bytes, n)
	offsets, heap := src.Offsets(), src.heap
	dst.data = growAligned(dst.data, (n+1)*4)
	dst.Len = n
	out, row := dst.Offsets(), 0
	h := dst.heap
	for k, i := range idx {
		for at := int32(len(h)); row <= int(sel[k]); row++ {
			out[row] = at
		}
		if i != NoRow {
			h = append(h, heap[offsets[i]:offsets[i+1]]...)
		}
	}
	for at := int32(len(h)); row <= n; row++ {
		out[row] = at
	}
	dst.heap = h
}

// resetCodes makes v a dictionary vector of n unspecified codes over src's dictionary, in v's own
// memory.
func (v *Vector) resetCodes(src *Vector, n int) {
	v.own()
	v.Kind, v.Form, v.Dict, v.Valid, v.Len = src.Kind, Dict, src.Dict, nil, n
	v.data = growAligned(v.data, n*4)
}

// resetLike makes v a vector of n readable rows of src's form, flat or dictionary, but not of
// strings in flat form.
func (v *Vector) resetLike(src *Vector, n int) {
	if src.Form == Dict {
		v.resetCodes(src, n)
		clear(v.data) // unselected rows' codes are read
		return
	}
	v.Reset(src.Kind, n)
}

// scatterRows writes row idx[k] of src to row sel[k] (nil = k) of dst, which has src's form.
func scatterRows(dst, src *Vector, sel Sel, idx []uint32) {
	width := src.Kind.Width()
	if src.Form == Dict {
		width = 4
	}
	switch width {
	case 1:
		scatterAt[uint8](dst, src, sel, idx)
	case 2:
		scatterAt[uint16](dst, src, sel, idx)
	case 4:
		scatterAt[uint32](dst, src, sel, idx)
	case 8:
		scatterAt[uint64](dst, src, sel, idx)
	case 16:
		scatterAt[Int128](dst, src, sel, idx)
	}
}

func scatterAt[T Elem](dst, src *Vector, sel Sel, idx []uint32) {
	out, in := Of[T](dst), Of[T](src)
	if len(in) == 0 { // every row is NoRow
		return
	}
	if sel == nil {
		out = out[:len(idx)]
		for k, i := range idx {
			if i == NoRow {
				i = 0
			}
			out[k] = in[i]
		}
		return
	}
	sel = sel[:len(idx)]
	for k, i := range idx {
		if i == NoRow {
			i = 0
		}
		out[sel[k]] = in[i]
	}
}

// AppendCodes appends codes to a dictionary vector that has its own memory; all rows appended are
// valid.
func (v *Vector) AppendCodes(codes []uint32) {
	row := v.Len
	n := (row + len(codes)) * 4
	if n > cap(v.data) {
		grown := alignedBytes(max(2*cap(v.data), n, 64))
		copy(grown, v.data)
		v.data = grown
	}
	v.data = v.data[:n]
	v.Len += len(codes)
	copy(v.Codes()[row:], codes)
	if v.Valid != nil {
		v.extendValid(row)
	}
}

// ResetDict makes v an empty dictionary vector over dict with its own memory.
func (v *Vector) ResetDict(dict *Vector) {
	v.own()
	v.Kind, v.Form, v.Dict, v.Valid, v.Len = dict.Kind, Dict, dict, nil, 0
	v.data = v.data[:0]
}
