package vector

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/zeebo/xxh3"
)

const (
	hashSeed1 = 0x9E3779B97F4A7C15
	hashSeed2 = 0xD1B54A32D192ED03
	hashNull  = 0x27D4EB2F165667C5
)

// mix is one folded multiplication; it spreads every input bit over the whole result.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^hashSeed1, b^hashSeed2)
	return hi ^ lo
}

// HashInt64 is the hash of an integer of any width.
func HashInt64(x int64) uint64 { return mix(uint64(x), hashSeed2>>1) }

// HashBytes is the hash of a string. Strings of up to 16 bytes, which most keys are, take two loads
// and two multiplications.
func HashBytes(b []byte) uint64 {
	n := len(b)
	switch {
	case n > 16:
		return xxh3.Hash(b)
	case n >= 8:
		return mix(binary.LittleEndian.Uint64(b)+uint64(n), mix(binary.LittleEndian.Uint64(b[n-8:]), hashSeed1))
	case n >= 4:
		lo, hi := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[n-4:])
		return mix(uint64(lo)|uint64(hi)<<32, hashNull+uint64(n))
	case n > 0:
		return mix(uint64(b[0])|uint64(b[n>>1])<<8|uint64(b[n-1])<<16, hashNull+uint64(n))
	}
	return mix(1, hashNull)
}

func hashFloat(f float64) uint64 {
	if f == 0 {
		f = 0 // −0
	}
	if f != f {
		f = math.NaN()
	}
	return HashInt64(int64(math.Float64bits(f)))
}

func hashInt128(x Int128) uint64 {
	if x.IsInt64() {
		return HashInt64(int64(x.Lo))
	}
	return mix(mix(x.Lo, hashSeed2>>1), uint64(x.Hi))
}

// combineHash folds the hash of a further column into that of the ones before it.
func combineHash(have, h uint64) uint64 { return mix(have, h) }

// Hash writes the hash of each row of sel (nil = n rows) of v to dst, by row position; with
// combine it folds it into the hash that is there. Integers of all widths hash alike, as do −0
// and 0, all NaNs, and intervals of equal length. Strings hash by their bytes: char(n) and
// numerics in byte form must be brought to a normal form before.
func Hash(dst []uint64, v *Vector, n int, sel Sel, combine bool) {
	switch v.Form {
	case Const:
		h := uint64(hashNull)
		if !v.IsNull(0) {
			h = hashValue(v, 0)
		}
		fillHash(dst, h, n, sel, combine)
		return
	case Dict:
		hashDict(dst, v, n, sel, combine)
		return
	}
	switch v.Kind {
	case Bool:
		hashInts(dst, Of[uint8](v), v.Valid, n, sel, combine)
	case I8:
		hashInts(dst, Of[int8](v), v.Valid, n, sel, combine)
	case I16:
		hashInts(dst, Of[int16](v), v.Valid, n, sel, combine)
	case I32:
		hashInts(dst, Of[int32](v), v.Valid, n, sel, combine)
	case I64:
		hashInts(dst, Of[int64](v), v.Valid, n, sel, combine)
	default:
		hashWide(dst, v, n, sel, combine)
	}
}

func fillHash(dst []uint64, h uint64, n int, sel Sel, combine bool) {
	if sel == nil {
		for i := range dst[:n] {
			if combine {
				dst[i] = combineHash(dst[i], h)
			} else {
				dst[i] = h
			}
		}
		return
	}
	for _, i := range sel {
		if combine {
			dst[i] = combineHash(dst[i], h)
		} else {
			dst[i] = h
		}
	}
}

func hashInts[T int8 | int16 | int32 | int64 | uint8](dst []uint64, v []T, valid Bitmap, n int, sel Sel, combine bool) {
	switch {
	case valid != nil:
		hashIntsNullable(dst, v, valid, n, sel, combine)
	case sel == nil && combine:
		v, dst = v[:n], dst[:n]
		for i, x := range v {
			dst[i] = combineHash(dst[i], HashInt64(int64(x)))
		}
	case sel == nil:
		v, dst = v[:n], dst[:n]
		for i, x := range v {
			dst[i] = HashInt64(int64(x))
		}
	case combine:
		for _, i := range sel {
			dst[i] = combineHash(dst[i], HashInt64(int64(v[i])))
		}
	default:
		for _, i := range sel {
			dst[i] = HashInt64(int64(v[i]))
		}
	}
}

func hashIntsNullable[T int8 | int16 | int32 | int64 | uint8](dst []uint64, v []T, valid Bitmap, n int, sel Sel, combine bool) {
	one := func(i int) {
		h := HashInt64(int64(v[i]))
		if !valid.Get(i) {
			h = hashNull
		}
		if combine {
			h = combineHash(dst[i], h)
		}
		dst[i] = h
	}
	if sel == nil {
		for i := range n {
			one(i)
		}
		return
	}
	for _, i := range sel {
		one(int(i))
	}
}

// hashWide hashes floats, 128-bit integers, intervals and strings in a flat vector.
func hashWide(dst []uint64, v *Vector, n int, sel Sel, combine bool) {
	count := n
	if sel != nil {
		count = len(sel)
	}
	for k := range count {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		h := uint64(hashNull)
		if v.Valid == nil || v.Valid.Get(i) {
			h = hashValue(v, i)
		}
		if combine {
			h = combineHash(dst[i], h)
		}
		dst[i] = h
	}
}

// HashRow is the hash that Hash gives row i of a vector of any form.
func HashRow(v *Vector, i int) uint64 {
	if v.IsNull(i) {
		return hashNull
	}
	v, i = resolveRow(v, i)
	return hashValue(v, i)
}

func hashValue(v *Vector, i int) uint64 {
	switch v.Kind {
	case Bool:
		return HashInt64(int64(Of[uint8](v)[i]))
	case I8:
		return HashInt64(int64(Of[int8](v)[i]))
	case I16:
		return HashInt64(int64(Of[int16](v)[i]))
	case I32:
		return HashInt64(int64(Of[int32](v)[i]))
	case I64:
		return HashInt64(Of[int64](v)[i])
	case F32:
		return hashFloat(float64(Of[float32](v)[i]))
	case F64:
		return hashFloat(Of[float64](v)[i])
	case I128:
		return hashInt128(Of[Int128](v)[i])
	case KindInterval:
		return hashInt128(Of[Interval](v)[i].Span())
	case Bytes:
		offsets := v.Offsets()
		return HashBytes(v.heap[offsets[i]:offsets[i+1]])
	}
	panic("vector: hash kind " + v.Kind.String())
}

// hashDict hashes each distinct value once when the dictionary is not larger than the batch.
func hashDict(dst []uint64, v *Vector, n int, sel Sel, combine bool) {
	codes := v.Codes()
	count := n
	if sel != nil {
		count = len(sel)
	}
	var table [256]uint64
	small := v.Dict.Len <= min(len(table), count)
	if small {
		for c := range v.Dict.Len {
			table[c] = hashValue(v.Dict, c)
		}
	}
	for k := range count {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		h := uint64(hashNull)
		if v.Valid == nil || v.Valid.Get(i) {
			if small {
				h = table[codes[i]&255]
			} else {
				h = hashValue(v.Dict, int(codes[i]))
			}
		}
		if combine {
			h = combineHash(dst[i], h)
		}
		dst[i] = h
	}
}
