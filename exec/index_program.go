package exec

import (
	"slices"
	"sync"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// indexProgram computes the expressions and the condition of an index. Evaluators belong to one
// goroutine at a time, so they wait in a pool.
type indexProgram struct {
	inputs []int
	bound  *planner.IndexExprs
	layout expr.Layout
	pool   sync.Pool // *indexEvaluators
}

type indexEvaluators struct {
	exprs []expr.Evaluator
	where expr.Filter
	sel   vector.Sel
	out   []*vector.Vector
}

// CompileIndex makes the program of an index for the storage engine. Its expressions are immutable:
// no session has a say in them.
func CompileIndex(t *catalog.Table, index *catalog.Index) (storage.IndexProgram, error) {
	bound, err := planner.BindIndex(t, index)
	if err != nil {
		return nil, err
	}
	p := &indexProgram{bound: bound}
	used := expr.ColSet{}
	for _, e := range append([]expr.Expr{bound.Where}, bound.Exprs...) {
		if e != nil {
			for id := range expr.Columns(e) {
				used[id] = struct{}{}
			}
		}
	}
	place := map[expr.ColID]int{}
	for pos, c := range bound.Cols {
		if used.Has(c.ID) {
			place[c.ID] = len(p.inputs)
			p.inputs = append(p.inputs, pos)
		}
	}
	p.layout = func(id expr.ColID) int { return place[id] }
	first, err := p.compile()
	if err != nil {
		return nil, err
	}
	p.pool.Put(first)
	return p, nil
}

func (p *indexProgram) compile() (*indexEvaluators, error) {
	v := &indexEvaluators{}
	for _, e := range p.bound.Exprs {
		eval, err := expr.Compile(e, p.layout, nil)
		if err != nil {
			return nil, err
		}
		v.exprs = append(v.exprs, eval)
	}
	var err error
	if p.bound.Where != nil {
		v.where, err = expr.CompileFilter(p.bound.Where, p.layout, nil)
	}
	return v, err
}

// Inputs are the columns that the expressions and the condition read.
func (p *indexProgram) Inputs() []int { return p.inputs }

// Run evaluates the condition for all rows and the expressions for those that fulfil it.
func (p *indexProgram) Run(inputs []*vector.Vector, n int, use func(values []*vector.Vector, rows vector.Sel) error) error {
	v, _ := p.pool.Get().(*indexEvaluators)
	if v == nil {
		var err error
		if v, err = p.compile(); err != nil {
			return err
		}
	}
	defer p.pool.Put(v)
	b := &vector.Batch{N: n, Vecs: slices.Clone(inputs)}
	var rows vector.Sel
	if v.where != nil {
		var err error
		if rows, err = v.where.Select(b, nil, slices.Grow(v.sel[:0], n)); err != nil {
			return err
		}
		if v.sel = rows; len(rows) == 0 {
			return use(nil, vector.Sel{}) // no expression is evaluated
		}
	}
	v.out = v.out[:0]
	for _, e := range v.exprs {
		value, err := e.Eval(b, rows)
		if err != nil {
			return err
		}
		v.out = append(v.out, value)
	}
	return use(v.out, rows)
}
