package vector

import (
	"math/rand/v2"
	"testing"
)

// The benchmarks report nanoseconds per row of a batch of 1024.

func perRow(b *testing.B, n int, f func()) {
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
}

func benchInts(n int) *Vector {
	r := rand.New(rand.NewPCG(1, 2))
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(r.IntN(1000))
	}
	return FromSlice(I64, values)
}

func benchStrings(n int) *Vector {
	r := rand.New(rand.NewPCG(1, 2))
	v := New(Bytes, n)
	for range n {
		v.AppendString([]string{"MAIL", "SHIP", "RAIL", "DELIVER IN PERSON", "TRUCK"}[r.IntN(5)])
	}
	return v
}

func BenchmarkSelectConst(b *testing.B) {
	v, c, out := benchInts(1024), ConstOf(IntDatum(I64, 500)), make(Sel, 1024)
	perRow(b, 1024, func() { SelectCompare(Lt, v, c, 1024, nil, out) })
}

func BenchmarkSelectConstSel(b *testing.B) {
	v, c, out := benchInts(1024), ConstOf(IntDatum(I64, 500)), make(Sel, 1024)
	in := SelectCompare(Ge, v, ConstOf(IntDatum(I64, 250)), 1024, nil, nil)
	perRow(b, len(in), func() { SelectCompare(Lt, v, c, 1024, in, out) })
}

func BenchmarkSelectConstNulls(b *testing.B) {
	v, c, out := benchInts(1024), ConstOf(IntDatum(I64, 500)), make(Sel, 1024)
	v.AllValid(1024).Clear(7)
	perRow(b, 1024, func() { SelectCompare(Lt, v, c, 1024, nil, out) })
}

func BenchmarkSelectCols(b *testing.B) {
	v, w, out := benchInts(1024), benchInts(1024), make(Sel, 1024)
	perRow(b, 1024, func() { SelectCompare(Lt, v, w, 1024, nil, out) })
}

func BenchmarkSelectBytesEqual(b *testing.B) {
	v, c, out := benchStrings(1024), ConstOf(StringDatum("SHIP")), make(Sel, 1024)
	perRow(b, 1024, func() { SelectCompare(Eq, v, c, 1024, nil, out) })
}

func BenchmarkSelectBytesLess(b *testing.B) {
	v, c, out := benchStrings(1024), ConstOf(StringDatum("SHIP")), make(Sel, 1024)
	perRow(b, 1024, func() { SelectCompare(Lt, v, c, 1024, nil, out) })
}

func BenchmarkHashInts(b *testing.B) {
	v, dst := benchInts(1024), make([]uint64, 1024)
	perRow(b, 1024, func() { Hash(dst, v, 1024, nil, false) })
}

func BenchmarkHashBytes(b *testing.B) {
	v, dst := benchStrings(1024), make([]uint64, 1024)
	perRow(b, 1024, func() { Hash(dst, v, 1024, nil, false) })
}

func BenchmarkHashCombine(b *testing.B) {
	v, dst := benchInts(1024), make([]uint64, 1024)
	perRow(b, 1024, func() { Hash(dst, v, 1024, nil, true) })
}

func BenchmarkGatherInts(b *testing.B) {
	v, dst, idx := benchInts(1024), &Vector{}, make([]uint32, 1024)
	for i := range idx {
		idx[i] = uint32(i * 7 % 1024)
	}
	perRow(b, 1024, func() { Gather(dst, v, idx) })
}

func BenchmarkGatherBytes(b *testing.B) {
	v, dst, idx := benchStrings(1024), &Vector{}, make([]uint32, 1024)
	for i := range idx {
		idx[i] = uint32(i * 7 % 1024)
	}
	perRow(b, 1024, func() { Gather(dst, v, idx) })
}

func BenchmarkMulChecked64(b *testing.B) {
	v, w, dst := Of[int64](benchInts(1024)), Of[int64](benchInts(1024)), make([]int64, 1024)
	perRow(b, 1024, func() { MulChecked64(dst, v, w) })
}

func BenchmarkMul(b *testing.B) {
	v, w, dst := Of[int64](benchInts(1024)), Of[int64](benchInts(1024)), make([]int64, 1024)
	perRow(b, 1024, func() { Mul(dst, v, w) })
}

func BenchmarkMulWide(b *testing.B) {
	v, w, dst := Of[int64](benchInts(1024)), Of[int64](benchInts(1024)), make([]Int128, 1024)
	perRow(b, 1024, func() { MulWide(dst, v, w) })
}

func BenchmarkMagnitudeBits(b *testing.B) {
	v := Of[int64](benchInts(1024))
	perRow(b, 1024, func() { MagnitudeBits(v, nil) })
}
