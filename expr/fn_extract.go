package expr

import (
	"math"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// dateField is a part of a date, time or interval.
type dateField uint8

const (
	fieldNone dateField = iota
	fieldMicroseconds
	fieldMilliseconds
	fieldSecond
	fieldMinute
	fieldHour
	fieldDay
	fieldWeek
	fieldMonth
	fieldQuarter
	fieldYear
	fieldDecade
	fieldCentury
	fieldMillennium
	fieldDow
	fieldIsoDow
	fieldDoy
	fieldIsoYear
	fieldJulian
	fieldEpoch
	fieldTimezone
	fieldTimezoneHour
	fieldTimezoneMinute
)

var dateFields = func() map[string]dateField {
	m := map[string]dateField{}
	for f, names := range map[dateField]string{
		fieldMicroseconds: "microseconds us usec usecs useconds microsecond usecond",
		fieldMilliseconds: "milliseconds ms msec msecs mseconds millisecond msecond",
		fieldSecond:       "second s sec secs seconds", fieldMinute: "minute m min mins minutes",
		fieldHour: "hour h hr hrs hours", fieldDay: "day d days", fieldWeek: "week w weeks",
		fieldMonth: "month mon mons months", fieldQuarter: "quarter qtr", fieldYear: "year y yr yrs years",
		fieldDecade: "decade dec decs decades", fieldCentury: "century c cent centuries",
		fieldMillennium: "millennium mil mils millennia", fieldDow: "dow", fieldIsoDow: "isodow", fieldDoy: "doy",
		fieldIsoYear: "isoyear", fieldJulian: "julian j jd", fieldEpoch: "epoch", fieldTimezone: "timezone",
		fieldTimezoneHour: "timezone_hour timezone_h", fieldTimezoneMinute: "timezone_minute timezone_m",
	} {
		for _, n := range strings.Fields(names) {
			m[n] = f
		}
	}
	return m
}()

func datetimeField(lower string) dateField { return dateFields[lower] }

// lowerField looks a field's name up in any case, without allocating for lower-case names.
func lowerField(name string) dateField {
	if f, ok := dateFields[name]; ok {
		return f
	}
	return dateFields[strings.ToLower(name)]
}

func extractFunctions() []*Function {
	var list []*Function
	for _, t := range []string{"date", "timestamp", "timestamptz", "interval"} {
		id := typeWords[t]
		options := []func(*Function){}
		if t == "timestamptz" {
			options = append(options, stable)
		}
		list = append(list,
			fn("extract", "text "+t, "numeric", buildExtract(id), append(options, typed(extractType))...),
			fn("date_part", "text "+t, "float8", floatRow(func(r *row) (float64, error) {
				d, err := datePart(r, id)
				return d.Float64(), err
			}), options...))
	}
	return list
}

// resolveExtract resolves EXTRACT; a date that it does not take as such goes through timestamp.
func resolveExtract(args []Expr, pos int) (Expr, error) {
	f, ambiguous := bestCandidate(registered.functions["extract"], typeIDs(args))
	if len(args) == 2 {
		if exact := exactMatch(registered.functions["extract"], []catalog.TypeID{catalog.Text, args[1].Type().ID}); exact != nil {
			f = exact
		}
	}
	if f == nil {
		return nil, functionError("extract", args, ambiguous, pos)
	}
	return finishCall(f, args, pos)
}

// extractType gives fields with a fixed scale a type of that scale, so that years are plain
// integers in all kernels.
func extractType(args []Expr) catalog.Type {
	c, ok := args[0].(*Const)
	if !ok || c.Value.Null || args[1].Type().ID == catalog.Interval {
		return catalog.Type{ID: catalog.Numeric}
	}
	switch lowerField(c.Value.S) {
	case fieldNone, fieldJulian, fieldEpoch:
		return catalog.Type{ID: catalog.Numeric}
	case fieldSecond:
		return numericType(2, 6)
	case fieldMilliseconds:
		return numericType(5, 3)
	case fieldMicroseconds, fieldYear, fieldIsoYear:
		return numericType(8, 0)
	case fieldDecade, fieldCentury, fieldMillennium:
		return numericType(6, 0)
	case fieldTimezone:
		return numericType(6, 0)
	}
	return numericType(3, 0)
}

func buildExtract(id catalog.TypeID) builder {
	general := decRow(func(r *row) (decimal.Decimal, error) { return extractRow(r, id) })
	return func(c *compiler, call *Call) (Evaluator, error) {
		field, ok := call.Args[0].(*Const)
		if ok && !field.Value.Null && (id == catalog.Date || id == catalog.Timestamp) {
			switch f := lowerField(field.Value.S); f {
			case fieldYear, fieldMonth, fieldDay, fieldQuarter:
				arg, err := c.compile(call.Args[1])
				return &calendarEval{arg: arg, field: f, timestamps: id == catalog.Timestamp}, err
			}
		}
		return general(c, call)
	}
}

// calendarEval extracts year, quarter, month or day.
type calendarEval struct {
	arg        Evaluator
	field      dateField
	timestamps bool
	buf        vector.Vector
	out        vector.Vector
}

func (e *calendarEval) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	v, err := e.arg.Eval(b, sel)
	if err != nil {
		return nil, err
	}
	v = flat(v, &e.buf, b.N)
	n := b.N
	if v.Form == vector.Const {
		n, sel = 1, nil
	}
	e.out.Reset(vector.I64, n)
	if !setValid(&e.out, n, v) {
		return setNull(&e.out, vector.I64), nil
	}
	out := vector.Of[int64](&e.out)
	last, value := noDay, int64(0)
	for k := range count(n, sel) {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		if e.out.Valid != nil && !e.out.Valid.Get(i) {
			continue
		}
		days, ok := e.day(v, i)
		if !ok && e.field == fieldYear {
			return nil, errInfiniteField
		}
		if !ok {
			e.out.SetNull(i, n)
			continue
		}
		if days != last {
			last, value = days, e.part(days)
		}
		out[i] = value
	}
	e.out.Form = v.Form
	return &e.out, nil
}

const noDay = math.MinInt // equals no day number

func (e *calendarEval) day(v *vector.Vector, i int) (days int, ok bool) {
	if !e.timestamps {
		d := vector.Of[int32](v)[i]
		return int(d), d != dateInfinity && d != dateNegInfinity
	}
	ts := vector.Of[int64](v)[i]
	days, _ = splitTimestamp(ts)
	return days, ts != tsInfinity && ts != tsNegInfinity
}

func (e *calendarEval) part(days int) int64 {
	y, m, d := daysToCivil(days)
	switch e.field {
	case fieldYear:
		return signedYear(y)
	case fieldQuarter:
		return int64((m-1)/3 + 1)
	case fieldMonth:
		return int64(m)
	}
	return int64(d)
}

// signedYear counts BC years down from -1: there is no year 0.
func signedYear(y int) int64 {
	if y <= 0 {
		y--
	}
	return int64(y)
}

// errInfiniteField is weft's own: the fixed-width forms have no infinity.
var errInfiniteField = sqlerr.New(sqlerr.FeatureNotSupported, "cannot extract this field from an infinite date or timestamp")

func errExtractField(name string, id catalog.TypeID) error {
	name = strings.ToLower(name)
	if datetimeField(name) != fieldNone {
		return sqlerr.New(sqlerr.FeatureNotSupported, "unit \"%s\" not supported for type %s", name, catalog.Type{ID: id})
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "unit \"%s\" not recognized for type %s", name, catalog.Type{ID: id})
}

// extractRow computes any field of argument 1.
func extractRow(r *row, id catalog.TypeID) (decimal.Decimal, error) {
	name := r.str(0)
	f := lowerField(name)
	switch id {
	case catalog.Interval:
		return extractInterval(f, name, r.interval(1))
	case catalog.Date:
		d := r.int(1)
		if f >= fieldMicroseconds && f <= fieldHour || f >= fieldTimezone {
			return decimal.Decimal{}, errExtractField(name, id)
		}
		if d == dateInfinity || d == dateNegInfinity {
			return extractInfinite(r, f, name, d > 0, id)
		}
		if f == fieldEpoch {
			return decimal.FromInt64(d * 86400), nil
		}
		if f == fieldJulian {
			return decimal.FromInt64(d + unixEpochJulian), nil
		}
		return extractTimestamp(f, name, d*microsPerDay, id)
	}
	ts := r.int(1)
	if ts == tsInfinity || ts == tsNegInfinity {
		return extractInfinite(r, f, name, ts > 0, id)
	}
	if id == catalog.TimestampTZ {
		offset := int64(zoneOffset(ts, r.env.zone()))
		switch f {
		case fieldEpoch:
			return decimal.FromScaledInt64(ts, 6), nil
		case fieldTimezone:
			return decimal.FromInt64(offset), nil
		case fieldTimezoneHour:
			return decimal.FromInt64(offset / 3600), nil
		case fieldTimezoneMinute:
			return decimal.FromInt64(offset / 60 % 60), nil
		}
		ts += offset * microsPerSecond
	}
	return extractTimestamp(f, name, ts, id)
}

// datePart is extractRow for date_part, which takes a date as a timestamp.
func datePart(r *row, id catalog.TypeID) (decimal.Decimal, error) {
	if id != catalog.Date {
		return extractRow(r, id)
	}
	ts, err := dateToTimestamp(int32(r.int(1)), false, nil)
	if err != nil {
		return decimal.Decimal{}, err
	}
	f := lowerField(r.str(0))
	if ts == tsInfinity || ts == tsNegInfinity {
		return extractInfinite(r, f, r.str(0), ts > 0, catalog.Timestamp)
	}
	return extractTimestamp(f, r.str(0), ts, catalog.Timestamp)
}

// extractInfinite gives infinity for the fields that grow with time and NULL for the others.
func extractInfinite(r *row, f dateField, name string, positive bool, id catalog.TypeID) (decimal.Decimal, error) {
	switch f {
	case fieldNone:
		return decimal.Decimal{}, errExtractField(name, id)
	case fieldYear, fieldDecade, fieldCentury, fieldMillennium, fieldIsoYear, fieldJulian, fieldEpoch:
		if r.call.Typ.ID == catalog.Numeric && r.call.Typ.Prec > 0 {
			return decimal.Decimal{}, errInfiniteField
		}
		if positive {
			return decimal.Inf, nil
		}
		return decimal.NegInf, nil
	}
	r.null = true
	return decimal.Decimal{}, nil
}

// extractTimestamp computes a field of a finite timestamp; a pure dispatch table.
func extractTimestamp(f dateField, name string, ts int64, id catalog.TypeID) (decimal.Decimal, error) {
	days, micros := splitTimestamp(ts)
	y, m, d := daysToCivil(days)
	var n int64
	switch f {
	case fieldMicroseconds:
		n = micros % microsPerMinute
	case fieldMilliseconds:
		return decimal.FromScaledInt64(micros%microsPerMinute, 3), nil
	case fieldSecond:
		return decimal.FromScaledInt64(micros%microsPerMinute, 6), nil
	case fieldMinute:
		n = micros / microsPerMinute % 60
	case fieldHour:
		n = micros / microsPerHour
	case fieldDay:
		n = int64(d)
	case fieldWeek:
		_, week := isoWeek(days)
		n = int64(week)
	case fieldMonth:
		n = int64(m)
	case fieldQuarter:
		n = int64((m-1)/3 + 1)
	case fieldYear:
		n = signedYear(y)
	case fieldDecade:
		n = int64(floorDiv(y, 10))
	case fieldCentury:
		n = centuryOf(y, 100)
	case fieldMillennium:
		n = centuryOf(y, 1000)
	case fieldDow:
		n = int64(weekday(days))
	case fieldIsoDow:
		n = int64((weekday(days)+6)%7 + 1)
	case fieldDoy:
		n = int64(days - civilToDays(y, 1, 1) + 1)
	case fieldIsoYear:
		year, _ := isoWeek(days)
		n = signedYear(year)
	case fieldJulian:
		q, err := decimal.FromInt64(micros).Quo(decimal.FromInt64(microsPerDay))
		return decimal.FromInt64(int64(days) + unixEpochJulian).Add(q), err
	case fieldEpoch:
		return decimal.FromScaledInt64(ts, 6), nil
	default:
		return decimal.Decimal{}, errExtractField(name, id)
	}
	return decimal.FromInt64(n), nil
}

// centuryOf counts periods of years from 1; there is no period 0.
func centuryOf(y, length int) int64 {
	if y > 0 {
		return int64((y + length - 1) / length)
	}
	return -int64((length - 1 - (y - 1)) / length)
}

// extractInterval computes a field of an interval.
func extractInterval(f dateField, name string, iv vector.Interval) (decimal.Decimal, error) {
	var n int64
	months := int64(iv.Months)
	switch f {
	case fieldMicroseconds:
		n = iv.Micros % microsPerMinute
	case fieldMilliseconds:
		return decimal.FromScaledInt64(iv.Micros%microsPerMinute, 3), nil
	case fieldSecond:
		return decimal.FromScaledInt64(iv.Micros%microsPerMinute, 6), nil
	case fieldMinute:
		n = iv.Micros / microsPerMinute % 60
	case fieldHour:
		n = iv.Micros / microsPerHour
	case fieldDay:
		n = int64(iv.Days)
	case fieldMonth:
		n = months % 12
	case fieldQuarter:
		n = months%12/3 + 1
	case fieldYear:
		n = months / 12
	case fieldDecade:
		n = months / 120
	case fieldCentury:
		n = months / 1200
	case fieldMillennium:
		n = months / 12000
	case fieldEpoch:
		// A year has 365.25 days, a month 30.
		secs := months/12*31557600 + months%12*30*86400 + int64(iv.Days)*86400
		return decimal.FromInt64(secs).Add(decimal.FromScaledInt64(iv.Micros, 6)), nil
	default:
		return decimal.Decimal{}, errExtractField(name, catalog.Interval)
	}
	return decimal.FromInt64(n), nil
}
