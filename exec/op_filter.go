package exec

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// filterOp keeps the rows for which a condition is true.
type filterOp struct {
	cond   expr.Expr
	layout func(expr.ColID) int
	env    *expr.Env
}

type filterPusher struct {
	filter expr.Filter
	sel    vector.Sel
	batch  vector.Batch
	out    Pusher
}

func (f *filterOp) Open(_ *Worker, out Pusher) (Pusher, error) {
	filter, err := expr.CompileFilter(f.cond, f.layout, f.env)
	return &filterPusher{filter: filter, sel: make(vector.Sel, 0, vector.BatchCap), out: out}, err
}

func (p *filterPusher) Push(b *vector.Batch) error {
	sel, err := p.filter.Select(b, b.Sel, p.sel)
	if err != nil {
		return err
	}
	p.sel = sel
	switch len(sel) {
	case 0:
		return nil
	case b.Live():
		return p.out.Push(b)
	}
	p.batch = vector.Batch{N: b.N, Sel: sel, Vecs: b.Vecs}
	return p.out.Push(&p.batch)
}

func (p *filterPusher) Flush() error { return p.out.Flush() }
