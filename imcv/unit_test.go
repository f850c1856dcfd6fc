package imcv

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/storage"
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

// testColumn is a random column in position order; −1 marks positions without a row.
type testColumn struct {
	typ       catalog.Type
	positions []int
	values    []vector.Datum
}

// randomColumn draws values of a shape that leads to a given encoding, with holes and NULLs.
func randomColumn(r *rand.Rand, typ catalog.Type, shape string, rows int) testColumn {
	c := testColumn{typ: typ}
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
		c.values = append(c.values, shapedValue(r, typ.Kind(), shape, at))
	}
	return c
}

// shapedValue is a random value, or one that depends on its position.
func shapedValue(r *rand.Rand, kind vector.Kind, shape string, at int) vector.Datum {
	x := int64(0)
	switch shape {
	case "ascending": // identities with a few gaps
		x = int64(at)*1000 + r.Int64N(3)
	case "sorted": // each value some times in turn
		x = int64(at / (5 + at/1000%20) * 100000)
	case "far apart":
		x = r.Int64N(7) << 29
	case "words":
		if kind != vector.Bytes {
			return randomValue(r, kind, "large")
		}
		text := ""
		for range 2 + r.IntN(5) {
			text += []string{"carefully ", "final ", "deposits ", "sleep ", "about ", "the ", "\x00", "ironic ", "é"}[r.IntN(9)]
		}
		return vector.StringDatum(text)
	default:
		return randomValue(r, kind, shape)
	}
	switch kind {
	case vector.I16:
		x = int64(int16(x))
	case vector.I32:
		x = int64(int32(x))
	case vector.I64:
	default:
		return randomValue(r, kind, "medium")
	}
	return vector.IntDatum(kind, x)
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
	{ID: catalog.Numeric, Prec: 30}, {ID: catalog.Float4}, {ID: catalog.Float8}, {ID: catalog.Interval}, {ID: catalog.Text}, {ID: catalog.Varchar}}

var unitShapes = []string{"one", "small", "medium", "large", "huge", "not null", "ascending", "sorted", "far apart", "words"}

// TestUnitRoundTrip encodes random columns and reads them back in random windows.
func TestUnitRoundTrip(t *testing.T) {
	r := newRand(t)
	seen := map[string]bool{}
	for _, typ := range unitTypes {
		for _, shape := range unitShapes {
			if testing.Short() && r.IntN(2) == 0 {
				continue
			}
			c := randomColumn(r, typ, shape, 1+r.IntN(5000)+r.IntN(2)*3000)
			b := newUnitBuilder(typ)
			addColumn(b, c)
			present := map[int]int{}
			for i, at := range c.positions {
				present[at] = i
			}
			u := b.finish(presence(c))
			seen[u.values.encoding().String()] = true
			checkWindows(t, r, u, c, present, fmt.Sprint(typ, " ", shape))
			checkSelected(t, r, u, c, fmt.Sprint(typ, " ", shape))
			again, err := readUnit(writeUnit(u), newColumn(nil, 1, u), u.rows)
			if err != nil {
				t.Fatalf("%v %s (%s): %v", typ, shape, u.values.encoding(), err)
			}
			checkWindows(t, r, again, c, present, fmt.Sprint(typ, " ", shape, " from a file"))
			checkZone(t, u, c, fmt.Sprint(typ, " ", shape))
		}
	}
	for _, name := range encodingNames {
		if !seen[name] && !testing.Short() {
			t.Errorf("no column was stored as %s", name)
		}
	}
}

// presence is the bitmap of positions with a row.
func presence(c testColumn) vector.Bitmap {
	m := vector.NewBitmap(storage.GroupRows)
	for _, at := range c.positions {
		m.Set(at)
	}
	return m
}

func addColumn(b *unitBuilder, c testColumn) {
	for from := 0; from < len(c.positions); from += 1000 {
		n := min(1000, len(c.positions)-from)
		v := vector.New(c.typ.Kind(), n)
		for _, d := range c.values[from : from+n] {
			vector.AppendDatum(v, d)
		}
		b.add(v, c.positions[from:from+n])
	}
}

func checkWindows(t *testing.T, r *rand.Rand, u *unit, c testColumn, present map[int]int, what string) {
	t.Helper()
	limit := c.positions[len(c.positions)-1] + 1
	v := &vector.Vector{}
	for range 50 {
		from := r.IntN(limit)
		if r.IntN(2) == 0 {
			from &^= 63
		}
		n := 1 + r.IntN(min(1024, limit-from))
		u.read(v, from, n, nil, &scratch{})
		for i := range n {
			row, ok := present[from+i]
			if !ok {
				continue
			}
			if got := vector.DatumAt(v, i); got.Null != c.values[row].Null || !got.Null && got != c.values[row] {
				t.Fatalf("%s (%s): position %d: %v, want %v", what, u.values.encoding(), from+i, got, c.values[row])
			}
		}
	}
}

// checkSelected reads a selection of rows, of many or few. Those not selected have some value, too.
func checkSelected(t *testing.T, r *rand.Rand, u *unit, c testColumn, what string) {
	t.Helper()
	v := &vector.Vector{}
	for range 20 {
		gap := []int{1, 3, 12, 200}[r.IntN(4)]
		first := r.IntN(len(c.positions))
		from := c.positions[first]
		var sel vector.Sel
		var rows []int
		for i := first; i < len(c.positions) && c.positions[i]-from < 1024; i++ {
			if r.IntN(gap) == 0 {
				sel, rows = append(sel, uint16(c.positions[i]-from)), append(rows, i)
			}
		}
		if sel == nil {
			continue
		}
		n := min(1024, u.rows-from)
		u.read(v, from, n, sel, &scratch{})
		for i := range n {
			vector.DatumAt(v, i)
		}
		for k, i := range sel {
			if got, want := vector.DatumAt(v, int(i)), c.values[rows[k]]; got.Null != want.Null || !got.Null && got != want {
				t.Fatalf("%s (%s): position %d: %v, want %v", what, u.values.encoding(), from+int(i), got, want)
			}
		}
	}
}

func checkZone(t *testing.T, u *unit, c testColumn, what string) {
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

// BenchmarkUnitRead measures reading a whole unit, batch by batch: all rows, or of each batch one in 8 or in 100.
func BenchmarkUnitRead(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, k := range []struct {
		name  string
		id    catalog.TypeID
		shape string
	}{{"packed1", catalog.Int8, "small"}, {"packed2", catalog.Int8, "medium"}, {"packed4", catalog.Int8, "large"}, {"plain", catalog.Int8, "huge"},
		{"sequence", catalog.Int8, "ascending"}, {"runs", catalog.Int8, "sorted"}, {"numbers", catalog.Int8, "far apart"},
		{"scaled", catalog.Float8, "medium"}, {"dictionary", catalog.Text, "small"}, {"symbols", catalog.Text, "words"}} {
		b.Run(k.name, func(b *testing.B) {
			c := testColumn{typ: catalog.Type{ID: k.id}}
			for i := range storage.GroupRows {
				c.positions = append(c.positions, i)
				c.values = append(c.values, shapedValue(r, c.typ.Kind(), k.shape, i))
			}
			builder := newUnitBuilder(c.typ)
			addColumn(builder, c)
			u := builder.finish(presence(c))
			b.ReportMetric(float64(u.sizeBytes())/storage.GroupRows, "B/row")
			v, s := &vector.Vector{}, scratch{}
			b.Run("all", func(b *testing.B) { readBatches(b, u, v, nil, &s) })
			b.Run("eighth", func(b *testing.B) {
				var sel vector.Sel
				for i := uint16(3); i < 1024; i += 8 {
					sel = append(sel, i)
				}
				readBatches(b, u, v, sel, &s)
			})
			b.Run("few", func(b *testing.B) {
				readBatches(b, u, v, vector.Sel{5, 100, 200, 307, 400, 511, 640, 700, 801, 900, 1000}, &s)
			})
		})
	}
}

func readBatches(b *testing.B, u *unit, v *vector.Vector, sel vector.Sel, s *scratch) {
	b.ReportAllocs()
	for b.Loop() {
		for from := 0; from < storage.GroupRows; from += 1024 {
			u.read(v, from, 1024, sel, s)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/storage.GroupRows, "ns/row")
}

// BenchmarkUnitBuild measures choosing and making encodings.
func BenchmarkUnitBuild(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, k := range []struct {
		name  string
		id    catalog.TypeID
		shape string
	}{{"packed", catalog.Int8, "large"}, {"runs", catalog.Int8, "sorted"}, {"scaled", catalog.Float8, "medium"}, {"dictionary", catalog.Text, "small"}, {"symbols", catalog.Text, "words"}} {
		b.Run(k.name, func(b *testing.B) {
			c := testColumn{typ: catalog.Type{ID: k.id}}
			for i := range storage.GroupRows {
				c.positions = append(c.positions, i)
				c.values = append(c.values, shapedValue(r, c.typ.Kind(), k.shape, i))
			}
			builder := newUnitBuilder(c.typ)
			addColumn(builder, c)
			b.ReportAllocs()
			for b.Loop() {
				builder.finish(presence(c))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/storage.GroupRows, "ns/row")
		})
	}
}

// BenchmarkBits measures what codes of an odd number of bits would cost, beside those of whole bytes.
func BenchmarkBits(b *testing.B) {
	data := alignedBytes(4*storage.GroupRows + 8)
	dst := make([]uint32, 1024)
	for _, bits := range []int{13, 16, 18, 32} {
		mask := uint64(1)<<bits - 1
		b.Run(fmt.Sprint(bits), func(b *testing.B) {
			s := &ints{width: bits / 8, step: 1, codes: data}
			for b.Loop() {
				for from := 0; from < storage.GroupRows; from += len(dst) {
					if bits%8 == 0 {
						readInts(dst, s, from)
						continue
					}
					at := from * bits
					for i := range dst {
						dst[i] = uint32(binary.LittleEndian.Uint64(data[at>>3:]) >> (at & 7) & mask)
						at += bits
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/storage.GroupRows, "ns/row")
		})
	}
}
