package expr

import (
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // zones on machines that have no database of their own

	"github.com/weftdb/weft/internal/sqlerr"
)

var monthNames = [13]string{"", "january", "february", "march", "april", "may", "june", "july",
	"august", "september", "october", "november", "december"}

var dayNames = [7]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// monthByName recognises full names and their three-letter forms (and sept); 0 for others.
func monthByName(word string) int {
	w := strings.ToLower(word)
	for m := 1; m <= 12; m++ {
		if w == monthNames[m] || w == monthNames[m][:3] {
			return m
		}
	}
	if w == "sept" {
		return 9
	}
	return 0
}

func isDayName(word string) bool {
	w := strings.ToLower(word)
	for _, name := range dayNames {
		if w == name || w == name[:3] {
			return true
		}
	}
	switch w {
	case "tues", "wednes", "weds", "thur", "thurs":
		return true
	}
	return false
}

// zoneAbbreviations are the offsets, in quarter hours, of the usual abbreviations.
var zoneAbbreviations = map[string]int{
	"utc": 0, "gmt": 0, "z": 0, "zulu": 0, "ut": 0, "uct": 0, "wet": 0, "west": 4, "bst": 4, "ist": 8, "cet": 4, "cest": 8,
	"met": 4, "mest": 8, "eet": 8, "eest": 12, "msk": 12, "msd": 16, "jst": 36, "kst": 36, "aest": 40, "aedt": 44,
	"est": -20, "edt": -16, "cst": -24, "cdt": -20, "mst": -28, "mdt": -24, "pst": -32, "pdt": -28,
	"akst": -36, "akdt": -32, "hst": -40, "ast": -16, "adt": -12, "nzst": 48, "nzdt": 52, "sgt": 32, "hkt": 32,
}

// word handles a run of letters.
func (p *momentParser) word(word string) error {
	w := strings.ToLower(word)
	switch w {
	case "infinity", "inf":
		p.infinity, p.special = 1, true
		return nil
	case "bc":
		p.bc = true
		return nil
	case "ad", "at", "on":
		return nil
	case "am":
		p.pm = 1
		return nil
	case "pm":
		p.pm = 2
		return nil
	case "allballs":
		p.hasTime, p.micros = true, 0
		return nil
	case "epoch":
		p.days, p.dateSet, p.hasDate, p.special = 0, true, true, true
		p.hasZone, p.offset = true, 0
		return nil
	case "now", "today", "tomorrow", "yesterday":
		return p.relative(w)
	}
	if m := monthByName(word); m != 0 {
		if p.month != 0 {
			return p.syntax()
		}
		p.month = m
		return nil
	}
	if isDayName(word) {
		return nil
	}
	return p.zoneWord(word, w)
}

// relative handles now, today, tomorrow and yesterday.
func (p *momentParser) relative(w string) error {
	if p.env == nil {
		return errNeedsSession
	}
	now := p.env.Now
	local := now + int64(zoneOffset(now, p.env.zone()))*microsPerSecond
	p.days, p.micros = splitTimestamp(local)
	p.dateSet, p.hasDate, p.special = true, true, true
	switch w {
	case "now":
		p.hasTime = true
		p.hasZone, p.offset = true, zoneOffset(now, p.env.zone())
		return nil
	case "tomorrow":
		p.days++
	case "yesterday":
		p.days--
	}
	p.micros = 0
	return nil
}

func (p *momentParser) zoneWord(word, lower string) error {
	if quarters, ok := zoneAbbreviations[lower]; ok {
		if p.hasZone {
			return p.syntax()
		}
		p.hasZone, p.offset = true, quarters*900
		return nil
	}
	if strings.IndexByte(word, '/') < 0 {
		return p.syntax()
	}
	zone, err := LoadZone(word)
	if err != nil {
		return sqlerr.New(sqlerr.InvalidParameterValue, "time zone \"%s\" not recognized", lower)
	}
	p.hasZone, p.zone = true, zone
	return nil
}

// finish puts the collected fields together.
func (p *momentParser) finish() error {
	if !p.dateSet {
		if err := p.finishDate(); err != nil {
			return err
		}
	} else if len(p.numbers) > 0 || p.month != 0 {
		return p.syntax()
	}
	if p.pm != 0 {
		h := p.micros / microsPerHour
		if !p.hasTime || h > 12 {
			return p.ranges()
		}
		if p.pm == 1 && h == 12 {
			p.micros -= 12 * microsPerHour
		} else if p.pm == 2 && h != 12 {
			p.micros += 12 * microsPerHour
		}
	}
	if p.micros >= microsPerDay {
		p.days++
		p.micros -= microsPerDay
	}
	return nil
}

// finishDate decides which number is the year, month and day: a first number of three or more
// digits is the year, else the order is month, day, year (DateStyle MDY).
func (p *momentParser) finishDate() error {
	n := p.numbers
	var year, day string
	month := p.month
	switch {
	case month != 0 && len(n) == 2:
		day, year = n[0], n[1]
		if len(day) > 2 {
			day, year = year, day
		}
	case month == 0 && len(n) == 3 && (len(n[0]) > 2 || p.yearAt == 1):
		year, day, month = n[0], n[2], atoi(n[1])
	case month == 0 && len(n) == 3:
		year, day, month = n[2], n[1], atoi(n[0])
	default:
		return p.syntax()
	}
	if len(day) > 2 {
		return p.syntax()
	}
	y, d := atoi(year), atoi(day)
	if len(year) <= 2 && !p.bc {
		if y < 70 {
			y += 2000
		} else {
			y += 1900
		}
	}
	if y == 0 || y > 6000000 {
		return p.ranges()
	}
	if p.bc {
		y = 1 - y
	}
	if month < 1 || month > 12 || d < 1 || d > daysInMonth(y, month) {
		err := sqlerr.New(sqlerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", p.text)
		if month > 12 && p.month == 0 && len(n[0]) <= 2 {
			return err.WithHint("Perhaps you need a different \"datestyle\" setting.")
		}
		return err
	}
	p.days, p.hasDate = civilToDays(y, month, d), true
	return nil
}

// LoadZone finds a time zone as the TimeZone setting and AT TIME ZONE name it: a region, an
// abbreviation, UTC, or as POSIX does, where UTC-2 and -2 are east of UTC.
func LoadZone(name string) (*time.Location, error) {
	lower := strings.ToLower(strings.Trim(name, blanks))
	if quarters, ok := zoneAbbreviations[lower]; ok {
		if quarters == 0 {
			return time.UTC, nil
		}
		return time.FixedZone(strings.ToUpper(lower), quarters*900), nil
	}
	if lower == "" || lower == "local" {
		return nil, errUnknownZone(name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		// Region names are matched without regard to case.
		parts := strings.FieldsFunc(lower, func(r rune) bool { return r == '/' })
		for i, part := range parts {
			words := strings.Split(part, "_")
			for j, w := range words {
				if w != "" {
					words[j] = strings.ToUpper(w[:1]) + w[1:]
				}
			}
			parts[i] = strings.Join(words, "_")
		}
		zone, err = time.LoadLocation(strings.Join(parts, "/"))
	}
	if err != nil {
		if zone = posixZone(strings.Trim(name, blanks)); zone == nil {
			return nil, errUnknownZone(name)
		}
	}
	return zone, nil
}

// posixZone reads a zone without daylight saving as POSIX writes it: an abbreviation, in <> if it has digits or signs,
// which may be missing here, and the hours, minutes and seconds that it is west of Greenwich. nil if it is none.
func posixZone(name string) *time.Location {
	end := strings.IndexAny(name, "+-0123456789,")
	if strings.HasPrefix(name, "<") {
		end = strings.IndexByte(name, '>') + 1
	}
	if end < 0 || end == len(name) {
		return nil
	}
	offset, west := name[end:], 1
	switch offset[0] {
	case '-':
		offset, west = offset[1:], -1
	case '+':
		offset = offset[1:]
	}
	parts := strings.Split(offset, ":")
	seconds, ok := clockSeconds(parts, 7*24-1)
	if !ok || slices.Contains(parts, "") {
		return nil
	}
	return time.FixedZone(strings.ToUpper(name), -west*seconds)
}

func errUnknownZone(name string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "time zone \"%s\" not recognized", name)
}
