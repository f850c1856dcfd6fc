package join

import (
	"math"
	"math/bits"
	"slices"

	"github.com/weftdb/weft/vector"
)

// inlineBuild builds an inline table. Many rows are scattered first to parts by the high bits of the
// product that finds their slot, so that each part's region of the table is filled within the
// second-level cache, and by one worker alone.
type inlineBuild struct {
	t       *Table
	f       *Finisher
	bits    uint   // of the product that choose a part
	starts  []int  // where the parts begin in entries, with the end
	entries []slot // keys with their rows, or their payload; part by part, within a part in build order
	table   *inlineTable
	// payload is the column that slots hold instead of rows. It is entered with the keys if they are known
	// to be unique, and replaces the rows in the end if they turn out to be.
	payload *vector.Vector
	direct  bool
}

// Builds of up to wholeRows rows are one part: their table fits the second-level cache by itself. Others
// have parts of about inlinePartRows rows. More than 2^maxPartBits parts are not made: writing to so many
// places at once would cost what smaller parts save. Tests make the first two smaller.
var (
	wholeRows      = 1 << 15
	inlinePartRows = 1 << 14
)

const maxPartBits = 11

func (t *Table) buildInline(f *Finisher, workers int) error {
	b := &inlineBuild{t: t, f: f, payload: t.payloadColumn()}
	b.direct = b.payload != nil && t.spec.Unique
	if t.rows > wholeRows {
		b.bits = uint(min(bits.Len(uint(t.rows/inlinePartRows)), maxPartBits))
	}
	b.bits = max(b.bits, uint(bits.Len(uint(workers-1))))
	room := int64(t.rows) * 16
	if err := t.grow(room); err != nil {
		return err
	}
	defer t.shrink(room)
	if err := b.scatter(workers); err != nil {
		return err
	}
	duplicate, err := b.fill(workers)
	if err != nil {
		return err
	}
	t.form = b.table
	switch {
	case duplicate && !t.spec.SetOnly:
		return b.ranges(workers)
	case b.payload != nil:
		return b.replaceRows(workers)
	}
	return nil
}

// parts calls do for every part, those of a worker one after the other.
func (b *inlineBuild) parts(workers int, do func(part int) error) error {
	return b.f.run(workers, func(worker int) error {
		for part := worker; part < 1<<b.bits; part += workers {
			if err := do(part); err != nil {
				return err
			}
			if b.f.Check != nil {
				if err := b.f.Check(); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// of returns the entries of a part.
func (b *inlineBuild) of(part int) []slot { return b.entries[b.starts[part]:b.starts[part+1]] }

// scatter fills entries. Each worker has a stretch of the rows: it counts how many go to each part, and
// when all have counted, it knows where to write them.
func (b *inlineBuild) scatter(workers int) error {
	t, parts := b.t, 1<<b.bits
	counts := make([][]int, workers)
	step := (t.rows/workers + BlockRows) &^ (BlockRows - 1)
	stretch := func(worker int, visit func(r *reader, from int, sel vector.Sel)) error {
		r := t.newReader(b.f)
		return r.stretch(min(worker*step, t.rows), min((worker+1)*step, t.rows), func(from int, sel vector.Sel) { visit(r, from, sel) })
	}
	skip := 64 - b.bits
	err := b.f.run(workers, func(worker int) error {
		count := make([]int, parts)
		counts[worker] = count
		return stretch(worker, func(r *reader, _ int, sel vector.Sel) {
			if parts == 1 {
				count[0] += len(sel)
				return
			}
			for _, i := range sel {
				count[r.codes[i&(BlockRows-1)]*spread>>skip]++
			}
		})
	})
	if err != nil {
		return err
	}
	total := 0
	for part := range parts {
		b.starts = append(b.starts, total)
		for _, count := range counts {
			total, count[part] = total+count[part], total
		}
	}
	b.starts = append(b.starts, total)
	b.entries = make([]slot, total)
	return b.f.run(workers, func(worker int) error {
		next, entries := counts[worker], b.entries
		var values [BlockRows]uint64
		return stretch(worker, func(r *reader, from int, sel vector.Sel) {
			if b.direct {
				payloadValues(&values, b.payload, from, min(BlockRows, t.rows-from))
			} else {
				for i := range values {
					values[i] = uint64(from) + uint64(i) | oneRow
				}
			}
			for _, i := range sel {
				key := r.codes[i&(BlockRows-1)]
				at := &next[key*spread>>skip]
				entries[*at] = slot{key, values[i&(BlockRows-1)]}
				*at++
			}
		})
	})
}

// A region has at least slotsPer/slotsOf slots for each different key that is expected in it, and at most
// fullOf/fullPer of them are used: otherwise all regions are made larger.
const (
	slotsPer, slotsOf = 8, 5
	fullOf, fullPer   = 7, 8
)

// fill enters all rows into a new table and reports whether keys have several. The regions' size follows
// from the number of different keys in the first part: by their hashes, keys are spread evenly, however
// many rows each of them has.
func (b *inlineBuild) fill(workers int) (duplicate bool, err error) {
	parts := 1 << b.bits
	keys := len(b.entries) / parts
	if parts > 1 && !b.t.spec.Unique {
		keys = b.distinct()
	}
	if parts > 1 {
		keys += int(6 * math.Sqrt(float64(keys)))
	}
	region := 8
	for region*slotsOf < keys*slotsPer {
		region *= 2
	}
	for ; ; region *= 2 {
		room := int64(region) * int64(parts) * 16
		if err := b.t.grow(room); err != nil {
			return false, err
		}
		b.table = &inlineTable{slots: make([]slot, region*parts), region: uint32(region - 1), shift: uint(64 - bits.Len(uint(region*parts-1)))}
		twice, full := make([]bool, workers), make([]bool, workers)
		err := b.parts(workers, func(part int) error {
			worker := part % workers
			if !full[worker] {
				used := b.enter(part)
				twice[worker], full[worker] = twice[worker] || used != len(b.of(part)), used < 0
			}
			return nil
		})
		if err != nil {
			return false, err
		}
		if !slices.Contains(full, true) {
			return slices.Contains(twice, true), nil
		}
		b.t.shrink(room)
	}
}

// enter puts a part's entries in its region.
func (b *inlineBuild) enter(part int) int {
	if b.direct {
		return b.table.enterPayload(part, b.of(part), b.t.pack.span)
	}
	return b.table.enter(part, b.of(part))
}

// distinct counts the different keys of the first part.
func (b *inlineBuild) distinct() int {
	for size := 1 << 10; ; size *= 2 {
		t := &inlineTable{slots: make([]slot, size), region: uint32(size - 1), shift: 64 - b.bits - uint(bits.Len(uint(size-1)))}
		if used := t.enter(0, b.of(0)); used >= 0 {
			return used
		}
	}
}

// enter puts a part's entries in its region and returns the number of different keys, −1 if they are too
// many for the region.
func (f *inlineTable) enter(part int, entries []slot) int {
	slots, mask, shift := f.of(part), f.region, f.shift
	room := len(slots) * fullOf / fullPer
	used := 0
	for _, e := range entries {
		at := uint32(e.key*spread>>shift) & mask
		for slots[at].value != 0 && slots[at].key != e.key {
			at = (at + 1) & mask
		}
		s := &slots[at]
		if s.value != 0 {
			s.value += oneRow
			continue
		}
		*s = e
		if used++; used > room {
			return -1
		}
	}
	return used
}

// of returns the region of a part.
func (f *inlineTable) of(part int) []slot {
	size := int(f.region) + 1
	return f.slots[part*size:][:size]
}

// ranges puts the rows of each key side by side and replaces the row in each slot by their range. The rows
// of a part lie where its entries do.
func (b *inlineBuild) ranges(workers int) error {
	t, f := b.t, b.table
	if err := t.grow(int64(len(b.entries)) * 4); err != nil {
		return err
	}
	rows := make([]uint32, len(b.entries))
	t.adjacent, f.ranges = rows, true
	return b.parts(workers, func(part int) error {
		slots, mask := f.of(part), f.region
		end := uint64(b.starts[part])
		for i := range slots {
			if s := &slots[i]; s.value != 0 {
				end += s.value >> 32
				s.value = s.value&^math.MaxUint32 | end // the end, which moves down to the start
			}
		}
		entries := b.of(part)
		for k := len(entries) - 1; k >= 0; k-- {
			key := entries[k].key
			at := uint32(key*spread>>f.shift) & mask
			for slots[at].value == 0 || slots[at].key != key {
				at = (at + 1) & mask
			}
			s := &slots[at]
			s.value--
			rows[uint32(s.value)] = uint32(entries[k].value)
		}
		return nil
	})
}
