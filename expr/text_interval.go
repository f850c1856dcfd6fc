package expr

import (
	"math"
	"strconv"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// intervalUnit gives what one unit is in the three parts of an interval.
type intervalUnit struct {
	months, days int
	micros       int64
}

var intervalUnits = func() map[string]intervalUnit {
	m := map[string]intervalUnit{}
	add := func(u intervalUnit, names string) {
		for _, n := range strings.Fields(names) {
			m[n] = u
		}
	}
	add(intervalUnit{micros: 1}, "us usec usecs usecond useconds microsecond microseconds microsecon")
	add(intervalUnit{micros: 1000}, "ms msec msecs msecond mseconds millisecond milliseconds millisecon")
	add(intervalUnit{micros: microsPerSecond}, "s sec secs second seconds")
	add(intervalUnit{micros: microsPerMinute}, "m min mins minute minutes")
	add(intervalUnit{micros: microsPerHour}, "h hr hrs hour hours")
	add(intervalUnit{days: 1}, "d day days")
	add(intervalUnit{days: 7}, "w week weeks")
	add(intervalUnit{months: 1}, "mon mons month months")
	add(intervalUnit{months: 3}, "qtr quarter quarters")
	add(intervalUnit{months: 12}, "y yr yrs year years")
	add(intervalUnit{months: 120}, "dec decs decade decades")
	add(intervalUnit{months: 1200}, "c cent century centuries")
	add(intervalUnit{months: 12000}, "mil mils millennia millennium")
	return m
}()

// intervalSum adds up the fields of an interval in wide parts.
type intervalSum struct {
	months, days int64
	micros       int64
	over         bool
	seen         map[intervalUnit]bool
	twice        bool // a unit occurs again
}

// once notes a unit.
func (s *intervalSum) once(u intervalUnit) {
	if s.seen == nil {
		s.seen = make(map[intervalUnit]bool, 4)
	}
	s.twice = s.twice || s.seen[u]
	s.seen[u] = true
}

// add counts whole.frac units.
func (s *intervalSum) add(u intervalUnit, whole int64, frac float64) {
	switch {
	case u.months > 0:
		s.months = s.mulAdd(s.months, whole, int64(u.months))
		if u.months == 1 {
			s.addDays(frac * 30)
		} else {
			s.months += int64(math.RoundToEven(frac * float64(u.months)))
		}
	case u.days > 0:
		s.days = s.mulAdd(s.days, whole, int64(u.days))
		s.addDays(frac * float64(u.days))
	default:
		s.micros = s.mulAdd(s.micros, whole, u.micros)
		s.micros += int64(math.RoundToEven(frac * float64(u.micros)))
	}
}

// addDays adds a fraction of days: whole days, the rest as time.
func (s *intervalSum) addDays(frac float64) {
	whole := math.Trunc(frac)
	s.days += int64(whole)
	s.micros += int64(math.RoundToEven((frac - whole) * microsPerDay))
}

func (s *intervalSum) mulAdd(sum, a, b int64) int64 {
	p := a * b
	if a != 0 && (p/a != b || a == math.MinInt64) {
		s.over = true
	}
	r := sum + p
	if (sum^r)&(p^r) < 0 {
		s.over = true
	}
	return r
}

func (s *intervalSum) interval() (vector.Interval, bool) {
	iv := vector.Interval{Months: int32(s.months), Days: int32(s.days), Micros: s.micros}
	return iv, !s.over && int64(iv.Months) == s.months && int64(iv.Days) == s.days
}

// parseInterval reads interval input: PostgreSQL's "1 year 2 days 03:04:05 ago", SQL's "1-2" and
// ISO 8601's "P1Y2M3DT4H".
func parseInterval(s string) (vector.Interval, error) {
	t := strings.Trim(s, blanks)
	var sum intervalSum
	ok := false
	if t != "" && (t[0] == 'P' || t[0] == 'p') {
		ok = sum.parseISO(t[1:])
	} else {
		ok = sum.parseVerbose(t)
	}
	if !ok {
		return vector.Interval{}, errDatetimeSyntax(catalog.Interval, s)
	}
	iv, ok := sum.interval()
	if !ok {
		return iv, sqlerr.New(sqlerr.IntervalFieldOverflow, "interval field value out of range: \"%s\"", s)
	}
	return iv, nil
}

// parseVerbose reads fields "number unit", clocks, and "ago".
func (s *intervalSum) parseVerbose(t string) bool {
	fields := strings.Fields(strings.TrimPrefix(t, "@"))
	ago := false
	if n := len(fields); n > 1 && strings.EqualFold(fields[n-1], "ago") {
		ago, fields = true, fields[:n-1]
	}
	if len(fields) == 0 {
		return false
	}
	for i := 0; i < len(fields); i++ {
		f := fields[i]
		if strings.IndexByte(f, ':') >= 0 {
			if !s.addClock(f) {
				return false
			}
			for _, unit := range []int64{microsPerHour, microsPerMinute, microsPerSecond} {
				s.once(intervalUnit{micros: unit})
			}
			continue
		}
		digits := strings.IndexFunc(f, func(r rune) bool { return r >= 'A' && r != '_' })
		unit := ""
		if digits > 0 { // 3days
			f, unit = f[:digits], f[digits:]
		} else if digits == 0 {
			return false
		}
		if dash := strings.LastIndexByte(f, '-'); dash > 0 && unit == "" {
			if !s.addYearMonth(f, dash) {
				return false
			}
			continue
		}
		whole, frac, ok := splitNumber(f)
		if !ok {
			return false
		}
		if unit == "" && i+1 < len(fields) && strings.IndexByte(fields[i+1], ':') >= 0 {
			unit = "day" // "3 04:05:06"
		} else if unit == "" && i+1 < len(fields) {
			i++
			unit = fields[i]
		} else if unit == "" {
			unit = "second"
		}
		u, ok := intervalUnits[strings.ToLower(unit)]
		if !ok {
			return false
		}
		s.once(u)
		s.add(u, whole, frac)
	}
	if s.twice {
		return false
	}
	if ago {
		s.months, s.days, s.micros = -s.months, -s.days, -s.micros
	}
	return true
}

// splitNumber reads a decimal number as whole part and fraction, both with its sign.
func splitNumber(f string) (whole int64, frac float64, ok bool) {
	neg := strings.HasPrefix(f, "-")
	f = strings.TrimLeft(f, "+-")
	w, fr, hasPoint := strings.Cut(f, ".")
	if w == "" && fr == "" || strings.Trim(w+fr, "0123456789") != "" {
		return 0, 0, false
	}
	if w != "" {
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			n = math.MaxInt64 // out of range in every unit but the smallest
		}
		whole = n
	}
	if hasPoint && fr != "" {
		frac, _ = strconv.ParseFloat("0."+fr, 64)
	}
	if neg {
		return -whole, -frac, true
	}
	return whole, frac, true
}

func (s *intervalSum) addYearMonth(f string, dash int) bool {
	neg := f[0] == '-'
	y, yf, ok1 := splitNumber(f[:dash])
	m, mf, ok2 := splitNumber(f[dash+1:])
	if !ok1 || !ok2 || yf != 0 || mf != 0 || m > 11 {
		return false
	}
	if neg {
		m = -m
	}
	s.months += y*12 + m
	return true
}

// addClock reads [±]H:MM[:SS[.f]].
func (s *intervalSum) addClock(f string) bool {
	neg := f[0] == '-'
	f = strings.TrimLeft(f, "+-")
	whole, frac, hasFrac := strings.Cut(f, ".")
	parts := strings.Split(whole, ":")
	if len(parts) > 3 || hasFrac && len(parts) == 1 {
		return false
	}
	if hasFrac && len(parts) == 2 {
		parts = append([]string{"0"}, parts...)
	}
	var n [3]int64
	for i, part := range parts {
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return false
		}
		v, err := strconv.ParseInt(part, 10, 64)
		if err != nil || i > 0 && v > 59 {
			s.over = true
		}
		n[i] = v
	}
	micros, ok := fractionMicros(frac)
	if !ok {
		return false
	}
	if n[0] > math.MaxInt64/microsPerHour-1 {
		s.over = true
	}
	total := n[0]*microsPerHour + n[1]*microsPerMinute + n[2]*microsPerSecond + micros
	if neg {
		total = -total
	}
	s.micros = s.mulAdd(s.micros, total, 1)
	return true
}

// parseISO reads what follows the P of an ISO 8601 duration with designators.
func (s *intervalSum) parseISO(t string) bool {
	inTime, any := false, false
	for t != "" {
		if t[0] == 'T' || t[0] == 't' {
			inTime, t = true, t[1:]
			continue
		}
		i := 0
		for i < len(t) && (isDigit(t[i]) || strings.IndexByte("+-.", t[i]) >= 0) {
			i++
		}
		if i == 0 || i == len(t) {
			return false
		}
		whole, frac, ok := splitNumber(t[:i])
		if !ok {
			return false
		}
		unit := isoUnit(t[i]&^32, inTime)
		if unit == "" {
			return false
		}
		s.add(intervalUnits[unit], whole, frac)
		t, any = t[i+1:], true
	}
	return any
}

func isoUnit(c byte, inTime bool) string {
	switch {
	case c == 'Y' && !inTime:
		return "year"
	case c == 'M' && !inTime:
		return "month"
	case c == 'W' && !inTime:
		return "week"
	case c == 'D' && !inTime:
		return "day"
	case c == 'H' && inTime:
		return "hour"
	case c == 'M' && inTime:
		return "minute"
	case c == 'S' && inTime:
		return "second"
	}
	return ""
}

// appendInterval appends an interval in postgres style.
func appendInterval(dst []byte, iv vector.Interval) []byte {
	start, negative := len(dst), false
	field := func(n int64, unit string) {
		if n == 0 {
			return
		}
		if len(dst) > start {
			dst = append(dst, ' ')
			if negative && n > 0 {
				dst = append(dst, '+')
			}
		}
		dst = appendInt(dst, n)
		dst = append(append(dst, ' '), unit...)
		if n != 1 {
			dst = append(dst, 's')
		}
		negative = n < 0
	}
	field(int64(iv.Months/12), "year")
	field(int64(iv.Months%12), "mon")
	field(int64(iv.Days), "day")
	if iv.Micros == 0 && len(dst) > start {
		return dst
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	u := uint64(iv.Micros)
	if iv.Micros < 0 {
		dst, u = append(dst, '-'), -u
	} else if negative {
		dst = append(dst, '+')
	}
	hours := u / microsPerHour
	if hours < 10 {
		dst = append(dst, '0')
	}
	dst = append(strconv.AppendUint(dst, hours, 10), ':')
	dst = append(append2(dst, int(u/microsPerMinute%60)), ':')
	dst = append2(dst, int(u/microsPerSecond%60))
	return appendFraction(dst, int64(u%microsPerSecond))
}
