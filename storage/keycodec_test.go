package storage

import (
	"bytes"
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/vector"
)

// newRand returns a generator whose seed is printed when the test fails.
func newRand(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

var keyTypes = []catalog.Type{
	{ID: catalog.Bool}, {ID: catalog.Int2}, {ID: catalog.Int4}, {ID: catalog.Int8},
	{ID: catalog.Float4}, {ID: catalog.Float8},
	{ID: catalog.Numeric, Prec: 12, Scale: 3}, {ID: catalog.Numeric, Prec: 30, Scale: 7}, {ID: catalog.Numeric},
	{ID: catalog.Char, Prec: 6}, {ID: catalog.Varchar, Prec: 20}, {ID: catalog.Text}, {ID: catalog.Name},
	{ID: catalog.Bytea}, {ID: catalog.Date}, {ID: catalog.Timestamp}, {ID: catalog.TimestampTZ},
	{ID: catalog.Interval}, {ID: catalog.Oid},
}

// randomInt favours the values where encodings break.
func randomInt(r *rand.Rand, bits int) int64 {
	low, high := int64(-1)<<(bits-1), int64(1)<<(bits-1)-1
	switch r.IntN(6) {
	case 0:
		return []int64{low, low + 1, -1, 0, 1, high - 1, high}[r.IntN(7)]
	case 1, 2:
		return int64(r.IntN(20)) - 10
	}
	return int64(r.Uint64()) >> (64 - bits)
}

func randomFloat(r *rand.Rand) float64 {
	switch r.IntN(4) {
	case 0:
		return []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, -math.MaxFloat64}[r.IntN(7)]
	case 1:
		return float64(r.IntN(9) - 4)
	}
	return r.NormFloat64() * math.Pow(10, float64(r.IntN(40)-20))
}

func randomText(r *rand.Rand, n int) string {
	const letters = "\x00\x01\x02\xfe\xff abAB"
	var s strings.Builder
	for range r.IntN(n + 1) {
		s.WriteByte(letters[r.IntN(len(letters))])
	}
	return s.String()
}

func randomDecimal(r *rand.Rand) decimal.Decimal {
	switch r.IntN(8) {
	case 0:
		return []decimal.Decimal{decimal.NaN, decimal.Inf, decimal.NegInf, {}}[r.IntN(4)]
	case 1:
		x := new(big.Int).Exp(big.NewInt(int64(r.IntN(2000)-1000)), big.NewInt(int64(r.IntN(30))), nil)
		return decimal.FromBig(x, r.IntN(60))
	}
	return decimal.FromScaledInt64(randomInt(r, 40), r.IntN(12))
}

// randomDatum returns a value of the type, sometimes NULL.
func randomDatum(r *rand.Rand, t catalog.Type) vector.Datum {
	kind := t.Kind()
	if r.IntN(8) == 0 {
		return vector.NullDatum(kind)
	}
	switch kind {
	case vector.Bool:
		return vector.BoolDatum(r.IntN(2) == 0)
	case vector.I16, vector.I32:
		return vector.IntDatum(kind, randomInt(r, kind.Width()*8))
	case vector.I64:
		if t.ID == catalog.Numeric {
			return vector.IntDatum(kind, randomInt(r, 40))
		}
		return vector.IntDatum(kind, randomInt(r, 64))
	case vector.I128:
		return vector.Int128Datum(mulInt64(randomInt(r, 50), randomInt(r, 50)))
	case vector.F32:
		return vector.FloatDatum(kind, float64(float32(randomFloat(r))))
	case vector.F64:
		return vector.FloatDatum(kind, randomFloat(r))
	case vector.KindInterval:
		return vector.IntervalDatum(vector.Interval{Months: int32(randomInt(r, 32)), Days: int32(randomInt(r, 32)), Micros: randomInt(r, 64)})
	}
	switch t.ID {
	case catalog.Numeric:
		return vector.StringDatum(string(decimal.AppendBytes(nil, randomDecimal(r))))
	case catalog.Char:
		s := strings.ReplaceAll(randomText(r, 4), "\x00", "z")
		return vector.StringDatum(s + blanks(r.IntN(3)))
	}
	return vector.StringDatum(randomText(r, 6))
}

// compareDatums is SQL's comparison of two values that are not NULL.
func compareDatums(t catalog.Type, a, b vector.Datum) int {
	switch t.ID {
	case catalog.Float4, catalog.Float8:
		switch {
		case a.F != a.F && b.F != b.F:
			return 0
		case a.F != a.F:
			return 1
		case b.F != b.F:
			return -1
		case a.F < b.F:
			return -1
		case a.F > b.F:
			return 1
		}
		return 0
	case catalog.Numeric:
		return cmp.Compare(datumDecimal(t, a).Cmp(datumDecimal(t, b)), 0)
	case catalog.Interval:
		return spanBig(a.Interval()).Cmp(spanBig(b.Interval()))
	case catalog.Char:
		return strings.Compare(strings.TrimRight(a.S, " "), strings.TrimRight(b.S, " "))
	}
	if a.Kind == vector.Bytes {
		return strings.Compare(a.S, b.S)
	}
	return cmp.Compare(a.I, b.I)
}

func datumDecimal(t catalog.Type, d vector.Datum) decimal.Decimal {
	switch d.Kind {
	case vector.I64:
		return decimal.FromScaledInt64(d.I, int(t.Scale))
	case vector.I128:
		return decimal.FromInt128(decimal.Int128(d.Int128()), int(t.Scale))
	}
	return decimal.FromBytes([]byte(d.S))
}

func spanBig(x vector.Interval) *big.Int {
	days := big.NewInt(int64(x.Months)*30 + int64(x.Days))
	return days.Mul(days, big.NewInt(86_400_000_000)).Add(days, big.NewInt(x.Micros))
}

// compareColumn adds NULLs and direction.
func compareColumn(k keyColumn, a, b vector.Datum) int {
	if a.Null || b.Null {
		switch {
		case a.Null && b.Null:
			return 0
		case a.Null == k.nullsFirst:
			return -1
		}
		return 1
	}
	if k.desc {
		return compareDatums(k.typ, b, a)
	}
	return compareDatums(k.typ, a, b)
}

// newKeyCodec makes a codec with NULLs where CREATE INDEX puts them.
func newKeyCodec(types []catalog.Type, desc []bool) *keyCodec {
	c := &keyCodec{}
	for i, t := range types {
		d := i < len(desc) && desc[i]
		c.cols = append(c.cols, keyColumn{typ: t, op: keyOpOf(t), desc: d, nullsFirst: d})
	}
	return c
}

func TestKeyOrder(t *testing.T) {
	r := newRand(t)
	for round := range 3000 {
		n := 1 + r.IntN(3)
		types := make([]catalog.Type, n)
		desc := make([]bool, n)
		for i := range types {
			types[i], desc[i] = keyTypes[r.IntN(len(keyTypes))], r.IntN(2) == 0
			if round < len(keyTypes)*20 {
				types[i] = keyTypes[round%len(keyTypes)]
			}
		}
		codec := newKeyCodec(types, desc)
		a, b := make([]vector.Datum, n), make([]vector.Datum, n)
		want := 0
		for i := range types {
			a[i] = randomDatum(r, types[i])
			b[i] = randomDatum(r, types[i])
			if r.IntN(3) == 0 {
				b[i] = a[i]
			}
			if want == 0 {
				want = compareColumn(codec.cols[i], a[i], b[i])
			}
		}
		ka, _ := codec.appendDatums(nil, a)
		kb, _ := codec.appendDatums(nil, b)
		if got := bytes.Compare(ka, kb); got != want {
			t.Fatalf("types %v desc %v:\n%v\n%v\ncompare %d, want %d\n%x\n%x", types, desc, a, b, got, want, ka, kb)
		}
		checkKeyDecode(t, codec, a, ka)
	}
}

// checkKeyDecode checks that decoded values are equal and take exactly the key.
func checkKeyDecode(t *testing.T, codec *keyCodec, want []vector.Datum, key []byte) {
	t.Helper()
	got, rest, err := codec.decode(append(key, "tail"...))
	if err != nil || string(rest) != "tail" {
		t.Fatalf("decode of %v: rest %q, %v", want, rest, err)
	}
	for i := range got {
		if compareColumn(codec.cols[i], got[i], want[i]) != 0 {
			t.Fatalf("column %d of type %v: decoded %v, want %v", i, codec.cols[i].typ, got[i], want[i])
		}
	}
}

// The three forms of numeric are one value.
func TestKeyNumericForms(t *testing.T) {
	r := newRand(t)
	for range 1000 {
		x := randomInt(r, 40)
		encode := func(typ catalog.Type, d vector.Datum) []byte {
			k, _ := newKeyCodec([]catalog.Type{typ}, nil).appendDatums(nil, []vector.Datum{d})
			return k
		}
		a := encode(catalog.Type{ID: catalog.Numeric, Prec: 15, Scale: 2}, vector.IntDatum(vector.I64, x))
		b := encode(catalog.Type{ID: catalog.Numeric, Prec: 30, Scale: 5}, vector.Int128Datum(mulInt64(x, 1000)))
		wide := decimal.AppendBytes(nil, decimal.FromScaledInt64(x*10, 3))
		c := encode(catalog.Type{ID: catalog.Numeric}, vector.StringDatum(string(wide)))
		if !bytes.Equal(a, b) || !bytes.Equal(a, c) {
			t.Fatalf("%d: %x %x %x", x, a, b, c)
		}
	}
}

// Rows of vectors of any form encode as their datums do.
func TestKeyRows(t *testing.T) {
	r := newRand(t)
	codec := newKeyCodec(keyTypes, []bool{false, true, false, true})
	for range 50 {
		const rows = 20
		flat := make([]*vector.Vector, len(keyTypes))
		for c, typ := range keyTypes {
			flat[c] = vector.New(typ.Kind(), rows)
			for range rows {
				vector.AppendDatum(flat[c], randomDatum(r, typ))
			}
		}
		for row := range rows {
			want := make([]vector.Datum, len(keyTypes))
			mixed := append([]*vector.Vector(nil), flat...)
			for c := range flat {
				want[c] = vector.DatumAt(flat[c], row)
				switch r.IntN(3) {
				case 0:
					mixed[c] = vector.ConstOf(want[c])
				case 1:
					mixed[c] = dictOf(want[c], rows)
				}
			}
			a, an := codec.appendDatums(nil, want)
			b, bn := codec.appendRow(nil, mixed, row)
			if !bytes.Equal(a, b) || an != bn {
				t.Fatalf("row %d: %x, want %x", row, b, a)
			}
		}
	}
}

// dictOf makes a dictionary vector that has d in every row.
func dictOf(d vector.Datum, rows int) *vector.Vector {
	dict := vector.New(d.Kind, 1)
	filler := d
	filler.Null = false
	vector.AppendDatum(dict, filler)
	v := &vector.Vector{}
	var valid vector.Bitmap
	if d.Null {
		valid = vector.NewBitmap(rows)
	}
	v.SetDict(make([]uint32, rows), dict, valid)
	return v
}

func FuzzKeyDecode(f *testing.F) {
	codec := newKeyCodec(keyTypes, []bool{true, false, true})
	r := rand.New(rand.NewPCG(1, 1))
	for range 10 {
		row := make([]vector.Datum, len(keyTypes))
		for i, typ := range keyTypes {
			row[i] = randomDatum(r, typ)
		}
		key, _ := codec.appendDatums(nil, row)
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key []byte) {
		_, _, _ = codec.decode(key) // must not panic
	})
}

func BenchmarkKeyEncode(b *testing.B) {
	for _, typ := range []catalog.Type{{ID: catalog.Int8}, {ID: catalog.Text}, {ID: catalog.Numeric, Prec: 15, Scale: 2}} {
		b.Run(typ.String(), func(b *testing.B) {
			codec := newKeyCodec([]catalog.Type{typ}, nil)
			v := vector.New(typ.Kind(), 1024)
			for i := range 1024 {
				d := vector.IntDatum(vector.I64, int64(i*1000003))
				if typ.Kind() == vector.Bytes {
					d = vector.StringDatum("customer key")
				}
				vector.AppendDatum(v, d)
			}
			vecs := []*vector.Vector{v}
			var key []byte
			for b.Loop() {
				for i := range 1024 {
					key, _ = codec.appendRow(key[:0], vecs, i)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/key")
		})
	}
}

// The longest intervals there are survive their key.
func TestKeyIntervalExtremes(t *testing.T) {
	codec := newKeyCodec([]catalog.Type{{ID: catalog.Interval}}, nil)
	for _, months := range []int32{math.MinInt32, math.MinInt32 + 1, math.MaxInt32} {
		for _, days := range []int32{math.MinInt32, 0, math.MaxInt32} {
			for _, micros := range []int64{math.MinInt64, math.MinInt64 + 1, 0, math.MaxInt64} {
				want := []vector.Datum{vector.IntervalDatum(vector.Interval{Months: months, Days: days, Micros: micros})}
				key, _ := codec.appendDatums(nil, want)
				checkKeyDecode(t, codec, want, key)
			}
		}
	}
}
