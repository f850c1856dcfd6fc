package expr

import (
	"testing"
	"time"
	"unicode/utf8"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

var fuzzTypes = []catalog.Type{{ID: catalog.Bool}, {ID: catalog.Int2}, {ID: catalog.Int4}, {ID: catalog.Int8}, {ID: catalog.Float4},
	{ID: catalog.Float8}, {ID: catalog.Numeric}, {ID: catalog.Numeric, Prec: 15, Scale: 2}, {ID: catalog.Numeric, Prec: 30, Scale: 5},
	{ID: catalog.Char, Prec: 4}, {ID: catalog.Varchar, Prec: 4}, {ID: catalog.Text}, {ID: catalog.Bytea}, {ID: catalog.Date},
	{ID: catalog.Timestamp}, {ID: catalog.TimestampTZ}, {ID: catalog.Interval}, {ID: catalog.Oid}, {ID: catalog.Name}}

// FuzzParse: input of every type never panics, what it accepts prints as something it accepts
// again with the same value, and AppendParsed agrees with ParseDatum.
func FuzzParse(f *testing.F) {
	for i := range fuzzTypes {
		for _, s := range []string{"", "1", "-12.50", "1e5", "t", "2020-01-02", "2020-01-02 03:04:05.678+02", "Jan 8, 1999 BC", "1 year 2 mons -3 days 04:05:06.7",
			"P1Y2M3DT4H", "infinity", "NaN", `\x4142`, "abc ", "2020-01-02 10:00 America/New_York", "J2451187", "1.5 weeks ago", "12:30 PM 2020-05-06", "99999999999999999999", "  7  ", "0.005", "."} {
			f.Add(i, s)
		}
	}
	zone, _ := time.LoadLocation("America/New_York")
	env := &Env{Now: 1e15, TimeZone: zone}
	f.Fuzz(func(t *testing.T, i int, s string) {
		start := time.Now()
		defer func() {
			if d := time.Since(start); d > time.Second {
				t.Fatalf("%q takes %v", s, d)
			}
		}()
		typ := fuzzTypes[uint(i)%uint(len(fuzzTypes))]
		d, err := ParseDatum(typ, s, env)
		v := vector.New(typ.Kind(), 2)
		if appended := AppendParsed(v, typ, s, env); (appended == nil) != (err == nil) {
			t.Fatalf("%v %q: ParseDatum %v, AppendParsed %v", typ, s, err, appended)
		}
		if err != nil {
			return
		}
		if got := vector.DatumAt(v, 0); !sameDatum(got, d) {
			t.Fatalf("%v %q: ParseDatum %v, AppendParsed %v", typ, s, d, got)
		}
		text := FormatDatum(typ, d, env)
		back, err := ParseDatum(typ, text, env)
		if err != nil || !sameDatum(back, d) {
			t.Fatalf("%v %q prints %q, which reads as %v %v instead of %v", typ, s, text, back, err, d)
		}
	})
}

func sameDatum(a, b vector.Datum) bool {
	if a.F != a.F && b.F != b.F {
		a.F, b.F = 0, 0
	}
	return a == b
}

// FuzzLike compares the pattern matcher with the plain algorithm.
func FuzzLike(f *testing.F) {
	for _, c := range [][2]string{{"abc", "a%"}, {"abc", "%b_"}, {"a%c", `a\%c`}, {"", "%"}, {"aXbXc", "a%X%c"}, {"é", "_"}, {"abab", "%ab%ab"}} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, s, pattern string) {
		if !utf8.ValidString(s) || !utf8.ValidString(pattern) || len(s) > 20 || len(pattern) > 10 {
			return
		}
		p := compileLike(pattern, false)
		if p.incomplete != nil {
			return
		}
		want, err := matchIncomplete([]byte(s), []byte(pattern))
		if got := p.match([]byte(s)); err == nil && got != want {
			t.Fatalf("%q like %q = %v", s, pattern, got)
		}
	})
}

// FuzzFormats: no format makes to_char, to_date or to_number panic.
func FuzzFormats(f *testing.F) {
	for _, s := range []string{"YYYY-MM-DD HH24:MI:SS.US", "FMDay, DDth Month", "999G990D99S", "FM0.99PR", "RN", "9.99EEEE", "99V9", "IYYY-IW-ID", "J", "HH12 AM TZ OF"} {
		f.Add(s, "2020-05-06 07:08:09", int64(1588748889123456))
	}
	f.Fuzz(func(t *testing.T, format, text string, n int64) {
		if len(format) > 50 || len(text) > 50 {
			return
		}
		df := parseDateFormat(format)
		ts := n % maxTimestamp
		if ts > minTimestamp {
			df.append(nil, timestampParts(ts))
			df.append(nil, intervalParts(vector.Interval{Months: int32(n % 1000), Days: int32(n), Micros: n}))
		}
		if s, err := df.parse(text); err == nil {
			s.moment(text)
		}
		if nf, err := parseNumFormat(format); err == nil {
			d, _ := parseNumeric("123.45")
			nf.appendDecimal(nil, d)
			nf.appendDecimal(nil, d.Neg())
			nf.appendFloat(nil, float64(n)/1000)
			nf.parseFormatted(text)
		}
	})
}
