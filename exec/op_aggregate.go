package exec

import (
	"math/bits"
	"sync"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// aggregateSink groups its input and computes aggregates: each worker on its own, put together at
// the end. Where many groups are expected, each worker splits its rows into parts by the hash of
// their keys, so that the parts can be put together side by side.
type aggregateSink struct {
	run    *run
	node   *planner.Aggregate
	layout func(expr.ColID) int
	keys   []expr.Expr
	// calls are the aggregates without DISTINCT, distinct those with; place tells where in them
	// the node's i-th aggregate is.
	calls, distinct []*expr.AggCall
	place           []callPlace
	parts           int // a power of two

	mu     sync.Mutex // guards states while workers open
	states []*aggregateState
	result []*aggregatePart
	keep   []int // per key: where in groups' columns the value to show is
	stats  *nodeStats
	wise   *wiseAggregate // nil: all rows are grouped at a time
	merged []*aggregateState
}

type callPlace struct {
	distinct bool
	at       int
}

// partGroups is the expected number of groups from which workers split them: putting fewer together
// on one worker takes no longer than a millisecond or two.
const partGroups = 1 << 15

func (b *builder) aggregate(n *planner.Aggregate) ([]*stream, error) {
	wise := newWiseAggregate(b, n)
	streams, err := b.build(n.Input, n)
	if err != nil {
		return nil, err
	}
	s := &aggregateSink{run: b.run, node: n, layout: layout(n.Input.Cols()), stats: b.run.stats.of(n), parts: 1}
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
	if b.run.threads > 1 && len(s.keys) > 0 && n.Estimate().Rows >= partGroups {
		s.parts = min(1<<bits.Len(uint(2*b.run.threads-1)), 64)
	}
	s.wise = wise.over(streams, s)
	out := one(&aggregateSource{sink: s}, b.into(streams, s, n))
	out[0].round = s.wise.round(0)
	return out, nil
}

// aggregateState is one worker's groups.
type aggregateState struct {
	sink    *aggregateSink
	worker  int
	program *expr.Program
	normal  []*normalizer
	parts   []*aggregatePart
	rows    bool // there was input

	keys, extra []*vector.Vector
	ids         []uint32 // the batch's groups, by row
	hashes      []uint64
	split       []vector.Sel
}

func (s *aggregateSink) newState(w *Worker) (*aggregateState, error) {
	a := &aggregateState{sink: s, worker: w.ID, normal: normalizers(s.keys), ids: make([]uint32, vector.BatchCap)}
	var kinds, extra []vector.Kind
	var keep []int
	for i, e := range s.keys {
		k := e.Type().Kind()
		kinds = append(kinds, a.normal[i].kind(k))
		if a.normal[i] == nil {
			keep = append(keep, i)
			continue
		}
		keep = append(keep, len(s.keys)+len(extra))
		extra = append(extra, k)
	}
	a.keys, a.extra = make([]*vector.Vector, len(kinds)), make([]*vector.Vector, len(extra))
	for range s.parts {
		p, err := newAggregatePart(s, w, kinds, extra)
		if err != nil {
			return nil, err
		}
		a.parts = append(a.parts, p)
	}
	if s.parts > 1 {
		a.hashes, a.split = make([]uint64, vector.BatchCap), make([]vector.Sel, s.parts)
	}
	var err error
	a.program, err = expr.CompileAll(s.keys, s.layout, s.run.env)
	s.mu.Lock()
	s.states, s.keep = append(s.states, a), keep
	s.mu.Unlock()
	return a, err
}

// Open returns the worker's groups, to which all pipelines that feed the sink add, one after the other, and
// the rounds of a partition-wise aggregation until they are finished.
func (s *aggregateSink) Open(w *Worker) (Pusher, error) {
	s.mu.Lock()
	for _, a := range s.states {
		if a.worker == w.ID {
			s.mu.Unlock()
			return a, nil
		}
	}
	s.mu.Unlock()
	return s.newState(w)
}

func (a *aggregateState) Push(b *vector.Batch) error {
	a.rows = true
	if len(a.keys) == 0 {
		return a.parts[0].push(b, b.Sel, nil)
	}
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
	if len(a.parts) == 1 {
		return a.parts[0].group(a, b, b.Sel)
	}
	a.splitRows(b)
	for i, sel := range a.split {
		if len(sel) == 0 {
			continue
		}
		if err := a.parts[i].group(a, b, sel); err != nil {
			return err
		}
	}
	return nil
}

// splitRows deals the batch's rows out to the parts.
func (a *aggregateState) splitRows(b *vector.Batch) {
	for i, k := range a.keys {
		vector.Hash(a.hashes, k, b.N, b.Sel, i > 0)
	}
	for i := range a.split {
		a.split[i] = a.split[i][:0]
	}
	// The tables inside a part go by other bits of other functions of the key.
	shift := 64 - bits.Len(uint(len(a.parts)-1))
	if b.Sel == nil {
		for i, h := range a.hashes[:b.N] {
			a.split[h>>shift] = append(a.split[h>>shift], uint16(i))
		}
		return
	}
	for _, i := range b.Sel {
		part := a.hashes[i] >> shift
		a.split[part] = append(a.split[part], i)
	}
}

func (a *aggregateState) Flush() error {
	for _, p := range a.parts {
		if err := p.reserve(); err != nil {
			return err
		}
	}
	return nil
}

// Finish puts the workers' groups together.
func (s *aggregateSink) Finish(w *Worker) error {
	if s.wise != nil && !s.wise.finishes() {
		return nil
	}
	if len(s.states) == 0 {
		if _, err := s.newState(w); err != nil {
			return err
		}
	}
	first := s.states[0]
	for _, other := range s.states[1:] {
		first.rows = first.rows || other.rows
	}
	err := s.run.parallel(s.parts, func(i int) error {
		p := first.parts[i]
		for _, other := range s.states[1:] {
			if err := p.merge(w, other.parts[i], len(s.keys)); err != nil {
				return err
			}
		}
		return p.finish(w, first.rows || len(s.place) > 0)
	})
	s.result, s.merged, s.states = first.parts, s.states, nil
	if err == nil && len(s.keys) > 0 {
		s.describe()
	}
	return err
}

// describe says in EXPLAIN ANALYZE how the groups were found.
func (s *aggregateSink) describe() {
	if s.stats == nil {
		return
	}
	groups := 0
	for _, p := range s.result {
		groups += p.count
	}
	if s.wise != nil {
		s.wise.groups += groups
		groups = s.wise.groups
	}
	tallied(s.stats, factParts, func(t *groupsTally) { *t = groupsTally{int64(groups), int64(s.parts), s.result[0].groups.Form()} })
}

// groupsTally is how the groups of an aggregation were found, in its last execution.
type groupsTally struct {
	groups, parts int64
	table         string
}

func (t *groupsTally) facts(key string, _ int64) []planner.Fact {
	return oneFact(key, planner.Parts{{Name: "groups", Value: t.groups, Text: "%s"}, {Name: "table", Value: t.table, Text: " (%s"}, {Name: "parts", Value: t.parts, Text: ", parts %s)"}})
}
