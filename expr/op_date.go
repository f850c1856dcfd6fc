package expr

import (
	"math"

	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// dateOperators are + - * / on dates, timestamps and intervals.
func dateOperators() []*Function {
	addDays := intRow(func(r *row) (int64, error) { return shiftDate(r.int(0), r.int(1)) })
	list := []*Function{
		op("+", "date int4", "date", addDays),
		op("+", "int4 date", "date", intRow(func(r *row) (int64, error) { return shiftDate(r.int(1), r.int(0)) })),
		op("-", "date int4", "date", intRow(func(r *row) (int64, error) { return shiftDate(r.int(0), -r.int(1)) })),
		op("-", "date date", "int4", intRow(dateDifference)),
		op("+", "date interval", "timestamp", shiftRow(dateTimestamp, 0, 1, false)),
		op("-", "date interval", "timestamp", shiftRow(dateTimestamp, 0, 1, true)),
		op("+", "interval date", "timestamp", shiftRow(dateTimestamp, 1, 0, false)),
		op("+", "timestamp interval", "timestamp", shiftRow(asTimestamp, 0, 1, false)),
		op("-", "timestamp interval", "timestamp", shiftRow(asTimestamp, 0, 1, true)),
		op("+", "interval timestamp", "timestamp", shiftRow(asTimestamp, 1, 0, false)),
		op("+", "timestamptz interval", "timestamptz", shiftZoned(0, 1, false), stable),
		op("-", "timestamptz interval", "timestamptz", shiftZoned(0, 1, true), stable),
		op("+", "interval timestamptz", "timestamptz", shiftZoned(1, 0, false), stable),
		op("-", "timestamp timestamp", "interval", intervalRow(timestampDifference)),
		op("-", "timestamptz timestamptz", "interval", intervalRow(timestampDifference)),
		op("+", "interval interval", "interval", intervalRow(func(r *row) (vector.Interval, error) {
			return addIntervals(r.interval(0), r.interval(1))
		})),
		op("-", "interval interval", "interval", intervalRow(func(r *row) (vector.Interval, error) {
			return subIntervals(r.interval(0), r.interval(1))
		})),
		op("-", "interval", "interval", intervalRow(func(r *row) (vector.Interval, error) {
			return subIntervals(vector.Interval{}, r.interval(0))
		})),
		op("*", "interval float8", "interval", intervalRow(func(r *row) (vector.Interval, error) {
			return scaleInterval(r.interval(0), r.float(1))
		})),
		op("*", "float8 interval", "interval", intervalRow(func(r *row) (vector.Interval, error) {
			return scaleInterval(r.interval(1), r.float(0))
		})),
		op("/", "interval float8", "interval", intervalRow(func(r *row) (vector.Interval, error) {
			return divideInterval(r.interval(0), r.float(1))
		})),
	}
	return list
}

// shiftDate adds days to a date.
func shiftDate(date, days int64) (int64, error) {
	if date == dateInfinity || date == dateNegInfinity {
		return date, nil
	}
	if err := checkDate(int(date + days)); err != nil {
		return 0, err
	}
	return date + days, nil
}

func dateDifference(r *row) (int64, error) {
	a, b := r.int(0), r.int(1)
	for _, d := range [2]int64{a, b} {
		if d == dateInfinity || d == dateNegInfinity {
			return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "cannot subtract infinite dates")
		}
	}
	return a - b, nil
}

func asTimestamp(i int64) (int64, error) { return i, nil }

func dateTimestamp(i int64) (int64, error) { return dateToTimestamp(int32(i), false, nil) }

// shiftRow adds or subtracts an interval.
func shiftRow(read func(int64) (int64, error), tsArg, ivArg int, negate bool) builder {
	return intRow(func(r *row) (int64, error) {
		ts, err := read(r.int(tsArg))
		if err != nil {
			return 0, err
		}
		iv := r.interval(ivArg)
		if negate {
			if iv, err = subIntervals(vector.Interval{}, iv); err != nil {
				return 0, err
			}
		}
		return addInterval(ts, iv)
	})
}

// shiftZoned is shiftRow in the session's time zone: days and months are local ones.
func shiftZoned(tsArg, ivArg int, negate bool) builder {
	return intRow(func(r *row) (int64, error) {
		ts, iv := r.int(tsArg), r.interval(ivArg)
		if negate {
			var err error
			if iv, err = subIntervals(vector.Interval{}, iv); err != nil {
				return 0, err
			}
		}
		return addZoned(ts, iv, r.env)
	})
}

func addZoned(ts int64, iv vector.Interval, env *Env) (int64, error) {
	if ts == tsInfinity || ts == tsNegInfinity {
		return ts, nil
	}
	if iv.Months != 0 || iv.Days != 0 {
		local, err := addInterval(toLocal(ts, env), vector.Interval{Months: iv.Months, Days: iv.Days})
		if err != nil {
			return 0, err
		}
		ts = localToInstant(local, env.zone())
	}
	return addInterval(ts, vector.Interval{Micros: iv.Micros})
}

// addInterval adds months (staying within the month), then days, then time.
func addInterval(ts int64, iv vector.Interval) (int64, error) {
	if ts == tsInfinity || ts == tsNegInfinity {
		return ts, nil
	}
	days, micros := splitTimestamp(ts)
	if iv.Months != 0 {
		y, m, d := daysToCivil(days)
		total := int64(y)*12 + int64(m-1) + int64(iv.Months)
		year := floorDiv64(total, 12)
		if year > 300000 || year < -5000 {
			return 0, errTimestampRange
		}
		y, m = int(year), int(total-year*12)+1
		days = civilToDays(y, m, min(d, daysInMonth(y, m)))
	}
	ts, err := joinTimestamp(days+int(iv.Days), micros)
	if err != nil {
		return 0, err
	}
	sum := ts + iv.Micros
	if (ts^sum)&(iv.Micros^sum) < 0 || sum < minTimestamp || sum > maxTimestamp {
		return 0, errTimestampRange
	}
	return sum, nil
}

func timestampDifference(r *row) (vector.Interval, error) {
	a, b := r.int(0), r.int(1)
	for _, ts := range [2]int64{a, b} {
		if ts == tsInfinity || ts == tsNegInfinity {
			return vector.Interval{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "cannot subtract infinite timestamps")
		}
	}
	return justifyHours(vector.Interval{Micros: a - b})
}

func addIntervals(a, b vector.Interval) (vector.Interval, error) {
	months, days := int64(a.Months)+int64(b.Months), int64(a.Days)+int64(b.Days)
	micros := a.Micros + b.Micros
	if (a.Micros^micros)&(b.Micros^micros) < 0 {
		return a, errIntervalRange
	}
	return makeInterval(months, days, micros)
}

func subIntervals(a, b vector.Interval) (vector.Interval, error) {
	months, days := int64(a.Months)-int64(b.Months), int64(a.Days)-int64(b.Days)
	micros := a.Micros - b.Micros
	if (a.Micros^b.Micros)&(a.Micros^micros) < 0 {
		return a, errIntervalRange
	}
	return makeInterval(months, days, micros)
}

func makeInterval(months, days, micros int64) (vector.Interval, error) {
	iv := vector.Interval{Months: int32(months), Days: int32(days), Micros: micros}
	if int64(iv.Months) != months || int64(iv.Days) != days {
		return iv, errIntervalRange
	}
	return iv, nil
}

// scaleInterval multiplies, cascading fractions of months into days and of days into time, as
// PostgreSQL's interval_mul.
func scaleInterval(iv vector.Interval, factor float64) (vector.Interval, error) {
	return spreadInterval(iv, float64(iv.Months)*factor, float64(iv.Days)*factor, float64(iv.Micros)*factor,
		func(x float64) float64 { return x * factor })
}

func divideInterval(iv vector.Interval, divisor float64) (vector.Interval, error) {
	if divisor == 0 {
		return iv, decimal.ErrDivisionByZero
	}
	return spreadInterval(iv, float64(iv.Months)/divisor, float64(iv.Days)/divisor, float64(iv.Micros)/divisor,
		func(x float64) float64 { return x / divisor })
}

// roundSixth rounds to microseconds, as PostgreSQL's TSROUND.
func roundSixth(x float64) float64 { return math.RoundToEven(x*1e6) / 1e6 }

func spreadInterval(iv vector.Interval, months, days, micros float64, apply func(float64) float64) (vector.Interval, error) {
	if months != months || math.Abs(months) > math.MaxInt32 || days != days || math.Abs(days) > math.MaxInt32 {
		return iv, errIntervalRange
	}
	out := vector.Interval{Months: int32(months), Days: int32(days)}
	monthRemainder := roundSixth((months - float64(out.Months)) * 30)
	secRemainder := roundSixth((days - float64(out.Days) + monthRemainder - math.Trunc(monthRemainder)) * 86400)
	if math.Abs(secRemainder) >= 86400 {
		out.Days += int32(secRemainder / 86400)
		secRemainder -= float64(int(secRemainder/86400)) * 86400
	}
	out.Days += int32(monthRemainder)
	total := math.RoundToEven(micros + secRemainder*microsPerSecond)
	if total != total || math.Abs(total) >= math.MaxInt64 {
		return iv, errIntervalRange
	}
	out.Micros = int64(total)
	return out, nil
}

// justifyHours turns every 24 hours into a day.
func justifyHours(iv vector.Interval) (vector.Interval, error) {
	days := int64(iv.Days) + iv.Micros/microsPerDay
	micros := iv.Micros % microsPerDay
	if days > 0 && micros < 0 {
		micros += microsPerDay
		days--
	} else if days < 0 && micros > 0 {
		micros -= microsPerDay
		days++
	}
	return makeInterval(int64(iv.Months), days, micros)
}

// justifyDays turns every 30 days into a month.
func justifyDays(iv vector.Interval) (vector.Interval, error) {
	months := int64(iv.Months) + int64(iv.Days/30)
	days := int64(iv.Days % 30)
	if months > 0 && days < 0 {
		days += 30
		months--
	} else if months < 0 && days > 0 {
		days -= 30
		months++
	}
	return makeInterval(months, days, iv.Micros)
}

// justifyInterval does both and gives all parts one sign.
func justifyInterval(iv vector.Interval) (vector.Interval, error) {
	months, days, micros := int64(iv.Months), int64(iv.Days), iv.Micros
	days += micros / microsPerDay
	micros %= microsPerDay
	months += days / 30
	days %= 30
	if months > 0 && (days < 0 || days == 0 && micros < 0) {
		days += 30
		months--
	} else if months < 0 && (days > 0 || days == 0 && micros > 0) {
		days -= 30
		months++
	}
	if days > 0 && micros < 0 {
		micros += microsPerDay
		days--
	} else if days < 0 && micros > 0 {
		micros -= microsPerDay
		days++
	}
	return makeInterval(months, days, micros)
}
