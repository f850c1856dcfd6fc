package expr

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// ParseDatum reads a value of a type from text, as PostgreSQL's input functions do. A string too
// long for the type is an error unless the excess is blank; char(n) is padded.
func ParseDatum(t catalog.Type, text string, env *Env) (vector.Datum, error) {
	if env == nil {
		env = &Env{}
	}
	if t.ID == catalog.Numeric {
		if t.Kind() == vector.I64 {
			if i, ok := parseScaled(text, int(t.Prec), int(t.Scale)); ok {
				return vector.IntDatum(vector.I64, i), nil
			}
		}
		d, err := parseNumeric(text)
		if err == nil {
			d, err = fitNumeric(t, d)
		}
		if err != nil {
			return vector.Datum{}, err
		}
		return numericDatum(t, d), nil
	}
	d, err := parseDatum(t.Base(), text, env)
	if err != nil || t == t.Base() {
		return d, err
	}
	return castDatum(d, t.Base(), t, false, env)
}

// parseDatum reads a value of a type without modifiers. With env nil it fails with errNeedsSession
// where the value depends on the session.
func parseDatum(t catalog.Type, s string, env *Env) (vector.Datum, error) {
	switch t.ID {
	case catalog.Bool:
		b, err := parseBool(s)
		return vector.BoolDatum(b), err
	case catalog.Int2, catalog.Int4, catalog.Int8, catalog.Oid:
		i, err := parseInteger(s, t.ID)
		return vector.IntDatum(t.Kind(), i), err
	case catalog.Float4, catalog.Float8:
		f, err := parseFloat(s, t.ID)
		return vector.FloatDatum(t.Kind(), f), err
	case catalog.Numeric:
		d, err := parseNumeric(s)
		if err != nil {
			return vector.Datum{}, err
		}
		return numericDatum(t, d), nil
	case catalog.Bytea:
		b, err := parseBytea(nil, s)
		return vector.StringDatum(string(b)), err
	case catalog.Date:
		d, err := parseDate(s, env)
		return vector.IntDatum(vector.I32, int64(d)), err
	case catalog.Timestamp:
		ts, err := parseTimestamp(s, env)
		return vector.IntDatum(vector.I64, ts), err
	case catalog.TimestampTZ:
		ts, err := parseTimestampTZ(s, env)
		return vector.IntDatum(vector.I64, ts), err
	case catalog.Interval:
		iv, err := parseInterval(s)
		return vector.IntervalDatum(iv), err
	case catalog.Name:
		return vector.StringDatum(truncateName(s)), nil
	}
	return vector.StringDatum(s), nil
}

// truncateName cuts a name to PostgreSQL's 63 bytes, at a character border.
func truncateName(s string) string {
	if len(s) <= 63 {
		return s
	}
	n := 63
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// FormatDatum returns the text output of a value; that of NULL is empty.
func FormatDatum(t catalog.Type, d vector.Datum, env *Env) string {
	if d.Null {
		return ""
	}
	return string(appendDatum(nil, t, d, env))
}

func appendDatum(dst []byte, t catalog.Type, d vector.Datum, env *Env) []byte {
	switch t.ID {
	case catalog.Bool:
		if d.I != 0 {
			return append(dst, 't')
		}
		return append(dst, 'f')
	case catalog.Int2, catalog.Int4, catalog.Int8, catalog.Oid:
		return appendInt(dst, d.I)
	case catalog.Float4:
		return appendFloat(dst, d.F, 32)
	case catalog.Float8:
		return appendFloat(dst, d.F, 64)
	case catalog.Numeric:
		switch d.Kind {
		case vector.I64:
			return decimal.AppendScaledInt64(dst, d.I, int(t.Scale))
		case vector.I128:
			return d.Int128().AppendText(dst, int(t.Scale))
		}
		return numericOfDatum(t, d).Append(dst)
	case catalog.Bytea:
		return appendHex(append(dst, `\x`...), []byte(d.S))
	case catalog.Date:
		return appendDate(dst, int32(d.I))
	case catalog.Timestamp:
		return appendTimestamp(dst, d.I, nil)
	case catalog.TimestampTZ:
		return appendTimestamp(dst, d.I, env.zone())
	case catalog.Interval:
		return appendInterval(dst, d.Interval())
	}
	return append(dst, d.S...)
}

// AppendText appends the text output of row i of v, which has type t and is not NULL there.
func AppendText(dst []byte, t catalog.Type, v *vector.Vector, i int, env *Env) []byte {
	switch v.Form {
	case vector.Const:
		i = 0
	case vector.Dict:
		v, i = v.Dict, int(v.Codes()[i])
	}
	switch v.Kind {
	case vector.Bytes:
		b := v.BytesAt(i)
		switch t.ID {
		case catalog.Numeric:
			return decimal.FromBytes(b).Append(dst)
		case catalog.Bytea:
			return appendHex(append(dst, `\x`...), b)
		}
		return append(dst, b...)
	case vector.I128:
		return vector.Of[vector.Int128](v)[i].AppendText(dst, int(t.Scale))
	}
	return appendDatum(dst, t, fixedDatum(v, i), env)
}

// fixedDatum is vector.DatumAt for a valid row of a fixed-width vector.
func fixedDatum(v *vector.Vector, i int) vector.Datum { return vector.DatumAt(v, i) }

// castVolatility tells whether a cast depends on the session.
func castVolatility(from, to catalog.TypeID) Volatility {
	tz := catalog.TimestampTZ
	switch {
	case (from == tz) != (to == tz):
		return Stable
	case category(from) == 'S' && (to == catalog.Date || to == catalog.Timestamp):
		return Stable // 'now', 'today'
	}
	return Immutable
}

// castDatum converts a value between types; explicit casts cut strings that are too long.
func castDatum(d vector.Datum, from, to catalog.Type, explicit bool, env *Env) (vector.Datum, error) {
	if d.Null {
		return vector.NullDatum(to.Kind()), nil
	}
	switch {
	case to.IsString() && !from.IsString():
		d = vector.StringDatum(string(appendCastText(nil, from, d, env)))
		return fitString(d, textType, to, explicit)
	case from.IsString() && to.IsString():
		return fitString(d, from, to, explicit)
	case from.IsString():
		s := d.S
		if from.ID == catalog.Char {
			s = trimBlanks(s)
		}
		r, err := parseDatum(to.Base(), s, env)
		if err != nil || to == to.Base() {
			return r, err
		}
		return castDatum(r, to.Base(), to, explicit, env)
	case to.ID == catalog.Numeric:
		n, err := fitNumeric(to, toDecimal(d, from))
		if err != nil {
			return d, err
		}
		return numericDatum(to, n), nil
	}
	switch to.ID {
	case catalog.Int2, catalog.Int4, catalog.Int8, catalog.Oid:
		i, err := toInteger(d, from, to.ID)
		return vector.IntDatum(to.Kind(), i), err
	case catalog.Float4, catalog.Float8:
		f, err := toFloat(d, from, to.ID)
		return vector.FloatDatum(to.Kind(), f), err
	case catalog.Bool:
		return vector.BoolDatum(d.I != 0), nil
	case catalog.Date, catalog.Timestamp, catalog.TimestampTZ:
		i, err := toDatetime(d.I, from, to, env)
		return vector.IntDatum(to.Kind(), i), err
	case catalog.Interval:
		return vector.IntervalDatum(roundInterval(d.Interval(), to)), nil
	case catalog.Bytea:
		return d, nil
	}
	return d, sqlerr.New(sqlerr.CannotCoerce, "cannot cast type %s to %s", from.Base(), to.Base())
}

// appendCastText is text output, but for casts: booleans are spelled out.
func appendCastText(dst []byte, t catalog.Type, d vector.Datum, env *Env) []byte {
	if t.ID == catalog.Bool {
		if d.I != 0 {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	}
	return appendDatum(dst, t, d, env)
}

func toDecimal(d vector.Datum, from catalog.Type) decimal.Decimal {
	switch from.ID {
	case catalog.Float8:
		return decimal.FromFloat64(d.F)
	case catalog.Float4:
		return decimal.FromFloat32(float32(d.F))
	case catalog.Numeric:
		return numericOfDatum(from, d)
	}
	return decimal.FromInt64(d.I)
}
