package exec

import (
	"slices"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// rowGenerated computes the generated columns of rows that are about to be stored. It belongs to one
// worker.
type rowGenerated struct {
	at      []int // positions in the table
	program *expr.Program
}

// newRowGenerated returns nil where there is nothing to compute.
func newRowGenerated(list []planner.Generated, rowCols []*expr.Col, env *expr.Env) (*rowGenerated, error) {
	if len(list) == 0 {
		return nil, nil
	}
	g := &rowGenerated{}
	var exprs []expr.Expr
	for _, item := range list {
		g.at, exprs = append(g.at, item.Pos), append(exprs, item.Expr)
	}
	var err error
	g.program, err = expr.CompileAll(exprs, layout(rowCols), env)
	return g, err
}

// fill puts the columns into rows, whose list of vectors is replaced: it may be another operator's.
// The values are valid until the next call.
func (g *rowGenerated) fill(rows *vector.Batch) error {
	if g == nil {
		return nil
	}
	vecs, err := g.program.Eval(rows, rows.Sel)
	if err != nil {
		return err
	}
	rows.Vecs = slices.Clone(rows.Vecs)
	for i, pos := range g.at {
		rows.Vecs[pos] = vecs[i]
	}
	return nil
}
