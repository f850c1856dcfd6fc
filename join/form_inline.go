package join

import (
	"github.com/weftdb/weft/vector"
)

// slot is an entry of an inline table: one cache line holds four, and the key is compared where it is
// found. The value is of the key's rows: the row, or where they begin in Table.adjacent, in the low half,
// and how many there are in the high half, 0 = the slot is empty.
type slot struct{ key, value uint64 }

// oneRow is the value's part that counts one row.
const oneRow = 1 << 32

// spread is the multiplier that turns packed keys into slot numbers by their product's high bits.
const spread = 0x9E3779B97F4A7C15

// inlineTable is open addressing over packed keys. Parts have a region of the slots each; linear
// probing goes round in the region.
type inlineTable struct {
	slots  []slot
	shift  uint
	region uint32 // slots of a region − 1
	ranges bool   // values name ranges of Table.adjacent
}

// after returns the slot to try after at.
func (f *inlineTable) after(at uint32) uint32 { return at&^f.region | (at+1)&f.region }

func (f *inlineTable) name() string {
	if f.ranges {
		return "inline-ranges"
	}
	return "inline-open"
}

// touchSlots is the size from which find loads the home slots of a batch ahead: smaller tables stay
// in the second-level cache.
const touchSlots = 1 << 16

// home computes the slots at which the rows' search begins, and loads them where that pays.
func (f *inlineTable) home(p *Prober) vector.Sel {
	in := p.in
	if in == nil {
		in = allRows[:p.n]
	}
	for k, i := range in {
		p.home[k&(BlockRows-1)] = uint32(p.codes[i&(BlockRows-1)] * spread >> f.shift)
	}
	if len(f.slots) >= touchSlots {
		f.touch(p.home[:len(in)])
	}
	return in
}

// touch loads slots in a loop of independent reads, so that their cache misses overlap: Go has no prefetch.
//
//go:noinline
func (f *inlineTable) touch(home []uint32) uint64 {
	sum := uint64(0)
	for _, at := range home {
		sum += f.slots[at].value
	}
	return sum
}

// find probes in rounds: each looks at one slot of every row that is still open, without branches
// on what it finds, because a branch that cannot be predicted costs more than a slot.
func (f *inlineTable) find(p *Prober) {
	in := f.home(p)
	open := in
	for len(open) > 0 {
		open = f.round(p, open)
	}
	k := 0
	for _, i := range in {
		i &= BlockRows - 1
		p.rowBuf[k&(BlockRows-1)] = i
		p.first[k&(BlockRows-1)], p.count[k&(BlockRows-1)] = p.rowFirst[i], p.rowCount[i]
		k += b2i(p.rowCount[i] != 0)
	}
	p.rows = p.rowBuf[:k]
}

// round looks at slot home[k] for each row open[k] and returns the rows whose slot holds another
// key, with home moved on.
func (f *inlineTable) round(p *Prober, open vector.Sel) vector.Sel {
	slots, left := f.slots, 0
	for k, i := range open {
		i &= BlockRows - 1
		at := p.home[k&(BlockRows-1)]
		s := &slots[at]
		other := s.key != p.codes[i]
		value := s.value
		p.open[left&(BlockRows-1)] = i
		p.home[left&(BlockRows-1)] = f.after(at)
		left += b2i(other) & b2i(value != 0)
		count := uint32(value >> 32)
		if other {
			count = 0
		}
		p.rowFirst[i], p.rowCount[i] = uint32(value), count
	}
	return p.open[:left]
}
