package exec

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/vector"
)

// aggregatePart is a share of a worker's groups, or all of them.
type aggregatePart struct {
	memory   *Reservation
	groups   *join.Groups // nil without keys
	agg      *expr.Aggregation
	distinct []*distinctState
	grown    int   // groups the accumulators have room for
	reserved int64 // for the accumulators
	pushes   int
	count    int // result rows, once finished
}

// checkPushes is how many batches pass between looks at the accumulators' size: most grow with the
// number of groups only, which is watched at every batch.
const checkPushes = 64

func newAggregatePart(s *aggregateSink, w *Worker, kinds, extra []vector.Kind) (*aggregatePart, error) {
	p := &aggregatePart{memory: w.reservation()}
	var err error
	if p.agg, err = expr.NewAggregation(s.calls, s.layout, s.run.env); err != nil {
		return nil, err
	}
	for _, call := range s.distinct {
		d, err := newDistinct(s, call, len(s.keys) > 0, p.memory)
		if err != nil {
			return nil, err
		}
		p.distinct = append(p.distinct, d)
	}
	if len(kinds) == 0 {
		p.agg.Grow(1)
	} else {
		p.groups = join.NewGroups(kinds, extra, p.memory)
	}
	return p, nil
}

// group adds the rows of sel, whose keys the worker has evaluated.
func (p *aggregatePart) group(a *aggregateState, b *vector.Batch, sel vector.Sel) error {
	if err := p.groups.Assign(a.ids, a.keys, a.extra, b.N, sel); err != nil {
		return err
	}
	if n := p.groups.Len(); n > p.grown {
		if err := p.grow(n); err != nil {
			return err
		}
	}
	return p.push(b, sel, a.ids)
}

// push adds the rows of sel to their groups; groups nil = group 0.
func (p *aggregatePart) push(b *vector.Batch, sel vector.Sel, groups []uint32) error {
	if err := p.agg.Update(b, sel, groups); err != nil {
		return err
	}
	for _, d := range p.distinct {
		if err := d.push(b, sel, groups); err != nil {
			return err
		}
	}
	if p.pushes++; p.pushes%checkPushes == 0 {
		return p.reserve()
	}
	return nil
}

// grow gives the accumulators room for n groups.
func (p *aggregatePart) grow(n int) error {
	p.agg.Grow(n)
	p.grown = n
	return p.reserve()
}

// reserve accounts for the accumulators, which grow by themselves.
func (p *aggregatePart) reserve() error {
	size := int64(p.agg.SizeBytes())
	more := size - p.reserved
	if more <= 0 {
		return nil
	}
	p.reserved = size
	return p.memory.Grow(more)
}

// merge adds another worker's groups of the same part.
func (p *aggregatePart) merge(w *Worker, other *aggregatePart, keys int) error {
	var mapping []uint32
	if p.groups != nil {
		var err error
		if mapping, err = mapGroups(w, p.groups, other.groups, keys); err != nil {
			return err
		}
		if err := p.grow(p.groups.Len()); err != nil {
			return err
		}
	}
	for i, d := range p.distinct {
		if err := d.merge(w, other.distinct[i], mapping); err != nil {
			return err
		}
	}
	return p.agg.Merge(other.agg, mapping)
}

// mapGroups enters other's groups into g and returns their numbers there.
func mapGroups(w *Worker, g, other *join.Groups, keys int) ([]uint32, error) {
	mapping := make([]uint32, other.Len())
	vecs := join.NewBlock(other.Store().Columns())
	for from := 0; from < other.Len(); from += join.BlockRows {
		n := min(join.BlockRows, other.Len()-from)
		other.Store().Block(vecs, from, n)
		if err := g.Assign(mapping[from:], vecs[:keys], vecs[keys:], n, nil); err != nil {
			return nil, err
		}
		if err := w.Check(); err != nil {
			return nil, err
		}
	}
	return mapping, nil
}

// finish ends the part: one tells whether a part without keys has its one row.
func (p *aggregatePart) finish(w *Worker, one bool) error {
	switch {
	case p.groups != nil:
		p.count = p.groups.Len()
	case one:
		p.count = 1
	}
	for _, d := range p.distinct {
		if err := d.finish(w, p.count); err != nil {
			return err
		}
	}
	return nil
}
