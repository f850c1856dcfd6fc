package imcv

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// encoding says how a unit's values are stored. All of them give any position in O(1).
type encoding uint8

const (
	plain      encoding = iota // values as in a vector
	constant                   // one value for all rows that are not NULL
	packed                     // unsigned offsets of 1, 2 or 4 bytes from a base
	dictionary                 // codes of 1, 2 or 4 bytes into a sorted dictionary
)

var encodingNames = [...]string{"plain", "constant", "packed", "dictionary"}

func (e encoding) String() string { return encodingNames[e] }

// unit is one column of one row group. It is immutable and pointer-poor: values lie in a few large
// slices that the garbage collector need not scan. Index i is in-group position i; positions
// without a row hold arbitrary values.
type unit struct {
	kind     vector.Kind
	encoding encoding
	rows     int           // positions 0 … rows−1
	valid    vector.Bitmap // nil = no NULL among the rows present
	zone     Zone

	fixed   []byte         // plain fixed-width values, 8-byte aligned
	offsets []int32        // plain Bytes
	heap    []byte         // plain Bytes
	value   vector.Datum   // constant
	base    int64          // packed
	width   int            // packed and dictionary: bytes a code
	codes   []byte         // packed and dictionary
	dict    *vector.Vector // dictionary: distinct values, ascending
}

// Zone summarises a unit's rows: bounds of the values that are not NULL, and how many are NULL.
type Zone struct {
	Min, Max vector.Datum // Null when every value is NULL
	Nulls    int
	Rows     int
}

// sizeBytes is the memory the unit takes.
func (u *unit) sizeBytes() int64 {
	n := len(u.fixed) + 4*len(u.offsets) + len(u.heap) + len(u.codes) + 8*len(u.valid) + unitOverheadBytes
	if u.dict != nil {
		n += u.dict.SizeBytes()
	}
	return int64(n)
}

// unitOverheadBytes is what a unit takes besides its values.
const unitOverheadBytes = 256

// read makes v positions from … from+n−1. Plain values and dictionaries are shared with the unit,
// packed values are unpacked into v's own memory.
func (u *unit) read(v *vector.Vector, from, n int) {
	valid := u.validSlice(v, from, n)
	switch u.encoding {
	case plain:
		if u.kind == vector.Bytes {
			v.SetBytes(u.offsets[from:from+n+1], u.heap, valid)
		} else {
			w := u.kind.Width()
			v.SetFixed(u.kind, u.fixed[from*w:(from+n)*w], n, valid)
		}
		return
	case constant:
		if valid == nil {
			v.SetConst(u.value)
			return
		}
		u.readConstant(v, n)
	case packed:
		u.readPacked(v, from, n)
	case dictionary:
		codes := u.unpackCodes(v, from, n)
		v.SetDict(codes, u.dict, valid)
		return
	}
	v.Valid = valid
}

// validSlice returns the validity of positions from … from+n−1, nil if all are valid.
func (u *unit) validSlice(v *vector.Vector, from, n int) vector.Bitmap {
	if u.valid == nil {
		return nil
	}
	if from&63 == 0 {
		return u.valid[from>>6 : (from+n+63)>>6]
	}
	return shiftBits(vector.NewBitmap(n), u.valid, from, n)
}

// shiftBits copies n bits from position from of src to the start of dst.
func shiftBits(dst, src vector.Bitmap, from, n int) vector.Bitmap {
	shift := uint(from & 63)
	word := from >> 6
	for i := range dst {
		w := src[word+i] >> shift
		if shift > 0 && word+i+1 < len(src) {
			w |= src[word+i+1] << (64 - shift)
		}
		dst[i] = w
	}
	return dst
}

// readConstant repeats the value: NULLs among the rows need a validity per row.
func (u *unit) readConstant(v *vector.Vector, n int) {
	v.Reset(u.kind, 0)
	for range n {
		vector.AppendDatum(v, u.value)
	}
}

func (u *unit) readPacked(v *vector.Vector, from, n int) {
	v.Reset(u.kind, n)
	switch u.kind {
	case vector.I16:
		unpackInto(vector.Of[int16](v), u, from)
	case vector.I32:
		unpackInto(vector.Of[int32](v), u, from)
	case vector.I64:
		unpackInto(vector.Of[int64](v), u, from)
	default:
		panic("imcv: packed unit of kind " + u.kind.String())
	}
}

type signed interface{ ~int16 | ~int32 | ~int64 }

func unpackInto[T signed](dst []T, u *unit, from int) {
	base := T(u.base)
	switch u.width {
	case 1:
		widen(dst, u.codes[from:from+len(dst)], base)
	case 2:
		widen(dst, asSlice[uint16](u.codes)[from:from+len(dst)], base)
	case 4:
		widen(dst, asSlice[uint32](u.codes)[from:from+len(dst)], base)
	}
}

func widen[T signed, C uint8 | uint16 | uint32](dst []T, codes []C, base T) {
	codes = codes[:len(dst)]
	for i := range dst {
		dst[i] = base + T(codes[i])
	}
}

// unpackCodes widens dictionary codes into v's own memory.
func (u *unit) unpackCodes(v *vector.Vector, from, n int) []uint32 {
	if u.width == 4 {
		return asSlice[uint32](u.codes)[from : from+n]
	}
	v.Reset(vector.I32, n)
	dst := vector.Of[uint32](v)
	if u.width == 1 {
		widenCodes(dst, u.codes[from:from+n])
	} else {
		widenCodes(dst, asSlice[uint16](u.codes)[from:from+n])
	}
	return dst
}

func widenCodes[C uint8 | uint16](dst []uint32, codes []C) {
	codes = codes[:len(dst)]
	for i := range dst {
		dst[i] = uint32(codes[i])
	}
}

// columnType is the catalog type whose values a column's units hold.
type columnType struct {
	id  catalog.ColumnID
	typ catalog.Type
}
