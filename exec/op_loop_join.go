package exec

import (
	"errors"
	"sync/atomic"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/vector"
)

var errTwoRows = sqlerr.New(sqlerr.CardinalityViolation, "more than one row returned by a subquery used as an expression")

// loopBuild keeps the right side of a join without keys.
type loopBuild struct {
	loop  *join.Loop
	built bool
}

type loopBuildPusher struct{ *join.LoopBuilder }

func (s *loopBuild) Open(w *Worker) (Pusher, error) {
	return &loopBuildPusher{s.loop.NewBuilder(w.reservation())}, nil
}

func (p *loopBuildPusher) Push(b *vector.Batch) error { return p.Append(b.Vecs, b.N, b.Sel) }
func (p *loopBuildPusher) Flush() error               { return nil }

func (s *loopBuild) Finish(*Worker) error {
	err := s.loop.Finish()
	s.built = err == nil
	return err
}

func (s *loopBuild) stored(col int) *vector.Vector { return s.loop.Store().Column(col) }

func (b *builder) loopJoin(p *joinPlan) ([]*stream, error) {
	spill := p.spill(nil)
	build := &loopBuild{loop: join.NewLoop(kindsOf(p.right), spill)}
	right, err := b.build(p.node.Right, p.node)
	if err != nil {
		return nil, err
	}
	before := b.intoBuild(p.node, right, build)
	left, err := b.build(p.node.Left, p.node)
	if err != nil {
		return nil, err
	}
	op := &loopJoinOp{joinPlan: p, build: build}
	streams := b.probe(p, left, before, op, build.loop, build.stored, nil)
	if spill == nil {
		return streams, nil
	}
	last := streams[len(streams)-1]
	if p.kind.MarksBuild() {
		last.source = &loopRestSource{last.source.(*unmatchedSource), build.loop}
	}
	end := &stream{source: &loopEndSource{op}, after: last.after, waits: append([]*stream(nil), streams...)}
	return append(streams, end), nil
}

// loopJoinOp tests every left row with every right row.
type loopJoinOp struct {
	*joinPlan
	build  *loopBuild
	passes atomic.Int64 // over a build on disk
}

// Finished reports that there is nothing to join to, and that this kind then yields nothing.
func (op *loopJoinOp) Finished() bool {
	return op.kind.NeedsMatch() && op.build.built && op.build.loop.Rows() == 0
}

type loopJoinPusher struct {
	joinOutput
	filter expr.Filter
	eval   expr.Evaluator // instead of filter, where NULL differs from FALSE
	tiler  *join.Tiler
	marks  vector.Bitmap
	first  int        // number of the tiled build rows' first one
	blocks *loopProbe // probe rows that are to meet a build on disk; nil = it is in memory
	seen   []uint8    // by probe row: True once a match was found
	sel    vector.Sel
	lone   vector.Sel
	flags  vector.Vector
	build  []uint32
}

func (op *loopJoinOp) Open(w *Worker, out Pusher) (Pusher, error) {
	p := &loopJoinPusher{}
	err := p.init(op.joinPlan, w, out, op.build.stored)
	if op.build.loop.Spool() != nil {
		p.blocks = newLoopProbe(op, w)
	} else {
		p.tiler.Over(op.build.loop)
	}
	if op.kind.MarksBuild() {
		p.marks = op.build.loop.AddMarks(op.build.loop.Rows())
	}
	return p, err
}

func (p *loopJoinPusher) init(plan *joinPlan, w *Worker, out Pusher, stored func(int) *vector.Vector) error {
	p.joinOutput.init(plan, w, out, stored)
	p.seen, p.sel, p.build = make([]uint8, vector.BatchCap), make(vector.Sel, 0, vector.BatchCap), make([]uint32, vector.BatchCap)
	for k := range p.build {
		p.build[k] = vector.NoRow
	}
	p.tiler = join.NewTiler(len(plan.left), len(plan.right))
	var err error
	switch at := layout(plan.left, plan.right); {
	case plan.residual == nil:
	case plan.threeValued():
		p.eval, err = expr.Compile(plan.residual, at, plan.run.env)
	default:
		p.filter, err = expr.CompileFilter(plan.residual, at, plan.run.env)
	}
	return err
}

func (p *loopJoinPusher) Flush() error {
	if p.blocks != nil {
		if err := p.joinBlocks(); err != nil && !errors.Is(err, ErrStop) {
			return err
		}
	}
	return p.out.Flush()
}

func (p *loopJoinPusher) Push(b *vector.Batch) error {
	if p.blocks != nil {
		return p.collect(b)
	}
	p.input = b
	clear(p.seen[:b.N])
	var want func(int) bool
	if p.plan.exists() {
		want = p.undecided
	}
	if err := p.tiler.Each(b, want, p.tile); err != nil {
		return err
	}
	return p.end(b)
}

// end passes on what is known of the batch's rows when all pairs have been tested.
func (p *loopJoinPusher) end(b *vector.Batch) error {
	switch p.plan.kind {
	case join.Left, join.Full, join.Single, join.Anti, join.NullAwareAnti:
		return p.rest(b, join.False)
	case join.Semi:
		return p.rest(b, join.True)
	case join.Mark:
		return p.Marks(b.Sel, p.seen[:b.N])
	}
	return nil
}

func (p *loopJoinPusher) undecided(i int) bool { return p.seen[i] != join.True }

// tile tests a tile's pairs.
func (p *loopJoinPusher) tile(t *join.Tile) (bool, error) {
	if err := p.w.Check(); err != nil {
		return false, err
	}
	if p.eval != nil {
		return true, p.threeValued(t)
	}
	if p.filter != nil {
		sel, err := p.filter.Select(&t.Batch, t.Sel, p.sel)
		if err != nil {
			return false, err
		}
		p.sel, t.Sel = sel, sel
	}
	if t.Live() == 0 {
		return true, nil
	}
	if err := p.note(t); err != nil {
		return false, err
	}
	switch p.plan.kind {
	case join.Inner, join.Left, join.Right, join.Full, join.Single:
		return true, p.pushTile(t)
	}
	return true, nil
}

// note remembers the rows of a tile's pairs.
func (p *loopJoinPusher) note(t *join.Tile) error {
	single := p.plan.kind == join.Single
	for k := range t.Live() {
		i := k
		if t.Sel != nil {
			i = int(t.Sel[k])
		}
		probe, build := t.Probe, t.Build+i
		if t.ByBuild {
			probe, build = i, t.Build
		}
		if single && p.seen[probe] == join.True {
			return errTwoRows
		}
		p.seen[probe] = join.True
		if p.marks != nil {
			p.marks.Set(p.first + build)
		}
	}
	return nil
}

// threeValued notes where the condition is true or NULL.
func (p *loopJoinPusher) threeValued(t *join.Tile) error {
	v, err := p.eval.Eval(&t.Batch, t.Sel)
	if err != nil {
		return err
	}
	v = vector.Flatten(&p.flags, v, t.N)
	values := vector.Of[uint8](v)
	for k := range t.Live() {
		i := k
		if t.Sel != nil {
			i = int(t.Sel[k])
		}
		probe := t.Probe
		if t.ByBuild {
			probe = i
		}
		switch {
		case v.IsNull(i):
			if p.seen[probe] == join.False {
				p.seen[probe] = join.Null
			}
		case values[i] != 0:
			p.seen[probe] = join.True
		}
	}
	return nil
}

// pushTile passes a tile's live pairs on.
func (p *loopJoinPusher) pushTile(t *join.Tile) error {
	for i, c := range p.plan.out {
		at := c.at
		if c.side == rightSide {
			at += len(p.plan.left)
		}
		p.batch.Vecs[i] = t.Vecs[at]
	}
	p.batch.N, p.batch.Sel = t.N, t.Sel
	return p.push()
}

// rest passes on the live rows in a state, with NULLs for the right side.
func (p *loopJoinPusher) rest(b *vector.Batch, state uint8) error {
	p.lone = p.lone[:0]
	for k := range b.Live() {
		i := uint16(k)
		if b.Sel != nil {
			i = b.Sel[k]
		}
		if s := p.seen[i]; s == state || s == join.Null && p.plan.kind == join.Anti {
			p.lone = append(p.lone, i)
		}
	}
	if len(p.lone) == 0 {
		return nil
	}
	return p.Once(p.lone, p.build[:len(p.lone)])
}
