package join

import (
	"github.com/weftdb/weft/vector"
)

// Prober looks batches of keys up in a finished table. It belongs to one worker; all its memory
// is its own and used again for every batch. The work is done in separate loops over the batch
// (codes, directory, comparison), so that the cache misses of each overlap.
type Prober struct {
	t    *Table
	keys []*vector.Vector
	flat []vector.Vector // keys in dictionary form, flattened
	n    int
	in   vector.Sel // rows looked up, nil = all n

	codes  [BlockRows]uint64 // packed keys or hashes, by row
	inBuf  [BlockRows]uint16
	rowBuf [BlockRows]uint16
	open   [BlockRows]uint16
	home   [BlockRows]uint32

	// What find delivers: rows ascend; for exact forms without adjacency first[k] is the build row
	// of rows[k], otherwise first[k] and count[k] are a range of adjacency or entries.
	rows         vector.Sel
	first, count [BlockRows]uint32

	payload *vector.Vector // values of what was found, by row; nil = the form names rows

	rowFirst, rowCount [BlockRows]uint32 // by row, before rows without a match are dropped

	at     int    // pairs continues at rows[at],
	offset uint32 // offset into its range
}

// NewProber returns a prober of a table, which must be finished before the first Lookup.
func (t *Table) NewProber() *Prober {
	return &Prober{t: t, flat: make([]vector.Vector, len(t.spec.Keys)), keys: make([]*vector.Vector, len(t.spec.Keys))}
}

// Lookup finds the candidates of a batch's rows. The keys are read until the next Lookup.
func (p *Prober) Lookup(keys []*vector.Vector, n int, sel vector.Sel) {
	p.n, p.at, p.offset = n, 0, 0
	copy(p.keys, keys)
	if p.t.rows == 0 {
		p.rows = p.rowBuf[:0]
		return
	}
	if p.t.pack != nil {
		for i, k := range p.keys {
			if k.Form == vector.Dict {
				p.keys[i] = vector.Flatten(&p.flat[i], k, n)
			}
		}
		p.in = p.t.pack.rows(p.codes[:], p.keys, n, sel, p.inBuf[:])
	} else {
		p.in = p.t.hashable(p.keys, n, sel, p.inBuf[:])
		for i, k := range p.keys {
			vector.Hash(p.codes[:], k, n, p.in, i > 0)
		}
	}
	p.t.form.find(p)
}

// hashable drops the rows that have NULL in a key that is not null-safe.
func (t *Table) hashable(keys []*vector.Vector, n int, sel, out vector.Sel) vector.Sel {
	for i, k := range keys {
		switch {
		case k.Valid == nil || t.spec.Keys[i].NullSafe:
		case k.Form != vector.Const:
			sel = vector.SelectValid(k.Valid, n, sel, out)
		case k.IsNull(0):
			return out[:0]
		}
	}
	return sel
}

// pairs writes further matching pairs and returns their number; 0 means there are no more. A
// probe row's matches may be cut anywhere: the next call goes on there.
func (p *Prober) pairs(probe, build []uint32) int {
	if p.t.pack != nil {
		return p.exactPairs(probe, build)
	}
	for p.at < len(p.rows) {
		m := p.candidates(probe, build)
		if m = p.sameKeys(probe, build, m); m > 0 {
			return m
		}
	}
	return 0
}

func (p *Prober) exactPairs(probe, build []uint32) int {
	m, adjacent := 0, p.t.adjacent
	for p.at < len(p.rows) && m < len(probe) {
		row := uint32(p.rows[p.at])
		from := p.first[p.at]
		if adjacent == nil {
			probe[m], build[m] = row, from
			m++
			p.at++
			continue
		}
		left := p.count[p.at] - p.offset
		take := min(left, uint32(len(probe)-m))
		copy(build[m:], adjacent[from+p.offset:from+p.offset+take])
		for i := range take {
			probe[m+int(i)] = row
		}
		m += int(take)
		if p.offset += take; take == left {
			p.at++
			p.offset = 0
		}
	}
	return m
}

// candidates writes pairs whose hashes agree.
func (p *Prober) candidates(probe, build []uint32) int {
	m, entries := 0, p.t.entries
	for p.at < len(p.rows) && m < len(probe) {
		row := p.rows[p.at]
		hash := p.codes[row] << 32
		from, to := p.first[p.at]+p.offset, p.first[p.at]+p.count[p.at]
		take := min(to-from, uint32(len(probe)-m))
		for _, e := range entries[from : from+take] {
			probe[m], build[m] = uint32(row), uint32(e)
			if e&^(1<<32-1) == hash {
				m++
			}
			if m == len(probe) {
				break // take was the most that could fit: the last entry filled it
			}
		}
		if p.offset += take; from+take == to {
			p.at++
			p.offset = 0
		}
	}
	return m
}

// sameKeys keeps the first m pairs whose keys are equal.
func (p *Prober) sameKeys(probe, build []uint32, m int) int {
	for i, k := range p.keys {
		if m == 0 {
			return 0
		}
		m = sameKey(k, p.t.store.Column(i), p.t.spec.Keys[i].NullSafe, probe, build, m)
	}
	return m
}
