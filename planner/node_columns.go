package planner

import "github.com/weftdb/weft/expr"

// colSet is a set of column ids.
type colSet map[expr.ColID]bool

func (s colSet) add(cols []*expr.Col) colSet {
	for _, c := range cols {
		s[c.ID] = true
	}
	return s
}

func setOf(cols []*expr.Col) colSet { return make(colSet, len(cols)).add(cols) }

// within reports whether every element of s is in t.
func (s colSet) within(t colSet) bool {
	for id := range s {
		if !t[id] {
			return false
		}
	}
	return true
}

func (s colSet) meets(t colSet) bool {
	for id := range s {
		if t[id] {
			return true
		}
	}
	return false
}

// addExpr adds the columns that e uses, including those its subqueries take from outside.
func (s colSet) addExpr(e expr.Expr) {
	expr.Walk(e, func(e expr.Expr) bool {
		switch e := e.(type) {
		case *expr.Col:
			s[e.ID] = true
		case *subqueryRef:
			for id := range freeColumns(e.plan) {
				s[id] = true
			}
		}
		return true
	})
}

// columnSet returns the columns that e uses.
func columnSet(exprs ...expr.Expr) colSet {
	s := colSet{}
	for _, e := range exprs {
		if e != nil {
			s.addExpr(e)
		}
	}
	return s
}

// freeColumns returns the columns that a plan uses but does not produce: its correlation with
// outer queries. The right side of a dependent join may use the left side's columns.
func freeColumns(n Node) colSet {
	used, made := colSet{}, colSet{}
	walkNodes(n, func(n Node) bool {
		made.add(n.Cols())
		if j, ok := n.(*Join); ok { // Out may hide what the condition uses
			made.add(j.Left.Cols()).add(j.Right.Cols())
		}
		visitExprs(n, func(e expr.Expr) { used.addExpr(e) })
		return true
	})
	for id := range made {
		delete(used, id)
	}
	return used
}

// substitute replaces columns everywhere in a plan, as free columns of a subquery are replaced.
func substitute(n Node, with map[expr.ColID]expr.Expr) Node {
	if len(with) == 0 {
		return n
	}
	return transformNodes(n, func(n Node) Node {
		return mapExprs(n, func(e expr.Expr) expr.Expr { return replaceCols(e, with) })
	})
}

// replaceCols replaces columns in an expression.
func replaceCols(e expr.Expr, with map[expr.ColID]expr.Expr) expr.Expr {
	return expr.Transform(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Col:
			if r, ok := with[e.ID]; ok {
				return r
			}
		case *subqueryRef:
			if freeColumns(e.plan).meetsKeys(with) {
				c := *e
				c.plan = substitute(e.plan, with)
				return &c
			}
		}
		return e
	})
}

func (s colSet) meetsKeys(with map[expr.ColID]expr.Expr) bool {
	for id := range s {
		if _, ok := with[id]; ok {
			return true
		}
	}
	return false
}
