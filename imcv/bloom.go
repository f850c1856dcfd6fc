package imcv

import (
	"github.com/zeebo/xxh3"

	"github.com/weftdb/weft/vector"
)

// bloom is a Bloom filter over a unit's values in blocks of 64 bits: a look-up reads one word. It lets a
// query for one value skip the unit where bounds do not, because values are in no order.
type bloom []uint64

// A unit has a filter where comparing all its values would cost much: strings that are not in a
// dictionary, and integers of 4 bytes or more, each with many different values. Other encodings answer
// by themselves.
const bloomBitsPerRow = 8

func makeBloom(u *unit, v *vector.Vector, set vector.Bitmap) bloom {
	switch x := u.values.(type) {
	case *plainStrings, *symbols:
		if len(v.Heap()) > maxBloomLength*v.Len {
			return nil
		}
	case *integers:
		if x.width < 4 || x.starts != nil || x.slope != 0 {
			return nil
		}
	default:
		return nil
	}
	if u.zone.Rows < minBloomRows {
		return nil
	}
	b := make(bloom, u.zone.Rows*bloomBitsPerRow/64)
	for i := range v.Len {
		if set.Get(i) {
			word, mask := b.place(bloomHash(v, i))
			b[word] |= mask
		}
	}
	return b
}

// maxBloomLength is the average length of strings up to which they have a filter: nobody looks for one of
// many long texts by the whole of it.
const maxBloomLength = 40

// minBloomRows keeps small units, which are compared in no time, without a filter.
const minBloomRows = 4096

func bloomHash(v *vector.Vector, i int) uint64 {
	switch v.Kind {
	case vector.Bytes:
		return xxh3.Hash(v.BytesAt(i))
	case vector.I32:
		return mix(uint64(vector.Of[int32](v)[i]))
	}
	return mix(vector.Of[uint64](v)[i])
}

// hashDatum is bloomHash of a value outside of a vector.
func hashDatum(d vector.Datum) uint64 {
	if d.Kind == vector.Bytes {
		return xxh3.HashString(d.S)
	}
	return mix(uint64(d.I))
}

// mix spreads a number over 64 bits (the finalizer of splitmix64).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// place returns the word of a hash and the four bits in it.
func (b bloom) place(h uint64) (word int, mask uint64) {
	word = int((h >> 32) * uint64(len(b)) >> 32)
	return word, 1<<(h&63) | 1<<(h>>6&63) | 1<<(h>>12&63) | 1<<(h>>18&63)
}

// mayHold reports whether a value with the hash may be in the unit.
func (b bloom) mayHold(h uint64) bool {
	if b == nil {
		return true
	}
	word, mask := b.place(h)
	return b[word]&mask == mask
}
