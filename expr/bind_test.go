package expr_test

import (
	"fmt"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/vector"
)

// The tests' own small binder: expressions without columns and subqueries.

func bindText(text string) (e expr.Expr, err error) {
	parsed, err := sql.ParseExpr(text)
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			bad, ok := r.(error)
			if !ok {
				panic(r)
			}
			err = bad
		}
	}()
	e = bind(parsed)
	if e.Type().ID == catalog.Unknown {
		e = try(expr.Coerce(e, catalog.Type{ID: catalog.Text}, expr.ImplicitCast, 0))
	}
	return e, nil
}

func try[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func bindAll(list []sql.Expr) []expr.Expr {
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		out[i] = bind(e)
	}
	return out
}

func unify(list []expr.Expr, context string) []expr.Expr {
	t := try(expr.CommonType(list, context))
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		out[i] = try(expr.Coerce(e, t, expr.ImplicitCast, 0))
	}
	return out
}

func constant(d vector.Datum, id catalog.TypeID) expr.Expr {
	return &expr.Const{Value: d, Typ: catalog.Type{ID: id}}
}

func boolean(e expr.Expr) expr.Expr {
	return try(expr.Coerce(e, catalog.Type{ID: catalog.Bool}, expr.ImplicitCast, 0))
}

func bind(e sql.Expr) expr.Expr {
	switch e := e.(type) {
	case *sql.IntLit:
		if e.Value != int64(int32(e.Value)) {
			return constant(vector.IntDatum(vector.I64, e.Value), catalog.Int8)
		}
		return constant(vector.IntDatum(vector.I32, e.Value), catalog.Int4)
	case *sql.NumericLit:
		return numericLiteral(e.Text)
	case *sql.StringLit:
		return constant(vector.StringDatum(e.Value), catalog.Unknown)
	case *sql.BoolLit:
		return constant(vector.BoolDatum(e.Value), catalog.Bool)
	case *sql.NullLit:
		return constant(vector.NullDatum(vector.Bytes), catalog.Unknown)
	case *sql.TypedLit:
		value := e.Value
		if e.Type.Fields != "" && strings.Trim(value, "0123456789") == "" {
			value += " " + e.Type.Fields
		}
		return try(expr.Coerce(constant(vector.StringDatum(value), catalog.Unknown), typeOf(e.Type), expr.ExplicitCast, 0))
	case *sql.Cast:
		return try(expr.Coerce(bind(e.Expr), typeOf(e.Type), expr.ExplicitCast, 0))
	case *sql.Unary:
		return try(expr.ResolveUnary(e.Op, bind(e.Expr), e.OpPos))
	case *sql.Binary:
		return try(expr.ResolveBinary(e.Op, bind(e.Left), bind(e.Right), e.OpPos))
	case *sql.Not:
		return &expr.Not{Arg: boolean(bind(e.Expr))}
	case *sql.Logic:
		out := &expr.BoolOp{Or: e.Op == sql.Or}
		for _, a := range e.Args {
			out.Args = append(out.Args, boolean(bind(a)))
		}
		return out
	case *sql.FuncCall:
		return try(expr.ResolveCall(e.Name.Name, bindAll(e.Args), e.Start))
	}
	return bindMore(e)
}

// columns are what column references may mean.
var columns map[string]*expr.Col

func bindMore(e sql.Expr) expr.Expr {
	switch e := e.(type) {
	case *sql.ColumnRef:
		if c := columns[e.Parts[0].Name]; c != nil {
			return c
		}
	case *sql.IsNull:
		return &expr.IsNull{Arg: bind(e.Expr), Negated: e.Not}
	case *sql.IsBool:
		arg := boolean(bind(e.Expr))
		if e.Value == sql.Unknown {
			return &expr.IsNull{Arg: arg, Negated: e.Not}
		}
		return &expr.IsDistinct{Left: arg, Right: constant(vector.BoolDatum(e.Value == sql.True), catalog.Bool), Negated: !e.Not}
	case *sql.IsDistinct:
		eq := try(expr.ResolveBinary("=", bind(e.Left), bind(e.Right), e.Start)).(*expr.Call)
		return &expr.IsDistinct{Left: eq.Args[0], Right: eq.Args[1], Negated: e.Not}
	case *sql.Between:
		x, lo, hi := bind(e.Expr), bind(e.Low), bind(e.High)
		var out expr.Expr = &expr.BoolOp{Args: []expr.Expr{try(expr.ResolveBinary(">=", x, lo, 0)), try(expr.ResolveBinary("<=", x, hi, 0))}}
		if e.Not {
			out = &expr.Not{Arg: out}
		}
		return out
	case *sql.In:
		list := unify(append([]expr.Expr{bind(e.Expr)}, bindAll(e.List)...), "IN")
		return &expr.InList{Arg: list[0], List: list[1:], Negated: e.Not}
	case *sql.Like:
		var escape expr.Expr
		if e.Escape != nil {
			escape = bind(e.Escape)
		}
		return try(expr.ResolveLike(bind(e.Expr), bind(e.Pattern), escape, e.Kind == sql.ILike, e.Not, e.Start))
	case *sql.AtTimeZone:
		return try(expr.ResolveCall("timezone", []expr.Expr{bind(e.Zone), bind(e.Expr)}, e.Start))
	case *sql.Extract:
		return try(expr.ResolveCall("extract", []expr.Expr{constant(vector.StringDatum(e.Field), catalog.Text), bind(e.From)}, e.Start))
	case *sql.Case:
		return bindCase(e)
	}
	panic(fmt.Errorf("cannot bind %T", e))
}

func bindCase(e *sql.Case) expr.Expr {
	out := &expr.Case{}
	var results []expr.Expr
	if e.Else != nil {
		results = append(results, bind(e.Else))
	}
	for _, w := range e.Whens {
		cond := bind(w.Cond)
		if e.Operand != nil {
			cond = try(expr.ResolveBinary("=", bind(e.Operand), cond, 0))
		}
		out.Whens = append(out.Whens, expr.When{Cond: boolean(cond)})
		results = append(results, bind(w.Result))
	}
	results = unify(results, "CASE")
	out.Typ = results[0].Type()
	if e.Else != nil {
		out.Else, results = results[0], results[1:]
	}
	for i := range out.Whens {
		out.Whens[i].Result = results[i]
	}
	return out
}

func numericLiteral(text string) expr.Expr {
	t := catalog.Type{ID: catalog.Numeric}
	digits := strings.TrimLeft(text, "-+0")
	if !strings.ContainsAny(text, "eE") {
		whole, fraction, _ := strings.Cut(digits, ".")
		if prec := max(len(whole)+len(fraction), 1); prec <= catalog.MaxPrec128 {
			t.Prec, t.Scale = int16(prec), int16(len(fraction))
		}
	}
	return try(expr.Coerce(constant(vector.StringDatum(text), catalog.Unknown), t, expr.ExplicitCast, 0))
}

var testTypes = map[string]catalog.TypeID{"boolean": catalog.Bool, "smallint": catalog.Int2, "integer": catalog.Int4,
	"bigint": catalog.Int8, "real": catalog.Float4, "double precision": catalog.Float8, "numeric": catalog.Numeric,
	"char": catalog.Char, "bpchar": catalog.Char, "varchar": catalog.Varchar, "text": catalog.Text, "name": catalog.Name,
	"bytea": catalog.Bytea, "date": catalog.Date, "timestamp": catalog.Timestamp, "timestamptz": catalog.TimestampTZ,
	"interval": catalog.Interval, "oid": catalog.Oid}

func typeOf(n sql.TypeName) catalog.Type {
	id, ok := testTypes[n.Name]
	if !ok {
		panic(error(sqlerr.New(sqlerr.UndefinedObject, "type %q does not exist", n.Name)))
	}
	t := catalog.Type{ID: id}
	switch {
	case len(n.Mods) == 0:
	case id == catalog.Numeric:
		t.Prec = int16(n.Mods[0])
		if len(n.Mods) > 1 {
			t.Scale = int16(n.Mods[1])
		}
	case id == catalog.Timestamp || id == catalog.TimestampTZ || id == catalog.Interval:
		t.Prec = int16(n.Mods[0]) + 1
	default:
		t.Prec = int16(n.Mods[0])
	}
	return t
}
