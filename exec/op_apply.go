package exec

import (
	"fmt"
	"strings"

	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// applyOp runs a plan once per outer row, with the row's values as parameters, and joins its rows
// to the outer one: what is left where a correlated subquery cannot be unnested.
type applyOp struct {
	*joinPlan
	node   *planner.Apply
	inner  planner.Node
	params []int // per parameter: its outer column
}

func (b *builder) apply(n *planner.Apply) ([]*stream, error) {
	streams, err := b.build(n.Outer, n)
	if err != nil {
		return nil, err
	}
	like := &planner.Join{Kind: n.Kind, Left: n.Outer, Right: n.Inner, Residual: n.On, Mark: n.Mark}
	op := &applyOp{joinPlan: newJoinPlan(b.run, like), node: n, inner: keepInvariant(n.Inner, n.Params, b.run.stats)}
	at := layout(n.Outer.Cols())
	for _, p := range n.Params {
		op.params = append(op.params, at(p.Col.ID))
	}
	before, err := b.sharedCTEs(op.inner, n)
	if err != nil {
		return nil, err
	}
	for _, s := range streams {
		s.after = append(s.after, before...)
		s.add(op, nil)
	}
	return streams, nil
}

// sharedCTEs returns the pipelines of all CTEs that a plan reads, so that it can be run often, and
// by several workers, without building them.
func (b *builder) sharedCTEs(n, parent planner.Node) ([]*Pipeline, error) {
	var out []*Pipeline
	if scan, ok := n.(*planner.CTEScan); ok {
		streams, err := b.cteScan(scan)
		if err != nil {
			return nil, err
		}
		out = append(out, streams[0].after...)
	}
	for _, kid := range n.Kids() {
		more, err := b.sharedCTEs(kid, parent)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// The results of recent runs are kept by parameter values: outer rows often come in order of them.
// The bounds are on runs and on rows in all; when one is passed, all results are dropped.
const (
	applyMemoRuns = 1024
	applyMemoRows = 1 << 16
)

type applyPusher struct {
	loopJoinPusher
	op       *applyOp
	run      *run // of the inner plan
	current  *join.Store
	memo     map[string]*join.Store
	memoRows int
	key      strings.Builder
	one      [1]uint16
}

func (op *applyOp) Open(w *Worker, out Pusher) (Pusher, error) {
	p := &applyPusher{op: op, memo: map[string]*join.Store{}}
	inner := *op.joinPlan.run
	inner.env = copyEnv(inner.env, 0)
	inner.threads, inner.outer = 1, op.joinPlan.run
	if w.clock.on {
		inner.clock = &w.clock
	}
	p.run = &inner
	plan := *op.joinPlan
	plan.run = p.run // conditions may use the parameters
	return p, p.init(&plan, w, out, func(col int) *vector.Vector { return p.current.Column(col) })
}

func (p *applyPusher) Push(b *vector.Batch) error {
	p.input = b
	clear(p.seen[:b.N])
	row := vector.Batch{N: b.N, Sel: p.one[:], Vecs: b.Vecs}
	for k := range b.Live() {
		i := k
		if b.Sel != nil {
			i = int(b.Sel[k])
		}
		if err := p.inner(b, i); err != nil {
			return err
		}
		p.one[0], row.N = uint16(i), b.N
		p.right = nil
		p.tiler.Over(join.LoopOver(p.current))
		if err := p.tiler.Each(&row, nil, p.tile); err != nil {
			return err
		}
	}
	p.right = nil
	return p.end(b)
}

// inner sets current to the rows of the inner plan for an outer row.
func (p *applyPusher) inner(b *vector.Batch, i int) error {
	if err := p.w.Check(); err != nil {
		return err
	}
	p.key.Reset()
	for k, col := range p.op.params {
		d := vector.DatumAt(b.Vecs[col], i)
		p.run.env.Params[p.op.node.Params[k].Index-1] = d
		fmt.Fprintf(&p.key, "%t %d %d %g %d:%s|", d.Null, d.I, d.Hi, d.F, len(d.S), d.S)
	}
	key := p.key.String()
	if s, ok := p.memo[key]; ok {
		p.current = s
		return nil
	}
	// The inner plan's operators give their memory back after each run; its rows are kept.
	p.run.ctes = nil
	p.run.account = &account{budget: p.op.joinPlan.run.account.budget}
	defer p.run.account.release()
	sink := &innerRows{store: join.NewStore(kindsOf(p.op.right), p.w.reservation()), enough: p.op.enough()}
	if err := p.run.collect(p.op.inner, sink); err != nil {
		return err
	}
	p.current = sink.store
	if p.memoRows += p.current.Rows(); len(p.memo) >= applyMemoRuns || p.memoRows > applyMemoRows {
		clear(p.memo)
		p.memoRows = p.current.Rows()
	}
	p.memo[key] = p.current
	return nil
}

// enough returns the number of inner rows that decide an outer row, 0 = all.
func (op *applyOp) enough() int {
	switch {
	case op.residual != nil:
		return 0
	case op.exists():
		return 1
	case op.kind == join.Single:
		return 2
	}
	return 0
}

// innerRows collects the rows of an inner plan, which runs on one worker.
type innerRows struct {
	store  *join.Store
	enough int
}

func (s *innerRows) Open(*Worker) (Pusher, error) { return s, nil }
func (s *innerRows) Finish(*Worker) error         { return nil }
func (s *innerRows) Flush() error                 { return nil }

func (s *innerRows) Push(b *vector.Batch) error {
	if err := s.store.Append(b.Vecs, b.N, b.Sel); err != nil {
		return err
	}
	if s.enough > 0 && s.store.Rows() >= s.enough {
		return ErrStop
	}
	return nil
}
