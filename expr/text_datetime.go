package expr

import (
	"errors"
	"strings"
	"time"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
)

// errNeedsSession is returned when a literal's value depends on the session (its clock or time
// zone) and none was given.
var errNeedsSession = errors.New("expr: value depends on the session")

// moment is the result of reading a date or time string.
type moment struct {
	days     int   // since 1970
	micros   int64 // of the day; may be a whole day (24:00)
	infinity int   // -1, 0, 1
	hasDate  bool
	hasTime  bool
	hasZone  bool
	offset   int // seconds east of UTC
	zone     *time.Location
}

func errDatetimeSyntax(id catalog.TypeID, s string) error {
	return sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid input syntax for type %s: \"%s\"", catalog.Type{ID: id}, s)
}

func errFieldRange(s string) error {
	return sqlerr.New(sqlerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", s)
}

// parseDate reads date input.
func parseDate(s string, env *Env) (int32, error) {
	if len(s) == 10 && s[4] == '-' && s[7] == '-' {
		if y, m, d, ok := isoDigits(s); ok {
			return civilDate(y, m, d, s)
		}
	}
	t, err := parseMoment(s, catalog.Date, env)
	switch {
	case err != nil:
		return 0, err
	case t.infinity > 0:
		return dateInfinity, nil
	case t.infinity < 0:
		return dateNegInfinity, nil
	case checkDate(t.days) != nil:
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range: \"%s\"", s)
	}
	return int32(t.days), nil
}

func isoDigits(s string) (y, m, d int, ok bool) {
	digit := func(i int) int {
		c := s[i] - '0'
		ok = ok && c <= 9
		return int(c)
	}
	ok = true
	y = digit(0)*1000 + digit(1)*100 + digit(2)*10 + digit(3)
	m = digit(5)*10 + digit(6)
	d = digit(8)*10 + digit(9)
	return y, m, d, ok
}

func civilDate(y, m, d int, s string) (int32, error) {
	if y == 0 || m < 1 || m > 12 || d < 1 || d > daysInMonth(y, m) {
		return 0, errFieldRange(s)
	}
	return int32(civilToDays(y, m, d)), nil
}

// parseTimestamp reads timestamp input; a time zone in it is ignored.
func parseTimestamp(s string, env *Env) (int64, error) {
	t, err := parseMoment(s, catalog.Timestamp, env)
	if err != nil || t.infinity != 0 {
		return infiniteTimestamp(t.infinity), err
	}
	ts, err := joinTimestamp(t.days, t.micros)
	if err != nil {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range: \"%s\"", s)
	}
	return ts, nil
}

func infiniteTimestamp(sign int) int64 {
	switch {
	case sign > 0:
		return tsInfinity
	case sign < 0:
		return tsNegInfinity
	}
	return 0
}

// parseTimestampTZ reads timestamp with time zone input; without a zone in it the session's counts.
func parseTimestampTZ(s string, env *Env) (int64, error) {
	t, err := parseMoment(s, catalog.TimestampTZ, env)
	if err != nil || t.infinity != 0 {
		return infiniteTimestamp(t.infinity), err
	}
	ts, err := joinLocal(t.days, t.micros)
	if err == nil {
		switch {
		case t.zone != nil:
			ts = localToInstant(ts, t.zone)
		case t.hasZone:
			ts -= int64(t.offset) * microsPerSecond
		case env == nil:
			return 0, errNeedsSession
		default:
			ts = localToInstant(ts, env.zone())
		}
		if ts < minTimestamp || ts > maxTimestamp {
			err = errTimestampRange
		}
	}
	if err != nil {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range: \"%s\"", s)
	}
	return ts, nil
}

// momentParser collects the fields of a date or time string in any order.
type momentParser struct {
	moment
	text    string // whole input, for errors
	id      catalog.TypeID
	env     *Env
	numbers []string // numeric date fields in order
	month   int      // from a name
	bc      bool
	pm      int // 1 = AM, 2 = PM
	special bool
	dateSet bool // days is final
	yearAt  int  // 1 + index of numbers that is known to be the year
}

// parseMoment reads the input formats of date, timestamp and timestamptz.
func parseMoment(s string, id catalog.TypeID, env *Env) (moment, error) {
	p := momentParser{text: s, id: id, env: env}
	if err := p.scan(s); err != nil {
		return p.moment, err
	}
	if p.infinity != 0 {
		return p.moment, nil
	}
	if err := p.finish(); err != nil {
		return p.moment, err
	}
	return p.moment, nil
}

func (p *momentParser) syntax() error { return errDatetimeSyntax(p.id, p.text) }
func (p *momentParser) ranges() error { return errFieldRange(p.text) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlpha(c byte) bool { return c|32 >= 'a' && c|32 <= 'z' || c >= 0x80 }

func (p *momentParser) scan(s string) error {
	i := 0
	for i < len(s) {
		c := s[i]
		var err error
		start := i
		switch {
		case strings.IndexByte(blanks, c) >= 0 || c == ',':
			i++
			continue
		case isDigit(c) || c == '.' && i+1 < len(s) && isDigit(s[i+1]):
			i = p.numberEnd(s, i)
			err = p.number(s[start:i])
		case isAlpha(c):
			i = wordEnd(s, i)
			word := s[start:i]
			if (word[0] == 'T' || word[0] == 't') && len(word) == 1 && i < len(s) && isDigit(s[i]) {
				// ISO 8601: a time follows.
				start = i
				i = p.numberEnd(s, i)
				err = p.clock(s[start:i])
				break
			}
			if (word == "J" || word == "j") && i < len(s) && isDigit(s[i]) {
				start = i
				i = p.numberEnd(s, i)
				err = p.julian(s[start:i])
				break
			}
			err = p.word(word)
		case (c == '+' || c == '-') && i+1 < len(s) && isDigit(s[i+1]):
			for i++; i < len(s) && (isDigit(s[i]) || s[i] == ':'); i++ {
			}
			err = p.offsetField(s[start:i])
		case c == '-' && i+1 < len(s) && isAlpha(s[i+1]):
			i = wordEnd(s, i+1)
			if !strings.EqualFold(s[start:i], "-infinity") {
				return p.syntax()
			}
			p.infinity, p.special = -1, true
		default:
			return p.syntax()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// numberEnd finds the end of a field that starts with a digit. A date field may contain letters
// between its separators (01-Jan-2020).
func (p *momentParser) numberEnd(s string, i int) int {
	for i < len(s) {
		c := s[i]
		switch {
		case isDigit(c) || c == ':' || c == '.' || c == '/':
		case c == '-':
			// A date separator, unless a time came before: then it starts a zone.
			if p.hasTime || strings.IndexByte(s[:i], ':') >= 0 || i+1 == len(s) || !isDigit(s[i+1]) && !isAlpha(s[i+1]) {
				return i
			}
		case isAlpha(c) && i > 0 && (s[i-1] == '-' || s[i-1] == '/' || s[i-1] == '.'):
			i = wordEnd(s, i) - 1
		default:
			return i
		}
		i++
	}
	return i
}

func wordEnd(s string, i int) int {
	start := i
	for i < len(s) && (isAlpha(s[i]) || s[i] == '_' || s[i] == '/' ||
		i > start+2 && (s[i] == '-' || s[i] == '+') && strings.IndexByte(s[start:i], '/') > 0 && i+1 < len(s) && (isAlpha(s[i+1]) || isDigit(s[i+1])) ||
		isDigit(s[i]) && strings.IndexByte(s[start:i], '/') > 0) {
		i++
	}
	return i
}

// number handles a field that starts with a digit.
func (p *momentParser) number(f string) error {
	if strings.IndexByte(f, ':') >= 0 {
		return p.clock(f)
	}
	sep := strings.IndexAny(f, "-/.")
	if sep < 0 {
		return p.plainNumber(f)
	}
	parts := strings.FieldsFunc(f, func(r rune) bool { return r == '-' || r == '/' || r == '.' })
	if len(parts) == 2 && f[sep] == '.' && p.hasDateFields() && !p.hasTime {
		return p.clock(f) // HHMMSS.ffffff
	}
	if p.dateSet || len(parts) < 2 || len(parts) > 3 || len(p.numbers) > 0 {
		return p.syntax()
	}
	if len(parts) == 2 && f[sep] == '.' && len(parts[0]) == 4 && len(parts[1]) == 3 {
		return p.dayOfYear(parts[0], parts[1])
	}
	if len(parts) == 2 && p.month == 0 && !isAlpha(parts[0][0]) && !isAlpha(parts[1][0]) {
		return p.syntax()
	}
	for _, part := range parts {
		if isAlpha(part[0]) {
			m := monthByName(part)
			if m == 0 || p.month != 0 {
				return p.syntax()
			}
			p.month = m
			continue
		}
		if strings.Trim(part, "0123456789") != "" {
			return p.syntax()
		}
		p.numbers = append(p.numbers, part)
	}
	return nil
}

func (p *momentParser) hasDateFields() bool { return p.dateSet || len(p.numbers) > 0 || p.month != 0 }

// plainNumber handles a run of digits: a compact date or time, or one field of a date.
func (p *momentParser) plainNumber(f string) error {
	switch {
	case (p.dateSet || len(p.numbers) >= 2 && (p.month != 0 || len(p.numbers) >= 3)) && !p.hasTime && (len(f) == 6 || len(f) == 4):
		return p.clock(f)
	case p.dateSet:
		return p.syntax()
	case len(f) == 8 && len(p.numbers) == 0 && p.month == 0:
		p.numbers = append(p.numbers, f[:4], f[4:6], f[6:])
	case len(f) == 6 && len(p.numbers) == 0 && p.month == 0:
		p.numbers = append(p.numbers, f[:2], f[2:4], f[4:])
		p.yearAt = 1
	default:
		p.numbers = append(p.numbers, f)
	}
	return nil
}

func (p *momentParser) dayOfYear(year, day string) error {
	y, d := atoi(year), atoi(day)
	if y == 0 || d < 1 || d > 365 && !(d == 366 && isLeap(y)) {
		return p.ranges()
	}
	p.days, p.dateSet, p.hasDate = civilToDays(y, 1, 1)+d-1, true, true
	return nil
}

func (p *momentParser) julian(f string) error {
	if p.hasDateFields() || len(f) > 8 || strings.Trim(f, "0123456789") != "" {
		return p.syntax()
	}
	p.days, p.dateSet, p.hasDate = atoi(f)-unixEpochJulian, true, true
	return nil
}

// atoi converts at most 9 digits.
func atoi(s string) int {
	n := 0
	s = strings.TrimLeft(s, "0")
	for i := range len(s) {
		if i == 9 {
			return 1 << 30
		}
		n = n*10 + int(s[i]-'0')
	}
	return n
}

// clock reads HH:MM[:SS[.f]], HHMM, HHMMSS[.f] or HH after a T.
func (p *momentParser) clock(f string) error {
	if p.hasTime {
		return p.syntax()
	}
	h, m, micros, ok := splitClock(f)
	if !ok {
		return p.syntax()
	}
	if h > 24 || m > 59 || micros > 60*microsPerSecond || h == 24 && (m > 0 || micros > 0) {
		return p.ranges()
	}
	p.micros = int64(h)*microsPerHour + int64(m)*microsPerMinute + micros
	p.hasTime = true
	return nil
}

func splitClock(f string) (h, m int, micros int64, ok bool) {
	whole, frac, hasFrac := strings.Cut(f, ".")
	var parts []string
	switch {
	case strings.IndexByte(whole, ':') >= 0:
		parts = strings.Split(whole, ":")
	case len(whole) == 2:
		parts = []string{whole}
	case len(whole) == 4:
		parts = []string{whole[:2], whole[2:]}
	case len(whole) == 6:
		parts = []string{whole[:2], whole[2:4], whole[4:]}
	}
	if len(parts) == 0 || len(parts) > 3 || hasFrac && len(parts) < 2 {
		return 0, 0, 0, false
	}
	if hasFrac && len(parts) == 2 && strings.IndexByte(whole, ':') >= 0 {
		parts = append([]string{"0"}, parts...) // MM:SS.f
	}
	n := [3]int{}
	for i, part := range parts {
		if part == "" || len(part) > 2 && i > 0 || strings.Trim(part, "0123456789") != "" {
			return 0, 0, 0, false
		}
		n[i] = atoi(part)
	}
	f6, ok := fractionMicros(frac)
	return n[0], n[1], int64(n[2])*microsPerSecond + f6, ok
}

// fractionMicros reads the digits after a second's point, rounding to microseconds.
func fractionMicros(frac string) (int64, bool) {
	v, unit := int64(0), int64(100_000)
	for i := range len(frac) {
		c := int64(frac[i]) - '0'
		if c < 0 || c > 9 {
			return 0, false
		}
		if unit == 0 {
			if i == 6 && c >= 5 {
				v++
			}
			continue
		}
		v += c * unit
		unit /= 10
	}
	return v, true
}

// offsetField reads a numeric time zone. After a date alone it may be a further date field, as in
// "Jan 8 -1999"; PostgreSQL rejects most such strings and so does this.
func (p *momentParser) offsetField(f string) error {
	if !p.hasTime && !p.hasDateFields() || p.hasZone {
		return p.syntax()
	}
	seconds, ok := parseOffset(f)
	switch {
	case strings.Count(f, ":") > 2:
		return p.syntax()
	case !ok:
		return sqlerr.New("22009", "time zone displacement out of range: \"%s\"", p.text)
	}
	p.hasZone, p.offset = true, seconds
	return nil
}

// parseOffset reads ±HH, ±HHMM, ±HH:MM[:SS] as seconds. What is empty counts as zero, as in PostgreSQL.
func parseOffset(f string) (seconds int, ok bool) {
	neg, f := f[0] == '-', f[1:]
	parts := strings.Split(f, ":")
	if len(parts) == 1 && len(f) > 2 {
		parts = []string{f[:len(f)-2], f[len(f)-2:]}
	}
	seconds, ok = clockSeconds(parts, 15)
	if neg {
		seconds = -seconds
	}
	return seconds, ok
}

// clockSeconds adds up hours, minutes and seconds, of which the latter can be left out.
func clockSeconds(parts []string, maxHours int) (seconds int, ok bool) {
	if len(parts) > 3 {
		return 0, false
	}
	unit, most := 3600, maxHours
	for _, part := range parts {
		n := atoi(part)
		if strings.Trim(part, "0123456789") != "" || n > most {
			return 0, false
		}
		seconds, unit, most = seconds+n*unit, unit/60, 59
	}
	return seconds, true
}
