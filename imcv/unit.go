package imcv

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// Encoding says how a unit's values are stored. All of them give any position at a cost that does not
// grow with the unit, or with the logarithm of it.
type Encoding uint8

// The encodings, from the one that stores nothing to the one that stores everything.
const (
	Constant   Encoding = iota // one value for all rows that are not NULL
	Packed                     // offsets of 1, 2 or 4 bytes from a base, in multiples of a step
	Sequence                   // offsets from a straight line over the positions
	Runs                       // packed values, one for all rows of a run
	Dictionary                 // codes into a sorted list of the distinct values
	Scaled                     // floats as packed decimals
	Narrow                     // 128-bit integers as packed 64-bit ones
	Symbols                    // strings as codes of frequent substrings
	Plain                      // values as in a vector
	encodingCount
)

var encodingNames = [encodingCount]string{"constant", "packed", "sequence", "runs", "dictionary", "scaled", "narrow", "symbols", "plain"}

// String returns the encoding's name in views and messages.
func (e Encoding) String() string { return encodingNames[e] }

// unit is one column of one row group. It is immutable and pointer-poor: values lie in a few large
// slices that the garbage collector need not scan. Index i is in-group position i; positions
// without a row hold arbitrary values.
type unit struct {
	kind   vector.Kind
	rows   int           // positions 0 … rows−1
	valid  vector.Bitmap // nil = no NULL among the rows present
	zone   Zone
	values values
	bloom  bloom // of the values, nil = none
}

// Zone summarises a unit's rows: bounds of the values that are not NULL, and how many are NULL.
type Zone struct {
	Min, Max vector.Datum // Null when every value is NULL, or values have no bounds
	Nulls    int
	Rows     int
}

// values is the content of a unit in one encoding. Implementations are immutable.
type values interface {
	encoding() Encoding
	// read makes v the n values from a position on. valid says which of them are not NULL, nil = all;
	// sel which will be looked at, nil = all. v may share memory with the unit.
	read(v *vector.Vector, from, n int, valid vector.Bitmap, sel vector.Sel, s *scratch)
	// sizeBytes is the memory the values take.
	sizeBytes() int
	// write appends what readValues makes the values from again.
	write(w *unitWriter)
}

// scratch is a reader's memory for values on their way into a vector.
type scratch struct {
	values []int64
	masks  [maskWords]uint64
}

// ints returns room for n integers.
func (s *scratch) ints(n int) []int64 {
	if cap(s.values) < n {
		s.values = make([]int64, max(n, vector.BatchCap))
	}
	return s.values[:n]
}

// sizeBytes is the memory the unit takes. Its Bloom filter counts with its group: it stays in memory.
func (u *unit) sizeBytes() int64 {
	return int64(u.values.sizeBytes() + 8*len(u.valid) + unitOverheadBytes)
}

// unitOverheadBytes is what a unit takes besides its values.
const unitOverheadBytes = 256

// plainBytes is what the unit's values would take without any encoding.
func (u *unit) plainBytes() int64 {
	n := 8 * len(u.valid)
	switch x := u.values.(type) {
	case *plainStrings:
		n += x.sizeBytes()
	case *symbols:
		n += x.plain + 4*(u.rows+1)
	case *dictionary:
		n += x.plainBytes(u.rows)
	case *constant:
		if n += u.rows * u.kind.Width(); u.kind == vector.Bytes {
			n += u.rows * (4 + len(x.value.S))
		}
	default:
		n += u.rows * u.kind.Width()
	}
	return int64(n)
}

// read makes v positions from … from+n−1. Plain values and dictionaries are shared with the unit,
// others are unpacked into v's own memory; where sel is given, rows outside of it may be left out.
func (u *unit) read(v *vector.Vector, from, n int, sel vector.Sel, s *scratch) {
	u.values.read(v, from, n, u.validSlice(from, n), sel, s)
}

// validSlice returns the validity of positions from … from+n−1, nil if all are valid.
func (u *unit) validSlice(from, n int) vector.Bitmap {
	if u.valid == nil {
		return nil
	}
	if from&63 == 0 {
		return u.valid[from>>6 : (from+n+63)>>6]
	}
	return shiftBits(vector.NewBitmap(n), u.valid, from)
}

// shiftBits fills dst with the bits of src from a position on.
func shiftBits(dst, src vector.Bitmap, from int) vector.Bitmap {
	shift := uint(from & 63)
	word := from >> 6
	for i := range dst {
		w := uint64(0)
		if word+i < len(src) {
			w = src[word+i] >> shift
		}
		if shift > 0 && word+i+1 < len(src) {
			w |= src[word+i+1] << (64 - shift)
		}
		dst[i] = w
	}
	return dst
}

// columnType is the catalog type whose values a column's units hold.
type columnType struct {
	id  catalog.ColumnID
	typ catalog.Type
}
