package expr

import (
	"strings"

	"github.com/weftdb/weft/internal/sqlerr"
)

// scanned collects what to_date and to_timestamp read.
type scanned struct {
	year, month, day, doy      int
	hasYear, hasDoy, hasJulian bool
	julian                     int
	hour, minute, second       int
	micros                     int64
	half                       bool // 12-hour clock
	pm, bc                     bool
	offset                     int
	hasOffset                  bool
	century                    int
}

func errFormatValue(value, field string) error {
	return sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid value \"%s\" for \"%s\"", value, field)
}

// parse reads text by the format; it returns the day and the microseconds in it.
func (f *dateFormat) parse(text string) (*scanned, error) {
	s := &scanned{month: 1, day: 1}
	rest := strings.TrimLeft(text, blanks)
	for i, n := range f.nodes {
		if rest == "" {
			break
		}
		if n.key == "" {
			rest = skipLiteral(rest, n.written)
			continue
		}
		if rest = strings.TrimLeft(rest, " "); rest == "" {
			break
		}
		// A number takes its full width only when another number follows at once.
		next := i+1 < len(f.nodes) && f.nodes[i+1].key != "" && !isNameKey(f.nodes[i+1].key)
		var err error
		if rest, err = s.read(rest, n, next, text); err != nil {
			return nil, err
		}
		if n.suffix != "" && len(rest) >= 2 {
			rest = rest[2:]
		}
	}
	return s, nil
}

// skipLiteral skips a separator, which may be any separator in the text, or a literal.
func skipLiteral(rest, literal string) string {
	for range len(literal) {
		if rest == "" {
			return rest
		}
		if c := literal[0]; len(literal) == 1 && !isAlpha(c) && !isDigit(c) && (isAlpha(rest[0]) || isDigit(rest[0])) {
			return rest // a separator that the text leaves out
		}
		rest = rest[1:]
	}
	return rest
}

func isNameKey(key string) bool {
	switch key {
	case "MONTH", "MON", "DAY", "DY", "AM", "PM", "A.M.", "P.M.", "BC", "AD", "B.C.", "A.D.", "TZ", "RM":
		return true
	}
	return false
}

var dateKeyWidths = map[string]int{"HH24": 2, "HH12": 2, "HH": 2, "MI": 2, "SS": 2, "MS": 3, "US": 6, "YYYY": 4, "YYY": 3, "YY": 2, "Y": 1,
	"MM": 2, "DD": 2, "DDD": 3, "J": 8, "Q": 1, "D": 1, "ID": 1, "WW": 2, "IW": 2, "W": 1, "CC": 2, "IYYY": 4, "SSSS": 5, "SSSSS": 5,
	"FF1": 1, "FF2": 2, "FF3": 3, "FF4": 4, "FF5": 5, "FF6": 6}

// read reads one element from rest.
func (s *scanned) read(rest string, n dateNode, numberFollows bool, text string) (string, error) {
	switch n.key {
	case "MONTH", "MON":
		end := wordEnd(rest, 0)
		word := rest[:end]
		if n.key == "MON" {
			word = rest[:min(3, end)]
		}
		if s.month = monthByName(word); s.month == 0 {
			return rest, errFormatValue(rest[:min(len(rest), end)], n.written)
		}
		return rest[len(word):], nil
	case "DAY", "DY":
		return rest[wordEnd(rest, 0):], nil
	case "AM", "PM", "A.M.", "P.M.":
		width := min(len(n.key), len(rest))
		s.pm, s.half = rest[0]|32 == 'p', true
		return rest[width:], nil
	case "BC", "AD", "B.C.", "A.D.":
		s.bc = rest[0]|32 == 'b'
		return rest[min(len(n.key), len(rest)):], nil
	case "TZH", "OF", "TZ":
		end := 0
		for end < len(rest) && (isDigit(rest[end]) || strings.IndexByte("+-:", rest[end]) >= 0) {
			end++
		}
		if end < 2 {
			return rest, errFormatValue(rest, n.written)
		}
		field := rest[:end]
		if isDigit(field[0]) {
			field = "+" + field
		}
		offset, ok := parseOffset(field)
		if !ok {
			return rest, errFormatValue(rest[:end], n.written)
		}
		s.offset, s.hasOffset = offset, true
		return rest[end:], nil
	}
	width, ok := dateKeyWidths[n.key]
	if !ok {
		return rest, sqlerr.New(sqlerr.FeatureNotSupported, "format \"%s\" is not supported here", n.written)
	}
	return s.readNumber(rest, n, width, numberFollows)
}

func (s *scanned) readNumber(rest string, n dateNode, width int, numberFollows bool) (string, error) {
	end, start := 0, 0
	if rest[0] == '-' || rest[0] == '+' {
		end, start = 1, 1
	}
	limit := len(rest)
	if numberFollows || n.key != "YYYY" && n.key != "J" && n.key != "US" && n.key != "MS" && !strings.HasPrefix(n.key, "SSSS") {
		limit = min(limit, width+start)
	}
	for end < limit && isDigit(rest[end]) {
		end++
	}
	if end == start {
		return rest, errFormatValue(rest[:min(len(rest), width)], n.written).(*sqlerr.Error).WithDetail("Value must be an integer.")
	}
	v := atoi(rest[start:end])
	if start == 1 && rest[0] == '-' {
		v = -v
	}
	digits := end - start
	s.set(n.key, v, digits)
	return rest[end:], nil
}

// set stores the number of an element; a pure dispatch table.
func (s *scanned) set(key string, v, digits int) {
	switch key {
	case "HH24":
		s.hour = v
	case "HH", "HH12":
		s.hour, s.half = v, true
	case "MI":
		s.minute = v
	case "SS":
		s.second = v
	case "MS", "US", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		micros := int64(v)
		for ; digits < 6; digits++ {
			micros *= 10
		}
		for ; digits > 6; digits-- {
			micros /= 10
		}
		s.micros = micros
	case "SSSS", "SSSSS":
		s.hour, s.minute, s.second = v/3600, v/60%60, v%60
	case "YYYY", "IYYY":
		s.year, s.hasYear = v, true
	case "YYY", "YY", "Y":
		s.year, s.hasYear = v, true
		if digits < 3 && v < 70 {
			s.year += 2000
		} else if digits < 3 {
			s.year += 1900
		} else if digits == 3 && v < 520 {
			s.year += 2000
		} else if digits == 3 {
			s.year += 1000
		}
	case "MM":
		s.month = v
	case "DD":
		s.day = v
	case "DDD":
		s.doy, s.hasDoy = v, true
	case "J":
		s.julian, s.hasJulian = v, true
	case "CC":
		s.century = v
	}
}

// moment puts the fields together.
func (s *scanned) moment(text string) (days int, micros int64, err error) {
	switch {
	case s.hasJulian:
		days = s.julian - unixEpochJulian
	default:
		year := s.year
		if !s.hasYear {
			year = 0
			if s.century > 0 {
				year = (s.century-1)*100 + 1
			}
		}
		if s.bc || year < 0 {
			if year < 0 {
				year = -year
			}
			year = 1 - year
		}
		if s.hasDoy {
			limit := 365
			if isLeap(year) {
				limit = 366
			}
			if s.doy < 1 || s.doy > limit {
				return 0, 0, errFieldRange(text)
			}
			days = civilToDays(year, 1, 1) + s.doy - 1
			break
		}
		if s.month < 1 || s.month > 12 || s.day < 1 || s.day > daysInMonth(year, s.month) {
			return 0, 0, errFieldRange(text)
		}
		days = civilToDays(year, s.month, s.day)
	}
	hour := s.hour
	if s.half {
		if hour < 1 || hour > 12 {
			if hour != 0 {
				return 0, 0, sqlerr.New(sqlerr.InvalidDatetimeFormat, "hour \"%d\" is invalid for the 12-hour clock", hour).
					WithHint("Use the 24-hour clock, or give an hour between 1 and 12.")
			}
		}
		hour %= 12
		if s.pm {
			hour += 12
		}
	}
	if hour > 24 || s.minute > 59 || s.second > 59 {
		return 0, 0, errFieldRange(text)
	}
	micros = int64(hour)*microsPerHour + int64(s.minute)*microsPerMinute + int64(s.second)*microsPerSecond + s.micros
	return days, micros, nil
}
