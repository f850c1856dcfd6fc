package exec

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// joinKinds maps the planner's kinds to the engine's.
var joinKinds = map[planner.JoinKind]join.Kind{
	planner.InnerJoin: join.Inner, planner.LeftJoin: join.Left, planner.RightJoin: join.Right,
	planner.FullJoin: join.Full, planner.SemiJoin: join.Semi, planner.AntiJoin: join.Anti,
	planner.RightSemiJoin: join.RightSemi, planner.RightAntiJoin: join.RightAnti,
	planner.NullAwareAntiJoin: join.NullAwareAnti, planner.MarkJoin: join.Mark, planner.SingleJoin: join.Single,
}

// joinPlan is what hash joins and nested loops have in common: where columns are and go.
type joinPlan struct {
	run      *run
	node     *planner.Join
	kind     join.Kind
	left     []*expr.Col
	right    []*expr.Col
	residual expr.Expr // nil = none
	out      []outColumn
	stats    *nodeStats
}

// outColumn is an output column: one of the probe's, one of the build's, or the mark.
type outColumn struct {
	side side
	at   int // left: position in the input; right: in the build's stored columns
	kind vector.Kind
}

type side uint8

const (
	leftSide side = iota
	rightSide
	markSide
)

func newJoinPlan(r *run, n *planner.Join) *joinPlan {
	p := &joinPlan{run: r, node: n, kind: joinKinds[n.Kind], left: n.Left.Cols(), right: n.Right.Cols(), stats: r.stats.of(n)}
	p.residual = conjunction(append(append([]expr.Expr(nil), n.Residual...), n.On...))
	at := map[expr.ColID]outColumn{}
	for i, c := range p.right {
		at[c.ID] = outColumn{rightSide, i, c.Typ.Kind()}
	}
	for i, c := range p.left {
		at[c.ID] = outColumn{leftSide, i, c.Typ.Kind()}
	}
	if n.Mark != nil {
		at[n.Mark.ID] = outColumn{markSide, 0, vector.Bool}
	}
	for _, c := range n.Cols() {
		p.out = append(p.out, at[c.ID])
	}
	return p
}

// exists reports whether the kind yields no columns of the build.
func (p *joinPlan) exists() bool {
	switch p.kind {
	case join.Semi, join.Anti, join.Mark, join.NullAwareAnti:
		return true
	}
	return false
}

// threeValued reports whether a residual condition's NULL differs from FALSE.
func (p *joinPlan) threeValued() bool { return p.kind == join.Mark || p.kind == join.NullAwareAnti }

func (b *builder) join(n *planner.Join) ([]*stream, error) {
	p := newJoinPlan(b.run, n)
	switch {
	case n.Merge != nil:
		return b.mergeJoin(p)
	case len(n.Keys) == 0:
		return b.loopJoin(p)
	}
	return b.hashJoin(p)
}

func (b *builder) hashJoin(p *joinPlan) ([]*stream, error) {
	n := p.node
	probe := newSpooledProbe(p)
	build := newHashBuild(p, probe.kinds, b.grouped[n])
	right, err := b.build(n.Right, n)
	if err != nil {
		return nil, err
	}
	covers := b.addCovering(p, right)
	build.wise.addRight(right)
	before := b.intoBuild(n, right, build)
	left, err := b.build(n.Left, n)
	if err != nil {
		return nil, err
	}
	if covers != nil {
		partitionsOf(left[0]).covering = covers
	}
	op := &hashJoinOp{joinPlan: p, build: build, probe: probe}
	for _, s := range left {
		b.lend(s, op)
	}
	before = build.wise.addLeft(b, left, before)
	streams := b.probe(p, left, before, op, build, build.stored, build.wise)
	if build.table.MaySpill() {
		last := streams[len(streams)-1]
		spilled := &spilledSource{hashJoinOp: op}
		streams = append(streams, &stream{source: spilled, after: last.after, round: build.wise.round(0), waits: append([]*stream(nil), streams...)})
	}
	return streams, nil
}

// intoBuild returns the pipelines that bring a join's right side into its sink, through the selectors of
// partitions that its left side reads.
func (b *builder) intoBuild(n *planner.Join, right []*stream, sink Sink) []*Pipeline {
	selections := b.addSelectors(n, right)
	before := b.into(right, sink, n)
	for _, s := range selections {
		s.pipelines = before
	}
	return before
}

// probe adds a join to its left streams, and a stream of the build rows that come after them. wise is nil
// where all rows are joined at a time.
func (b *builder) probe(p *joinPlan, left []*stream, before []*Pipeline, op Operator, rows buildRows, stored func(int) *vector.Vector, wise *wiseJoin) []*stream {
	fromLeft := make([]int, len(p.out))
	for i, c := range p.out {
		fromLeft[i] = -1
		if c.side == leftSide {
			fromLeft[i] = c.at
		}
	}
	for _, s := range left {
		s.after = append(s.after, before...)
		s.add(op, s.mapped(fromLeft))
		wise.joins(s)
	}
	if !p.kind.MarksBuild() {
		return left
	}
	rest := &stream{source: &unmatchedSource{joinPlan: p, rows: rows, stored: stored}, after: before, round: wise.round(0)}
	if p.kind == join.RightSemi || p.kind == join.RightAnti {
		rest.after = append(rest.after[:len(rest.after):len(rest.after)], b.into(left, discardSink{}, p.node)...)
		return []*stream{rest}
	}
	rest.waits = left
	return append(left, rest)
}

// discardSink ends pipelines that are run for what their operators remember.
type discardSink struct{}

func (discardSink) Open(*Worker) (Pusher, error) { return discardPusher{}, nil }
func (discardSink) Finish(*Worker) error         { return nil }

type discardPusher struct{}

func (discardPusher) Push(*vector.Batch) error { return nil }
func (discardPusher) Flush() error             { return nil }
