package exec

import (
	"math"
	"math/bits"
	"slices"

	"github.com/weftdb/weft/vector"
)

// sortKey is one key of an ordering over stored rows, in normal form.
type sortKey struct {
	v          *vector.Vector // flat or dictionary, a row per stored row
	desc       bool
	nullsFirst bool
}

// sortWords turns the keys of rows into 64-bit words that order as the keys do: word 0 decides,
// word 1 where words 0 are equal, and so on. A key takes only the bits that its range of values
// needs, so most orderings fit one word and are sorted without a comparison.
type sortWords struct {
	keys  []sortKey
	words [][]sortPart
	exact bool // rows equal in all words are equal in all keys
	room  uint // free low bits of the last word
}

// sortPart is a field of a word. A value's code is its distance from low, in 0 … span; descending
// fields count down from span. NULL has a code of its own where the field has one for it, else 0.
type sortPart struct {
	v      *vector.Vector
	what   partKind
	shift  uint
	desc   bool
	low    int64
	span   uint64
	above  uint64 // added to codes, to leave 0 for NULL
	null   uint64
	ranks  []uint32 // partRank: by dictionary code
	at     int      // partBytes: first byte
	length uint     // partBytes: number of bytes
}

type partKind uint8

const (
	partValue  partKind = iota // an integer, or a float by vector.OrderKey
	partWide                   // a 128-bit value that fits 64
	partHigh                   // the high half of a 128-bit value
	partLow                    // the low half
	partRank                   // the rank of a dictionary code
	partNull                   // whether the value is NULL
	partBytes                  // some bytes of a string
	partLength                 // the length of a string
)

// maxStringWords is how many words of a string are tried before rows are compared: longer common
// prefixes are rare, and comparing them directly costs no more.
const maxStringWords = 3

// newSortWords plans the words for the rows of the keys' vectors.
func newSortWords(keys []sortKey) *sortWords {
	w := &sortWords{keys: keys, exact: true}
	for i := range keys {
		if !w.exact { // what follows must not be compared before the rest of this key
			break
		}
		w.addKey(&keys[i])
	}
	return w
}

func (w *sortWords) addKey(k *sortKey) {
	p := sortPart{v: k.v, desc: k.desc}
	switch {
	case k.v.Form == vector.Dict:
		p.what, p.ranks = partRank, dictRanks(k.v.Dict)
		w.addRange(p, k, 0, int64(slices.Max(append(p.ranks, 0))))
	case k.v.Kind == vector.Bytes:
		w.addNull(k)
		w.addBytes(p)
	case k.v.Kind == vector.I128 || k.v.Kind == vector.KindInterval:
		w.addWide(p, k)
	default:
		low, high := valueRange(k.v)
		w.addRange(p, k, low, high)
	}
}

// add places a field in the last word, or in a new one when it does not fit.
func (w *sortWords) add(p sortPart, largest uint64) {
	need := uint(bits.Len64(largest))
	if need == 0 {
		return // all values are equal
	}
	if need > w.room {
		w.newWord()
	}
	w.room -= need
	p.shift = w.room
	last := len(w.words) - 1
	w.words[last] = append(w.words[last], p)
}

func (w *sortWords) newWord() {
	w.words = append(w.words, nil)
	w.room = 64
}

// addRange adds a field for values from low to high, and for NULL.
func (w *sortWords) addRange(p sortPart, k *sortKey, low, high int64) {
	if low > high { // nothing but NULL
		low, high = 0, 0
	}
	p.low, p.span = low, uint64(high)-uint64(low)
	switch {
	case k.v.Valid == nil:
		w.add(p, p.span)
	case p.span == math.MaxUint64:
		w.addNull(k)
		w.add(p, p.span)
	case k.nullsFirst:
		p.above = 1
		w.add(p, p.span+1)
	default:
		p.null = p.span + 1
		w.add(p, p.null)
	}
}

// addNull adds a field that tells NULL from values.
func (w *sortWords) addNull(k *sortKey) {
	if k.v.Valid == nil {
		return
	}
	p := sortPart{v: k.v, what: partNull, null: 1}
	if k.nullsFirst {
		p.null, p.above = 0, 1
	}
	w.add(p, 1)
}

// addBytes adds a string's bytes, over several words where it is long, then its length: strings
// that are equal up to zero bytes at the end differ in it.
func (w *sortWords) addBytes(p sortPart) {
	longest := longestString(p.v)
	for used := 0; p.at < longest; used++ {
		if used == maxStringWords {
			w.exact = false
			return
		}
		if w.room < 8 {
			w.newWord()
		}
		b := p
		b.what, b.length = partBytes, min(w.room/8, uint(longest-p.at))
		b.span = ^uint64(0) >> (64 - 8*b.length)
		w.add(b, b.span)
		p.at += int(b.length)
	}
	p.what, p.span = partLength, uint64(longest)
	w.add(p, p.span)
}

func longestString(v *vector.Vector) int {
	longest := int32(0)
	offsets := v.Offsets()
	for i := range v.Len {
		longest = max(longest, offsets[i+1]-offsets[i])
	}
	return int(longest)
}

// addWide adds a 128-bit value, as a 64-bit one where all values fit that.
func (w *sortWords) addWide(p sortPart, k *sortKey) {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range k.v.Len {
		if k.v.IsNull(i) {
			continue
		}
		x := wideAt(k.v, i)
		if !x.IsInt64() {
			w.addNull(k)
			p.what, p.low, p.span = partHigh, math.MinInt64, math.MaxUint64
			w.add(p, p.span)
			p.what, p.low = partLow, 0
			w.add(p, p.span)
			return
		}
		low, high = min(low, int64(x.Lo)), max(high, int64(x.Lo))
	}
	p.what = partWide
	w.addRange(p, k, low, high)
}

// wideAt returns a 128-bit value or an interval's length.
func wideAt(v *vector.Vector, i int) vector.Int128 {
	if v.Kind == vector.KindInterval {
		return vector.Of[vector.Interval](v)[i].Span()
	}
	return vector.Of[vector.Int128](v)[i]
}

// dictRanks returns the rank of each code; equal strings have equal ranks.
func dictRanks(dict *vector.Vector) []uint32 {
	order := make([]uint32, dict.Len)
	for i := range order {
		order[i] = uint32(i)
	}
	compare := func(a, b uint32) int { return vector.CompareRows(dict, int(a), dict, int(b)) }
	slices.SortFunc(order, compare)
	ranks := make([]uint32, dict.Len)
	rank := uint32(0)
	for i, c := range order {
		if i > 0 && compare(order[i-1], c) != 0 {
			rank++
		}
		ranks[c] = rank
	}
	return ranks
}

// compare compares two rows by all keys.
func (w *sortWords) compare(a, b uint32) int {
	for i := range w.keys {
		k := &w.keys[i]
		if c := vector.CompareNullable(k.v, int(a), k.v, int(b), k.desc, k.nullsFirst); c != 0 {
			return c
		}
	}
	return 0
}
