package weft

import (
	"database/sql/driver"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/internal/utf8text"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/vector"
)

// argument is the value of a statement parameter: a Go value as given, or a bound constant.
type argument struct {
	given  any
	number int         // $1, …
	bound  *expr.Const // in place of given; nil = none
}

// bindArguments appends Go values as arguments; driver.Valuer and pointers are followed.
func bindArguments(out []argument, args []any) ([]argument, error) {
	for i, a := range args {
		switch a.(type) {
		case nil, bool, int, int64, float64, string:
		default:
			var err error
			if a, err = plainValue(a); err != nil {
				return out, sqlerr.New(sqlerr.InvalidParameterValue, "argument $%d: %w", i+1, err)
			}
		}
		out = append(out, argument{given: a, number: i + 1})
	}
	return out, nil
}

func plainValue(a any) (_ any, err error) {
	if v, ok := a.(driver.Valuer); ok {
		if a, err = v.Value(); err != nil {
			return nil, err
		}
	}
	if v := reflect.ValueOf(a); v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, nil
		}
		a = v.Elem().Interface()
	}
	if b, ok := a.([]byte); ok && b == nil {
		return nil, nil // as other drivers take it
	}
	return a, nil
}

// datum converts the argument to a parameter's type. Values go by their text form where no direct
// conversion exists, so an argument is read as a literal of the type would be.
func (a argument) datum(t catalog.Type, env *expr.Env) (vector.Datum, error) {
	if a.bound != nil {
		e, err := expr.Coerce(a.bound, t, expr.AssignmentCast, 0)
		if err != nil {
			return vector.Datum{}, err
		}
		folded, err := expr.FoldConstants(e, env)
		if err != nil {
			return vector.Datum{}, err
		}
		k, ok := folded.(*expr.Const)
		if !ok {
			return vector.Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "cannot convert argument of type %s to %s", a.bound.Typ, t)
		}
		return k.Value, nil
	}
	if a.given == nil {
		return vector.NullDatum(t.Kind()), nil
	}
	if d, ok := a.direct(t); ok {
		return d, nil
	}
	text, err := a.text()
	if err != nil {
		return vector.Datum{}, err
	}
	if at := utf8text.InvalidString(text); at >= 0 {
		return vector.Datum{}, utf8text.Error(text, at).WithDetail("Argument $%d.", a.number)
	}
	return expr.ParseDatum(t, text, env)
}

// direct converts the common pairs of Go type and SQL type.
func (a argument) direct(t catalog.Type) (vector.Datum, bool) {
	switch v := a.given.(type) {
	case int64:
		return intArgument(t, v)
	case int:
		return intArgument(t, int64(v))
	case int32:
		return intArgument(t, int64(v))
	case float64:
		if t.ID == catalog.Float8 {
			return vector.FloatDatum(vector.F64, v), true
		}
	case bool:
		if t.ID == catalog.Bool {
			return vector.BoolDatum(v), true
		}
	case string:
		if t.ID == catalog.Text && utf8text.InvalidString(v) < 0 {
			return vector.StringDatum(v), true
		}
	case []byte:
		if t.ID == catalog.Bytea {
			return vector.StringDatum(string(v)), true
		}
	case time.Time:
		if v.Year() < -4712 || v.Year() > 294275 {
			return vector.Datum{}, false // microseconds might overflow: the text form is checked
		}
		switch t.ID {
		case catalog.TimestampTZ:
			return vector.IntDatum(vector.I64, v.UnixMicro()), true
		case catalog.Timestamp:
			_, offset := v.Zone()
			return vector.IntDatum(vector.I64, v.UnixMicro()+int64(offset)*1e6), true
		}
	}
	return vector.Datum{}, false
}

func intArgument(t catalog.Type, v int64) (vector.Datum, bool) {
	switch {
	case t.ID == catalog.Int8,
		t.ID == catalog.Int4 && v >= math.MinInt32 && v <= math.MaxInt32,
		t.ID == catalog.Int2 && v >= math.MinInt16 && v <= math.MaxInt16:
		return vector.IntDatum(t.Kind(), v), true
	}
	return vector.Datum{}, false
}

// text writes the value as a literal's text.
func (a argument) text() (string, error) {
	switch v := a.given.(type) {
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32), nil
	case time.Time:
		return v.Format("2006-01-02 15:04:05.999999Z07:00"), nil
	case time.Duration:
		return strconv.FormatInt(v.Microseconds(), 10) + " microseconds", nil
	case fmt.Stringer:
		return v.String(), nil
	}
	switch v := reflect.ValueOf(a.given); v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10), nil
	case reflect.String:
		return v.String(), nil
	}
	return "", sqlerr.New(sqlerr.InvalidParameterValue, "arguments of type %T are not supported", a.given)
}

func bindType(n sql.TypeName) (catalog.Type, error) { return planner.BindType(n) }

// constant binds an expression that uses no table.
func constant(e sql.Expr) (expr.Expr, error) { return planner.BindConstant(e) }

// parseMissing reads the stored literal of a column added after rows were written.
func parseMissing(t catalog.Type, text string) (vector.Datum, error) {
	e, err := sql.ParseExpr(text)
	if err != nil {
		return vector.Datum{}, err
	}
	bound, err := constant(e)
	if err != nil {
		return vector.Datum{}, err
	}
	if bound, err = expr.Coerce(bound, t, expr.ExplicitCast, 0); err != nil {
		return vector.Datum{}, err
	}
	folded, err := expr.FoldConstants(bound, nil)
	if err != nil {
		return vector.Datum{}, err
	}
	k, ok := folded.(*expr.Const)
	if !ok {
		return vector.Datum{}, sqlerr.New(sqlerr.DataCorrupted, "stored column value %s is not constant", text)
	}
	return k.Value, nil
}
