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

// A part of an inline table starts with at most firstSlots slots, so that many rows of few keys do
// not claim a slot each, and doubles when it is half full.
const firstSlots = 1 << 20

// inlineTable is open addressing over packed keys. Parts have a region of the slots each; linear
// probing goes round in the region.
type inlineTable struct {
	slots  []slot
	shift  uint
	region uint32 // slots of a region − 1
	ranges bool   // first is the start of a range
}

// after returns the slot to try after at.
func (f *inlineTable) after(at uint32) uint32 { return at&^f.region | (at+1)&f.region }

// inlinePart is a region while it is being built: a table of its own that grows.
type inlinePart struct {
	t         *Table
	slots     []slot
	skip      uint // high bits that choose the part
	shift     uint
	used      int
	duplicate bool
	home      [BlockRows]uint32
	mine      [BlockRows]uint16
}

func (t *Table) buildInline(f *Finisher, parts int) error {
	regions := make([]*inlinePart, parts)
	err := f.run(parts, func(part int) error {
		p := &inlinePart{t: t, skip: uint(bits.Len(uint(parts - 1)))}
		regions[part] = p
		return p.build(f, uint64(part))
	})
	if err != nil {
		return err
	}
	table := &inlineTable{}
	t.form = table
	duplicate, largest := false, 0
	for _, p := range regions {
		duplicate = duplicate || p.duplicate
		largest = max(largest, len(p.slots))
	}
	table.region = uint32(largest - 1)
	table.shift = uint(64 - bits.Len(uint(largest*parts-1)))
	if parts == 1 {
		table.slots = regions[0].slots
	} else {
		table.slots = make([]slot, largest*parts)
		err = f.run(parts, func(part int) error {
			table.place(regions[part].slots)
			return nil
		})
	}
	if err != nil || !duplicate || t.spec.SetOnly {
		return err
	}
	return t.buildInlineRanges(f, parts, table)
}

// build enters the keys whose product begins with the part's number.
func (p *inlinePart) build(f *Finisher, part uint64) error {
	size := 8
	for size < 2*(p.t.rows>>p.skip) && size < firstSlots {
		size *= 2
	}
	if err := p.resize(size); err != nil {
		return err
	}
	r := p.t.newReader(f)
	var failed error
	err := r.blocks(func(from int, sel vector.Sel) {
		if failed != nil {
			return
		}
		if p.skip > 0 {
			sel = p.share(&r.codes, sel, part)
		}
		if 2*(p.used+len(sel)) > len(p.slots) {
			if failed = p.resize(2 * len(p.slots)); failed != nil {
				return
			}
		}
		p.enter(&r.codes, uint32(from), sel)
	})
	if err == nil {
		err = failed
	}
	return err
}

// share keeps the rows whose keys belong to the part.
func (p *inlinePart) share(codes *[BlockRows]uint64, sel vector.Sel, part uint64) vector.Sel {
	k := 0
	for _, i := range sel {
		p.mine[k&(BlockRows-1)] = i
		k += b2i(codes[i&(BlockRows-1)]*spread>>(64-p.skip) == part)
	}
	return p.mine[:k]
}

func (p *inlinePart) enter(codes *[BlockRows]uint64, from uint32, sel vector.Sel) {
	p.touch(codes, sel)
	mask := uint32(len(p.slots) - 1)
	for k, i := range sel {
		key, at := codes[i], p.home[k]
		for p.slots[at].count != 0 && p.slots[at].key != key {
			at = (at + 1) & mask
		}
		s := &p.slots[at]
		if s.count == 0 {
			s.key, s.first, s.count = key, from+uint32(i), 1
			p.used++
			continue
		}
		s.count++
		p.duplicate = true
	}
}

// touch computes home slots and loads them in a loop of independent reads, so that the cache
// misses of a block overlap: Go has no prefetch.
//
//go:noinline
func (p *inlinePart) touch(codes *[BlockRows]uint64, sel vector.Sel) uint32 {
	home := p.home[:len(sel)]
	for k, i := range sel {
		home[k] = uint32(codes[i&(BlockRows-1)] * spread << p.skip >> p.shift)
	}
	sum := uint32(0)
	for _, at := range home {
		sum += p.slots[at].count
	}
	return sum
}

// resize makes the table larger and moves what is in it.
func (p *inlinePart) resize(size int) error {
	if err := p.t.grow(int64(size) * 16); err != nil {
		return err
	}
	old := p.slots
	p.slots = make([]slot, size)
	p.shift = uint(64 - bits.Len(uint(size-1)))
	mask := uint32(size - 1)
	for _, s := range old {
		if s.count == 0 {
			continue
		}
		at := uint32(s.key * spread << p.skip >> p.shift)
		for p.slots[at].count != 0 {
			at = (at + 1) & mask
		}
		p.slots[at] = s
	}
	return nil
}

// place enters a part's slots in its region.
func (f *inlineTable) place(slots []slot) {
	for _, s := range slots {
		if s.count == 0 {
			continue
		}
		at := uint32(s.key * spread >> f.shift)
		for f.slots[at].count != 0 {
			at = f.after(at)
		}
		f.slots[at] = s
	}
}

// buildInlineRanges replaces the row in each slot by the range of the key's rows.
func (t *Table) buildInlineRanges(f *Finisher, parts int, table *inlineTable) error {
	if err := t.grow(int64(t.rows) * 4); err != nil {
		return err
	}
	total := uint32(0)
	for i := range table.slots {
		total += table.slots[i].count
		table.slots[i].first = total
	}
	rows := make([]uint32, total)
	t.adjacent, table.ranges = rows, true
	skip := uint(bits.Len(uint(parts - 1)))
	return f.run(parts, func(part int) error {
		r := t.newReader(f)
		return r.blocksBackwards(func(from int, sel vector.Sel) {
			for k := len(sel) - 1; k >= 0; k-- {
				key := r.codes[sel[k]]
				if skip > 0 && key*spread>>(64-skip) != uint64(part) {
					continue
				}
				at := uint32(key * spread >> table.shift)
				for table.slots[at].key != key || table.slots[at].count == 0 {
					at = table.after(at)
				}
				s := &table.slots[at]
				s.first--
				rows[s.first] = uint32(from) + uint32(sel[k])
			}
		})
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
	for k, i := range in {
		p.home[k&(BlockRows-1)] = uint32(p.codes[i&(BlockRows-1)] * spread >> f.shift)
	}
	if len(f.slots) >= touchSlots {
		f.touch(p.home[:len(in)])
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

// touch loads slots in a loop of independent reads.
//
//go:noinline
func (f *inlineTable) touch(home []uint32) uint32 {
	sum := uint32(0)
	for _, at := range home {
		sum += f.slots[at].count
	}
	return sum
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
		count := s.count
		p.open[left&(BlockRows-1)] = i
		p.home[left&(BlockRows-1)] = f.after(at)
		left += b2i(other) & b2i(count != 0)
		if other {
			count = 0
		}
		p.rowFirst[i], p.rowCount[i] = s.first, count
	}
	return p.open[:left]
}
