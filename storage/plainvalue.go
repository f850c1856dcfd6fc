package storage

import (
	"strconv"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// formatPlain is the default of Engine.FormatValue. Dates, times and intervals come out as the
// numbers they are stored as.
func formatPlain(t catalog.Type, d vector.Datum) string {
	if d.Null {
		return "null"
	}
	switch {
	case t.ID == catalog.Bool:
		if d.I != 0 {
			return "t"
		}
		return "f"
	case t.ID == catalog.Numeric:
		switch d.Kind {
		case vector.I64:
			return decimal.FromScaledInt64(d.I, int(t.Scale)).String()
		case vector.I128:
			return decimal.FromInt128(decimal.Int128(d.Int128()), int(t.Scale)).String()
		}
		return decimal.FromBytes([]byte(d.S)).String()
	case d.Kind == vector.Bytes:
		return d.S
	case d.Kind == vector.F32:
		return strconv.FormatFloat(d.F, 'g', -1, 32)
	case d.Kind == vector.F64:
		return strconv.FormatFloat(d.F, 'g', -1, 64)
	case d.Kind == vector.KindInterval:
		x := d.Interval()
		return strconv.Itoa(int(x.Months)) + " mons " + strconv.Itoa(int(x.Days)) + " days " +
			strconv.FormatInt(x.Micros, 10) + " us"
	}
	return strconv.FormatInt(d.I, 10)
}

// parsePlain is the default of Engine.ParseValue: numbers, booleans and quoted strings.
func parsePlain(t catalog.Type, text string) (vector.Datum, error) {
	text = strings.TrimSpace(text)
	kind := t.Kind()
	bad := sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type %s: %q", t, text)
	if strings.EqualFold(text, "null") {
		return vector.NullDatum(kind), nil
	}
	if n := len(text); n >= 2 && text[0] == '\'' && text[n-1] == '\'' {
		text = strings.ReplaceAll(text[1:n-1], "''", "'")
	}
	switch {
	case t.ID == catalog.Numeric:
		return parsePlainNumeric(t, text, bad)
	case kind == vector.Bytes:
		return vector.StringDatum(text), nil
	case kind == vector.Bool:
		b, err := strconv.ParseBool(strings.ToLower(text))
		if err != nil {
			return vector.Datum{}, bad
		}
		return vector.BoolDatum(b), nil
	case kind == vector.F32 || kind == vector.F64:
		f, err := strconv.ParseFloat(text, kind.Width()*8)
		if err != nil {
			return vector.Datum{}, bad
		}
		return vector.FloatDatum(kind, f), nil
	case t.IsInteger() || t.ID == catalog.Oid:
		i, err := strconv.ParseInt(text, 10, kind.Width()*8)
		if err != nil {
			return vector.Datum{}, bad
		}
		return vector.IntDatum(kind, i), nil
	}
	return vector.Datum{}, bad
}

func parsePlainNumeric(t catalog.Type, text string, bad *sqlerr.Error) (vector.Datum, error) {
	x, err := decimal.Parse(text)
	if err != nil {
		return vector.Datum{}, bad
	}
	kind := t.Kind()
	if kind == vector.Bytes {
		return vector.StringDatum(string(decimal.AppendBytes(nil, x))), nil
	}
	scaled, ok := x.Round(int(t.Scale)).Int128(int(t.Scale))
	if !ok {
		return vector.Datum{}, bad
	}
	if kind == vector.I64 {
		return vector.IntDatum(kind, int64(scaled.Lo)), nil
	}
	return vector.Int128Datum(vector.Int128(scaled)), nil
}
