package vector

import (
	"slices"
	"unsafe"
)

// Gather makes dst a flat vector of the rows idx of src, which may have any form. dst keeps its
// memory and is not src.
func Gather(dst, src *Vector, idx []uint32) {
	dst.clearRows(src.Kind)
	appendRows(dst, src, idx)
}

// GatherSel is Gather for the rows of a selection: row k of dst is row sel[k] of src.
func GatherSel(dst, src *Vector, sel Sel) {
	dst.clearRows(src.Kind)
	appendRows(dst, src, sel)
}

// AppendGather appends the rows idx of src, of any form, to dst, a flat vector of the same kind.
func AppendGather(dst, src *Vector, idx []uint32) { appendRows(dst, src, idx) }

// AppendSel appends the rows of a selection of src, of any form, to dst, a flat vector of the same
// kind.
func AppendSel(dst, src *Vector, sel Sel) { appendRows(dst, src, sel) }

// AppendRange appends rows from to to-1 of src, of any form, to dst, a flat vector of the same kind.
func AppendRange(dst, src *Vector, from, to int) {
	if from == to {
		return
	}
	if src.Form != Flat {
		for i := from; i < to; i++ {
			idx := [1]uint32{uint32(i)}
			appendRows(dst, src, idx[:])
		}
		return
	}
	row := dst.Len
	if dst.Kind == Bytes {
		appendBytesRange(dst, src, from, to)
	} else {
		width := dst.Kind.Width()
		dst.growRows(to - from)
		copy(dst.data[row*width:], src.data[from*width:to*width])
	}
	if src.Valid != nil || dst.Valid != nil {
		dst.extendValid(row)
		for i := from; i < to; i++ {
			if src.Valid != nil && !src.Valid.Get(i) {
				dst.Valid.Clear(row + i - from)
			}
		}
	}
}

func appendBytesRange(dst, src *Vector, from, to int) {
	offsets := src.Offsets()
	shift := int32(len(dst.heap)) - offsets[from]
	dst.heap = append(dst.heap, src.heap[offsets[from]:offsets[to]]...)
	row := dst.Len
	dst.growRows(to - from)
	out := dst.Offsets()
	for i := from; i < to; i++ {
		out[row+1+i-from] = offsets[i+1] + shift
	}
}

// Flatten makes dst a flat copy of n rows of src, or returns src itself when it is flat already.
func Flatten(dst, src *Vector, n int) *Vector {
	switch src.Form {
	case Const:
		dst.clearRows(src.Kind)
		dst.appendRepeat(src, n)
		return dst
	case Dict:
		dst.clearRows(src.Kind)
		appendTyped(dst, src.Dict, src.Codes()[:n])
		if src.Valid != nil {
			copy(dst.AllValid(n), src.Valid)
		}
		return dst
	}
	return src
}

// clearRows makes v an empty flat vector, keeping its memory.
func (v *Vector) clearRows(kind Kind) {
	v.Reset(kind, 0)
	v.Len = 0
}

// growRows makes room for n more rows and counts them; fixed-width values are unspecified.
func (v *Vector) growRows(n int) {
	width, slots := v.Kind.Width(), v.Len+n
	if v.Kind == Bytes {
		width, slots = 4, slots+1
	}
	size := slots * width
	if size > cap(v.data) {
		grown := alignedBytes(max(2*cap(v.data), size, 64))
		copy(grown, v.data)
		v.data = grown
	}
	v.data = v.data[:size]
	v.Len += n
}

// extendValid gives every row from row on a set bit in v's own bitmap.
func (v *Vector) extendValid(row int) {
	if v.Valid == nil {
		v.AllValid(v.Len)
		return
	}
	have := len(v.Valid) * 64
	v.Valid = v.Valid.Grow(v.Len)
	v.validBuf = v.Valid
	for i := have; i < len(v.Valid)*64; i += 64 {
		v.Valid[i>>6] = ^uint64(0)
	}
	for i := row; i < min(have, v.Len); i++ {
		v.Valid.Set(i)
	}
}

// appendRepeat appends n copies of a constant.
func (v *Vector) appendRepeat(src *Vector, n int) {
	row := v.Len
	if v.Kind == Bytes {
		value := src.BytesAt(0)
		for range n {
			v.AppendBytes(value)
		}
	} else {
		v.growRows(n)
		width := v.Kind.Width()
		block := v.data[row*width:]
		if len(block) > 0 {
			copy(block, src.data[:width])
			for have := width; have < len(block); have *= 2 {
				copy(block[have:], block[:have])
			}
		}
	}
	if src.IsNull(0) {
		v.extendValid(row)
		for i := row; i < v.Len; i++ {
			v.Valid.Clear(i)
		}
	} else if v.Valid != nil {
		v.extendValid(row)
	}
}

func appendRows[I uint16 | uint32](dst, src *Vector, idx []I) {
	if len(idx) == 0 {
		return
	}
	row := dst.Len
	switch src.Form {
	case Const:
		dst.appendRepeat(src, len(idx))
		return
	case Dict:
		appendDict(dst, src, idx)
	default:
		appendTyped(dst, src, idx)
	}
	if src.Valid == nil && dst.Valid == nil {
		return
	}
	dst.extendValid(row)
	if src.Valid != nil {
		for k, i := range idx {
			if !src.Valid.Get(int(i)) {
				dst.Valid.Clear(row + k)
			}
		}
	}
}

// appendTyped appends values of a flat vector, without validity.
func appendTyped[I uint16 | uint32](dst, src *Vector, idx []I) {
	row := dst.Len
	if dst.Kind == Bytes {
		offsets, heap, out := src.Offsets(), src.heap, dst.heap
		dst.growRows(len(idx))
		ends := dst.Offsets()[row+1:]
		size := 0
		for _, i := range idx {
			size += int(offsets[i+1] - offsets[i])
		}
		out = slices.Grow(out, size)
		for k, i := range idx {
			out = append(out, heap[offsets[i]:offsets[i+1]]...)
			ends[k] = int32(len(out))
		}
		dst.heap = out
		return
	}
	dst.growRows(len(idx))
	switch dst.Kind.Width() {
	case 1:
		gatherFixed[uint8](dst, src, row, idx)
	case 2:
		gatherFixed[uint16](dst, src, row, idx)
	case 4:
		gatherFixed[uint32](dst, src, row, idx)
	case 8:
		gatherFixed[uint64](dst, src, row, idx)
	case 16:
		gatherFixed[Int128](dst, src, row, idx)
	}
}

func gatherFixed[T Elem, I uint16 | uint32](dst, src *Vector, row int, idx []I) {
	out, in := Of[T](dst)[row:], Of[T](src)
	out = out[:len(idx)]
	for k, i := range idx {
		out[k] = in[i]
	}
}

// appendDict appends values of a dictionary vector, without validity.
func appendDict[I uint16 | uint32](dst, src *Vector, idx []I) {
	codes, dict := src.Codes(), src.Dict
	var chunk [256]uint32
	for len(idx) > 0 {
		n := min(len(idx), len(chunk))
		for k, i := range idx[:n] {
			chunk[k] = codes[i]
		}
		if dict.Len == 0 { // only NULL rows refer to an empty dictionary
			dst.appendZero(n)
		} else {
			for k := range n {
				if int(chunk[k]) >= dict.Len {
					chunk[k] = 0
				}
			}
			appendTyped(dst, dict, chunk[:n])
		}
		idx = idx[n:]
	}
}

// appendZero appends n zero values.
func (v *Vector) appendZero(n int) {
	if v.Kind == Bytes {
		for range n {
			v.closeRow()
		}
		return
	}
	row := v.Len
	v.growRows(n)
	clear(v.data[row*v.Kind.Width():])
}

// CopyRow overwrites row i of a flat fixed-width vector with row j of src, of any form.
func CopyRow(dst *Vector, i int, src *Vector, j int) {
	src, j = resolveRow(src, j)
	width := dst.Kind.Width()
	copy(dst.data[i*width:(i+1)*width], src.data[j*width:(j+1)*width])
}

// Scatter writes row i of src, of any form, to row i of dst for every row of sel; dst is flat, of
// the same fixed-width kind and long enough.
func Scatter(dst, src *Vector, sel Sel) {
	switch dst.Kind.Width() {
	case 1:
		scatterFixed[uint8](dst, src, sel)
	case 2:
		scatterFixed[uint16](dst, src, sel)
	case 4:
		scatterFixed[uint32](dst, src, sel)
	case 8:
		scatterFixed[uint64](dst, src, sel)
	case 16:
		scatterFixed[Int128](dst, src, sel)
	}
}

func scatterFixed[T Elem](dst, src *Vector, sel Sel) {
	out := Of[T](dst)
	switch src.Form {
	case Const:
		c := Of[T](src)[0]
		for _, i := range sel {
			out[i] = c
		}
	case Dict:
		in, codes := Of[T](src.Dict), src.Codes()
		for _, i := range sel {
			if c := codes[i]; int(c) < len(in) {
				out[i] = in[c]
			}
		}
	default:
		in := Of[T](src)
		for _, i := range sel {
			out[i] = in[i]
		}
	}
}

// setOffset writes entry i of a Bytes vector's offsets.
func (v *Vector) setOffset(i int, offset int32) {
	*(*int32)(unsafe.Pointer(&v.data[i*4])) = offset
}

// CloseTo appends empty rows to a flat Bytes vector until it has n; validity is left as it is.
func (v *Vector) CloseTo(n int) {
	row := v.Len
	if n <= row {
		return
	}
	v.growRows(n - row)
	end := int32(len(v.heap))
	for i := row + 1; i <= n; i++ {
		v.setOffset(i, end)
	}
}

// SetSlice makes v a view of rows from to to-1 of src, which is flat and has no NULLs.
func (v *Vector) SetSlice(src *Vector, from, to int) {
	if src.Kind == Bytes {
		v.SetBytes(src.Offsets()[from:to+1], src.heap, nil)
		return
	}
	v.SetFixed(src.Kind, src.data[from*src.Kind.Width():], to-from, nil)
}
