package imcv

import (
	"cmp"
	"math"
	"slices"

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
func (x *dictionary) read(v *vector.Vector, from, n int, valid vector.Bitmap, sel vector.Sel, s *scratch) {
	if x.dict.Kind == vector.Bytes {
		if x.codes.width == 4 && x.codes.starts == nil && x.codes.base == 0 && x.codes.step == 1 {
			v.SetDict(asSlice[uint32](x.codes.codes)[from:from+n], x.dict, valid)
			return
		}
		v.Reset(vector.I32, n)
		codes := vector.Of[uint32](v)
		if sparse(sel, n) {
			clear(codes) // all codes have to be some value's
		}
		readSome(codes, x.codes, from, sel)
		v.SetDict(codes, x.dict, valid)
		return
	}
	codes := s.ints(n)
	readSome(codes, x.codes, from, sel)
	v.Reset(x.dict.Kind, n)
	switch x.dict.Kind {
	case vector.I64, vector.F64:
		lookUp(vector.Of[int64](v), vector.Of[int64](x.dict), codes, sel)
	case vector.I32, vector.F32:
		lookUp(vector.Of[int32](v), vector.Of[int32](x.dict), codes, sel)
	default:
		lookUp(vector.Of[vector.Int128](v), vector.Of[vector.Int128](x.dict), codes, sel)
	}
	v.Valid = valid
}

func lookUp[T vector.Elem](dst, dict []T, codes []int64, sel vector.Sel) {
	codes = codes[:len(dst)]
	if sparse(sel, len(dst)) {
		for _, i := range sel {
			dst[i] = dict[codes[i]]
		}
		return
	}
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
	rank := rankOf(len(firsts), func(a, b int) int { return vector.CompareRows(v, firsts[a], v, firsts[b]) }, func(k int) {
		vector.AppendDatum(dict, vector.DatumAt(v, firsts[k]))
	})
	return &dictionary{packRanked(codes, rank, set), dict}
}

// rankOf sorts n values and returns the place of each; in is called with them in order.
func rankOf(n int, compare func(a, b int) int, in func(k int)) []int64 {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, compare)
	rank := make([]int64, n)
	for r, k := range order {
		rank[k] = int64(r)
		in(k)
	}
	return rank
}

// packRanked packs codes. Rows that are not set get the code of one that is, since whole batches are looked
// up, and how other numbers come back is up to the packing.
func packRanked(codes, rank []int64, set vector.Bitmap) *ints {
	last := int64(0)
	for i, c := range codes {
		if set.Get(i) {
			last = rank[c]
		}
		codes[i] = last
	}
	all := vector.NewBitmap(len(codes))
	for i := range codes {
		all.Set(i)
	}
	return packInts(codes, all, survey(codes, all), 4)
}

// repeated are the distinct strings of a column in the order of their first rows, and which of them each
// row has.
type repeated struct {
	distinct []string
	codes    []int64
	heap     int // bytes of the distinct strings
}

// findRepeated returns nil when there are more than limit distinct strings.
func findRepeated(v *vector.Vector, set vector.Bitmap, limit int) *repeated {
	codeOf := map[string]int64{}
	x := &repeated{codes: make([]int64, v.Len)}
	for i := range v.Len {
		if !set.Get(i) {
			continue
		}
		value := v.BytesAt(i)
		code, ok := codeOf[string(value)]
		if !ok {
			if len(x.distinct) >= limit {
				return nil
			}
			code = int64(len(x.distinct))
			x.distinct = append(x.distinct, string(value))
			x.heap += len(value)
			codeOf[x.distinct[code]] = code
		}
		x.codes[i] = code
	}
	return x
}

// sizeBytes is what a dictionary would take.
func (x *repeated) sizeBytes() int {
	return x.heap + 4*len(x.distinct) + widthOf(uint64(len(x.distinct)-1))*len(x.codes)
}

// dictionary sorts the strings and makes it.
func (x *repeated) dictionary(set vector.Bitmap) *dictionary {
	offsets, heap := make([]int32, 1, len(x.distinct)+1), make([]byte, 0, x.heap)
	rank := rankOf(len(x.distinct), func(a, b int) int { return cmp.Compare(x.distinct[a], x.distinct[b]) }, func(k int) {
		heap = append(heap, x.distinct[k]...)
		offsets = append(offsets, int32(len(heap)))
	})
	return &dictionary{packRanked(x.codes, rank, set), stringVector(offsets, heap)}
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
