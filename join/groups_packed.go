package join

import (
	"math/bits"

	"github.com/weftdb/weft/vector"
)

// packedGroups finds groups by keys packed into one or two 64-bit words: integers at their full
// width, strings of at most 7 bytes in a word of their own, a bit for NULL where there is room.
type packedGroups struct {
	cols  []groupColumn
	words int // 1 or 2
	nulls bool
	short bool // string columns among the keys

	one   []groupSlot
	two   []wideSlot
	shift uint
	used  int

	word [2][BlockRows]uint64
	home [BlockRows]uint32
}

// groupColumn says where a column's value goes.
type groupColumn struct {
	word      int
	shift     uint
	nullWord  int
	nullShift int // −1 = no bit: a NULL does not pack
}

type groupSlot struct {
	key   uint64
	group uint64 // number+1, 0 = empty
}

type wideSlot struct {
	key   [2]uint64
	group uint64
}

// firstPacked returns the narrowest packing for the keys' kinds, or hashing.
func firstPacked(g *Groups) groupIndex {
	for _, try := range []struct {
		words int
		nulls bool
	}{{1, true}, {1, false}, {2, true}, {2, false}} {
		if p := newPackedGroups(g.kinds, try.words, try.nulls); p != nil {
			return p
		}
	}
	return newHashedGroups()
}

// next tries two words with NULL bits after a packing without; strings that are too long are
// hashed.
func (p *packedGroups) next(g *Groups) groupIndex {
	if !p.nulls && p.words == 1 {
		if wider := newPackedGroups(g.kinds, 2, true); wider != nil {
			return wider
		}
	}
	return newHashedGroups()
}

func (p *packedGroups) name() string { return "packed" }

// newPackedGroups places the columns in words, the widest first; nil = they do not fit.
func newPackedGroups(kinds []vector.Kind, words int, nulls bool) *packedGroups {
	p := &packedGroups{cols: make([]groupColumn, len(kinds)), words: words, nulls: nulls}
	var used [2]uint
	for width := 64; width >= 8; width /= 2 {
		for i, k := range kinds {
			w := k.Width() * 8
			switch {
			case k == vector.Bytes:
				w, p.short = 64, true
			case !integerKind(k):
				return nil
			}
			if w != width {
				continue
			}
			at := 0
			for at < words && used[at]+uint(w) > 64 {
				at++
			}
			if at == words {
				return nil
			}
			p.cols[i] = groupColumn{word: at, shift: used[at], nullShift: -1}
			used[at] += uint(w)
		}
	}
	if !nulls {
		return p
	}
	for i := range p.cols {
		at := 0
		for at < words && used[at] == 64 {
			at++
		}
		if at == words {
			return nil
		}
		p.cols[i].nullWord, p.cols[i].nullShift = at, int(used[at])
		used[at]++
	}
	return p
}

// pack fills the words of the rows in; false = a row does not pack.
func (p *packedGroups) pack(keys []*vector.Vector, n int, in vector.Sel) bool {
	for w := range p.words {
		if len(in) == n {
			clear(p.word[w][:n])
			continue
		}
		for _, i := range in {
			p.word[w][i&(BlockRows-1)] = 0
		}
	}
	for c, v := range keys {
		col := &p.cols[c]
		if v.Valid != nil && !p.packNulls(v, col, in) {
			return false
		}
		dst := &p.word[col.word]
		if v.Form != vector.Flat && v.Kind != vector.Bytes {
			if !packOther(dst, v, col.shift, in) {
				return false
			}
			continue
		}
		switch v.Kind {
		case vector.Bool:
			packGroup(dst, vector.Of[uint8](v), 0xFF, v.Valid, col.shift, in)
		case vector.I8:
			packGroup(dst, vector.Of[int8](v), 0xFF, v.Valid, col.shift, in)
		case vector.I16:
			packGroup(dst, vector.Of[int16](v), 0xFFFF, v.Valid, col.shift, in)
		case vector.I32:
			packGroup(dst, vector.Of[int32](v), 0xFFFFFFFF, v.Valid, col.shift, in)
		case vector.I64:
			packGroup(dst, vector.Of[int64](v), ^uint64(0), v.Valid, col.shift, in)
		default:
			if !packStrings(dst, v, in) {
				return false
			}
		}
	}
	return true
}

func (p *packedGroups) packNulls(v *vector.Vector, col *groupColumn, in vector.Sel) bool {
	for _, i := range in {
		if v.IsNull(int(i)) {
			if col.nullShift < 0 {
				return false
			}
			p.word[col.nullWord][i&(BlockRows-1)] |= 1 << uint(col.nullShift)
		}
	}
	return true
}

func packGroup[T uint8 | int8 | int16 | int32 | int64](dst *[BlockRows]uint64, x []T, mask uint64, valid vector.Bitmap, shift uint, in vector.Sel) {
	if valid == nil {
		for _, i := range in {
			dst[i&(BlockRows-1)] |= uint64(x[i]) & mask << shift
		}
		return
	}
	for _, i := range in {
		if valid.Get(int(i)) {
			dst[i&(BlockRows-1)] |= uint64(x[i]) & mask << shift
		}
	}
}

// packOther packs integers in constant or dictionary form.
func packOther(dst *[BlockRows]uint64, v *vector.Vector, shift uint, in vector.Sel) bool {
	mask := ^uint64(0) >> (64 - 8*uint(v.Kind.Width()))
	for _, i := range in {
		if !v.IsNull(int(i)) {
			dst[i&(BlockRows-1)] |= uint64(vector.DatumAt(v, int(i)).I) & mask << shift
		}
	}
	return true
}

// packStrings packs the length and up to 7 bytes.
func packStrings(dst *[BlockRows]uint64, v *vector.Vector, in vector.Sel) bool {
	for _, i := range in {
		if v.IsNull(int(i)) {
			continue
		}
		b := v.BytesAt(int(i))
		if len(b) > 7 {
			return false
		}
		word := uint64(len(b)) << 56
		for k, c := range b {
			word |= uint64(c) << (8 * uint(k))
		}
		dst[i&(BlockRows-1)] = word
	}
	return true
}

func (p *packedGroups) size() int { return max(len(p.one), len(p.two)) }

// makeRoom keeps the table at most half full with n more groups.
func (p *packedGroups) makeRoom(g *Groups, n int) error {
	size := max(p.size(), 16)
	for size < 2*(p.used+n) {
		size *= 2
	}
	if size == p.size() {
		return nil
	}
	if err := g.grow(size * (8 + 8*p.words)); err != nil {
		return err
	}
	p.shift = uint(64 - bits.Len(uint(size-1)))
	mask := uint32(size - 1)
	if p.words == 1 {
		old := p.one
		p.one = make([]groupSlot, size)
		for _, s := range old {
			if s.group != 0 {
				at := uint32(s.key * spread >> p.shift)
				for p.one[at].group != 0 {
					at = (at + 1) & mask
				}
				p.one[at] = s
			}
		}
		return nil
	}
	old := p.two
	p.two = make([]wideSlot, size)
	for _, s := range old {
		if s.group != 0 {
			at := wideHome(s.key[0], s.key[1], p.shift)
			for p.two[at].group != 0 {
				at = (at + 1) & mask
			}
			p.two[at] = s
		}
	}
	return nil
}

func wideHome(a, b uint64, shift uint) uint32 {
	return uint32((a ^ bits.RotateLeft64(b*0xD1B54A32D192ED03, 29)) * spread >> shift)
}

// homes computes where to look first, and loads the slots of large tables ahead.
func (p *packedGroups) homes(in vector.Sel) uint64 {
	home := p.home[:len(in)]
	sum := uint64(0)
	if p.words == 1 {
		for k, i := range in {
			home[k] = uint32(p.word[0][i&(BlockRows-1)] * spread >> p.shift)
		}
		if len(p.one) >= touchSlots {
			for _, at := range home {
				sum += p.one[at].group
			}
		}
		return sum
	}
	for k, i := range in {
		home[k] = wideHome(p.word[0][i&(BlockRows-1)], p.word[1][i&(BlockRows-1)], p.shift)
	}
	if len(p.two) >= touchSlots {
		for _, at := range home {
			sum += p.two[at].group
		}
	}
	return sum
}

func (p *packedGroups) assign(g *Groups, dst []uint32, keys []*vector.Vector, n int, in vector.Sel) (bool, error) {
	if !p.pack(keys, n, in) {
		return false, nil
	}
	if err := p.makeRoom(g, len(in)); err != nil {
		return false, err
	}
	p.homes(in)
	before := g.number
	if p.words == 1 {
		p.assignOne(g, dst, in)
	} else {
		p.assignTwo(g, dst, in)
	}
	p.used += int(g.number - before)
	return true, nil
}

func (p *packedGroups) assignOne(g *Groups, dst []uint32, in vector.Sel) {
	slots, mask := p.one, uint32(len(p.one)-1)
	for k, i := range in {
		i &= BlockRows - 1
		key, at := p.word[0][i], p.home[k&(BlockRows-1)]
		for {
			s := &slots[at]
			if s.group == 0 {
				s.key, s.group = key, uint64(g.begin(i))+1
			}
			if s.key == key {
				dst[i] = uint32(s.group - 1)
				break
			}
			at = (at + 1) & mask
		}
	}
}

func (p *packedGroups) assignTwo(g *Groups, dst []uint32, in vector.Sel) {
	slots, mask := p.two, uint32(len(p.two)-1)
	for k, i := range in {
		i &= BlockRows - 1
		key, at := [2]uint64{p.word[0][i], p.word[1][i]}, p.home[k&(BlockRows-1)]
		for {
			s := &slots[at]
			if s.group == 0 {
				s.key, s.group = key, uint64(g.begin(i))+1
			}
			if s.key == key {
				dst[i] = uint32(s.group - 1)
				break
			}
			at = (at + 1) & mask
		}
	}
}

func (p *packedGroups) insert(g *Groups, keys []*vector.Vector, from, n int) (bool, error) {
	in := allRows[:n]
	if !p.pack(keys, n, in) {
		return false, nil
	}
	if err := p.makeRoom(g, n); err != nil {
		return false, err
	}
	p.homes(in)
	p.used += n
	mask := uint32(p.size() - 1)
	for i := range n {
		at, group := p.home[i], uint64(from+i)+1
		if p.words == 1 {
			for p.one[at].group != 0 {
				at = (at + 1) & mask
			}
			p.one[at] = groupSlot{p.word[0][i], group}
			continue
		}
		for p.two[at].group != 0 {
			at = (at + 1) & mask
		}
		p.two[at] = wideSlot{[2]uint64{p.word[0][i], p.word[1][i]}, group}
	}
	return true, nil
}
