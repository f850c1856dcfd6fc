package planner

import (
	"github.com/weftdb/weft/expr"
)

// implied reports whether conditions that are known to be true make all of the wanted ones true. It
// knows the ways in which queries usually repeat the condition of a partial index: the same
// condition, a narrower comparison with a constant, any comparison for IS NOT NULL, a part of an OR.
func implied(wanted, known []expr.Expr) bool {
	for _, w := range wanted {
		if !impliedOne(w, known) {
			return false
		}
	}
	return true
}

func impliedOne(wanted expr.Expr, known []expr.Expr) bool {
	if op, ok := wanted.(*expr.BoolOp); ok {
		if !op.Or {
			return implied(op.Args, known)
		}
		for _, arm := range op.Args {
			if impliedOne(arm, known) {
				return true
			}
		}
	}
	for _, k := range known {
		if impliedBy(wanted, k) {
			return true
		}
	}
	return false
}

// impliedBy reports whether one condition that is true makes another one true.
func impliedBy(wanted, known expr.Expr) bool {
	if expr.Equal(wanted, known) {
		return true
	}
	switch k := known.(type) {
	case *expr.BoolOp:
		if !k.Or {
			return impliedOne(wanted, k.Args)
		}
		return everyArm(k.Args, func(arm expr.Expr) bool { return impliedOne(wanted, expr.Conjuncts(arm)) })
	case *expr.InList:
		if !k.Negated && impliedByList(wanted, k) {
			return true
		}
	}
	switch w := wanted.(type) {
	case *expr.IsNull:
		return w.Negated && trueNeeds(known, w.Arg)
	case *expr.InList:
		c, ok := comparisonOf(known)
		return ok && !w.Negated && c.op == "=" && expr.Equal(w.Arg, c.arg) && someIn(w.List, c.value)
	case *expr.Call:
		a, ok := comparisonOf(wanted)
		if !ok {
			return false
		}
		b, ok := comparisonOf(known)
		return ok && expr.Equal(a.arg, b.arg) && narrower(a, b)
	}
	return false
}

func everyArm(arms []expr.Expr, holds func(expr.Expr) bool) bool {
	for _, arm := range arms {
		if !holds(arm) {
			return false
		}
	}
	return true
}

// impliedByList takes a list of values as the comparisons with each of them.
func impliedByList(wanted expr.Expr, list *expr.InList) bool {
	return everyArm(list.List, func(value expr.Expr) bool {
		equal, err := expr.ResolveBinary("=", list.Arg, value, 0)
		return err == nil && impliedBy(wanted, equal)
	})
}

// comparison is a condition that compares something with a constant, which is on the right.
type comparison struct {
	op    string
	arg   expr.Expr
	value *expr.Const
}

func comparisonOf(e expr.Expr) (c comparison, ok bool) {
	call, ok := e.(*expr.Call)
	if !ok || !call.Fn.Operator || len(call.Args) != 2 {
		return c, false
	}
	op, left, right := call.Fn.Name, call.Args[0], call.Args[1]
	if expr.SwappedOperator(op) == "" {
		return c, false
	}
	if _, constant := left.(*expr.Const); constant {
		left, right, op = right, left, expr.SwappedOperator(op)
	}
	value, ok := right.(*expr.Const)
	return comparison{op, left, value}, ok && !value.Value.Null
}

// narrowing says for a known comparison x op c and a wanted one x op d how c must compare with d.
var narrowing = map[[2]string]string{
	{"=", "="}: "=", {"=", "<"}: "<", {"=", "<="}: "<=", {"=", ">"}: ">", {"=", ">="}: ">=", {"=", "<>"}: "<>",
	{"<", "<"}: "<=", {"<", "<="}: "<=", {"<", "<>"}: "<=",
	{"<=", "<"}: "<", {"<=", "<="}: "<=", {"<=", "<>"}: "<",
	{">", ">"}: ">=", {">", ">="}: ">=", {">", "<>"}: ">=",
	{">=", ">"}: ">", {">=", ">="}: ">=", {">=", "<>"}: ">",
	{"<>", "<>"}: "=",
}

// narrower reports whether a known comparison implies a wanted one of the same thing.
func narrower(wanted, known comparison) bool {
	op := narrowing[[2]string{known.op, wanted.op}]
	return op != "" && constantsCompare(op, known.value, wanted.value)
}

func constantsCompare(op string, a, b *expr.Const) bool {
	e, err := expr.ResolveBinary(op, a, b, 0)
	if err != nil || expr.VolatilityOf(e) != expr.Immutable {
		return false
	}
	d, err := expr.EvalConst(e, nil)
	return err == nil && !d.Null && d.I != 0
}

func someIn(list []expr.Expr, value *expr.Const) bool {
	for _, e := range list {
		if c, ok := e.(*expr.Const); ok && !c.Value.Null && constantsCompare("=", c, value) {
			return true
		}
	}
	return false
}

// trueNeeds reports whether a condition can only be true when something is not NULL.
func trueNeeds(cond, something expr.Expr) bool {
	switch c := cond.(type) {
	case *expr.Not:
		return nullThrough(c.Arg, something)
	case *expr.IsNull:
		return c.Negated && nullThrough(c.Arg, something)
	}
	return nullThrough(cond, something)
}

// nullThrough reports whether an expression is NULL whenever something in it is.
func nullThrough(e, something expr.Expr) bool {
	if expr.Equal(e, something) {
		return true
	}
	switch e := e.(type) {
	case *expr.Call:
		if !e.Fn.Strict {
			return false
		}
		for _, a := range e.Args {
			if nullThrough(a, something) {
				return true
			}
		}
	case *expr.Cast:
		return nullThrough(e.Arg, something)
	case *expr.InList:
		return nullThrough(e.Arg, something)
	}
	return false
}
