package exec

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// projectOp computes expressions.
type projectOp struct {
	exprs  []expr.Expr
	layout func(expr.ColID) int
	env    *expr.Env
}

type projectPusher struct {
	program *expr.Program
	batch   vector.Batch
	out     Pusher
}

func (f *projectOp) Open(_ *Worker, out Pusher) (Pusher, error) {
	program, err := expr.CompileAll(f.exprs, f.layout, f.env)
	return &projectPusher{program: program, out: out}, err
}

func (p *projectPusher) Push(b *vector.Batch) error {
	vecs, err := p.program.Eval(b, b.Sel)
	if err != nil {
		return err
	}
	p.batch = vector.Batch{N: b.N, Sel: b.Sel, Vecs: vecs}
	return p.out.Push(&p.batch)
}

func (p *projectPusher) Flush() error { return p.out.Flush() }

// pickOp passes some of its input's columns on, in another order perhaps.
type pickOp struct{ cols []int }

type pickPusher struct {
	cols  []int
	batch vector.Batch
	out   Pusher
}

func (f *pickOp) Open(_ *Worker, out Pusher) (Pusher, error) {
	return &pickPusher{cols: f.cols, batch: vector.Batch{Vecs: make([]*vector.Vector, len(f.cols))}, out: out}, nil
}

func (p *pickPusher) Push(b *vector.Batch) error {
	p.batch.N, p.batch.Sel = b.N, b.Sel
	for i, c := range p.cols {
		p.batch.Vecs[i] = b.Vecs[c]
	}
	return p.out.Push(&p.batch)
}

func (p *pickPusher) Flush() error { return p.out.Flush() }
