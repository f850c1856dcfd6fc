package expr

import (
	"math"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// outOfRange is the overflow error of a type.
func outOfRange(id catalog.TypeID) error {
	if id == catalog.Oid {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "OID out of range")
	}
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "%s out of range", catalog.Type{ID: id})
}

// The overflow errors that kernels return, made once.
var (
	errInt2Range      = outOfRange(catalog.Int2)
	errInt4Range      = outOfRange(catalog.Int4)
	errInt8Range      = outOfRange(catalog.Int8)
	errFloatOverflow  = sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: overflow")
	errFloatUnderflow = sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: underflow")
)

func rangeError(id catalog.TypeID) error {
	switch id {
	case catalog.Int2:
		return errInt2Range
	case catalog.Int4:
		return errInt4Range
	case catalog.Int8:
		return errInt8Range
	}
	return outOfRange(id)
}

// inRange reports whether an int64 fits an integer type.
func inRange(i int64, id catalog.TypeID) bool {
	switch id {
	case catalog.Int2:
		return i == int64(int16(i))
	case catalog.Int4:
		return i == int64(int32(i))
	case catalog.Oid:
		return i == int64(uint32(i))
	}
	return true
}

func toInteger(d vector.Datum, from catalog.Type, to catalog.TypeID) (int64, error) {
	switch from.ID {
	case catalog.Float4, catalog.Float8:
		return floatToInteger(d.F, to)
	case catalog.Numeric:
		return decimalToInteger(numericOfDatum(from, d), to)
	}
	i := d.I
	if to == catalog.Oid && from.ID != catalog.Int8 {
		i = int64(uint32(i)) // PostgreSQL reinterprets the bits
	}
	if from.ID == catalog.Oid && to == catalog.Int4 {
		i = int64(int32(i))
	}
	if !inRange(i, to) {
		return 0, rangeError(to)
	}
	return i, nil
}

func floatToInteger(f float64, to catalog.TypeID) (int64, error) {
	f = math.RoundToEven(f)
	if f != f || f < math.MinInt64 || f >= math.MaxInt64 || !inRange(int64(f), to) {
		return 0, rangeError(to)
	}
	return int64(f), nil
}

func decimalToInteger(n decimal.Decimal, to catalog.TypeID) (int64, error) {
	switch {
	case n.IsNaN():
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert NaN to %s", catalog.Type{ID: to})
	case n.IsInf():
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert infinity to %s", catalog.Type{ID: to})
	}
	i, ok := n.Int64()
	if !ok || !inRange(i, to) {
		return 0, rangeError(to)
	}
	return i, nil
}

func toFloat(d vector.Datum, from catalog.Type, to catalog.TypeID) (float64, error) {
	f := d.F
	switch from.ID {
	case catalog.Numeric:
		n := numericOfDatum(from, d)
		f = n.Float64()
		if math.IsInf(f, 0) && n.IsFinite() {
			return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "\"%s\" is out of range for type %s", n, catalog.Type{ID: to})
		}
	case catalog.Int2, catalog.Int4, catalog.Int8:
		f = float64(d.I)
	}
	if to == catalog.Float4 {
		return narrowFloat(f)
	}
	return f, nil
}

// narrowFloat rounds to float4's precision.
func narrowFloat(f float64) (float64, error) {
	n := float64(float32(f))
	switch {
	case math.IsInf(n, 0) && !math.IsInf(f, 0):
		return 0, errFloatOverflow
	case n == 0 && f != 0:
		return 0, errFloatUnderflow
	}
	return n, nil
}

// toDatetime converts between dates and timestamps and applies the precision of the target.
func toDatetime(i int64, from, to catalog.Type, env *Env) (int64, error) {
	if from.ID != to.ID {
		switch {
		case from.ID == catalog.Date:
			return dateToTimestamp(int32(i), to.ID == catalog.TimestampTZ, env)
		case to.ID == catalog.Date:
			if from.ID == catalog.TimestampTZ {
				i = toLocal(i, env)
			}
			return int64(timestampToDate(i)), nil
		case to.ID == catalog.TimestampTZ:
			i = localToInstant(i, env.zone())
		default:
			i = toLocal(i, env)
		}
	}
	if to.Prec > 0 && to.ID != catalog.Date {
		return roundTimestamp(i, int(to.Prec-1))
	}
	return i, nil
}

// toLocal turns an instant into the session's local time.
func toLocal(ts int64, env *Env) int64 {
	if ts == tsInfinity || ts == tsNegInfinity {
		return ts
	}
	return ts + int64(zoneOffset(ts, env.zone()))*microsPerSecond
}

func dateToTimestamp(date int32, tz bool, env *Env) (int64, error) {
	switch date {
	case dateInfinity:
		return tsInfinity, nil
	case dateNegInfinity:
		return tsNegInfinity, nil
	}
	ts, err := joinTimestamp(int(date), 0)
	if err != nil {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range for timestamp")
	}
	if tz {
		ts = localToInstant(ts, env.zone())
	}
	return ts, nil
}

func timestampToDate(ts int64) int32 {
	switch ts {
	case tsInfinity:
		return dateInfinity
	case tsNegInfinity:
		return dateNegInfinity
	}
	return int32(floorDiv64(ts, microsPerDay))
}

var secondUnits = [7]int64{1_000_000, 100_000, 10_000, 1000, 100, 10, 1}

// roundMicros rounds to a number of digits of a second, half away from zero.
func roundMicros(v int64, digits int) int64 {
	unit := secondUnits[min(digits, 6)]
	if v >= 0 {
		return (v + unit/2) / unit * unit
	}
	return -((-v + unit/2) / unit * unit)
}

func roundTimestamp(ts int64, digits int) (int64, error) {
	if digits >= 6 || ts == tsInfinity || ts == tsNegInfinity {
		return ts, nil
	}
	// PostgreSQL rounds away from zero as counted from 2000.
	const epoch2000 = 10957 * microsPerDay
	return roundMicros(ts-epoch2000, digits) + epoch2000, nil
}

func roundInterval(iv vector.Interval, t catalog.Type) vector.Interval {
	if t.Prec > 0 {
		iv.Micros = roundMicros(iv.Micros, int(t.Prec-1))
	}
	return iv
}
