package decimal

import "testing"

func BenchmarkFromBytes(b *testing.B) {
	enc := AppendBytes(nil, FromScaledInt64(123456789012, 4))
	b.ReportAllocs()
	for b.Loop() {
		FromBytes(enc)
	}
}

func BenchmarkMul(b *testing.B) {
	x, y := FromScaledInt64(123456789012, 4), FromScaledInt64(-98765, 2)
	b.ReportAllocs()
	for b.Loop() {
		x.Mul(y)
	}
}

func BenchmarkQuo(b *testing.B) {
	x, y := FromScaledInt64(123456789012, 4), FromScaledInt64(-98765, 2)
	b.ReportAllocs()
	for b.Loop() {
		x.Quo(y)
	}
}

func BenchmarkCompareBytes(b *testing.B) {
	x, y := AppendBytes(nil, FromScaledInt64(123456789012, 4)), AppendBytes(nil, FromScaledInt64(98765, 2))
	b.ReportAllocs()
	for b.Loop() {
		CompareBytes(x, y)
	}
}
