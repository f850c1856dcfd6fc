package imcv

import (
	"math"
	"sort"
	"unsafe"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// asSlice views bytes as a slice of wider integers. b must come from alignedBytes.
func asSlice[T uint16 | uint32](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// alignedBytes returns n bytes at an 8-byte boundary.
func alignedBytes(n int) []byte {
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n)
}

// unitBuilder collects one column of a row group in position order.
type unitBuilder struct {
	kind   vector.Kind
	values *vector.Vector // index = position; holes are zero values
	nulls  int
	rows   int // rows added
	// unordered values cannot be compared by their representation: numerics in byte form.
	unordered bool
}

func newUnitBuilder(t catalog.Type) *unitBuilder {
	kind := t.Kind()
	return &unitBuilder{kind: kind, values: vector.New(kind, 0), unordered: t.ID == catalog.Numeric && kind == vector.Bytes}
}

// add appends the rows of v, whose positions are given in ascending order.
func (b *unitBuilder) add(v *vector.Vector, positions []int) {
	for i, at := range positions {
		b.pad(at)
		if v.IsNull(i) {
			b.nulls++
			vector.AppendDatum(b.values, vector.NullDatum(b.kind))
			continue
		}
		b.append(v, i)
	}
	b.rows += len(positions)
}

// append adds row i of v without boxing it.
func (b *unitBuilder) append(v *vector.Vector, i int) {
	for v.Form != vector.Flat {
		if v.Form == vector.Dict {
			i, v = int(v.Codes()[i]), v.Dict
			continue
		}
		i = 0
		break
	}
	at := b.values.Len
	switch b.kind {
	case vector.Bool, vector.I8:
		vector.Append(b.values, vector.Of[uint8](v)[i])
	case vector.I16:
		vector.Append(b.values, vector.Of[int16](v)[i])
	case vector.I32:
		vector.Append(b.values, vector.Of[int32](v)[i])
	case vector.I64:
		vector.Append(b.values, vector.Of[int64](v)[i])
	case vector.I128:
		vector.Append(b.values, vector.Of[vector.Int128](v)[i])
	case vector.F32:
		vector.Append(b.values, vector.Of[float32](v)[i])
	case vector.F64:
		vector.Append(b.values, vector.Of[float64](v)[i])
	case vector.KindInterval:
		vector.Append(b.values, vector.Of[vector.Interval](v)[i])
	case vector.Bytes:
		b.values.AppendBytes(v.BytesAt(i))
	}
	if b.values.Valid != nil {
		b.values.SetNull(at, at+1) // grows the bitmap
		b.values.Valid.Set(at)
	}
}

// pad fills positions without rows, which nobody reads, up to at.
func (b *unitBuilder) pad(at int) {
	for b.values.Len < at {
		vector.AppendDatum(b.values, vector.Datum{Kind: b.kind})
	}
}

// finish chooses the smallest of the encodings that fit and returns the unit.
func (b *unitBuilder) finish(present func(int) bool) *unit {
	u := &unit{kind: b.kind, rows: b.values.Len}
	if b.nulls > 0 {
		u.valid = append(vector.Bitmap(nil), b.values.Valid.Grow(b.values.Len)...)
	}
	null := vector.NullDatum(b.kind)
	u.zone = Zone{Min: null, Max: null, Nulls: b.nulls, Rows: b.rows}
	if b.unordered {
		b.finishBytes(u)
		return u
	}
	s := summarize(b.values, u.valid, present)
	u.zone.Min, u.zone.Max = s.min, s.max
	switch {
	case s.min.Null: // nothing but NULLs
		u.encoding, u.value = constant, vector.NullDatum(b.kind)
		if u.valid == nil {
			u.valid = vector.NewBitmap(u.rows)
		}
	case s.single:
		u.encoding, u.value = constant, s.min
	case b.kind == vector.Bytes:
		b.finishBytes(u)
	case isInteger(b.kind):
		b.finishInteger(u, s)
	default:
		u.fixed = exactCopy(vector.Of[uint8](b.values))
	}
	return u
}

func isInteger(k vector.Kind) bool { return k == vector.I16 || k == vector.I32 || k == vector.I64 }

// exactCopy copies bytes into memory of just their size.
func exactCopy(b []byte) []byte {
	out := alignedBytes(len(b))
	copy(out, b)
	return out
}

// summary is what encoding choice needs to know of a column's values.
type summary struct {
	min, max vector.Datum
	single   bool // all values are equal
}

func summarize(v *vector.Vector, valid vector.Bitmap, present func(int) bool) summary {
	lo, hi := -1, -1
	for i := range v.Len {
		if !present(i) || valid != nil && !valid.Get(i) {
			continue
		}
		if lo < 0 {
			lo, hi = i, i
			continue
		}
		if vector.CompareRows(v, i, v, lo) < 0 {
			lo = i
		} else if vector.CompareRows(v, i, v, hi) > 0 {
			hi = i
		}
	}
	if lo < 0 {
		null := vector.NullDatum(v.Kind)
		return summary{min: null, max: null}
	}
	s := summary{min: vector.DatumAt(v, lo), max: vector.DatumAt(v, hi)}
	// Equal in order is not equal in representation for floats (−0, 0) and byte-form numerics
	// (1.0, 1.00): those stay plain.
	s.single = s.min == s.max && (v.Kind != vector.F32 && v.Kind != vector.F64 && v.Kind != vector.KindInterval) && v.Kind != vector.Bytes
	return s
}

// finishInteger packs integers into the fewest bytes that hold max − min.
func (b *unitBuilder) finishInteger(u *unit, s summary) {
	span := uint64(s.max.I) - uint64(s.min.I)
	width := 8
	switch {
	case span <= math.MaxUint8:
		width = 1
	case span <= math.MaxUint16:
		width = 2
	case span <= math.MaxUint32:
		width = 4
	}
	if width >= b.kind.Width() {
		u.fixed = exactCopy(vector.Of[uint8](b.values))
		return
	}
	u.encoding, u.base, u.width = packed, s.min.I, width
	u.codes = alignedBytes(width * u.rows)
	switch b.kind {
	case vector.I16:
		packInto(u, vector.Of[int16](b.values))
	case vector.I32:
		packInto(u, vector.Of[int32](b.values))
	case vector.I64:
		packInto(u, vector.Of[int64](b.values))
	}
}

// packInto stores the low bytes of value − base; at holes and NULLs that is some number, which
// nobody reads.
func packInto[T signed](u *unit, values []T) {
	base := T(u.base)
	switch u.width {
	case 1:
		for i, x := range values {
			u.codes[i] = uint8(x - base)
		}
	case 2:
		codes := asSlice[uint16](u.codes)
		for i, x := range values {
			codes[i] = uint16(x - base)
		}
	case 4:
		codes := asSlice[uint32](u.codes)
		for i, x := range values {
			codes[i] = uint32(x - base)
		}
	}
}

// maxDictionaryShare is the largest number of distinct strings, as a share of the rows, for which
// a dictionary is built: beyond it the codes save less than the indirection costs.
const maxDictionaryShare = 0.5

// finishBytes builds a sorted dictionary, or keeps strings plain where they hardly repeat.
func (b *unitBuilder) finishBytes(u *unit) {
	codeOf := map[string]uint32{}
	limit := int(maxDictionaryShare*float64(b.rows)) + 1
	codes := make([]uint32, u.rows)
	var distinct []string
	for i := range u.rows {
		value := b.values.BytesAt(i)
		code, ok := codeOf[string(value)]
		if !ok {
			if len(distinct) >= limit {
				u.offsets = append([]int32(nil), b.values.Offsets()...)
				u.heap = append([]byte(nil), b.values.Heap()...)
				return
			}
			code = uint32(len(distinct))
			distinct = append(distinct, string(value))
			codeOf[distinct[code]] = code
		}
		codes[i] = code
	}
	order := make([]int, len(distinct))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return distinct[order[i]] < distinct[order[j]] })
	rank := make([]uint32, len(distinct))
	u.dict = vector.New(vector.Bytes, len(distinct))
	for r, at := range order {
		rank[at] = uint32(r)
		u.dict.AppendString(distinct[at])
	}
	u.encoding = dictionary
	u.packCodes(codes, rank)
}

func (u *unit) packCodes(codes, rank []uint32) {
	switch n := len(rank); {
	case n <= 1<<8:
		u.width = 1
	case n <= 1<<16:
		u.width = 2
	default:
		u.width = 4
	}
	u.codes = alignedBytes(u.width * u.rows)
	switch u.width {
	case 1:
		for i, c := range codes {
			u.codes[i] = uint8(rank[c])
		}
	case 2:
		out := asSlice[uint16](u.codes)
		for i, c := range codes {
			out[i] = uint16(rank[c])
		}
	case 4:
		out := asSlice[uint32](u.codes)
		for i, c := range codes {
			out[i] = rank[c]
		}
	}
}
