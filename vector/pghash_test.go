package vector

import (
	"math"
	"testing"

	"github.com/weftdb/weft/internal/decimal"
)

func hashRow(t *testing.T, fn PGHash, scale int, d Datum) uint32 {
	t.Helper()
	v := New(d.Kind, 1)
	AppendDatum(v, d)
	var flat, constant [1]uint32
	PGHashRows(flat[:], fn, scale, v, 1)
	PGHashRows(constant[:], fn, scale, ConstOf(d), 1)
	if flat != constant {
		t.Fatalf("flat and constant differ: %v %v", flat, constant)
	}
	return flat[0]
}

// Values printed by PostgreSQL and by openGauss's manual.
func TestPGHashKnownValues(t *testing.T) {
	for _, c := range []struct {
		name string
		got  uint32
		want int32
	}{
		{"hashint4(0)", PGHashUint32(0), -272711505},
		{"hashint4(1)", PGHashUint32(1), -1905060026},
		{"hashint4(42)", PGHashUint32(42), 1509752520},
		{"hash_numeric(30)", PGHashDecimal(decimal.FromInt64(30)), -282860963},
	} {
		if int32(c.got) != c.want {
			t.Errorf("%s = %d, want %d", c.name, int32(c.got), c.want)
		}
	}
	// Hash buckets of openGauss: hash modulo 16,384.
	if b := PGHashBytes([]byte("test")) % 16384; b != 9761 {
		t.Errorf("bucket of 'test' = %d, want 9761", b)
	}
}

func TestPGHashReferenceSession(t *testing.T) {
	for _, key := range []int64{200, 300} {
		if node := hashRow(t, PGHashInt8, 0, IntDatum(I64, key)) % 2; node != 0 {
			t.Errorf("key %d is on node %d, want the first of two", key, node)
		}
	}
}

func TestPGHashAgreesAcrossTypes(t *testing.T) {
	for _, i := range []int64{0, 1, -1, 7, -300, 32767, -32768} {
		h := PGHashInt64(i)
		if x := hashRow(t, PGHashInt2, 0, IntDatum(I16, i)); x != h {
			t.Errorf("hashint2(%d) differs from hashint8", i)
		}
		if x := hashRow(t, PGHashInt4, 0, IntDatum(I32, i)); x != h {
			t.Errorf("hashint4(%d) differs from hashint8", i)
		}
		n := hashRow(t, PGHashNumeric, 2, IntDatum(I64, i*100))
		if x := hashRow(t, PGHashNumeric, 5, IntDatum(I64, i*100000)); x != n {
			t.Errorf("numeric %d: scale changes the hash", i)
		}
		d := decimal.FromScaledInt64(i*10, 1)
		if x := hashRow(t, PGHashNumeric, 0, StringDatum(string(decimal.AppendBytes(nil, d)))); x != n {
			t.Errorf("numeric %d: byte form hashes differently", i)
		}
		wide := Int128{Lo: uint64(i), Hi: i >> 63}
		if x := hashRow(t, PGHashNumeric, 0, Int128Datum(wide)); x != n {
			t.Errorf("numeric %d: 128-bit form hashes differently", i)
		}
	}
	if PGHashFloat64(math.Copysign(0, -1)) != PGHashFloat64(0) {
		t.Error("-0 and 0 hash differently")
	}
	if PGHashFloat64(math.NaN()) != PGHashFloat64(math.Float64frombits(0xFFF8000000000001)) {
		t.Error("NaNs hash differently")
	}
	if hashRow(t, PGHashBpchar, 0, StringDatum("ab  ")) != hashRow(t, PGHashText, 0, StringDatum("ab")) {
		t.Error("char(n) is not hashed trimmed")
	}
	month := hashRow(t, PGHashInterval, 0, IntervalDatum(Interval{Months: 1}))
	if month != hashRow(t, PGHashInterval, 0, IntervalDatum(Interval{Days: 30})) {
		t.Error("equal intervals hash differently")
	}
	if hashRow(t, PGHashDate, 0, IntDatum(I32, pgEpochDays)) != PGHashUint32(0) {
		t.Error("2000-01-01 is not day 0")
	}
	if hashRow(t, PGHashTimestamp, 0, IntDatum(I64, pgEpochMicros)) != PGHashInt64(0) {
		t.Error("2000-01-01 00:00:00 is not microsecond 0")
	}
	if hashRow(t, PGHashTimestamp, 0, IntDatum(I64, math.MaxInt64)) != PGHashInt64(math.MaxInt64) {
		t.Error("infinity moved")
	}
}

// hash_any must not depend on how its input is cut into words.
func TestPGHashBytesTail(t *testing.T) {
	long := []byte("The quick brown fox jumps over the lazy dog")
	seen := map[uint32]int{}
	for n := range len(long) + 1 {
		h := PGHashBytes(long[:n])
		if m, dup := seen[h]; dup {
			t.Errorf("prefixes of %d and %d bytes collide", m, n)
		}
		seen[h] = n
	}
	word := uint32(long[0]) | uint32(long[1])<<8 | uint32(long[2])<<16 | uint32(long[3])<<24
	if PGHashBytes(long[:4]) != PGHashUint32(word) {
		t.Error("hash_any of four bytes differs from hash_uint32")
	}
}

func TestPGHashDictAndNulls(t *testing.T) {
	dict := New(Bytes, 2)
	dict.AppendString("x")
	dict.AppendString("y")
	v := &Vector{}
	valid := NewBitmap(3)
	valid.Set(0)
	valid.Set(2)
	v.SetDict([]uint32{1, 0, 0}, dict, valid)
	var got [3]uint32
	PGHashRows(got[:], PGHashText, 0, v, 3)
	if want := [3]uint32{PGHashBytes([]byte("y")), 0, PGHashBytes([]byte("x"))}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func BenchmarkPGHashInt8(b *testing.B) {
	v := New(I64, 1024)
	for i := range 1024 {
		Append(v, int64(i))
	}
	dst := make([]uint32, 1024)
	for b.Loop() {
		PGHashRows(dst, PGHashInt8, 0, v, 1024)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/row")
}
