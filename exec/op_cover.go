package exec

import (
	"sync"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/prune"
	"github.com/weftdb/weft/vector"
)

// covering is which of the values that the partitions on the probe side of an anti join list occur on its
// build side. Workers add to it when they end; the scan reads it after the pipeline of the build side.
type covering struct {
	above *planner.Join
	mu    sync.Mutex // guards seen while workers end
	seen  *prune.Cover
}

// coverOp passes the rows of the build side on and notes their values.
type coverOp struct {
	plan *joinPlan
	into *covering
	desc *prune.Desc
}

type coverPusher struct {
	op      *coverOp
	cover   *prune.Cover
	program *expr.Program
	out     Pusher
}

// addCovering lets an anti join leave out leaves on its probe side; nil where it cannot.
func (b *builder) addCovering(p *joinPlan, right []*stream) *covering {
	scan := b.run.partitioned(p.node.Left)
	if !p.node.Covers || scan == nil {
		return nil
	}
	c := &covering{above: p.node, seen: scan.Parts.Desc.NewCover()}
	for _, s := range right {
		s.add(&coverOp{plan: p, into: c, desc: scan.Parts.Desc}, s.from)
	}
	return c
}

func (op *coverOp) Open(_ *Worker, out Pusher) (Pusher, error) {
	program, err := expr.CompileAll([]expr.Expr{op.plan.node.Keys[0].Right}, layout(op.plan.right), op.plan.run.env)
	return &coverPusher{op: op, cover: op.desc.NewCover(), program: program, out: out}, err
}

func (p *coverPusher) Push(b *vector.Batch) error {
	values, err := p.program.Eval(b, b.Sel)
	if err != nil {
		return err
	}
	p.cover.Add(values[0], b.N, b.Sel)
	return p.out.Push(b)
}

// Flush adds what the worker has seen.
func (p *coverPusher) Flush() error {
	p.op.into.mu.Lock()
	p.op.into.seen.Merge(p.cover)
	p.op.into.mu.Unlock()
	return p.out.Flush()
}
