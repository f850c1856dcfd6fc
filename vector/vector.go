package vector

import (
	"unsafe"
)

// Form tells how a vector's values are stored.
type Form uint8

// The forms. A Const vector holds one value that stands for every row. A Dict vector holds uint32
// codes into a shared, immutable dictionary vector.
const (
	Flat Form = iota
	Const
	Dict
)

// Vector is one column of a batch.
//
// Memory is borrowed from whoever filled it and is readable until that caller's Push or Next
// returns, unless the filler states more (column units are immutable and live while pinned). A
// vector is not safe for concurrent use; readers of an immutable one may share it.
//
// Valid is nil when no value is NULL; otherwise a set bit means "not NULL", as in Arrow. For Const
// only bit 0 counts; for Dict it speaks of rows, and the dictionary itself holds no NULLs. The
// value stored at a NULL row is arbitrary but readable.
type Vector struct {
	Kind  Kind
	Form  Form
	Len   int    // physical rows: 1 for Const
	Valid Bitmap // nil = no NULLs
	Dict  *Vector

	data []byte // values; int32 offsets (Len+1 of them) when Kind is Bytes; uint32 codes when Dict
	heap []byte // Kind Bytes, Form Flat or Const

	validBuf Bitmap // kept between uses so that Reset does not allocate

	// While v is a view of memory that others own, its own memory waits here: writing into what a
	// view sees would change a column unit, or another vector.
	view             bool
	ownData, ownHeap []byte
}

// show makes v a view of w's memory, which is not v's own.
func (v *Vector) show(w Vector) {
	w.validBuf, w.view = v.validBuf, true
	w.ownData, w.ownHeap = v.data, v.heap
	if v.view {
		w.ownData, w.ownHeap = v.ownData, v.ownHeap
	}
	*v = w
}

// own gives a view its own memory back, to be written to.
func (v *Vector) own() {
	if v.view {
		v.data, v.heap = v.ownData, v.ownHeap
		v.view, v.ownData, v.ownHeap = false, nil, nil
	}
}

// New returns an empty flat vector with room for capacity rows.
func New(kind Kind, capacity int) *Vector {
	v := &Vector{}
	v.Reset(kind, capacity)
	v.Len = 0
	return v
}

// Reset makes v a flat vector of n rows with no NULLs, keeping its memory. Fixed-width values are
// unspecified; a Bytes vector becomes empty of rows and is filled with AppendBytes.
func (v *Vector) Reset(kind Kind, n int) {
	v.own()
	v.Kind, v.Form, v.Dict, v.Valid = kind, Flat, nil, nil
	if kind == Bytes {
		v.data = growAligned(v.data, (n+1)*4)[:4]
		v.heap = v.heap[:0]
		*(*int32)(unsafe.Pointer(&v.data[0])) = 0
		v.Len = 0
		return
	}
	v.Len = n
	v.data = growAligned(v.data, n*kind.Width())
}

// growAligned returns an 8-byte aligned slice of n bytes, reusing b where it is large enough.
func growAligned(b []byte, n int) []byte {
	if cap(b) >= n && cap(b) > 0 {
		return b[:n]
	}
	return alignedBytes(max(n, 8))[:n]
}

func alignedBytes(n int) []byte {
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
}

// Of views v's values as []T without copying. T must have the kind's width.
func Of[T Elem](v *Vector) []T {
	if len(v.data) == 0 {
		return nil // a pointer to no element must not be formed
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(v.data))), len(v.data)/int(unsafe.Sizeof(*new(T))))
}

// FromSlice makes a flat vector over values without copying them.
func FromSlice[T Elem](kind Kind, values []T) *Vector {
	return &Vector{Kind: kind, Len: len(values), data: BytesOf(values), view: true}
}

// BytesOf views a slice's memory as bytes.
func BytesOf[T Elem](values []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(*new(T))))
}

// SetFixed makes v a flat view of n values of a fixed-width kind stored in data, which must be
// 8-byte aligned and stay unchanged while v is read. valid may be nil.
func (v *Vector) SetFixed(kind Kind, data []byte, n int, valid Bitmap) {
	v.show(Vector{Kind: kind, Len: n, data: data[:n*kind.Width()], Valid: valid})
}

// SetBytes makes v a flat view of len(offsets)-1 strings; offsets need not start at 0.
func (v *Vector) SetBytes(offsets []int32, heap []byte, valid Bitmap) {
	v.show(Vector{Kind: Bytes, Len: len(offsets) - 1, data: BytesOf(offsets), heap: heap, Valid: valid})
}

// SetDict makes v a dictionary view: codes index dict, which holds no NULLs.
func (v *Vector) SetDict(codes []uint32, dict *Vector, valid Bitmap) {
	v.show(Vector{Kind: dict.Kind, Form: Dict, Len: len(codes), Dict: dict, data: BytesOf(codes), Valid: valid})
}

// Codes returns the codes of a Dict vector.
func (v *Vector) Codes() []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(v.data))), v.Len)
}

// Offsets returns the Len+1 offsets of a flat or constant Bytes vector.
func (v *Vector) Offsets() []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(v.data))), v.Len+1)
}

// Heap returns the bytes the offsets point into.
func (v *Vector) Heap() []byte { return v.heap }

// BytesAt returns row i of a Bytes vector in any form. The memory is v's own.
func (v *Vector) BytesAt(i int) []byte {
	switch v.Form {
	case Const:
		i = 0
	case Dict:
		return v.Dict.BytesAt(int(v.Codes()[i]))
	}
	offsets := v.Offsets()
	return v.heap[offsets[i]:offsets[i+1]:offsets[i+1]]
}

// AppendBytes adds a row to a flat Bytes vector.
func (v *Vector) AppendBytes(b []byte) {
	v.heap = append(v.heap, b...)
	v.closeRow()
}

// AppendString adds a row to a flat Bytes vector.
func (v *Vector) AppendString(s string) {
	v.heap = append(v.heap, s...)
	v.closeRow()
}

// FillBytes makes v a flat Bytes vector of n rows, keeping its memory. The caller fills the n+1 offsets, of
// which the first is 0, and the heap, which has at least heapBytes.
func (v *Vector) FillBytes(n, heapBytes int) (offsets []int32, heap []byte) {
	v.Reset(Bytes, n)
	if cap(v.heap) < heapBytes {
		v.heap = make([]byte, heapBytes+heapBytes/2)
	}
	v.heap, v.data, v.Len = v.heap[:cap(v.heap)], v.data[:(n+1)*4], n
	return v.Offsets(), v.heap
}

// HeapBuf returns the heap to append a value to; EndBytes closes the row.
func (v *Vector) HeapBuf() []byte { return v.heap }

// EndBytes ends a row whose bytes were appended to HeapBuf's slice.
func (v *Vector) EndBytes(heap []byte) {
	v.heap = heap
	v.closeRow()
}

func (v *Vector) closeRow() {
	n := (v.Len + 2) * 4
	if n > cap(v.data) {
		grown := alignedBytes(max(2*cap(v.data), n, 64))
		copy(grown, v.data)
		v.data = grown
	}
	v.data = v.data[:n]
	v.Len++
	*(*int32)(unsafe.Pointer(&v.data[v.Len*4])) = int32(len(v.heap))
}

// Append adds a value to a flat fixed-width vector.
func Append[T Elem](v *Vector, value T) {
	width := int(unsafe.Sizeof(value))
	n := (v.Len + 1) * width
	if n > cap(v.data) {
		grown := alignedBytes(max(2*cap(v.data), n, 64))
		copy(grown, v.data)
		v.data = grown
	}
	v.data = v.data[:n]
	*(*T)(unsafe.Pointer(&v.data[n-width])) = value
	v.Len++
}

// IsNull reports whether row i is NULL, in any form.
func (v *Vector) IsNull(i int) bool {
	if v.Valid == nil {
		return false
	}
	if v.Form == Const {
		i = 0
	}
	return !v.Valid.Get(i)
}

// SetNull marks row i NULL. n is the number of rows the vector will have at least.
func (v *Vector) SetNull(i, n int) {
	if v.Valid == nil {
		v.AllValid(n)
	} else if len(v.Valid)*64 <= i {
		old := len(v.Valid) * 64
		v.Valid = v.Valid.Grow(max(n, i+1))
		for j := old; j < len(v.Valid)*64; j++ {
			v.Valid.Set(j)
		}
		v.validBuf = v.Valid
	}
	v.Valid.Clear(i)
}

// AllValid gives v its own validity bitmap of n set bits, to be narrowed by the caller.
func (v *Vector) AllValid(n int) Bitmap {
	v.validBuf = v.validBuf[:0].Grow(n)
	for i := range v.validBuf {
		v.validBuf[i] = ^uint64(0)
	}
	v.Valid = v.validBuf
	return v.Valid
}

// SizeBytes is the memory v itself holds, without a shared dictionary.
func (v *Vector) SizeBytes() int { return cap(v.data) + cap(v.heap) + 8*cap(v.validBuf) }
