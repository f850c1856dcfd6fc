package exec

import (
	"github.com/bits-and-blooms/bitset"

	"github.com/weftdb/weft/planner"
)

// wiseAggregate makes the groups of an aggregation partition-wise: no group has rows in leaves of two
// divisions, so that groups can be finished and handed on before the next leaves are read. Rounds read some
// leaves each. Groups are kept for more rounds as long as there is room: how many a leaf has is known when it
// has been read.
//
// The leaves are those of one scan, or the rounds are those of a join whose two sides are read a pair of
// divisions at a time.
type wiseAggregate struct {
	run    *run
	node   *planner.Aggregate
	sink   *aggregateSink
	room   int64 // what groups may take before they are handed on
	rounds *rounds

	scan    *partitionSource // nil: a join's
	planned bool
	passes  []*bitset.BitSet
	at      int // the next pass

	last     bool // no pass comes behind the present one
	finished int  // how often groups were handed on
	groups   int  // so far
}

// newWiseAggregate returns how the groups of an aggregation may be made partition-wise, before its input is
// built: a join that it reads takes it into account. nil where they may not.
func newWiseAggregate(b *builder, n *planner.Aggregate) *wiseAggregate {
	if n.Wise == nil {
		return nil
	}
	w := &wiseAggregate{run: b.run, node: n}
	if n.Wise.Divisions == nil {
		if b.grouped == nil {
			b.grouped = map[*planner.Join]*wiseAggregate{}
		}
		b.grouped[planner.DividedJoin(n.Input)] = w
	}
	return w
}

// over makes the streams of the input run in rounds, where that pays. It returns nil where it does not.
func (w *wiseAggregate) over(streams []*stream, s *aggregateSink) *wiseAggregate {
	if w == nil {
		return nil
	}
	w.sink = s
	if w.node.Wise.Divisions == nil {
		return w.overJoin(streams)
	}
	scan := w.run.partitioned(w.node.Input)
	if scan == nil || len(streams) != 1 || streams[0].round != nil {
		return nil
	}
	rows := make([]float64, len(w.node.Wise.Divisions))
	for i, leaves := range w.node.Wise.Divisions {
		rows[i] = w.leafRows(scan, leaves)
	}
	if !w.pays(rows) {
		return nil
	}
	w.rounds = &rounds{driver: w}
	streams[0].round = w.round(-1)
	w.scan = inRounds(streams[0])
	return w
}

// overJoin takes part in the rounds of the join that the aggregation reads, if there are any: all that
// yields rows of the join feeds the groups in each round.
func (w *wiseAggregate) overJoin(streams []*stream) *wiseAggregate {
	for _, s := range streams {
		if s.round == nil {
			return nil
		}
		if join, ok := s.round.of.driver.(*wiseJoin); !ok || join.grouped != w {
			return nil
		}
	}
	w.rounds = streams[0].round.of
	for _, s := range streams {
		s.round.fresh = -1
	}
	return w
}

// round returns the state of one more pipeline of the rounds; nil where there are none.
func (w *wiseAggregate) round(fresh int) *round {
	if w == nil {
		return nil
	}
	return &round{of: w.rounds, fresh: fresh}
}

// leafRows is how many rows leaves have that others have committed: what a transaction has added does not
// count, for memory is watched anyway.
func (w *wiseAggregate) leafRows(scan *planner.Scan, leaves *bitset.BitSet) (rows float64) {
	engine := w.run.query.View.Engine()
	for i, ok := leaves.NextSet(0); ok; i, ok = leaves.NextSet(i + 1) {
		rows += float64(engine.RowCount(scan.Parts.Desc.Leaves[i].Table))
	}
	return rows
}

// pairRows is how many rows the divisions of a join have on both sides.
func pairRows(n *planner.Join) []float64 {
	rows := make([]float64, len(n.Wise.Pairs))
	for i, p := range n.Wise.Pairs {
		rows[i] = p.LeftRows + p.RightRows
	}
	return rows
}

// What a group takes besides its values: its place in the hash table, and the state of an aggregate.
const (
	groupBytes     = 32
	aggregateBytes = 24
)

// bytes is what so many groups take, or rows each of which might be a group.
func (w *wiseAggregate) bytes(rows float64) int64 {
	each := w.node.Estimate().Width + groupBytes + aggregateBytes*len(w.node.Aggs)
	for i := range w.node.Aggs {
		if w.node.Aggs[i].Call.Distinct {
			each += 2 * groupBytes // a set of the arguments
		}
	}
	return int64(rows * float64(each))
}

// pays decides whether groups are made partition-wise, by the rows that the divisions have: if each row could
// be a group and memory would not take them, or if the groups that are expected do not fit the cache.
func (w *wiseAggregate) pays(divisions []float64) bool {
	all, most, some := 0.0, 0.0, 0.0
	for _, rows := range divisions {
		all, most = all+rows, max(most, rows)
		if rows > 0 {
			some++
		}
	}
	if some < 2 {
		return false
	}
	if limit := w.run.holderBytes(); limit > 0 && w.bytes(all) > limit {
		w.room = limit / 2 // what is kept and the next pass
	}
	if w.bytes(float64(w.node.Estimate().Rows)) > wiseCacheBytes && some >= 4 && most*some < 4*all {
		if room := int64(wiseCacheBytes / 4); w.room == 0 || room < w.room {
			w.room = room
		}
	}
	return w.room > 0
}

// next prepares a round over the leaves of a scan.
func (w *wiseAggregate) next(*Worker) (bool, error) {
	if !w.planned {
		w.planned = true
		w.divide()
	}
	if w.at == len(w.passes) {
		return false, nil
	}
	w.scan.within = w.passes[w.at]
	w.at++
	w.begin(w.at == len(w.passes))
	return true, nil
}

// divide puts as many divisions into a pass as there is room for if each row is a group.
func (w *wiseAggregate) divide() {
	read := w.scan.selected()
	bytes := int64(0)
	for _, leaves := range w.node.Wise.Divisions {
		leaves = leaves.Intersection(read)
		if leaves.None() {
			continue
		}
		more := w.bytes(w.leafRows(w.scan.node, leaves))
		if last := len(w.passes) - 1; last >= 0 && bytes+more <= w.room {
			w.passes[last].InPlaceUnion(leaves)
			bytes += more
			continue
		}
		w.passes, bytes = append(w.passes, leaves), more
	}
}

// begin starts a round: groups that have been handed on are forgotten.
func (w *wiseAggregate) begin(last bool) {
	w.last = last
	s := w.sink
	for _, a := range s.merged {
		for _, p := range a.parts {
			p.memory.free()
		}
	}
	s.result, s.merged = nil, nil
}

// finishes reports whether the groups are handed on at the end of the round.
func (w *wiseAggregate) finishes() bool {
	if !w.last {
		held := int64(0)
		for _, a := range w.sink.states {
			for _, p := range a.parts {
				held += p.memory.used
			}
		}
		if held < w.room {
			return false
		}
	}
	w.finished++
	return true
}

// end says in EXPLAIN ANALYZE what happened.
func (w *wiseAggregate) end() {
	if w.sink.stats != nil {
		w.scan.reportRounds()
		w.describe(len(w.node.Wise.Divisions))
	}
}

func (w *wiseAggregate) describe(divisions int) {
	if w.sink.stats == nil {
		return
	}
	tallied(w.sink.stats, factWiseGroup, func(t *wiseGroupTally) { t.groups, t.rounds = int64(divisions), int64(w.finished) })
}

// wiseGroupTally is how groups were made partition by partition.
type wiseGroupTally struct{ groups, rounds int64 }

func (t *wiseGroupTally) facts(key string, _ int64) []planner.Fact {
	return oneFact(key, planner.Parts{{Name: "groups", Value: t.groups, Text: "groups %s"}, {Name: "rounds", Value: t.rounds, Text: ", rounds %s"}})
}
