package expr

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// ColID names one column of one relation in a statement: every scan, aggregate or projection of
// the statement makes fresh ids, so an id means the same everywhere in the plan.
type ColID int32

// Expr is a typed scalar expression. Nodes are immutable once built.
type Expr interface {
	Type() catalog.Type
}

// Col is a reference to a column. Name is what EXPLAIN prints, with its relation where needed.
type Col struct {
	ID   ColID
	Typ  catalog.Type
	Name string
	// NotNull tells that the column can hold no NULL at the place it was bound; rewrites that put
	// the reference above an outer join must not rely on it.
	NotNull bool
}

// Const is a value known at plan time. A bare string literal has type Unknown until coerced.
type Const struct {
	Value vector.Datum
	Typ   catalog.Type
}

// Param is the statement parameter $Index, counted from 1.
type Param struct {
	Index int
	Typ   catalog.Type
}

// Call applies a function or operator; Args already have the types that Fn takes.
type Call struct {
	Fn   *Function
	Args []Expr
	Typ  catalog.Type
	Pos  int // byte offset in the statement, for errors of rewrites; evaluation reports none, as in PostgreSQL
}

// Cast converts Arg to Typ. Implicit casts were added by the binder; String prints them only where
// PostgreSQL does. Assignment casts store into a column: they refuse strings that are too long,
// where explicit ones cut them.
type Cast struct {
	Arg        Expr
	Typ        catalog.Type
	Implicit   bool
	Assignment bool
	Pos        int
}

// BoolOp is AND or OR over two or more arguments, with SQL's three-valued logic.
type BoolOp struct {
	Or   bool
	Args []Expr
}

// Not negates a boolean; NOT NULL is NULL.
type Not struct{ Arg Expr }

// IsNull tests for NULL (or, Negated, for a value).
type IsNull struct {
	Arg     Expr
	Negated bool
}

// IsDistinct compares two values of one type, treating NULL as a value. Negated: IS NOT DISTINCT.
type IsDistinct struct {
	Left, Right Expr
	Negated     bool
}

// InList tests Arg against constants or expressions of its own type.
type InList struct {
	Arg     Expr
	List    []Expr
	Negated bool
}

// When is one branch of a Case.
type When struct{ Cond, Result Expr }

// Case evaluates the first branch whose condition is true; other branches are not evaluated for
// that row. A simple CASE is bound with equality conditions. Else nil means NULL.
type Case struct {
	Whens []When
	Else  Expr
	Typ   catalog.Type
}

// Coalesce returns its first non-NULL argument and evaluates no further.
type Coalesce struct {
	Args []Expr
	Typ  catalog.Type
}

// Type returns the column's type, modifiers included.
func (e *Col) Type() catalog.Type { return e.Typ }

// Type returns the constant's type; Unknown for a literal that nothing has given one yet.
func (e *Const) Type() catalog.Type { return e.Typ }

// Type returns the type that the context gave the parameter; Unknown before that.
func (e *Param) Type() catalog.Type { return e.Typ }

// Type returns the type of the function's result for these arguments.
func (e *Call) Type() catalog.Type { return e.Typ }

// Type returns the type converted to.
func (e *Cast) Type() catalog.Type { return e.Typ }

// Type returns boolean.
func (e *BoolOp) Type() catalog.Type { return catalog.Type{ID: catalog.Bool} }

// Type returns boolean.
func (e *Not) Type() catalog.Type { return catalog.Type{ID: catalog.Bool} }

// Type returns boolean; the result is never NULL.
func (e *IsNull) Type() catalog.Type { return catalog.Type{ID: catalog.Bool} }

// Type returns boolean; the result is never NULL.
func (e *IsDistinct) Type() catalog.Type { return catalog.Type{ID: catalog.Bool} }

// Type returns boolean.
func (e *InList) Type() catalog.Type { return catalog.Type{ID: catalog.Bool} }

// Type returns the common type of the branches.
func (e *Case) Type() catalog.Type { return e.Typ }

// Type returns the common type of the arguments.
func (e *Coalesce) Type() catalog.Type { return e.Typ }

// Node is implemented by expression nodes that other packages add (subqueries while a plan is
// being built), so that Children and Rebuild reach through them.
type Node interface {
	Expr
	Children() []Expr
	WithChildren(kids []Expr) Expr
}

// Children returns the direct sub-expressions of e.
func Children(e Expr) []Expr {
	switch e := e.(type) {
	case *Call:
		return e.Args
	case *Cast:
		return []Expr{e.Arg}
	case *BoolOp:
		return e.Args
	case *Not:
		return []Expr{e.Arg}
	case *IsNull:
		return []Expr{e.Arg}
	case *IsDistinct:
		return []Expr{e.Left, e.Right}
	case *InList:
		return append([]Expr{e.Arg}, e.List...)
	case *Case:
		var kids []Expr
		for _, w := range e.Whens {
			kids = append(kids, w.Cond, w.Result)
		}
		if e.Else != nil {
			kids = append(kids, e.Else)
		}
		return kids
	case *Coalesce:
		return e.Args
	case Node:
		return e.Children()
	}
	return nil
}

// WithChildren returns e with other sub-expressions, in the order Children gives them.
func WithChildren(e Expr, kids []Expr) Expr {
	switch e := e.(type) {
	case *Call:
		c := *e
		c.Args = kids
		return &c
	case *Cast:
		c := *e
		c.Arg = kids[0]
		return &c
	case *BoolOp:
		return &BoolOp{Or: e.Or, Args: kids}
	case *Not:
		return &Not{Arg: kids[0]}
	case *IsNull:
		return &IsNull{Arg: kids[0], Negated: e.Negated}
	case *IsDistinct:
		return &IsDistinct{Left: kids[0], Right: kids[1], Negated: e.Negated}
	case *InList:
		return &InList{Arg: kids[0], List: kids[1:], Negated: e.Negated}
	case *Case:
		c := &Case{Typ: e.Typ}
		for i := range e.Whens {
			c.Whens = append(c.Whens, When{kids[2*i], kids[2*i+1]})
		}
		if e.Else != nil {
			c.Else = kids[len(kids)-1]
		}
		return c
	case *Coalesce:
		return &Coalesce{Args: kids, Typ: e.Typ}
	case Node:
		return e.WithChildren(kids)
	}
	return e
}

// Walk calls visit for e and, where visit returns true, for its sub-expressions.
func Walk(e Expr, visit func(Expr) bool) {
	if e == nil || !visit(e) {
		return
	}
	for _, kid := range Children(e) {
		Walk(kid, visit)
	}
}

// Contains reports whether e or one of its sub-expressions is such an expression.
func Contains(e Expr, such func(Expr) bool) bool {
	found := false
	Walk(e, func(e Expr) bool {
		found = found || such(e)
		return !found
	})
	return found
}

// HasParam reports whether e reads a parameter.
func HasParam(e Expr) bool {
	return Contains(e, func(e Expr) bool {
		_, ok := e.(*Param)
		return ok
	})
}

// Transform rebuilds e bottom-up: change sees each node after its sub-expressions and returns the
// node to use. Unchanged subtrees are shared with e.
func Transform(e Expr, change func(Expr) Expr) Expr {
	kids := Children(e)
	var changed []Expr
	for i, kid := range kids {
		next := Transform(kid, change)
		if next != kid && changed == nil {
			changed = append([]Expr(nil), kids...)
		}
		if changed != nil {
			changed[i] = next
		}
	}
	if changed != nil {
		e = WithChildren(e, changed)
	}
	return change(e)
}
