package exec

import (
	"fmt"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// layout tells where a batch over the given columns holds each.
func layout(cols ...[]*expr.Col) func(expr.ColID) int {
	at := map[expr.ColID]int{}
	n := 0
	for _, list := range cols {
		for _, c := range list {
			if _, ok := at[c.ID]; !ok {
				at[c.ID] = n
			}
			n++
		}
	}
	return func(id expr.ColID) int {
		i, ok := at[id]
		if !ok {
			panic(fmt.Sprintf("column %d is not among the inputs", id))
		}
		return i
	}
}

// conjunction returns the AND of conditions, nil for none.
func conjunction(conds []expr.Expr) expr.Expr {
	switch len(conds) {
	case 0:
		return nil
	case 1:
		return conds[0]
	}
	return &expr.BoolOp{Args: conds}
}

// kindsOf lists the kinds of columns.
func kindsOf(cols []*expr.Col) []vector.Kind {
	kinds := make([]vector.Kind, len(cols))
	for i, c := range cols {
		kinds[i] = c.Typ.Kind()
	}
	return kinds
}

// bareColumns returns the positions of expressions that are plain columns, −1 for others.
func bareColumns(list []expr.Expr, at func(expr.ColID) int) []int {
	out := make([]int, len(list))
	for i, e := range list {
		out[i] = -1
		if c, ok := e.(*expr.Col); ok {
			out[i] = at(c.ID)
		}
	}
	return out
}
