package planner

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

var boolType = catalog.Type{ID: catalog.Bool}

// expr binds a value expression. Aggregates and subqueries come out as *aggregateRef and
// *subqueryRef.
func (b *binder) expr(e sql.Expr, s *scope) (expr.Expr, error) {
	switch e := e.(type) {
	case *sql.IntLit, *sql.NumericLit, *sql.StringLit, *sql.BoolLit, *sql.NullLit, *sql.TypedLit:
		return b.literal(e)
	case *sql.Param:
		return b.param(e)
	case *sql.ColumnRef:
		return b.columnRef(e, s)
	case *sql.Logic:
		return b.logic(e, s)
	case *sql.Not:
		arg, err := b.expr(e.Expr, s)
		if err != nil {
			return nil, err
		}
		if arg, err = b.boolean(arg, "NOT", e.Start); err != nil {
			return nil, err
		}
		return &expr.Not{Arg: arg}, nil
	case *sql.Unary:
		arg, err := b.expr(e.Expr, s)
		if err != nil {
			return nil, err
		}
		return b.noted(expr.ResolveUnary(e.Op, arg, e.OpPos))
	case *sql.Binary:
		return b.binary(e, s)
	case *sql.Cast:
		arg, err := b.expr(e.Expr, s)
		if err != nil {
			return nil, err
		}
		t, err := BindType(e.Type)
		if err != nil {
			return nil, err
		}
		return b.coerce(arg, t, expr.ExplicitCast, e.Start)
	case *sql.Case:
		return b.caseExpr(e, s)
	case *sql.FuncCall:
		return b.call(e, s)
	case *sql.Exists, *sql.ScalarSubquery, *sql.Quantified:
		return b.subquery(e, s)
	case *sql.In:
		return b.in(e, s)
	case *sql.Extract:
		arg, err := b.expr(e.From, s)
		if err != nil {
			return nil, err
		}
		field := &expr.Const{Value: textDatum(e.Field), Typ: catalog.Type{ID: catalog.Text}}
		return b.noted(expr.ResolveCall("extract", []expr.Expr{field, arg}, e.Start))
	case *sql.AtTimeZone:
		args, err := b.exprs([]sql.Expr{e.Zone, e.Expr}, s)
		if err != nil {
			return nil, err
		}
		return b.noted(expr.ResolveCall("timezone", args, e.Start))
	case *sql.Collate:
		if e.Collation.Name != "C" && e.Collation.Name != "POSIX" && e.Collation.Name != "default" {
			return nil, sqlerr.New(sqlerr.UndefinedObject, "collation %q does not exist", e.Collation.Name).At(e.Start).WithHint("Only the C collation exists.")
		}
		return b.expr(e.Expr, s)
	}
	return b.predicate(e, s)
}

func (b *binder) columnRef(e *sql.ColumnRef, s *scope) (expr.Expr, error) {
	out, err := s.resolve(e)
	if col, ok := out.(*expr.Col); ok {
		b.refs = append(b.refs, columnUse{id: col.ID, pos: e.Start})
	}
	return out, err
}

// predicate binds the tests that have a syntax of their own.
func (b *binder) predicate(e sql.Expr, s *scope) (expr.Expr, error) {
	switch e := e.(type) {
	case *sql.IsNull:
		arg, err := b.expr(e.Expr, s)
		if err != nil {
			return nil, err
		}
		return &expr.IsNull{Arg: arg, Negated: e.Not}, nil
	case *sql.IsBool:
		return b.isBool(e, s)
	case *sql.IsDistinct:
		args, err := b.sameType([]sql.Expr{e.Left, e.Right}, s, "IS DISTINCT FROM")
		if err != nil {
			return nil, err
		}
		return &expr.IsDistinct{Left: args[0], Right: args[1], Negated: e.Not}, nil
	case *sql.Between:
		return b.between(e, s)
	case *sql.Like:
		return b.like(e, s)
	case *sql.Row:
		return nil, b.unsupported(e, "a row value here")
	case *sql.Array, *sql.Subscript:
		return nil, b.unsupported(e, "an array")
	case *sql.Star:
		return nil, sqlerr.New(sqlerr.SyntaxError, "syntax error at or near \"*\"").At(e.Start)
	case *sql.Default:
		return nil, sqlerr.New(sqlerr.SyntaxError, "DEFAULT is not allowed in this context").At(e.Start)
	}
	return nil, b.unsupported(e, "this expression")
}

func (b *binder) noted(e expr.Expr, err error) (expr.Expr, error) {
	if err != nil {
		return nil, err
	}
	return b.noteParams(e), nil
}

func (b *binder) exprs(list []sql.Expr, s *scope) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		var err error
		if out[i], err = b.expr(e, s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (b *binder) logic(e *sql.Logic, s *scope) (expr.Expr, error) {
	word := "AND"
	if e.Op == sql.Or {
		word = "OR"
	}
	out := &expr.BoolOp{Or: e.Op == sql.Or}
	for _, a := range e.Args {
		arg, err := b.condition(a, s, word)
		if err != nil {
			return nil, err
		}
		if nested, ok := arg.(*expr.BoolOp); ok && nested.Or == out.Or {
			out.Args = append(out.Args, nested.Args...)
			continue
		}
		out.Args = append(out.Args, arg)
	}
	return out, nil
}

func (b *binder) binary(e *sql.Binary, s *scope) (expr.Expr, error) {
	lrow, lok := e.Left.(*sql.Row)
	rrow, rok := e.Right.(*sql.Row)
	if lok && rok {
		return b.rowComparison(e, lrow, rrow, s)
	}
	args, err := b.exprs([]sql.Expr{e.Left, e.Right}, s)
	if err != nil {
		return nil, err
	}
	return b.noted(expr.ResolveBinary(e.Op, args[0], args[1], e.OpPos))
}

// rowComparison expands (a, b) op (c, d) by the standard's lexicographic rules.
func (b *binder) rowComparison(e *sql.Binary, l, r *sql.Row, s *scope) (expr.Expr, error) {
	if len(l.Args) != len(r.Args) || len(l.Args) == 0 {
		return nil, sqlerr.New(sqlerr.SyntaxError, "unequal number of entries in row expressions").At(e.OpPos)
	}
	left, err := b.exprs(l.Args, s)
	if err != nil {
		return nil, err
	}
	right, err := b.exprs(r.Args, s)
	if err != nil {
		return nil, err
	}
	compare := func(op string, i int) (expr.Expr, error) {
		return b.noted(expr.ResolveBinary(op, left[i], right[i], e.OpPos))
	}
	switch e.Op {
	case "=", "<>":
		out := &expr.BoolOp{Or: e.Op == "<>"}
		for i := range left {
			c, err := compare(e.Op, i)
			if err != nil {
				return nil, err
			}
			out.Args = append(out.Args, c)
		}
		if len(out.Args) == 1 {
			return out.Args[0], nil
		}
		return out, nil
	case "<", "<=", ">", ">=":
		last := len(left) - 1
		out, err := compare(e.Op, last)
		for i := last - 1; i >= 0 && err == nil; i-- {
			var strict, equal expr.Expr
			if strict, err = compare(e.Op[:1], i); err == nil {
				equal, err = compare("=", i)
			}
			out = &expr.BoolOp{Or: true, Args: []expr.Expr{strict, &expr.BoolOp{Args: []expr.Expr{equal, out}}}}
		}
		return out, err
	}
	return nil, b.unsupported(e, "this operator on row values")
}

func (b *binder) isBool(e *sql.IsBool, s *scope) (expr.Expr, error) {
	arg, err := b.condition(e.Expr, s, "IS")
	if err != nil {
		return nil, err
	}
	if e.Value == sql.Unknown {
		return &expr.IsNull{Arg: arg, Negated: e.Not}, nil
	}
	value := &expr.Const{Value: boolDatum(e.Value == sql.True), Typ: boolType}
	return &expr.IsDistinct{Left: arg, Right: value, Negated: !e.Not}, nil
}

// sameType binds expressions and converts them to their common type.
func (b *binder) sameType(list []sql.Expr, s *scope, context string) ([]expr.Expr, error) {
	args, err := b.exprs(list, s)
	if err != nil {
		return nil, err
	}
	return b.unify(args, context, list[0].SourceSpan().Start)
}

// unify converts expressions to their common type.
func (b *binder) unify(args []expr.Expr, context string, pos int) ([]expr.Expr, error) {
	t, err := expr.CommonType(args, context)
	if err != nil {
		return nil, at(err, pos)
	}
	out := make([]expr.Expr, len(args))
	for i := range args {
		if out[i], err = b.coerce(args[i], t, expr.ImplicitCast, pos); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// at gives an error a position unless it has one.
func at(err error, pos int) error {
	if e, ok := err.(*sqlerr.Error); ok {
		return e.At(pos)
	}
	return err
}

func (b *binder) between(e *sql.Between, s *scope) (expr.Expr, error) {
	args, err := b.exprs([]sql.Expr{e.Expr, e.Low, e.High}, s)
	if err != nil {
		return nil, err
	}
	one := func(low, high expr.Expr) (expr.Expr, error) {
		ge, err := b.noted(expr.ResolveBinary(">=", args[0], low, e.Start))
		if err != nil {
			return nil, err
		}
		le, err := b.noted(expr.ResolveBinary("<=", args[0], high, e.Start))
		if err != nil {
			return nil, err
		}
		return &expr.BoolOp{Args: []expr.Expr{ge, le}}, nil
	}
	out, err := one(args[1], args[2])
	if err == nil && e.Symmetric {
		var other expr.Expr
		other, err = one(args[2], args[1])
		out = &expr.BoolOp{Or: true, Args: []expr.Expr{out, other}}
	}
	if err != nil {
		return nil, err
	}
	if e.Not {
		return &expr.Not{Arg: out}, nil
	}
	return out, nil
}

func (b *binder) like(e *sql.Like, s *scope) (expr.Expr, error) {
	if e.Kind == sql.SimilarTo {
		return nil, b.unsupported(e, "SIMILAR TO")
	}
	list := []sql.Expr{e.Expr, e.Pattern}
	if e.Escape != nil {
		list = append(list, e.Escape)
	}
	args, err := b.exprs(list, s)
	if err != nil {
		return nil, err
	}
	var escape expr.Expr
	if e.Escape != nil {
		escape = args[2]
	}
	return b.noted(expr.ResolveLike(args[0], args[1], escape, e.Kind == sql.ILike, e.Not, e.Start))
}

func (b *binder) caseExpr(e *sql.Case, s *scope) (expr.Expr, error) {
	var operand expr.Expr
	var err error
	if e.Operand != nil {
		if operand, err = b.expr(e.Operand, s); err != nil {
			return nil, err
		}
	}
	out := &expr.Case{}
	var results []expr.Expr
	for i := range e.Whens {
		w := &e.Whens[i]
		cond, err := b.expr(w.Cond, s)
		if err != nil {
			return nil, err
		}
		if operand != nil {
			cond, err = b.noted(expr.ResolveBinary("=", operand, cond, w.Start))
		} else {
			cond, err = b.boolean(cond, "CASE/WHEN", w.Start)
		}
		if err != nil {
			return nil, err
		}
		result, err := b.expr(w.Result, s)
		if err != nil {
			return nil, err
		}
		out.Whens = append(out.Whens, expr.When{Cond: cond})
		results = append(results, result)
	}
	if e.Else != nil {
		last, err := b.expr(e.Else, s)
		if err != nil {
			return nil, err
		}
		results = append(results, last)
	}
	if results, err = b.unify(results, "CASE", e.Start); err != nil {
		return nil, err
	}
	for i := range out.Whens {
		out.Whens[i].Result = results[i]
	}
	if e.Else != nil {
		out.Else = results[len(results)-1]
	}
	out.Typ = results[0].Type()
	return out, nil
}

func (b *binder) coalesce(args []expr.Expr, pos int) (expr.Expr, error) {
	args, err := b.unify(args, "COALESCE", pos)
	if err != nil {
		return nil, err
	}
	return &expr.Coalesce{Args: args, Typ: args[0].Type()}, nil
}

// call binds a function or aggregate call.
func (b *binder) call(e *sql.FuncCall, s *scope) (expr.Expr, error) {
	name := e.Name.Name
	if e.Over != nil {
		return nil, b.unsupported(e, "a window function")
	}
	if e.Variadic || e.WithinGroup {
		return nil, b.unsupported(e, "VARIADIC or WITHIN GROUP")
	}
	for _, a := range e.Args {
		if named, ok := a.(*sql.NamedArg); ok {
			return nil, b.unsupported(named, "a named argument")
		}
	}
	if expr.IsAggregate(name) {
		return b.aggregateCall(e, s)
	}
	if e.Distinct || e.Star || e.Filter != nil || len(e.OrderBy) > 0 {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%s is not an aggregate function", name).At(e.Start)
	}
	args, err := b.exprs(e.Args, s)
	if err != nil {
		return nil, err
	}
	if name == "coalesce" && len(args) > 0 {
		return b.coalesce(args, e.Start)
	}
	return b.noted(expr.ResolveCall(name, args, e.Start))
}
