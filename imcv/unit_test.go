package imcv

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// newRand returns a random source whose seed is printed when the test fails.
func newRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 1))
}

// column is a random column in position order; −1 marks positions without a row.
type column struct {
	typ       catalog.Type
	positions []int
	values    []vector.Datum
}

// randomColumn draws values of a shape that leads to a given encoding, with holes and NULLs.
func randomColumn(r *rand.Rand, typ catalog.Type, shape string, rows int) column {
	c := column{typ: typ}
	at := 0
	for range rows {
		if r.IntN(10) == 0 {
			at += r.IntN(5)
		}
		c.positions = append(c.positions, at)
		at++
		if shape != "not null" && r.IntN(8) == 0 {
			c.values = append(c.values, vector.NullDatum(typ.Kind()))
			continue
		}
		c.values = append(c.values, randomValue(r, typ.Kind(), shape))
	}
	return c
}

func randomValue(r *rand.Rand, kind vector.Kind, shape string) vector.Datum {
	span := int64(1) << 62
	switch shape {
	case "one":
		span = 1
	case "small":
		span = 200
	case "medium":
		span = 30000
	case "large":
		span = 1 << 30
	}
	x := r.Int64N(span) - span/2
	switch kind {
	case vector.Bool:
		return vector.BoolDatum(x&1 == 0)
	case vector.I16:
		return vector.IntDatum(kind, int64(int16(x)))
	case vector.I32:
		return vector.IntDatum(kind, int64(int32(x)))
	case vector.I64:
		return vector.IntDatum(kind, x)
	case vector.I128:
		return vector.Int128Datum(vector.Int128{Lo: uint64(x), Hi: x >> 63})
	case vector.F32:
		return vector.FloatDatum(kind, float64(float32(x)/8))
	case vector.F64:
		return vector.FloatDatum(kind, float64(x)/8)
	case vector.KindInterval:
		return vector.IntervalDatum(vector.Interval{Months: int32(x), Micros: x})
	}
	return vector.StringDatum(fmt.Sprint("value ", x))
}

var unitTypes = []catalog.Type{{ID: catalog.Bool}, {ID: catalog.Int2}, {ID: catalog.Int4}, {ID: catalog.Int8},
	{ID: catalog.Numeric, Prec: 30}, {ID: catalog.Float4}, {ID: catalog.Float8}, {ID: catalog.Interval}, {ID: catalog.Text}}

// TestUnitRoundTrip encodes random columns and reads them back in random windows.
func TestUnitRoundTrip(t *testing.T) {
	r := newRand(t)
	seen := map[string]bool{}
	for _, typ := range unitTypes {
		for _, shape := range []string{"one", "small", "medium", "large", "huge", "not null"} {
			c := randomColumn(r, typ, shape, 1+r.IntN(5000))
			b := newUnitBuilder(typ)
			addColumn(b, c)
			present := map[int]int{}
			for i, at := range c.positions {
				present[at] = i
			}
			u := b.finish(func(i int) bool { _, ok := present[i]; return ok })
			seen[u.encoding.String()] = true
			checkWindows(t, r, u, c, present, fmt.Sprint(typ, " ", shape))
			checkZone(t, u, c, fmt.Sprint(typ, " ", shape))
		}
	}
	for _, name := range encodingNames {
		if !seen[name] {
			t.Errorf("no column was stored as %s", name)
		}
	}
}

func addColumn(b *unitBuilder, c column) {
	for from := 0; from < len(c.positions); from += 1000 {
		n := min(1000, len(c.positions)-from)
		v := vector.New(c.typ.Kind(), n)
		for _, d := range c.values[from : from+n] {
			vector.AppendDatum(v, d)
		}
		b.add(v, c.positions[from:from+n])
	}
}

func checkWindows(t *testing.T, r *rand.Rand, u *unit, c column, present map[int]int, what string) {
	t.Helper()
	limit := c.positions[len(c.positions)-1] + 1
	v := &vector.Vector{}
	for range 50 {
		from := r.IntN(limit)
		if r.IntN(2) == 0 {
			from &^= 63
		}
		n := 1 + r.IntN(min(1024, limit-from))
		u.read(v, from, n)
		for i := range n {
			row, ok := present[from+i]
			if !ok {
				continue
			}
			if got := vector.DatumAt(v, i); got.Null != c.values[row].Null || !got.Null && got != c.values[row] {
				t.Fatalf("%s (%s): position %d: %v, want %v", what, u.encoding, from+i, got, c.values[row])
			}
		}
	}
}

func checkZone(t *testing.T, u *unit, c column, what string) {
	t.Helper()
	nulls := 0
	for _, d := range c.values {
		if d.Null {
			nulls++
			continue
		}
		if compare(d, u.zone.Min) < 0 || compare(d, u.zone.Max) > 0 {
			t.Fatalf("%s: %v is outside of zone %v … %v", what, d, u.zone.Min, u.zone.Max)
		}
	}
	if u.zone.Nulls != nulls || u.zone.Rows != len(c.values) {
		t.Errorf("%s: zone counts %d NULLs of %d, want %d of %d", what, u.zone.Nulls, u.zone.Rows, nulls, len(c.values))
	}
}

// TestZoneExcludes compares zone tests with evaluating the comparison on every value.
func TestZoneExcludes(t *testing.T) {
	r := newRand(t)
	for range 2000 {
		lo := r.Int64N(100)
		z := Zone{Min: vector.IntDatum(vector.I64, lo), Max: vector.IntDatum(vector.I64, lo+r.Int64N(50)), Rows: 60}
		test := zoneTest{op: []string{"=", "<", "<=", ">", ">=", "in"}[r.IntN(6)]}
		for range 1 + r.IntN(3) {
			test.values = append(test.values, vector.IntDatum(vector.I64, r.Int64N(200)-20))
			if test.op != "in" {
				break
			}
		}
		possible := false
		for x := z.Min.I; x <= z.Max.I; x++ {
			for _, v := range test.values {
				switch test.op {
				case "=", "in":
					possible = possible || x == v.I
				case "<":
					possible = possible || x < v.I
				case "<=":
					possible = possible || x <= v.I
				case ">":
					possible = possible || x > v.I
				case ">=":
					possible = possible || x >= v.I
				}
			}
		}
		if test.excludes(z) != !possible {
			t.Fatalf("zone %d…%d, x %s %v: excluded %v, possible %v", z.Min.I, z.Max.I, test.op, test.values, test.excludes(z), possible)
		}
	}
}

func BenchmarkUnitRead(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, k := range []struct {
		name  string
		typ   catalog.Type
		shape string
	}{{"packed1", catalog.Type{ID: catalog.Int8}, "small"}, {"packed2", catalog.Type{ID: catalog.Int8}, "medium"},
		{"packed4", catalog.Type{ID: catalog.Int8}, "large"}, {"plain", catalog.Type{ID: catalog.Int8}, "huge"}, {"dictionary", catalog.Type{ID: catalog.Text}, "small"}} {
		b.Run(k.name, func(b *testing.B) {
			c := column{typ: k.typ}
			for i := range 65536 {
				c.positions = append(c.positions, i)
				c.values = append(c.values, randomValue(r, k.typ.Kind(), k.shape))
			}
			builder := newUnitBuilder(k.typ)
			addColumn(builder, c)
			u := builder.finish(func(int) bool { return true })
			v := &vector.Vector{}
			b.ReportAllocs()
			for b.Loop() {
				for from := 0; from < 65536; from += 1024 {
					u.read(v, from, 1024)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/65536, "ns/row")
		})
	}
}
