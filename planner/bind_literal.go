package planner

import (
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/vector"
)

func textDatum(s string) vector.Datum { return vector.StringDatum(s) }
func boolDatum(v bool) vector.Datum   { return vector.BoolDatum(v) }

// literal binds a constant. A string and NULL stay of unknown type until the context decides.
func (b *binder) literal(e sql.Expr) (expr.Expr, error) {
	switch e := e.(type) {
	case *sql.IntLit:
		t := catalog.Type{ID: catalog.Int4}
		if e.Value != int64(int32(e.Value)) {
			t.ID = catalog.Int8
		}
		return &expr.Const{Value: vector.IntDatum(t.Kind(), e.Value), Typ: t}, nil
	case *sql.NumericLit:
		text := &expr.Const{Value: textDatum(e.Text), Typ: catalog.Type{ID: catalog.Unknown}}
		return expr.Coerce(text, numericLiteralType(e.Text), expr.ExplicitCast, e.Start)
	case *sql.StringLit:
		return &expr.Const{Value: textDatum(e.Value), Typ: catalog.Type{ID: catalog.Unknown}}, nil
	case *sql.BoolLit:
		return &expr.Const{Value: boolDatum(e.Value), Typ: boolType}, nil
	case *sql.NullLit:
		return &expr.Const{Value: vector.NullDatum(vector.Bytes), Typ: catalog.Type{ID: catalog.Unknown}}, nil
	case *sql.TypedLit:
		t, err := BindType(e.Type)
		if err != nil {
			return nil, err
		}
		value := e.Value
		if e.Type.Fields != "" {
			value = intervalFields(value, e.Type.Fields)
		}
		text := &expr.Const{Value: textDatum(value), Typ: catalog.Type{ID: catalog.Unknown}}
		return expr.Coerce(text, t, expr.ExplicitCast, e.Start)
	}
	panic("planner: unknown literal")
}

// numericLiteralType is the narrowest numeric that holds a literal with its own scale, so that
// arithmetic on literals stays in fixed width.
func numericLiteralType(text string) catalog.Type {
	t := catalog.Type{ID: catalog.Numeric}
	if strings.ContainsAny(text, "eExXoObB_") {
		return t
	}
	digits := strings.TrimLeft(text, "-+0")
	whole, fraction, _ := strings.Cut(digits, ".")
	prec := max(len(whole)+len(fraction), 1)
	if prec > catalog.MaxPrec128 {
		return t
	}
	t.Prec, t.Scale = int16(prec), int16(len(fraction))
	return t
}

// intervalFields applies the fields of INTERVAL '3' MONTH: a bare number counts the last field.
func intervalFields(value, fields string) string {
	unit := fields
	if i := strings.LastIndexByte(fields, ' '); i >= 0 {
		unit = fields[i+1:]
	}
	trimmed := strings.TrimSpace(value)
	if strings.Trim(trimmed, "+-0123456789.") == "" && trimmed != "" {
		return trimmed + " " + unit
	}
	return value
}

// BindConstant binds an expression that names no columns and has no subqueries.
func BindConstant(e sql.Expr) (expr.Expr, error) {
	b := newBinder(Input{Catalog: catalog.NewSnapshot(1), Settings: DefaultSettings()})
	return b.expr(e, &scope{noAggregates: "aggregate functions are not allowed here", noSubqueries: "a subquery is not supported here"})
}
