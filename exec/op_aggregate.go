package exec

import (
	"sync"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// aggregateSink groups its input and computes aggregates: each worker on its own, put together at
// the end.
type aggregateSink struct {
	run    *run
	node   *planner.Aggregate
	layout func(expr.ColID) int
	keys   []expr.Expr
	// calls are the aggregates without DISTINCT, distinct those with; place tells where in them
	// the node's i-th aggregate is.
	calls, distinct []*expr.AggCall
	place           []callPlace

	mu     sync.Mutex // guards states while workers open
	states []*aggregateState
	stats  *nodeStats
}

type callPlace struct {
	distinct bool
	at       int
}

func (b *builder) aggregate(n *planner.Aggregate) ([]*stream, error) {
	streams, err := b.build(n.Input, n)
	if err != nil {
		return nil, err
	}
	s := &aggregateSink{run: b.run, node: n, layout: layout(n.Input.Cols()), stats: b.run.stats.of(n)}
	for i := range n.Groups {
		s.keys = append(s.keys, n.Groups[i].Expr)
	}
	for i := range n.Aggs {
		call := n.Aggs[i].Call
		if call.Distinct {
			s.place = append(s.place, callPlace{true, len(s.distinct)})
			s.distinct = append(s.distinct, call)
		} else {
			s.place = append(s.place, callPlace{false, len(s.calls)})
			s.calls = append(s.calls, call)
		}
	}
	return one(&aggregateSource{sink: s}, b.into(streams, s, n)), nil
}

// aggregateState is one worker's groups.
type aggregateState struct {
	sink     *aggregateSink
	memory   *Reservation
	program  *expr.Program
	normal   []*normalizer
	keep     []int        // per key: where in groups' columns the value to show is
	groups   *join.Groups // nil without keys
	agg      *expr.Aggregation
	distinct []*distinctState
	rows     bool // there was input

	ids        []uint32 // the batch's groups, by row
	keys       []*vector.Vector
	extra      []*vector.Vector
	grown      int   // groups the accumulators have room for
	reserved   int64 // for the accumulators
	sinceCheck int
}

// newState makes a worker's state.
func (s *aggregateSink) newState(w *Worker) (*aggregateState, error) {
	a := &aggregateState{sink: s, memory: w.reservation(), ids: make([]uint32, vector.BatchCap)}
	var err error
	if a.agg, err = expr.NewAggregation(s.calls, s.layout, s.run.env); err != nil {
		return nil, err
	}
	for _, call := range s.distinct {
		d, err := newDistinct(s, call, len(s.keys) > 0, a.memory)
		if err != nil {
			return nil, err
		}
		a.distinct = append(a.distinct, d)
	}
	if len(s.keys) == 0 {
		a.agg.Grow(1)
		return a, nil
	}
	if a.program, err = expr.CompileAll(s.keys, s.layout, s.run.env); err != nil {
		return nil, err
	}
	a.normal = normalizers(s.keys)
	var kinds, extra []vector.Kind
	for i, e := range s.keys {
		k := e.Type().Kind()
		kinds = append(kinds, a.normal[i].kind(k))
		if a.normal[i] == nil {
			a.keep = append(a.keep, i)
			continue
		}
		a.keep = append(a.keep, len(s.keys)+len(extra))
		extra = append(extra, k)
	}
	a.groups = join.NewGroups(kinds, extra, a.memory)
	a.keys = make([]*vector.Vector, len(kinds))
	a.extra = make([]*vector.Vector, len(extra))
	return a, nil
}

func (s *aggregateSink) Open(w *Worker) (Pusher, error) {
	a, err := s.newState(w)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.states = append(s.states, a)
	s.mu.Unlock()
	return a, nil
}

func (a *aggregateState) Push(b *vector.Batch) error {
	a.rows = true
	if a.groups == nil {
		if err := a.agg.Update(b, b.Sel, nil); err != nil {
			return err
		}
	} else {
		if err := a.assign(b); err != nil {
			return err
		}
		if err := a.agg.Update(b, b.Sel, a.ids); err != nil {
			return err
		}
	}
	for _, d := range a.distinct {
		if err := d.push(b, a.ids); err != nil {
			return err
		}
	}
	if a.sinceCheck++; a.sinceCheck >= 64 {
		a.sinceCheck = 0
		return a.reserve()
	}
	return nil
}

// assign finds the batch's groups.
func (a *aggregateState) assign(b *vector.Batch) error {
	values, err := a.program.Eval(b, b.Sel)
	if err != nil {
		return err
	}
	extra := 0
	for i, v := range values {
		a.keys[i] = a.normal[i].apply(v, b.N, b.Sel)
		if a.normal[i] != nil {
			a.extra[extra] = v
			extra++
		}
	}
	if err := a.groups.Assign(a.ids, a.keys, a.extra, b.N, b.Sel); err != nil {
		return err
	}
	if n := a.groups.Len(); n > a.grown {
		return a.grow(n)
	}
	return nil
}

// grow gives the accumulators room for n groups.
func (a *aggregateState) grow(n int) error {
	a.agg.Grow(n)
	a.grown = n
	return a.reserve()
}

// reserve accounts for the accumulators, which grow by themselves.
func (a *aggregateState) reserve() error {
	size := int64(a.agg.SizeBytes())
	if more := size - a.reserved; more > 0 {
		a.reserved = size
		return a.memory.Grow(more)
	}
	return nil
}

func (a *aggregateState) Flush() error { return a.reserve() }

// Finish puts the workers' groups together.
func (s *aggregateSink) Finish(w *Worker) error {
	if len(s.states) == 0 {
		a, err := s.newState(w)
		if err != nil {
			return err
		}
		s.states = append(s.states, a)
	}
	first := s.states[0]
	for _, other := range s.states[1:] {
		if err := first.merge(w, other); err != nil {
			return err
		}
	}
	s.states = s.states[:1]
	for _, d := range first.distinct {
		if err := d.finish(w, first.count()); err != nil {
			return err
		}
	}
	if first.groups != nil {
		s.stats.fact("Groups", "%d (%s)", first.groups.Len(), first.groups.Form())
	}
	return nil
}

// count returns the number of result rows.
func (a *aggregateState) count() int {
	switch {
	case a.groups != nil:
		return a.groups.Len()
	case len(a.sink.node.Aggs) > 0 || a.rows:
		return 1
	}
	return 0
}

// merge adds another worker's groups.
func (a *aggregateState) merge(w *Worker, other *aggregateState) error {
	a.rows = a.rows || other.rows
	var mapping []uint32
	if a.groups != nil {
		var err error
		if mapping, err = mapGroups(w, a.groups, other.groups, len(a.keys)); err != nil {
			return err
		}
		if err := a.grow(a.groups.Len()); err != nil {
			return err
		}
	}
	for i, d := range a.distinct {
		if err := d.merge(w, other.distinct[i], mapping); err != nil {
			return err
		}
	}
	return a.agg.Merge(other.agg, mapping)
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
