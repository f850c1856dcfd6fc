package expr

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// Coerce converts e to a type, or fails with 42846 where PostgreSQL has no cast in that context.
// Constants are converted at once. The result's type is exactly to, with one exception: an
// explicit cast to numeric without modifiers keeps the narrower type that e has as a number, which
// prints and computes the same.
func Coerce(e Expr, to catalog.Type, ctx CastContext, pos int) (Expr, error) {
	from := e.Type()
	if from == to {
		return e, nil
	}
	if from.ID == catalog.Unknown {
		switch e := e.(type) {
		case *Const:
			return coerceUnknown(e, to, ctx, pos)
		case *Param:
			return coerceParam(e, to, ctx, pos)
		}
		from = textType
	}
	if !canCast(from.ID, to.ID, ctx) {
		return nil, sqlerr.New(sqlerr.CannotCoerce, "cannot cast type %s to %s", from.Base(), to.Base()).At(pos)
	}
	if ctx == ExplicitCast && to == (catalog.Type{ID: catalog.Numeric}) {
		if n := numericOf(from); n.Prec > 0 {
			if n == from {
				return e, nil
			}
			to = n
		}
	}
	cast := &Cast{Arg: e, Typ: to, Implicit: ctx != ExplicitCast, Assignment: ctx == AssignmentCast, Pos: pos}
	if c, ok := e.(*Const); ok && castVolatility(from.ID, to.ID) == Immutable {
		// A failing cast stays, to fail if it is evaluated.
		if d, err := castDatum(c.Value, from, to, ctx == ExplicitCast, nil); err == nil {
			return &Const{Value: d, Typ: to}, nil
		}
	}
	return cast, nil
}

// coerceUnknown gives a bare literal a type by reading it. Literals whose value depends on the
// session ('now', timestamps with a time zone) stay casts, for FoldConstants.
func coerceUnknown(c *Const, to catalog.Type, ctx CastContext, pos int) (Expr, error) {
	if to.ID == catalog.Unknown {
		return c, nil
	}
	if c.Value.Null {
		return &Const{Value: vector.NullDatum(to.Kind()), Typ: to}, nil
	}
	// PostgreSQL reads the literal without modifiers, then applies them as a cast of the context:
	// an explicit cast truncates a string that is too long, storing it fails.
	d, err := parseDatum(to.Base(), c.Value.S, nil)
	if err == errNeedsSession {
		return &Cast{Arg: &Const{Value: c.Value, Typ: textType}, Typ: to, Implicit: ctx != ExplicitCast, Assignment: ctx == AssignmentCast, Pos: pos}, nil
	}
	if err != nil {
		return nil, at(err, pos)
	}
	return Coerce(&Const{Value: d, Typ: to.Base()}, to, ctx, pos)
}

func coerceParam(p *Param, to catalog.Type, ctx CastContext, pos int) (Expr, error) {
	typed := &Param{Index: p.Index, Typ: to.Base()}
	if to == to.Base() {
		return typed, nil
	}
	return Coerce(typed, to, ctx, pos)
}

// coerceArg converts an argument to the type a function takes, keeping numeric modifiers.
func coerceArg(e Expr, id catalog.TypeID, pos int) (Expr, error) {
	from := e.Type()
	switch {
	case id == anyType:
		if from.ID == catalog.Unknown {
			return Coerce(e, textType, ImplicitCast, pos)
		}
		return e, nil
	case from.ID == id:
		return e, nil
	case id == catalog.Numeric && from.ID != catalog.Unknown:
		if c, ok := e.(*Const); ok && from.IsInteger() && !c.Value.Null {
			return Coerce(e, numericType(decimalDigits(c.Value.I), 0), ImplicitCast, pos)
		}
		return Coerce(e, numericOf(from), ImplicitCast, pos)
	case id == catalog.Numeric:
		if c, ok := e.(*Const); ok && !c.Value.Null {
			d, err := parseNumeric(c.Value.S)
			if err != nil {
				return nil, at(err, pos)
			}
			t := literalNumericType(d)
			return &Const{Value: numericDatum(t, d), Typ: t}, nil
		}
	}
	return Coerce(e, catalog.Type{ID: id}, ImplicitCast, pos)
}

// CommonType is the type that the branches of a UNION, CASE, COALESCE, IN or VALUES are converted
// to. context names the construct in the error.
func CommonType(exprs []Expr, context string) (catalog.Type, error) {
	common := catalog.Unknown
	for _, e := range exprs {
		id := e.Type().ID
		switch {
		case id == catalog.Unknown || id == common:
		case common == catalog.Unknown:
			common = id
		case category(id) != category(common):
			return catalog.Type{}, sqlerr.New(sqlerr.DatatypeMismatch, "%s types %s and %s cannot be matched",
				context, catalog.Type{ID: common}, catalog.Type{ID: id})
		case !preferred(common) && canCast(common, id, ImplicitCast) && !canCast(id, common, ImplicitCast):
			common = id
		}
	}
	if common == catalog.Unknown {
		return textType, nil
	}
	for _, e := range exprs {
		if id := e.Type().ID; id != common && id != catalog.Unknown && !canCast(id, common, ImplicitCast) {
			return catalog.Type{}, sqlerr.New(sqlerr.CannotCoerce, "%s could not convert type %s to %s",
				context, e.Type().Base(), catalog.Type{ID: common})
		}
	}
	return commonModifiers(exprs, common), nil
}

// commonModifiers keeps the modifiers that all branches share. Numerics of one scale share the
// larger precision; those of several scales keep each value's own scale.
func commonModifiers(exprs []Expr, common catalog.TypeID) catalog.Type {
	var t catalog.Type
	for _, e := range exprs {
		if c, ok := e.(*Const); ok && c.Value.Null {
			continue
		}
		et := e.Type()
		if et.ID != common {
			return catalog.Type{ID: common}
		}
		switch {
		case t.ID == catalog.Unknown:
			t = et
		case t == et:
		case common == catalog.Numeric && t.Prec > 0 && et.Prec > 0 && t.Scale == et.Scale:
			t.Prec = max(t.Prec, et.Prec)
		default:
			return catalog.Type{ID: common}
		}
	}
	if t.ID == catalog.Unknown {
		return catalog.Type{ID: common}
	}
	return t
}

// DeclaredType is the type that a column made of e has, as in CREATE TABLE AS, and that clients
// see: numeric modifiers that weft derived (of a product, a literal) are dropped, those of columns
// and explicit casts stay.
func DeclaredType(e Expr) catalog.Type {
	t := e.Type()
	if t.ID != catalog.Numeric {
		return t
	}
	switch e := e.(type) {
	case *Col:
		return t
	case *Cast:
		// Coerce gives x::numeric the digits of x: no modifiers were written then.
		if !e.Implicit && t != numericOf(e.Arg.Type()) {
			return t
		}
	case *Coalesce:
		return declaredCommon(t, e.Args)
	case *Case:
		kids := Children(e)
		var results []Expr
		for i := range e.Whens {
			results = append(results, kids[2*i+1])
		}
		if e.Else != nil {
			results = append(results, e.Else)
		}
		return declaredCommon(t, results)
	}
	return t.Base()
}

// declaredCommon keeps modifiers that all of a list declare.
func declaredCommon(t catalog.Type, list []Expr) catalog.Type {
	for _, e := range list {
		if c, ok := e.(*Const); ok && c.Value.Null {
			continue
		}
		if DeclaredType(e) != t {
			return t.Base()
		}
	}
	return t
}

// at gives an error a position unless it has one.
func at(err error, pos int) error {
	if e, ok := err.(*sqlerr.Error); ok && pos >= 0 {
		return e.At(pos)
	}
	return err
}
