package expr

import (
	"strings"
	"time"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// dateKey is an element of a date format, by its upper-case keyword.
type dateNode struct {
	key     string // upper case; "" = literal text
	written string // as written, which decides the case of names
	fill    bool   // FM
	suffix  string // TH or th
}

// dateKeywords in the order they are tried: longer ones first.
var dateKeywords = []string{"SSSSS", "MONTH", "A.D.", "B.C.", "A.M.", "P.M.", "Y,YYY", "IYYY", "YYYY", "SSSS", "HH12", "HH24", "IDDD",
	"DAY", "DDD", "IYY", "MON", "YYY", "TZH", "TZM", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6",
	"AD", "AM", "BC", "CC", "DD", "DY", "HH", "ID", "IW", "IY", "MI", "MM", "MS", "OF", "PM", "RM", "SS", "TZ", "US", "WW", "YY",
	"D", "I", "J", "Q", "W", "Y"}

type dateFormat struct {
	source string
	nodes  []dateNode
}

// parseDateFormat reads a format such as YYYY-MM-DD HH24:MI.
func parseDateFormat(source string) *dateFormat {
	f := &dateFormat{source: source}
	s := source
	fill := false
next:
	for s != "" {
		if s[0] == '"' {
			text := s[1:]
			if end := strings.IndexByte(text, '"'); end >= 0 {
				text, s = text[:end], text[end+1:]
			} else {
				s = ""
			}
			f.nodes = append(f.nodes, dateNode{written: text})
			continue
		}
		if len(s) >= 2 && (strings.EqualFold(s[:2], "FM") || strings.EqualFold(s[:2], "FX") || strings.EqualFold(s[:2], "TM")) {
			fill = fill || strings.EqualFold(s[:2], "FM")
			s = s[2:]
			continue
		}
		for _, k := range dateKeywords {
			if len(s) < len(k) || !strings.EqualFold(s[:len(k)], k) {
				continue
			}
			n := dateNode{key: k, written: s[:len(k)], fill: fill}
			fill = false
			s = s[len(k):]
			if len(s) >= 2 && (s[:2] == "TH" || s[:2] == "th") {
				n.suffix, s = s[:2], s[2:]
			}
			f.nodes = append(f.nodes, n)
			continue next
		}
		if s[0] == '\\' && len(s) > 1 {
			s = s[1:]
		}
		f.nodes = append(f.nodes, dateNode{written: s[:1]})
		s = s[1:]
	}
	return f
}

// dateParts is a timestamp or interval taken apart.
type dateParts struct {
	year, month, day int
	days             int   // since 1970
	micros           int64 // of the day, or of the interval
	interval         bool
	zone             string // abbreviation
	offset           int
	hasZone          bool
}

func timestampParts(ts int64) dateParts {
	p := dateParts{}
	p.days, p.micros = splitTimestamp(ts)
	p.year, p.month, p.day = daysToCivil(p.days)
	return p
}

func zonedParts(ts int64, zone *time.Location) dateParts {
	t := time.UnixMicro(ts).In(zone)
	name, offset := t.Zone()
	p := timestampParts(ts + int64(offset)*microsPerSecond)
	p.zone, p.offset, p.hasZone = name, offset, true
	return p
}

func intervalParts(iv vector.Interval) dateParts {
	return dateParts{year: int(iv.Months / 12), month: int(iv.Months % 12), day: int(iv.Days), micros: iv.Micros, interval: true}
}

// append formats p.
func (f *dateFormat) append(dst []byte, p dateParts) ([]byte, error) {
	for _, n := range f.nodes {
		if n.key == "" {
			dst = append(dst, n.written...)
			continue
		}
		start := len(dst)
		var err error
		if dst, err = p.appendKey(dst, n); err != nil {
			return dst, err
		}
		if n.suffix != "" && len(dst) > start {
			last := 0
			for _, c := range dst[max(start, len(dst)-2):] {
				if isDigit(c) {
					last = last*10 + int(c-'0')
				}
			}
			dst = append(dst, ordinal(last, n.suffix == "TH")...)
		}
	}
	return dst, nil
}

// padded appends a number with leading zeros, unless FM was given.
func padded(dst []byte, v int64, width int, fill bool) []byte {
	if v < 0 {
		dst, v = append(dst, '-'), -v
	}
	if !fill {
		for limit := int64(10); width > 1; width-- {
			if v < limit {
				for ; width > 1; width-- {
					dst = append(dst, '0')
				}
				break
			}
			limit *= 10
		}
	}
	return appendInt(dst, v)
}

// named appends a name in the case its keyword was written in, padded to 9 unless FM was given.
func named(dst []byte, name string, n dateNode, width int) []byte {
	switch {
	case n.written == strings.ToUpper(n.written):
		name = strings.ToUpper(name)
	case n.written[0] >= 'A' && n.written[0] <= 'Z':
		name = strings.ToUpper(name[:1]) + name[1:]
	}
	dst = append(dst, name...)
	for i := len(name); i < width && !n.fill; i++ {
		dst = append(dst, ' ')
	}
	return dst
}

var errIntervalFormat = sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid format specification for an interval value").
	WithHint("Intervals are not tied to specific calendar dates.")

var romanMonths = []string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}

// appendKey appends one element; a pure dispatch table.
func (p *dateParts) appendKey(dst []byte, n dateNode) ([]byte, error) {
	year, bc := p.year, false
	if !p.interval {
		year, bc = displayYear(p.year)
		_ = bc
	}
	hour := p.micros / microsPerHour
	inSecond := p.micros % microsPerSecond
	if p.interval && p.calendarOnly(n.key) {
		return dst, errIntervalFormat
	}
	switch n.key {
	case "HH24":
		return padded(dst, hour, 2, n.fill), nil
	case "HH", "HH12":
		h := hour % 12
		if h == 0 {
			h = 12
		}
		return padded(dst, h, 2, n.fill), nil
	case "MI":
		return padded(dst, p.micros/microsPerMinute%60, 2, n.fill), nil
	case "SS":
		return padded(dst, p.micros/microsPerSecond%60, 2, n.fill), nil
	case "MS", "FF3":
		return padded(dst, inSecond/1000, 3, false), nil
	case "US", "FF6":
		return padded(dst, inSecond, 6, false), nil
	case "FF1":
		return padded(dst, inSecond/100000, 1, false), nil
	case "FF2":
		return padded(dst, inSecond/10000, 2, false), nil
	case "FF4":
		return padded(dst, inSecond/100, 4, false), nil
	case "FF5":
		return padded(dst, inSecond/10, 5, false), nil
	case "SSSS", "SSSSS":
		return appendInt(dst, p.micros/microsPerSecond), nil
	case "AM", "PM":
		return meridiem(dst, n, hour, "AM", "PM"), nil
	case "A.M.", "P.M.":
		return meridiem(dst, n, hour, "A.M.", "P.M."), nil
	case "Y,YYY":
		dst = appendInt(dst, int64(year/1000))
		return padded(append(dst, ','), int64(year%1000), 3, false), nil
	case "YYYY":
		return padded(dst, int64(year), 4, n.fill), nil
	case "YYY":
		return padded(dst, int64(year%1000), 3, n.fill), nil
	case "YY":
		return padded(dst, int64(year%100), 2, n.fill), nil
	case "Y":
		return appendInt(dst, int64(year%10)), nil
	case "CC":
		if p.interval {
			return padded(dst, int64(year/100), 2, n.fill), nil
		}
		return padded(dst, centuryOf(p.year, 100), 2, n.fill), nil
	case "MM":
		return padded(dst, int64(p.month), 2, n.fill), nil
	case "DD":
		return padded(dst, int64(p.day), 2, n.fill), nil
	case "Q":
		if p.month == 0 {
			return dst, nil
		}
		return appendInt(dst, int64((p.month-1)/3+1)), nil
	case "RM":
		return p.romanMonth(dst, n), nil
	}
	return p.appendCalendarKey(dst, n, bc)
}

func (p *dateParts) romanMonth(dst []byte, n dateNode) []byte {
	if p.month < 1 {
		return dst
	}
	name := romanMonths[p.month-1]
	if n.written == "rm" {
		name = strings.ToLower(name)
	}
	dst = append(dst, name...)
	for i := len(name); i < 4 && !n.fill; i++ {
		dst = append(dst, ' ')
	}
	return dst
}

func meridiem(dst []byte, n dateNode, hour int64, am, pm string) []byte {
	text := am
	if hour%24 >= 12 {
		text = pm
	}
	if n.written[0] >= 'a' {
		text = strings.ToLower(text)
	}
	return append(dst, text...)
}

// calendarOnly tells elements that need a date.
func (p *dateParts) calendarOnly(key string) bool {
	switch key {
	case "MONTH", "MON", "DAY", "DY", "D", "ID", "W", "WW", "IW", "IYYY", "IYY", "IY", "I", "IDDD", "BC", "AD", "B.C.", "A.D.", "TZ", "TZH", "TZM", "OF":
		return true
	}
	return false
}

// appendCalendarKey appends the elements that need a date; a pure dispatch table.
func (p *dateParts) appendCalendarKey(dst []byte, n dateNode, bc bool) ([]byte, error) {
	isoYear, isoWeekNumber := 0, 0
	if !p.interval {
		isoYear, isoWeekNumber = isoWeek(p.days)
	}
	doy := p.days - civilToDays(p.year, 1, 1) + 1
	switch n.key {
	case "MONTH":
		return named(dst, monthNames[p.month], n, 9), nil
	case "MON":
		return named(dst, monthNames[p.month][:3], n, 0), nil
	case "DAY":
		return named(dst, dayNames[weekday(p.days)], n, 9), nil
	case "DY":
		return named(dst, dayNames[weekday(p.days)][:3], n, 0), nil
	case "DDD":
		if p.interval {
			return padded(dst, int64(p.day+p.month*30+p.year*365), 3, n.fill), nil
		}
		return padded(dst, int64(doy), 3, n.fill), nil
	case "IDDD":
		return padded(dst, int64((isoWeekNumber-1)*7+(weekday(p.days)+6)%7+1), 3, n.fill), nil
	case "D":
		return appendInt(dst, int64(weekday(p.days)+1)), nil
	case "ID":
		return appendInt(dst, int64((weekday(p.days)+6)%7+1)), nil
	case "W":
		return appendInt(dst, int64((p.day-1)/7+1)), nil
	case "WW":
		return padded(dst, int64((doy-1)/7+1), 2, n.fill), nil
	case "IW":
		return padded(dst, int64(isoWeekNumber), 2, n.fill), nil
	case "IYYY":
		return padded(dst, int64(isoYear), 4, n.fill), nil
	case "IYY":
		return padded(dst, int64(isoYear%1000), 3, n.fill), nil
	case "IY":
		return padded(dst, int64(isoYear%100), 2, n.fill), nil
	case "I":
		return appendInt(dst, int64(isoYear%10)), nil
	case "J":
		return appendInt(dst, int64(p.days+unixEpochJulian)), nil
	case "BC", "AD":
		return era(dst, n, bc, "BC", "AD"), nil
	case "B.C.", "A.D.":
		return era(dst, n, bc, "B.C.", "A.D."), nil
	}
	return p.appendZoneKey(dst, n), nil
}

func era(dst []byte, n dateNode, isBC bool, bc, ad string) []byte {
	text := ad
	if isBC {
		text = bc
	}
	if n.written[0] >= 'a' {
		text = strings.ToLower(text)
	}
	return append(dst, text...)
}

func (p *dateParts) appendZoneKey(dst []byte, n dateNode) []byte {
	if !p.hasZone && n.key == "TZ" {
		return dst
	}
	sign, offset := byte('+'), p.offset
	if offset < 0 {
		sign, offset = '-', -offset
	}
	switch n.key {
	case "TZ":
		name := p.zone
		if n.written == "tz" {
			name = strings.ToLower(name)
		}
		return append(dst, name...)
	case "TZH":
		return append2(append(dst, sign), offset/3600)
	case "TZM":
		return append2(dst, offset/60%60)
	}
	dst = append2(append(dst, sign), offset/3600)
	if minutes := offset / 60 % 60; minutes != 0 {
		dst = append2(append(dst, ':'), minutes)
	}
	return dst
}
