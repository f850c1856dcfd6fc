package expr

import (
	"math"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// dateFunctions are the functions on dates, timestamps and intervals.
func dateFunctions() []*Function {
	list := []*Function{
		fn("age", "timestamp timestamp", "interval", intervalRow(func(r *row) (vector.Interval, error) { return age(r.int(0), r.int(1)) })),
		fn("age", "timestamptz timestamptz", "interval", intervalRow(func(r *row) (vector.Interval, error) {
			return age(toLocal(r.int(0), r.env), toLocal(r.int(1), r.env))
		}), stable),
		fn("age", "timestamp", "interval", intervalRow(func(r *row) (vector.Interval, error) { return age(midnight(r.env), r.int(0)) }), stable),
		fn("age", "timestamptz", "interval", intervalRow(func(r *row) (vector.Interval, error) {
			return age(midnight(r.env), toLocal(r.int(0), r.env))
		}), stable),
		fn("justify_hours", "interval", "interval", intervalRow(func(r *row) (vector.Interval, error) { return justifyHours(r.interval(0)) })),
		fn("justify_days", "interval", "interval", intervalRow(func(r *row) (vector.Interval, error) { return justifyDays(r.interval(0)) })),
		fn("justify_interval", "interval", "interval", intervalRow(func(r *row) (vector.Interval, error) { return justifyInterval(r.interval(0)) })),
		fn("make_date", "int4 int4 int4", "date", intRow(makeDate)),
		fn("make_timestamp", "int4 int4 int4 int4 int4 float8", "timestamp", intRow(makeTimestamp)),
		fn("make_interval", "int4", "interval", intervalRow(makeIntervalParts)), fn("make_interval", "int4 int4", "interval", intervalRow(makeIntervalParts)),
		fn("make_interval", "int4 int4 int4", "interval", intervalRow(makeIntervalParts)), fn("make_interval", "int4 int4 int4 int4", "interval", intervalRow(makeIntervalParts)),
		fn("to_timestamp", "float8", "timestamptz", intRow(toTimestamp)),
		fn("isfinite", "date", "bool", boolRow(func(r *row) (bool, error) { d := r.int(0); return d != dateInfinity && d != dateNegInfinity, nil })),
		fn("isfinite", "timestamp", "bool", boolRow(finiteTimestamp)), fn("isfinite", "timestamptz", "bool", boolRow(finiteTimestamp)),
		fn("isfinite", "interval", "bool", boolRow(func(*row) (bool, error) { return true, nil })),
		fn("timezone", "text timestamp", "timestamptz", intRow(func(r *row) (int64, error) {
			zone, err := LoadZone(r.str(0))
			if err != nil {
				return 0, err
			}
			return localToInstant(r.int(1), zone), nil
		})),
		fn("timezone", "text timestamptz", "timestamp", intRow(func(r *row) (int64, error) {
			zone, err := LoadZone(r.str(0))
			if err != nil {
				return 0, err
			}
			return toLocal(r.int(1), &Env{TimeZone: zone}), nil
		})),
		fn("overlaps", "timestamp timestamp timestamp timestamp", "bool", boolRow(overlaps), notStrict),
	}
	list = append(list, extractFunctions()...)
	list = append(list, truncFunctions()...)
	return append(list, formatFunctions()...)
}

func midnight(e *Env) int64 {
	days, _ := splitTimestamp(toLocal(e.now(), e))
	return int64(days) * microsPerDay
}

func finiteTimestamp(r *row) (bool, error) {
	ts := r.int(0)
	return ts != tsInfinity && ts != tsNegInfinity, nil
}

// age is the difference in years, months, days and time.
func age(a, b int64) (vector.Interval, error) {
	for _, ts := range [2]int64{a, b} {
		if ts == tsInfinity || ts == tsNegInfinity {
			return vector.Interval{}, errTimestampRange
		}
	}
	neg := a < b
	if neg {
		a, b = b, a
	}
	da, ta := splitTimestamp(a)
	db, tb := splitTimestamp(b)
	ya, ma, dda := daysToCivil(da)
	yb, mb, ddb := daysToCivil(db)
	months, days, micros := int64(ya-yb)*12+int64(ma-mb), int64(dda-ddb), ta-tb
	if micros < 0 {
		micros += microsPerDay
		days--
	}
	if days < 0 {
		// The month borrowed from is that of the earlier date.
		if neg {
			days += int64(daysInMonth(ya, ma))
			if ma != mb || ya != yb {
				days += int64(daysInMonth(yb, mb) - daysInMonth(ya, ma))
			}
		} else {
			days += int64(daysInMonth(yb, mb))
		}
		months--
	}
	if neg {
		months, days, micros = -months, -days, -micros
	}
	return makeInterval(months, days, micros)
}

func makeDate(r *row) (int64, error) {
	y, m, d := r.int(0), r.int(1), r.int(2)
	year := y
	if y < 0 {
		year = y + 1 // BC
	}
	if y == 0 || m < 1 || m > 12 || d < 1 || y > 5874897 || y < -4713 || d > int64(daysInMonth(int(year), int(m))) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date field value out of range: %d-%02d-%02d", y, m, d)
	}
	return int64(civilToDays(int(year), int(m), int(d))), nil
}

func makeTimestamp(r *row) (int64, error) {
	days, err := makeDate(r)
	if err != nil {
		return 0, err
	}
	h, m, s := r.int(3), r.int(4), r.float(5)
	if h < 0 || m < 0 || m > 59 || s != s || s < 0 || s > 60 || h > 24 || h == 24 && (m > 0 || s > 0) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "time field value out of range: %d:%02d:%02g", h, m, s)
	}
	return joinTimestamp(int(days), h*microsPerHour+m*microsPerMinute+int64(math.RoundToEven(s*microsPerSecond)))
}

// makeIntervalParts is make_interval(years, months, weeks, days).
func makeIntervalParts(r *row) (vector.Interval, error) {
	var p [4]int64
	for k := range r.args {
		p[k] = r.int(k)
	}
	return makeInterval(p[0]*12+p[1], p[2]*7+p[3], 0)
}

func toTimestamp(r *row) (int64, error) {
	switch s := r.float(0); {
	case math.IsInf(s, 1):
		return tsInfinity, nil
	case math.IsInf(s, -1):
		return tsNegInfinity, nil
	case s != s:
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp cannot be NaN")
	case s*microsPerSecond < float64(minTimestamp) || s*microsPerSecond >= float64(maxTimestamp):
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range: \"%g\"", s)
	default:
		return int64(math.RoundToEven(s * microsPerSecond)), nil
	}
}

// overlaps is (a, b) OVERLAPS (c, d), with the NULL rules of SQL.
func overlaps(r *row) (bool, error) {
	type period struct {
		from, to     int64
		fromOK, toOK bool
	}
	read := func(k int) (p period) {
		if p.fromOK = !r.isNull(k); p.fromOK {
			p.from = r.int(k)
		}
		if p.toOK = !r.isNull(k + 1); p.toOK {
			p.to = r.int(k + 1)
		}
		// An unknown end counts as later; else the smaller one comes first.
		if !p.fromOK || p.toOK && p.from > p.to {
			p.from, p.to, p.fromOK, p.toOK = p.to, p.from, p.toOK, p.fromOK
		}
		return p
	}
	a, b := read(0), read(2)
	if !a.fromOK || !b.fromOK {
		r.null = true
		return false, nil
	}
	if a.from > b.from {
		a, b = b, a
	}
	switch {
	case a.from == b.from:
		r.null = !a.toOK || !b.toOK
		return true, nil
	case a.toOK && b.from < a.to:
		return true, nil
	case !a.toOK:
		r.null = true
	}
	return false, nil
}

// truncFunctions are date_trunc.
func truncFunctions() []*Function {
	return []*Function{
		fn("date_trunc", "text timestamp", "timestamp", intRow(func(r *row) (int64, error) {
			return truncTimestamp(r.str(0), r.int(1), catalog.Timestamp)
		})),
		fn("date_trunc", "text timestamptz", "timestamptz", intRow(func(r *row) (int64, error) {
			return truncZoned(r.str(0), r.int(1), r.env)
		}), stable),
		fn("date_trunc", "text timestamptz text", "timestamptz", intRow(func(r *row) (int64, error) {
			zone, err := LoadZone(r.str(2))
			if err != nil {
				return 0, err
			}
			return truncZoned(r.str(0), r.int(1), &Env{TimeZone: zone})
		})),
		fn("date_trunc", "text interval", "interval", intervalRow(func(r *row) (vector.Interval, error) {
			return truncInterval(r.str(0), r.interval(1))
		})),
	}
}

func truncZoned(field string, ts int64, env *Env) (int64, error) {
	if ts == tsInfinity || ts == tsNegInfinity {
		return ts, nil
	}
	was := toLocal(ts, env)
	local, err := truncTimestamp(field, was, catalog.TimestampTZ)
	if err != nil {
		return 0, err
	}
	if f := lowerField(field); f <= fieldHour {
		return ts - (was - local), nil // stays on its side of a clock change
	}
	return localToInstant(local, env.zone()), nil
}

func errTruncField(field string, id catalog.TypeID) error {
	f := strings.ToLower(field)
	if known := datetimeField(f); known != fieldNone && (known < fieldDow || known > fieldEpoch) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "unit \"%s\" not supported for type %s", f, catalog.Type{ID: id})
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "unit \"%s\" not recognized for type %s", f, catalog.Type{ID: id})
}

func truncTimestamp(field string, ts int64, id catalog.TypeID) (int64, error) {
	f := lowerField(field)
	if ts == tsInfinity || ts == tsNegInfinity {
		return ts, nil
	}
	days, micros := splitTimestamp(ts)
	y, m, d := daysToCivil(days)
	switch f {
	case fieldMicroseconds:
		return ts, nil
	case fieldMilliseconds:
		micros -= micros % 1000
	case fieldSecond:
		micros -= micros % microsPerSecond
	case fieldMinute:
		micros -= micros % microsPerMinute
	case fieldHour:
		micros -= micros % microsPerHour
	case fieldDay:
		micros = 0
	case fieldWeek:
		micros, days = 0, days-(weekday(days)+6)%7
	case fieldMonth:
		micros, days = 0, days-(d-1)
	case fieldQuarter:
		micros, days = 0, civilToDays(y, (m-1)/3*3+1, 1)
	case fieldYear:
		micros, days = 0, civilToDays(y, 1, 1)
	case fieldDecade:
		micros, days = 0, civilToDays(floorDiv(y, 10)*10, 1, 1)
	case fieldCentury:
		micros, days = 0, civilToDays(floorDiv(y-1, 100)*100+1, 1, 1)
	case fieldMillennium:
		micros, days = 0, civilToDays(floorDiv(y-1, 1000)*1000+1, 1, 1)
	default:
		return 0, errTruncField(field, id)
	}
	return joinTimestamp(days, micros)
}

func truncInterval(field string, iv vector.Interval) (vector.Interval, error) {
	f := lowerField(field)
	cut := func(unit int64) { iv.Micros -= iv.Micros % unit }
	months := func(unit int32) { iv.Micros, iv.Days, iv.Months = 0, 0, iv.Months-iv.Months%unit }
	switch f {
	case fieldMicroseconds:
	case fieldMilliseconds:
		cut(1000)
	case fieldSecond:
		cut(microsPerSecond)
	case fieldMinute:
		cut(microsPerMinute)
	case fieldHour:
		cut(microsPerHour)
	case fieldDay:
		iv.Micros = 0
	case fieldMonth:
		months(1)
	case fieldQuarter:
		months(3)
	case fieldYear:
		months(12)
	case fieldDecade:
		months(120)
	case fieldCentury:
		months(1200)
	case fieldMillennium:
		months(12000)
	case fieldWeek:
		return iv, sqlerr.New(sqlerr.FeatureNotSupported, "unit \"week\" not supported for type interval").
			WithDetail("Months usually have fractional weeks.")
	default:
		return iv, errTruncField(field, catalog.Interval)
	}
	return iv, nil
}
