package weft

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
)

// invalidValue is the error of a value that a setting does not take.
func invalidValue(name, text string) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter %q: %q", name, text)
}

// unsupportedValue is the error of a value that PostgreSQL takes, for a behaviour that is missing.
func unsupportedValue(name, text, supported string) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "parameter %q cannot be set to %q yet", displayName(name), text).
		WithHint("Supported: %s.", supported)
}

func anyText(_, text string) (string, error) { return text, nil }

// boolean reads a truth value: on, off, true, false, yes, no, cut short as far as they stay apart,
// or 1 and 0.
func boolean(name, text string) (string, error) {
	t := strings.ToLower(text)
	for _, word := range []string{"true", "yes", "on", "1", "false", "no", "off", "0"} {
		if !strings.HasPrefix(word, t) || t == "" || t == "o" {
			continue
		}
		switch word {
		case "true", "yes", "on", "1":
			return "on", nil
		}
		return "off", nil
	}
	return "", sqlerr.New(sqlerr.InvalidParameterValue, "parameter %q requires a Boolean value", name)
}

func oneOf(values ...string) checker { return oneOfHidden(nil, values...) }

// oneOfHidden also takes values that the hint does not list.
func oneOfHidden(hidden []string, values ...string) checker {
	return func(name, text string) (string, error) {
		for _, v := range append(values, hidden...) {
			if strings.EqualFold(v, text) {
				return v, nil
			}
		}
		return "", invalidValue(name, text).WithHint("Available values: %s.", strings.Join(values, ", "))
	}
}

// only refuses all values but one, the rest of which are known but not supported.
func only(value string, check checker) checker {
	return func(name, text string) (string, error) {
		given, err := check(name, text)
		if err == nil && given != value {
			err = unsupportedValue(name, given, value)
		}
		return given, err
	}
}

// unit is a suffix of a number and its size in a family's base unit.
type unit struct {
	name string
	size float64
}

// units are those of a family, the largest first, of which base is the one that plain numbers count.
type units struct {
	list []unit
	base string
}

var (
	memoryUnits    = []unit{{"TB", 1 << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}, {"B", 1}}
	timeUnits      = []unit{{"d", 86400e6}, {"h", 3600e6}, {"min", 60e6}, {"s", 1e6}, {"ms", 1e3}, {"us", 1}}
	inBytes        = &units{memoryUnits, "B"}
	inKilobytes    = &units{memoryUnits, "kB"}
	inSeconds      = &units{timeUnits, "s"}
	inMilliseconds = &units{timeUnits, "ms"}
)

func (u *units) size(name string) float64 {
	for _, unit := range u.list {
		if strings.EqualFold(unit.name, name) {
			return unit.size
		}
	}
	return 0
}

// show writes a number of base units in the largest unit that needs no fraction.
func (u *units) show(value string) string {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n <= 0 {
		return value
	}
	base := u.size(u.base)
	for _, unit := range u.list {
		if ratio := int64(unit.size / base); ratio >= 1 && n%ratio == 0 {
			return strconv.FormatInt(n/ratio, 10) + unit.name
		}
	}
	return value
}

// hint lists the units' names.
func (u *units) hint() string {
	var names []string
	for _, unit := range u.list {
		names = append(names, strconv.Quote(unit.name))
	}
	slices.Reverse(names)
	last := len(names) - 1
	return "Valid units for this parameter are " + strings.Join(names[:last], ", ") + ", and " + names[last] + "."
}

// integer reads a whole number, in units unless u is nil; fractions are rounded.
func integer(low, high int64, u *units) checker {
	return func(name, text string) (string, error) {
		number, suffix := splitNumber(text)
		n, err := parseNumber(number)
		if err != nil {
			return "", invalidValue(name, text)
		}
		shown := ""
		if u != nil {
			shown = " " + u.base
		}
		if suffix != "" {
			if u == nil {
				return "", invalidValue(name, text)
			}
			size := u.size(suffix)
			if size == 0 {
				return "", invalidValue(name, text).WithHint("%s", u.hint())
			}
			n *= size / u.size(u.base)
		}
		if n = math.RoundToEven(n); high <= math.MaxInt32 && math.Abs(n) > math.MaxInt32 || math.Abs(n) > 1<<62 {
			return "", invalidValue(name, text).WithHint("Value exceeds integer range.")
		}
		if i := int64(n); i < low || i > high {
			return "", sqlerr.New(sqlerr.InvalidParameterValue, "%d%s is outside the valid range for parameter %q (%d .. %d)", i, shown, name, low, high)
		}
		return strconv.FormatInt(int64(n), 10), nil
	}
}

// splitNumber cuts a text where its number ends.
func splitNumber(text string) (number, suffix string) {
	text = strings.TrimSpace(text)
	end := len(text)
	if !strings.HasPrefix(strings.TrimLeft(strings.ToLower(text), "+-"), "0x") {
		if i := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789.+-eE", r) }); i >= 0 {
			end = i
		}
	}
	return text[:end], strings.TrimSpace(text[end:])
}

func parseNumber(text string) (float64, error) {
	if i, err := strconv.ParseInt(text, 0, 64); err == nil {
		return float64(i), nil
	}
	return strconv.ParseFloat(text, 64)
}

// syncCommit reads synchronous_commit, whose middle levels wait for the local log as on does.
func syncCommit(name, text string) (string, error) {
	if v, err := boolean(name, text); err == nil {
		return v, nil
	}
	return oneOf("local", "remote_write", "remote_apply", "on", "off")(name, text)
}

var isolationLevel = oneOf("serializable", "repeatable read", "read committed", "read uncommitted")

func clientEncoding(name, text string) (string, error) {
	if !isUTF8(text) {
		return "", invalidValue(name, text).WithHint("Only UTF8 is supported.")
	}
	return "UTF8", nil
}

// isUTF8 reports whether a name is one of UTF-8's.
func isUTF8(encoding string) bool {
	word := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(encoding))
	return word == "utf8" || word == "unicode"
}

// extraFloatDigits reads a number of digits beyond what always round-trips; without any, floats
// would have to print rounded.
func extraFloatDigits(name, text string) (string, error) {
	v, err := integer(-15, 3, nil)(name, text)
	if err == nil && parseInt(v) < 1 {
		err = unsupportedValue(name, v, "1 to 3")
	}
	return v, err
}

func messageLevel(name, text string) (string, error) {
	v, err := oneOfHidden([]string{"info", "debug"}, "debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error")(name, text)
	if v == "debug" {
		v = "debug2"
	}
	return v, err
}

func ruleNames(name, text string) (string, error) {
	for _, rule := range splitList(text) {
		if !slices.Contains(planner.RuleNames(), rule) {
			return "", invalidValue(name, rule).WithHint("Rules: %s.", strings.Join(planner.RuleNames(), ", "))
		}
	}
	return text, nil
}

// splitList cuts a list of plain words.
func splitList(text string) []string {
	var out []string
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// nameListText checks a comma list of identifiers.
func nameListText(name, text string) (string, error) {
	if _, ok := splitNames(text); !ok {
		return "", invalidValue(name, text).WithDetail("List syntax is invalid.")
	}
	return text, nil
}

// splitNames cuts a comma list of identifiers, in double quotes or folded to lower case.
func splitNames(text string) (names []string, ok bool) {
	rest := strings.TrimSpace(text)
	if rest == "" {
		return nil, true
	}
	for {
		name := ""
		if strings.HasPrefix(rest, `"`) {
			end := 1
			for {
				n := strings.IndexByte(rest[end:], '"')
				if n < 0 {
					return nil, false
				}
				if end += n + 1; !strings.HasPrefix(rest[end:], `"`) {
					break
				}
				end++
			}
			name, rest = strings.ReplaceAll(rest[1:end-1], `""`, `"`), rest[end:]
		} else {
			n := strings.IndexAny(rest, ", \t\n\"")
			if n < 0 {
				n = len(rest)
			}
			if name, rest = strings.ToLower(rest[:n]), rest[n:]; name == "" {
				return nil, false
			}
		}
		names = append(names, name)
		rest = strings.TrimSpace(rest)
		if rest == "" {
			return names, true
		}
		if rest[0] != ',' {
			return nil, false
		}
		rest = strings.TrimSpace(rest[1:])
	}
}

// joinValues makes one text of the values that SET gives to a setting.
func (s *setting) joinValues(values []string) (string, error) {
	switch {
	case s.list == nameList:
		quoted := make([]string, len(values))
		for i, v := range values {
			quoted[i] = sql.QuoteIdent(v)
		}
		return strings.Join(quoted, ", "), nil
	case s.list == singleValue && len(values) > 1:
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "SET %s takes only one argument", s.name)
	}
	return strings.Join(values, ", "), nil
}

// timeZone reads a zone's name, a number of hours east of Greenwich, or an interval, and returns
// the name that expr.LoadZone knows it by.
func timeZone(_, text string) (string, error) {
	t := strings.TrimSpace(text)
	invalid := invalidValue(displayName(setTimeZone), text)
	if rest, ok := strings.CutPrefix(strings.ToLower(t), "interval"); ok {
		d, err := expr.ParseDatum(catalog.Type{ID: catalog.Interval}, strings.Trim(strings.TrimSpace(rest), "'"), nil)
		if err != nil {
			return "", invalid
		}
		if v := d.Interval(); v.Months != 0 || v.Days != 0 {
			return "", invalid.WithDetail("A time zone interval has neither months nor days.")
		} else {
			return offsetZone(v.Micros / 1e6), nil
		}
	}
	if hours, err := strconv.ParseFloat(t, 64); err == nil {
		if math.Abs(hours) > 168 {
			return "", invalid
		}
		return offsetZone(int64(hours * 3600)), nil
	}
	zone, err := expr.LoadZone(t)
	if err != nil {
		return "", invalid
	}
	if name := zone.String(); name != "" {
		return name, nil
	}
	return t, nil
}

// offsetZone names the zone of a number of seconds east, as POSIX does: with the sign turned round
// behind its abbreviation.
func offsetZone(east int64) string {
	here, there := "+", "-"
	if east < 0 {
		here, there, east = "-", "+", -east
	}
	text := twoDigits(east / 3600)
	if rest := east % 3600; rest != 0 {
		if text += ":" + twoDigits(rest/60); rest%60 != 0 {
			text += ":" + twoDigits(rest%60)
		}
	}
	return "<" + here + text + ">" + there + text
}

func twoDigits(n int64) string {
	if n < 10 {
		return "0" + itoa(n)
	}
	return itoa(n)
}

// dateStyle reads the words of DateStyle. Only the output ISO and the order MDY exist.
func dateStyle(_, text string) (string, error) {
	name := displayName(setDateStyle)
	style, order := "", ""
	set := func(what *string, value string) error {
		if *what != "" && *what != value {
			return invalidValue(name, text).WithDetail("Conflicting \"datestyle\" specifications.")
		}
		*what = value
		return nil
	}
	for _, word := range splitList(text) {
		w := strings.ToUpper(word)
		var err error
		switch {
		case w == "ISO", w == "SQL", w == "GERMAN":
			err = set(&style, w)
		case strings.HasPrefix(w, "POSTGRES"):
			err = set(&style, "POSTGRES")
		case w == "YMD", w == "DMY", w == "MDY":
			err = set(&order, w)
		case strings.HasPrefix(w, "EURO"):
			err = set(&order, "DMY")
		case w == "US", strings.HasPrefix(w, "NONEURO"):
			err = set(&order, "MDY")
		case w == "DEFAULT":
		default:
			err = invalidValue(name, text).WithDetail("Unrecognized key word: %q.", word)
		}
		if err != nil {
			return "", err
		}
	}
	if style != "" && style != "ISO" || order != "" && order != "MDY" {
		return "", unsupportedValue(setDateStyle, text, "ISO, MDY")
	}
	return "ISO, MDY", nil
}
