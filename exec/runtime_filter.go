package exec

import (
	"fmt"
	"sync"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/imcv"
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// runtimeFilter is what a hash join lends to a scan of its probe side: a test of the scan's columns that
// rows without a match fail. With several keys it is one test of all of them together. It is complete when
// the scan starts, because the build has ended by then.
type runtimeFilter struct {
	build  *hashBuild
	keys   []int // of the join
	cols   []int // of the scan, by key
	scan   *scanSource
	number int // in EXPLAIN

	mu     sync.Mutex // guards what follows
	made   bool
	filter *join.Filter // nil = not worth its cost
}

// filterCounts are what EXPLAIN ANALYZE tells of a filter.
type filterCounts struct {
	tested, passed int64
	skipped        int64 // row groups
}

// lend lets the scan below a stream use the build's keys as a filter, where dropping the rows that
// find no match changes nothing: the kind yields no such row, and nothing in between counts them.
func (b *builder) lend(s *stream, op *hashJoinOp) {
	if !op.kind.NeedsMatch() || s.scan == nil || s.from == nil || b.run.query.NoRuntimeFilters {
		return
	}
	at := layout(op.left)
	f := &runtimeFilter{build: op.build, scan: s.scan}
	for i, k := range op.node.Keys {
		c := filterColumn(k.Left)
		if c == nil || k.NullSafe {
			continue
		}
		if col := s.from[at(c.ID)]; col >= 0 && col < len(s.scan.cols) {
			f.keys, f.cols = append(f.keys, i), append(f.cols, col)
		}
	}
	if len(f.keys) == 0 {
		return
	}
	f.number = b.run.stats.filterNumber(op.node, s.scan.node)
	s.scan.filters = append(s.scan.filters, f)
	op.build.lent = append(op.build.lent, f)
}

// filterColumn returns the column that a key is, maybe as a wider integer, which leaves values as they are;
// nil if it is none.
func filterColumn(e expr.Expr) *expr.Col {
	if c, ok := e.(*expr.Cast); ok && isWhole(c.Typ) && isWhole(c.Arg.Type()) &&
		c.Typ.Kind().Width() >= c.Arg.Type().Kind().Width() {
		e = c.Arg
	}
	col, _ := e.(*expr.Col)
	return col
}

func isWhole(t catalog.Type) bool {
	return t.ID == catalog.Int2 || t.ID == catalog.Int4 || t.ID == catalog.Int8
}

// get returns the filter, made when first asked for; nil when it would not be worth its cost.
func (f *runtimeFilter) get() (*join.Filter, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.made || !f.build.built {
		return f.filter, nil
	}
	var err error
	f.filter, err = f.build.table.KeyFilter(f.keys...)
	f.made = err == nil
	if f.filter != nil {
		f.describe()
	}
	return f.filter, err
}

// renew forgets the filter, because the build makes another table.
func (f *runtimeFilter) renew() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.made, f.filter = false, nil
}

// filterProbe is a runtimeFilter in one worker.
type filterProbe struct {
	*join.FilterProbe
	of     *runtimeFilter
	normal []*normalizer // by key, nil = values are compared as they are
	vecs   []*vector.Vector
	counts filterCounts
	// Rows tested and passed since it was last decided whether to go on.
	sampled, kept int
	// rest is how many rows to let pass untested, and pause how many that were the last time.
	rest, pause int
}

// probe returns the filter for a worker; nil when it would not be worth its cost.
func (f *runtimeFilter) probe() (*filterProbe, error) {
	filter, err := f.get()
	if filter == nil || err != nil {
		return nil, err
	}
	p := &filterProbe{FilterProbe: filter.Probe(), of: f, vecs: make([]*vector.Vector, len(f.keys))}
	for _, i := range f.keys {
		k := f.build.plan.node.Keys[i]
		p.normal = append(p.normal, newKeyNormalizer(k.Left.Type(), k.Right.Type()))
	}
	return p, nil
}

// A filter that lets more than filterKeep percent of filterSample rows pass rests: the join would drop as
// little as cheaply. What passes may be the clustered rows of a few keys, so it is tried again after
// firstPause rows, and after twice as many each time that it proves useless again.
const (
	filterSample = 16 << 10
	filterKeep   = 85
	firstPause   = 4 * filterSample
)

// narrow returns the batch's live rows that pass; out is memory for them and may hold b.Sel.
func (p *filterProbe) narrow(b *vector.Batch, out vector.Sel) vector.Sel {
	if p.resting(b.Live()) {
		return b.Sel
	}
	return p.test(b, out)
}

// test is narrow for a filter that does not rest.
func (p *filterProbe) test(b *vector.Batch, out vector.Sel) vector.Sel {
	for i, c := range p.of.cols {
		p.vecs[i] = p.normal[i].apply(b.Vecs[c], b.N, b.Sel)
	}
	before := b.Live()
	sel := p.Select(p.vecs, b.N, b.Sel, out)
	p.counts.tested += int64(before)
	p.counts.passed += int64(len(sel))
	p.sampled += before
	p.kept += len(sel)
	if p.sampled >= filterSample {
		if p.kept*100 > p.sampled*filterKeep {
			p.pause = max(firstPause, 2*p.pause)
			p.rest = p.pause
		} else {
			p.pause = 0
		}
		p.sampled, p.kept = 0, 0
	}
	if len(sel) == b.N {
		return nil
	}
	return sel
}

// resting reports whether the filter lets the next rows pass untested.
func (p *filterProbe) resting(rows int) bool {
	if p.rest <= 0 {
		return false
	}
	p.rest -= rows
	return true
}

// unitKeys tells column units what the filter knows of the scan's columns: of those whose values are
// compared as they are stored.
func (p *filterProbe) unitKeys(covered func(col int) imcv.KeyFilter) (list []imcv.KeyFilter) {
	filter := p.Filter()
	for i, c := range p.of.cols {
		k := covered(c)
		kind := p.of.scan.node.Columns[c].Col.Typ.Kind()
		k.Low, k.High = vector.NullDatum(kind), vector.NullDatum(kind)
		low, high, integers := filter.Bounds(i)
		switch {
		case k.Column == 0 || p.normal[i] != nil:
			continue
		case integers && isInteger(kind):
			least, most := kindRange(kind)
			low, high = max(low, least), min(high, most)
			k.Meets = func(from, to int64) bool { return filter.Meets(i, from, to) }
			if low > high {
				k.Values = []vector.Datum{}
				break
			}
			k.Low, k.High = vector.IntDatum(kind, low), vector.IntDatum(kind, high)
			for _, d := range filter.Few() {
				if least <= d.I && d.I <= most {
					k.Values = append(k.Values, vector.IntDatum(kind, d.I))
				}
			}
		case kind == vector.Bytes && len(p.of.cols) == 1 && filter.Few() != nil:
			k.Values = filter.Few()
		default:
			continue
		}
		list = append(list, k)
	}
	return list
}

func isInteger(k vector.Kind) bool {
	switch k {
	case vector.I8, vector.I16, vector.I32, vector.I64:
		return true
	}
	return false
}

// kindRange returns the least and the greatest integer of a kind.
func kindRange(k vector.Kind) (least, most int64) {
	bits := 8*k.Width() - 1
	return -1 << bits, 1<<bits - 1
}

// report adds a worker's counts to the filter's.
func (p *filterProbe) report(w *Worker) error {
	tallied(p.of.scan.stats, p.of.key(), func(t *filterTally) {
		t.tested, t.passed, t.skipped = t.tested+p.counts.tested, t.passed+p.counts.passed, t.skipped+p.counts.skipped
		if t.resting == nil {
			t.resting = map[int]bool{}
		}
		t.resting[w.ID] = p.rest > 0
	})
	return nil
}

// factFilter begins the key of a filter's line under its scan.
const factFilter = "Runtime Filter RF"

func (f *runtimeFilter) key() string { return fmt.Sprint(factFilter, f.number) }

// describe notes that the filter has been made, under its scan and its join.
func (f *runtimeFilter) describe() {
	if f.scan.stats == nil {
		return
	}
	filter := f.filter
	tallied(f.scan.stats, f.key(), func(t *filterTally) {
		t.last, t.number, t.one = filter, f.number, len(f.keys) == 1
		t.times, t.rows, t.bytes = t.times+1, t.rows+filter.Rows(), max(t.bytes, filter.Size())
	})
	var from, to []expr.Expr
	for i, k := range f.keys {
		from = append(from, f.build.plan.node.Keys[k].Right)
		to = append(to, f.scan.node.Columns[f.cols[i]].Col)
	}
	tallied(f.build.plan.stats, factFilters, func(t *filtersTally) {
		t.add(f.number, planner.Parts{{Name: "filter", Value: fmt.Sprint("RF", f.number), Text: "%s"}, {Name: "form", Value: filter.Form(), Text: "[%s] "},
			{Name: "from", Value: from, Text: "%s -> "}, {Name: "to", Value: to, Text: "%s"}})
	})
}

// filterTally is what a filter is, and what it does in all workers.
type filterTally struct {
	last                    *join.Filter
	number                  int
	one                     bool // it is of one key
	times, rows, bytes      int64
	tested, passed, skipped int64        // rows, row groups
	resting                 map[int]bool // by worker, at the end
}

func (t *filterTally) facts(key string, loops int64) []planner.Fact {
	parts := planner.Parts{{Name: "filter", Value: fmt.Sprint("RF", t.number)}, {Name: "form", Value: t.last.Form()}}
	if n, ok := t.last.Keys(); ok && t.times == 1 {
		parts = append(parts, planner.Part{Name: "rows", Value: t.rows}, planner.Part{Name: "keys", Value: n, Text: "keys %s"})
	} else {
		parts = append(parts, planner.Part{Name: "rows", Value: perLoop(t.rows, loops), Text: "rows %s"})
	}
	if low, high, ok := t.last.Bounds(0); ok && t.one && t.times == 1 && low <= high {
		parts = append(parts, planner.Part{Name: "low", Value: low, Text: ", range [%s, "}, planner.Part{Name: "high", Value: high, Text: "%s]"})
	}
	disabled, workers := int64(0), int64(len(t.resting))
	for _, is := range t.resting {
		if is {
			disabled++
		}
	}
	percent := 100.0
	if t.tested > 0 {
		percent = 100 * float64(t.passed) / float64(t.tested)
	}
	parts = append(parts, planner.Parts{{Name: "structure", Value: t.last.Structure(), Text: ", %s"}, {Name: "bytes", Value: planner.Bytes(t.bytes), Text: " %s"},
		{Name: "tested", Value: perLoop(t.tested, loops), Text: "; tested %s"}, {Name: "passed", Value: perLoop(t.passed, loops), Text: ", passed %s"},
		{Name: "passed_percent", Value: percent, Text: " (%s%)"}, {Name: "row_groups_skipped", Value: perLoop(t.skipped, loops), Text: ", row groups skipped %s"},
		{Name: "disabled", Value: disabled > 0, Text: ", disabled %s"}}...)
	by, of := "", ""
	if disabled > 0 && disabled < workers {
		by, of = ", by %s", " of %s workers"
	}
	parts = append(parts, planner.Part{Name: "disabled_workers", Value: disabled, Text: by}, planner.Part{Name: "workers", Value: workers, Text: of})
	return []planner.Fact{{Key: key, Value: parts, Item: "Runtime Filters Applied"}}
}
