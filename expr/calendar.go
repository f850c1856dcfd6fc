package expr

import (
	"math"

	"github.com/weftdb/weft/internal/sqlerr"
)

// Dates are days, timestamps microseconds since 1970-01-01. The extreme values are the infinities.
const (
	dateInfinity    = math.MaxInt32
	dateNegInfinity = math.MinInt32
	tsInfinity      = math.MaxInt64
	tsNegInfinity   = math.MinInt64

	microsPerSecond = 1_000_000
	microsPerMinute = 60 * microsPerSecond
	microsPerHour   = 60 * microsPerMinute
	microsPerDay    = 24 * microsPerHour

	unixEpochJulian = 2440588 // Julian day number of 1970-01-01
)

// PostgreSQL's limits: dates to 5874897-12-31, timestamps to 294276-12-31, both from 4714-11-24 BC.
// Counted from 1970 instead of 2000, 64 bits of microseconds end in January 294247 already.
var (
	minDate      = civilToDays(-4713, 11, 24)
	maxDate      = civilToDays(5874897, 12, 31)
	minTimestamp = int64(civilToDays(-4713, 11, 24)) * microsPerDay
	maxTimestamp = int64(math.MaxInt64 - 1)
)

var (
	errTimestampRange = sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range")
	errDateRange      = sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range")
	errIntervalRange  = sqlerr.New(sqlerr.DatetimeFieldOverflow, "interval out of range")
)

// civilToDays converts a proleptic Gregorian date; year 0 is 1 BC.
func civilToDays(y, m, d int) int {
	if m <= 2 {
		y--
	}
	era := floorDiv(y, 400)
	yoe := y - era*400
	mp := (m + 9) % 12
	doy := (153*mp+2)/5 + d - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}

// daysToCivil is the inverse of civilToDays.
func daysToCivil(days int) (y, m, d int) {
	if uint(days+fastDays) < 2*fastDays {
		return fastCivil(uint32(days + fastDays))
	}
	days += 719468
	era := floorDiv(days, 146097)
	doe := uint(days - era*146097)
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	y = int(yoe) + era*400
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d = int(doy-(153*mp+2)/5) + 1
	m = int(mp) + 3
	if m > 12 {
		m -= 12
		y++
	}
	return y, m, d
}

// fastCivil covers the years from about 28 BC to 3968 with 32-bit arithmetic: Neri and Schneider,
// "Euclidean affine functions and their application to calendar algorithms".
const fastDays = 730_000 // on both sides of 1970

func fastCivil(n uint32) (y, m, d int) {
	const cycles = 5 // of 400 years, so that every day number is positive
	r1 := 4*(n+719468+cycles*146097-fastDays) + 3
	century := r1 / 146097
	r2 := r1%146097 | 3
	p := uint64(r2) * 2939745
	year := uint32(p>>32) + 100*century
	doy := uint32(p) / (4 * 2939745)
	n3 := 2141*doy + 197913
	m, d = int(n3>>16), int((n3&0xFFFF)/2141)+1
	y = int(year) - cycles*400
	if doy >= 306 {
		return y + 1, m - 12, d
	}
	return y, m, d
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorDiv64(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// splitTimestamp returns the day and the microseconds in it.
func splitTimestamp(ts int64) (days int, micros int64) {
	d := floorDiv64(ts, microsPerDay)
	return int(d), ts - d*microsPerDay
}

func isLeap(y int) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }

var monthDays = [13]int{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

func daysInMonth(y, m int) int {
	if m == 2 && isLeap(y) {
		return 29
	}
	return monthDays[m]
}

// joinTimestamp is the inverse of splitTimestamp, with a check of the range.
func joinTimestamp(days int, micros int64) (int64, error) {
	ts, err := joinLocal(days, micros)
	if ts < minTimestamp {
		return 0, errTimestampRange
	}
	return ts, err
}

// joinLocal is joinTimestamp for a local time that an offset is still to be taken from.
func joinLocal(days int, micros int64) (int64, error) {
	const limit = math.MaxInt64/microsPerDay - 2 // keeps the sum from overflowing
	if days > limit || days < minDate-2 {
		return 0, errTimestampRange
	}
	return int64(days)*microsPerDay + micros, nil
}

func checkDate(days int) error {
	if days < minDate || days > maxDate {
		return errDateRange
	}
	return nil
}

// weekday returns 0 for Sunday to 6.
func weekday(days int) int { return ((days+4)%7 + 7) % 7 }

// isoWeek returns the ISO 8601 year and week of a day.
func isoWeek(days int) (year, week int) {
	// The week belongs to the year of its Thursday.
	thursday := days - (weekday(days)+6)%7 + 3
	year, _, _ = daysToCivil(thursday)
	return year, (thursday-civilToDays(year, 1, 1))/7 + 1
}

// displayYear turns an astronomical year into one without a year 0, and tells BC.
func displayYear(y int) (year int, bc bool) {
	if y <= 0 {
		return 1 - y, true
	}
	return y, false
}
