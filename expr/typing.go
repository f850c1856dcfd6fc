package expr

import (
	"math/bits"

	"github.com/weftdb/weft/catalog"
)

var boolType = catalog.Type{ID: catalog.Bool}
var textType = catalog.Type{ID: catalog.Text}

// category is PostgreSQL's type category.
func category(id catalog.TypeID) byte {
	switch id {
	case catalog.Bool:
		return 'B'
	case catalog.Int2, catalog.Int4, catalog.Int8, catalog.Float4, catalog.Float8, catalog.Numeric, catalog.Oid:
		return 'N'
	case catalog.Char, catalog.Varchar, catalog.Text, catalog.Name:
		return 'S'
	case catalog.Date, catalog.Timestamp, catalog.TimestampTZ:
		return 'D'
	case catalog.Interval:
		return 'T'
	case catalog.Bytea:
		return 'U'
	case catalog.Int2Vector:
		return 'A'
	case anyType:
		return 'P'
	}
	return 'X'
}

// preferred tells the preferred types of their categories.
func preferred(id catalog.TypeID) bool {
	switch id {
	case catalog.Bool, catalog.Float8, catalog.Oid, catalog.Text, catalog.TimestampTZ, catalog.Interval:
		return true
	}
	return false
}

// CastContext says how willing a conversion is.
type CastContext uint8

// The contexts: each allows what the one before it allows.
const (
	ImplicitCast   CastContext = iota // anywhere in an expression
	AssignmentCast                    // storing into a column
	ExplicitCast                      // CAST or ::
)

type typePair struct{ from, to catalog.TypeID }

// castContexts lists the casts of PostgreSQL's pg_cast between weft's types, without those through
// text.
var castContexts = buildCasts()

func buildCasts() map[typePair]CastContext {
	m := map[typePair]CastContext{}
	add := func(ctx CastContext, from, to string) {
		for _, f := range typeList(from) {
			for _, t := range typeList(to) {
				m[typePair{f, t}] = ctx
			}
		}
	}
	add(ImplicitCast, "int2", "int4 int8 float4 float8 numeric oid")
	add(ImplicitCast, "int4", "int8 float4 float8 numeric oid")
	add(ImplicitCast, "int8", "float4 float8 numeric oid")
	add(ImplicitCast, "numeric", "float4 float8")
	add(ImplicitCast, "float4", "float8")
	add(AssignmentCast, "int8", "int2 int4")
	add(AssignmentCast, "int4", "int2")
	add(AssignmentCast, "numeric", "int2 int4 int8")
	add(AssignmentCast, "float8", "int2 int4 int8 float4 numeric")
	add(AssignmentCast, "float4", "int2 int4 int8 numeric")
	add(AssignmentCast, "oid", "int4 int8")
	add(ExplicitCast, "int4", "bool")
	add(ExplicitCast, "bool", "int4")
	add(ImplicitCast, "text varchar", "char varchar text name")
	add(ImplicitCast, "char", "varchar text name")
	add(ImplicitCast, "name", "text")
	add(AssignmentCast, "name", "char varchar")
	add(AssignmentCast, "bool", "text varchar char")
	add(ImplicitCast, "date", "timestamp timestamptz")
	add(ImplicitCast, "timestamp", "timestamptz")
	add(AssignmentCast, "timestamp", "date")
	add(AssignmentCast, "timestamptz", "date timestamp")
	return m
}

// canCast reports whether a conversion is allowed in a context.
func canCast(from, to catalog.TypeID, ctx CastContext) bool {
	if from == to || from == catalog.Unknown || to == anyType {
		return true
	}
	if need, ok := castContexts[typePair{from, to}]; ok {
		return need <= ctx
	}
	// Through text: output is an assignment cast, input an explicit one.
	if category(to) == 'S' && to != catalog.Name {
		return ctx >= AssignmentCast
	}
	return ctx == ExplicitCast && (category(from) == 'S' || category(to) == 'S')
}

// numericType makes a numeric type of a number of digits before and after the point; beyond
// PostgreSQL's largest precision the modifiers are dropped.
func numericType(whole, scale int) catalog.Type {
	prec := max(whole+scale, 1)
	if prec > 1000 || scale < 0 {
		return catalog.Type{ID: catalog.Numeric}
	}
	return catalog.Type{ID: catalog.Numeric, Prec: int16(prec), Scale: int16(scale)}
}

// digitsOf returns the digits before and after the point that a type's values have at most; ok is
// false when the scale varies by value.
func digitsOf(t catalog.Type) (whole, scale int, ok bool) {
	switch t.ID {
	case catalog.Int2:
		return 5, 0, true
	case catalog.Int4:
		return 10, 0, true
	case catalog.Int8, catalog.Oid:
		return 19, 0, true
	case catalog.Numeric:
		return int(t.Prec - t.Scale), int(t.Scale), t.Prec > 0 && t.Scale >= 0
	}
	return 0, 0, false
}

// numericOf is the narrowest numeric that holds a type's values.
func numericOf(t catalog.Type) catalog.Type {
	if whole, scale, ok := digitsOf(t); ok {
		return numericType(whole, scale)
	}
	return catalog.Type{ID: catalog.Numeric}
}

// bothDigits applies a rule to the digits of the first two arguments.
func bothDigits(rule func(w1, s1, w2, s2 int) catalog.Type) func(args []Expr) catalog.Type {
	return func(args []Expr) catalog.Type {
		w1, s1, ok1 := digitsOf(args[0].Type())
		w2, s2, ok2 := digitsOf(args[1].Type())
		if !ok1 || !ok2 {
			return catalog.Type{ID: catalog.Numeric}
		}
		return rule(w1, s1, w2, s2)
	}
}

// The types of numeric arithmetic. Results of a known scale have exactly the display scale that
// PostgreSQL gives them.
var (
	addType = bothDigits(func(w1, s1, w2, s2 int) catalog.Type {
		return numericType(max(w1, w2)+1, max(s1, s2))
	})
	mulType = bothDigits(func(w1, s1, w2, s2 int) catalog.Type {
		return numericType(w1+w2, s1+s2)
	})
	remType = bothDigits(func(w1, s1, w2, s2 int) catalog.Type {
		return numericType(min(w1, w2), max(s1, s2))
	})
)

func firstType(args []Expr) catalog.Type { return args[0].Type() }

// decimalDigits returns the number of decimal digits of i, at least 1.
func decimalDigits(i int64) int {
	u := uint64(i)
	if i < 0 {
		u = -u
	}
	n := bits.Len64(u) * 1233 >> 12
	if n < 19 && u >= uint64(pow10(n)) || n == 19 && u >= 1e19 {
		n++
	}
	return max(n, 1)
}
