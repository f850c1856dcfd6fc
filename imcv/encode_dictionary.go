package imcv

import (
	"math"
	"sort"

	"github.com/weftdb/weft/vector"
)

// dictionary is a column of values that repeat: each distinct one is stored once, in ascending order,
// so that a range of values is a range of codes.
type dictionary struct {
	codes *ints
	dict  *vector.Vector // flat, no NULLs
}

func (x *dictionary) encoding() Encoding { return Dictionary }
func (x *dictionary) sizeBytes() int     { return x.codes.sizeBytes() + x.dict.SizeBytes() }

// read yields strings as codes: operators test and group them by their codes. Numbers are looked up:
// kernels read them at least as fast as they would codes.
func (x *dictionary) read(v *vector.Vector, from, n int, valid vector.Bitmap, _ vector.Sel, s *scratch) {
	if x.dict.Kind == vector.Bytes {
		if x.codes.width == 4 && x.codes.starts == nil && x.codes.base == 0 && x.codes.step == 1 {
			v.SetDict(asSlice[uint32](x.codes.codes)[from:from+n], x.dict, valid)
			return
		}
		v.Reset(vector.I32, n)
		codes := vector.Of[uint32](v)
		readInts(codes, x.codes, from)
		v.SetDict(codes, x.dict, valid)
		return
	}
	codes := s.ints(n)
	readInts(codes, x.codes, from)
	v.Reset(x.dict.Kind, n)
	switch x.dict.Kind {
	case vector.I64, vector.F64:
		lookUp(vector.Of[int64](v), vector.Of[int64](x.dict), codes)
	case vector.I32, vector.F32:
		lookUp(vector.Of[int32](v), vector.Of[int32](x.dict), codes)
	default:
		lookUp(vector.Of[vector.Int128](v), vector.Of[vector.Int128](x.dict), codes)
	}
	v.Valid = valid
}

func lookUp[T vector.Elem](dst, dict []T, codes []int64) {
	codes = codes[:len(dst)]
	for i := range dst {
		dst[i] = dict[codes[i]]
	}
}

// plainBytes is what the values would take without a dictionary; holes count as the first value.
func (x *dictionary) plainBytes(rows int) int {
	if x.dict.Kind != vector.Bytes {
		return rows * x.dict.Kind.Width()
	}
	codes := make([]uint32, rows)
	readInts(codes, x.codes, 0)
	n, offsets := 4*(rows+1), x.dict.Offsets()
	for _, c := range codes {
		n += int(offsets[c+1] - offsets[c])
	}
	return n
}

// maxNumbers is how many distinct numbers a dictionary of numbers holds at most.
const maxNumbers = 1 << 12

// numberKey is a number's representation: numbers with the same key are the same in all their bits.
type numberKey struct{ lo, hi uint64 }

func numberKeyAt(v *vector.Vector, i int) numberKey {
	switch v.Kind {
	case vector.I32, vector.F32:
		return numberKey{lo: uint64(vector.Of[uint32](v)[i])}
	case vector.I64, vector.F64:
		return numberKey{lo: vector.Of[uint64](v)[i]}
	}
	x := vector.Of[vector.Int128](v)[i]
	return numberKey{x.Lo, uint64(x.Hi)}
}

// numberDictionary makes a dictionary of fixed-width values, nil when there are too many distinct ones.
func numberDictionary(v *vector.Vector, set vector.Bitmap) *dictionary {
	codeOf := map[numberKey]int64{}
	codes := make([]int64, v.Len)
	var firsts []int // where each value was met first
	for i := range v.Len {
		if !set.Get(i) {
			continue
		}
		key := numberKeyAt(v, i)
		code, ok := codeOf[key]
		if !ok {
			if len(firsts) == maxNumbers {
				return nil
			}
			code = int64(len(firsts))
			codeOf[key] = code
			firsts = append(firsts, i)
		}
		codes[i] = code
	}
	dict := vector.New(v.Kind, len(firsts))
	rank := rankOf(len(firsts), func(a, b int) bool { return vector.CompareRows(v, firsts[a], v, firsts[b]) < 0 }, func(k int) {
		vector.AppendDatum(dict, vector.DatumAt(v, firsts[k]))
	})
	return &dictionary{packRanked(codes, rank, set), dict}
}

// rankOf sorts n values and returns the place of each; in is called with them in order.
func rankOf(n int, less func(a, b int) bool, in func(k int)) []int64 {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return less(order[i], order[j]) })
	rank := make([]int64, n)
	for r, k := range order {
		rank[k] = int64(r)
		in(k)
	}
	return rank
}

func packRanked(codes, rank []int64, set vector.Bitmap) *ints {
	for i, c := range codes {
		if set.Get(i) {
			codes[i] = rank[c]
		}
	}
	return packInts(codes, set, survey(codes, set), 4)
}

// stringDictionary makes a dictionary of strings, nil when there would be more than limit entries.
func stringDictionary(v *vector.Vector, set vector.Bitmap, limit int) *dictionary {
	codeOf := map[string]int64{}
	codes := make([]int64, v.Len)
	var distinct []string
	for i := range v.Len {
		if !set.Get(i) {
			continue
		}
		value := v.BytesAt(i)
		code, ok := codeOf[string(value)]
		if !ok {
			if len(distinct) >= limit {
				return nil
			}
			code = int64(len(distinct))
			distinct = append(distinct, string(value))
			codeOf[distinct[code]] = code
		}
		codes[i] = code
	}
	size := 0
	for _, d := range distinct {
		size += len(d)
	}
	offsets, heap := make([]int32, 1, len(distinct)+1), make([]byte, 0, size)
	rank := rankOf(len(distinct), func(a, b int) bool { return distinct[a] < distinct[b] }, func(k int) {
		heap = append(heap, distinct[k]...)
		offsets = append(offsets, int32(len(heap)))
	})
	return &dictionary{packRanked(codes, rank, set), stringVector(offsets, heap)}
}

// stringVector is a vector over memory of just the needed size.
func stringVector(offsets []int32, heap []byte) *vector.Vector {
	v := &vector.Vector{}
	v.SetBytes(offsets, heap, nil)
	return v
}

// dictionaryLimit is how many distinct strings a dictionary may have at n rows: beyond it the codes save
// less than the indirection costs.
func dictionaryLimit(n int) int { return int(math.Ceil(float64(n) / 2)) }
