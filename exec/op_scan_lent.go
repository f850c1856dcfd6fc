package exec

import (
	"github.com/weftdb/weft/imcv"
	"github.com/weftdb/weft/vector"
)

// lentFilters are the runtime filters that a column reader applies itself: those of which units hold all
// columns. They skip row groups, narrow down by codes what is read at all, and test rows before the
// columns that only the query needs are read.
type lentFilters struct {
	probes []*filterProbe
	owner  []int   // of each filter lent to units: the probe
	before []int64 // what each of those had removed when it was last looked at
	sel    vector.Sel
	marked []filterCounts
}

// lend gives the reader a scan's runtime filters and returns those that it does not apply.
func (r *columnReader) lend(filters []*filterProbe) (left []*filterProbe) {
	l := &r.lent
	l.sel = make(vector.Sel, 0, vector.BatchCap)
	var keys []imcv.KeyFilter
	for _, p := range filters {
		held := true
		for _, c := range p.of.cols {
			held = held && r.covered[c] != 0
		}
		if !held {
			left = append(left, p)
			continue
		}
		for _, k := range p.unitKeys(func(c int) imcv.KeyFilter { return imcv.KeyFilter{Column: r.covered[c]} }) {
			keys, l.owner = append(keys, k), append(l.owner, len(l.probes))
		}
		l.probes = append(l.probes, p)
		for _, c := range p.of.cols {
			r.tested = append(r.tested, r.covered[c])
		}
	}
	l.before = make([]int64, len(keys))
	r.coded.units.Lend(keys)
	return left
}

// skipByKeys reports whether some filter lets no trusted row of the pinned group pass.
func (r *columnReader) skipByKeys() bool {
	i := r.coded.units.SkipByKeys(&r.group)
	if i < 0 {
		return false
	}
	r.lent.probes[r.lent.owner[i]].counts.skipped++
	return true
}

// narrowLent drops the rows of a window that do not pass, reading the filters' columns.
func (r *columnReader) narrowLent(b *vector.Batch, from, n int) {
	l := &r.lent
	for i, owner := range l.owner {
		removed := r.coded.units.Removed(i)
		l.probes[owner].counts.tested += removed - l.before[i]
		l.before[i] = removed
	}
	for _, p := range l.probes {
		if b.Live() == 0 || p.resting(b.Live()) {
			continue
		}
		for _, c := range p.of.cols {
			r.read(b, c, from, n)
		}
		b.Sel = p.test(b, l.sel[:cap(l.sel)])
	}
}

// narrow drops the rows of a batch from the row store that do not pass.
func (l *lentFilters) narrow(b *vector.Batch) {
	for _, p := range l.probes {
		if b.Live() > 0 {
			b.Sel = p.narrow(b, l.sel[:cap(l.sel)])
		}
	}
}

// mark remembers what the filters have counted, for forget.
func (l *lentFilters) mark() {
	l.marked = l.marked[:0]
	for _, p := range l.probes {
		l.marked = append(l.marked, p.counts)
	}
}

// forget takes back what the filters have counted since mark: their rows will be looked at once more.
func (l *lentFilters) forget() {
	for i, p := range l.probes {
		p.counts = l.marked[i]
	}
}
