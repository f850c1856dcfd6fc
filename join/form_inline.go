package join

import (
	"math/bits"

	"github.com/weftdb/weft/vector"
)

// slot is an entry of an inline table: one cache line holds four, and the key is compared where
// it is found. count 0 = empty.
type slot struct {
	key   uint64
	first uint32 // the row, or the start of the key's rows in Table.adjacent
	count uint32
}

// spread is the multiplier that turns packed keys into slot numbers by their product's high bits.
const spread = 0x9E3779B97F4A7C15

// An inline table starts with at most firstSlots slots, so that many rows of few keys do not
// claim a slot each, and doubles when it is half full.
const firstSlots = 1 << 20

// inlineTable is open addressing with linear probing over packed keys.
type inlineTable struct {
	slots  []slot
	shift  uint
	ranges bool // first is the start of a range
}

func (b *indexing) inline() error {
	f := &inlineTable{}
	size := 8
	for size < 2*b.t.rows && size < firstSlots {
		size *= 2
	}
	if err := b.t.grow(int64(size) * 16); err != nil {
		return err
	}
	f.resize(size)
	b.t.form = f
	duplicate, used := false, 0
	var failed error
	var home [BlockRows]uint32
	err := b.blocks(func(from, n int, sel vector.Sel) {
		if failed != nil {
			return
		}
		if sel == nil {
			sel = allRows[:n]
		}
		if 2*(used+len(sel)) > len(f.slots) {
			if failed = b.t.grow(int64(len(f.slots)) * 16); failed != nil {
				return
			}
			f.resize(2 * len(f.slots))
		}
		f.touch(&b.codes, sel, &home)
		mask := uint32(len(f.slots) - 1)
		for k, i := range sel {
			key, at := b.codes[i], home[k]
			for f.slots[at].count != 0 && f.slots[at].key != key {
				at = (at + 1) & mask
			}
			s := &f.slots[at]
			if s.count == 0 {
				s.key, s.first, s.count = key, uint32(from)+uint32(i), 1
				used++
				continue
			}
			s.count++
			duplicate = true
		}
	})
	b.t.distinct = used
	if err == nil {
		err = failed
	}
	if err != nil || !duplicate || b.t.spec.SetOnly {
		return err
	}
	return b.inlineRanges(f)
}

// touch computes home slots and loads them in a loop of independent reads, so that the cache
// misses of a block overlap: Go has no prefetch.
//
//go:noinline
func (f *inlineTable) touch(codes *[BlockRows]uint64, sel vector.Sel, home *[BlockRows]uint32) uint32 {
	home2 := home[:len(sel)]
	for k, i := range sel {
		home2[k] = uint32(codes[i&(BlockRows-1)] * spread >> f.shift)
	}
	sum := uint32(0)
	for _, at := range home2 {
		sum += f.slots[at].count
	}
	return sum
}

// resize makes the table larger and moves what is in it.
func (f *inlineTable) resize(size int) {
	old := f.slots
	f.slots = make([]slot, size)
	f.shift = uint(64 - bits.Len(uint(size-1)))
	mask := uint32(size - 1)
	for _, s := range old {
		if s.count == 0 {
			continue
		}
		at := uint32(s.key * spread >> f.shift)
		for f.slots[at].count != 0 {
			at = (at + 1) & mask
		}
		f.slots[at] = s
	}
}

// inlineRanges replaces the row in each slot by the range of the key's rows.
func (b *indexing) inlineRanges(f *inlineTable) error {
	if err := b.t.grow(int64(b.t.rows) * 4); err != nil {
		return err
	}
	total := uint32(0)
	for i := range f.slots {
		total += f.slots[i].count
		f.slots[i].first = total
	}
	rows := make([]uint32, total)
	b.t.adjacent, f.ranges = rows, true
	mask := uint32(len(f.slots) - 1)
	var home [BlockRows]uint32
	return b.blocksBackwards(func(from, n int, sel vector.Sel) {
		if sel == nil {
			sel = allRows[:n]
		}
		f.touch(&b.codes, sel, &home)
		for k := len(sel) - 1; k >= 0; k-- {
			key, at := b.codes[sel[k]], home[k]
			for f.slots[at].key != key || f.slots[at].count == 0 {
				at = (at + 1) & mask
			}
			s := &f.slots[at]
			s.first--
			rows[s.first] = uint32(from) + uint32(sel[k])
		}
	})
}

func (f *inlineTable) name() string {
	if f.ranges {
		return "inline ranges"
	}
	return "inline"
}

// touchSlots is the size from which find loads the home slots of a batch ahead: smaller tables stay
// in the second-level cache.
const touchSlots = 1 << 16

// find probes in rounds: each looks at one slot of every row that is still open, without branches
// on what it finds, because a branch that cannot be predicted costs more than a slot.
func (f *inlineTable) find(p *Prober) {
	in := p.in
	if in == nil {
		in = allRows[:p.n]
	}
	if len(f.slots) >= touchSlots {
		f.touch(&p.codes, in, &p.home)
	} else {
		for k, i := range in {
			p.home[k&(BlockRows-1)] = uint32(p.codes[i&(BlockRows-1)] * spread >> f.shift)
		}
	}
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
	mask := uint32(len(slots) - 1)
	for k, i := range open {
		i &= BlockRows - 1
		at := p.home[k&(BlockRows-1)]
		s := &slots[at]
		other := s.key != p.codes[i]
		count := s.count
		p.open[left&(BlockRows-1)] = i
		p.home[left&(BlockRows-1)] = (at + 1) & mask
		left += b2i(other) & b2i(count != 0)
		if other {
			count = 0
		}
		p.rowFirst[i], p.rowCount[i] = s.first, count
	}
	return p.open[:left]
}
