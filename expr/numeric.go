package expr

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// Numerics have three physical forms (see catalog.Type); these functions move single values
// between them and decimal.Decimal.

func pow10(n int) int64 { return decimal.Pow10Int64(n) }

// numericAt reads row i of a numeric vector of type t; the row is not NULL.
func numericAt(t catalog.Type, v *vector.Vector, i int) decimal.Decimal {
	switch v.Form {
	case vector.Const:
		i = 0
	case vector.Dict:
		return numericAt(t, v.Dict, int(v.Codes()[i]))
	}
	switch v.Kind {
	case vector.I64:
		return decimal.FromScaledInt64(vector.Of[int64](v)[i], int(t.Scale))
	case vector.I128:
		return decimal.FromInt128(vector.Of[vector.Int128](v)[i], int(t.Scale))
	}
	return decimal.FromBytes(v.BytesAt(i))
}

// numericOfDatum reads a numeric datum of type t.
func numericOfDatum(t catalog.Type, d vector.Datum) decimal.Decimal {
	switch d.Kind {
	case vector.I64:
		return decimal.FromScaledInt64(d.I, int(t.Scale))
	case vector.I128:
		return decimal.FromInt128(d.Int128(), int(t.Scale))
	}
	return decimal.FromBytes([]byte(d.S))
}

// numericDatum stores d in the form of type t, which it must fit (fitNumeric sees to it).
func numericDatum(t catalog.Type, d decimal.Decimal) vector.Datum {
	switch t.Kind() {
	case vector.I64:
		x, _ := d.Int128(int(t.Scale))
		return vector.IntDatum(vector.I64, int64(x.Lo))
	case vector.I128:
		x, _ := d.Int128(int(t.Scale))
		return vector.Int128Datum(x)
	}
	return vector.StringDatum(string(decimal.AppendBytes(nil, d)))
}

// fitNumeric rounds d to a type's scale and checks its precision.
func fitNumeric(t catalog.Type, d decimal.Decimal) (decimal.Decimal, error) {
	if t.Prec == 0 {
		return d, d.CheckLimits()
	}
	if !d.IsFinite() {
		if d.IsNaN() && t.Kind() == vector.Bytes {
			return d, nil
		}
		what := "an infinite value"
		if d.IsNaN() {
			what = "NaN" // the fixed-width forms have no room for it
		}
		return d, errNumericOverflow().WithDetail("A field with precision %d, scale %d cannot hold %s.", t.Prec, t.Scale, what)
	}
	r := d.Round(int(t.Scale))
	if r.WholeDigits() > int(t.Prec-t.Scale) {
		return d, errFieldOverflow(t)
	}
	return r, nil
}

func errNumericOverflow() *sqlerr.Error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "numeric field overflow")
}

func errFieldOverflow(t catalog.Type) error {
	limit := "1"
	if whole := int(t.Prec - t.Scale); whole != 0 {
		limit = "10^" + string(appendInt(nil, int64(whole)))
	}
	return errNumericOverflow().WithDetail("A field with precision %d, scale %d must round to an absolute value less than %s.", t.Prec, t.Scale, limit)
}

// parseNumeric reads numeric input.
func parseNumeric(s string) (decimal.Decimal, error) {
	d, err := decimal.Parse(s)
	if err == decimal.ErrSyntax {
		return d, errSyntax(catalog.Numeric, s)
	}
	return d, err
}

// literalNumericType is the narrowest numeric that holds a literal with its own scale, so that
// arithmetic on literals stays in fixed width.
func literalNumericType(d decimal.Decimal) catalog.Type {
	if !d.IsFinite() || d.WholeDigits()+d.Scale() > catalog.MaxPrec128 {
		return catalog.Type{ID: catalog.Numeric}
	}
	return numericType(d.WholeDigits(), d.Scale())
}
