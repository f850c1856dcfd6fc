package vector

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

var allKinds = []Kind{Bool, I8, I16, I32, I64, I128, F32, F64, KindInterval, Bytes}

// randomDatum draws from few values, so that equality is common.
func randomDatum(r *rand.Rand, k Kind) Datum {
	floats := []float64{0, math.Copysign(0, -1), 1.5, -2, math.NaN(), math.Inf(1), 3}
	switch k {
	case Bool:
		return BoolDatum(r.IntN(2) == 0)
	case F32, F64:
		return FloatDatum(k, floats[r.IntN(len(floats))])
	case I128:
		return Int128Datum(Int128{Lo: uint64(r.IntN(3)), Hi: int64(r.IntN(3) - 1)})
	case KindInterval:
		return IntervalDatum(Interval{Months: int32(r.IntN(2)), Days: int32(r.IntN(3) * 15), Micros: int64(r.IntN(2)) * 86_400_000_000})
	case Bytes:
		return StringDatum([]string{"", "a", "ab", "b", "a longer string"}[r.IntN(5)])
	}
	return IntDatum(k, int64(r.IntN(7)-3))
}

func randomVector(r *rand.Rand, k Kind, n int, form Form, nulls bool) *Vector {
	if form == Const {
		d := randomDatum(r, k)
		if nulls && r.IntN(4) == 0 {
			d = NullDatum(k)
		}
		return ConstOf(d)
	}
	v := New(k, n)
	for range n {
		d := randomDatum(r, k)
		if nulls && form == Flat && r.IntN(4) == 0 {
			d.Null = true
		}
		AppendDatum(v, d)
	}
	if form == Flat {
		return v
	}
	codes := make([]uint32, n)
	out := &Vector{}
	var valid Bitmap
	if nulls {
		valid = NewBitmap(n)
	}
	for i := range codes {
		codes[i] = uint32(r.IntN(n))
		if nulls && r.IntN(4) > 0 {
			valid.Set(i)
		}
	}
	out.SetDict(codes, v, valid)
	return out
}

func randomSel(r *rand.Rand, n int) Sel {
	if r.IntN(3) == 0 {
		return nil
	}
	sel := Sel{}
	for i := range n {
		if r.IntN(3) > 0 {
			sel = append(sel, uint16(i))
		}
	}
	return sel
}

func rowsOfSel(n int, sel Sel) []int {
	rows := []int{}
	if sel == nil {
		for i := range n {
			rows = append(rows, i)
		}
	}
	for _, i := range sel {
		rows = append(rows, int(i))
	}
	return rows
}

// compareData is the reference: PostgreSQL's order on data.
func compareData(a, b Datum) int {
	three := func(less, equal bool) int {
		switch {
		case less:
			return -1
		case equal:
			return 0
		}
		return 1
	}
	switch a.Kind {
	case F32, F64:
		x, y := OrderKey(a.F), OrderKey(b.F)
		return three(x < y, x == y)
	case I128:
		return a.Int128().Cmp(b.Int128())
	case KindInterval:
		return a.Interval().Span().Cmp(b.Interval().Span())
	case Bytes:
		return three(a.S < b.S, a.S == b.S)
	}
	return three(a.I < b.I, a.I == b.I)
}

func TestCompareKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 4000 {
		k := allKinds[r.IntN(len(allKinds))]
		n := 1 + r.IntN(min(100, BatchCap))
		forms := [][2]Form{{Flat, Flat}, {Flat, Const}, {Const, Flat}, {Const, Const}}[r.IntN(4)]
		l, rt := randomVector(r, k, n, forms[0], r.IntN(2) == 0), randomVector(r, k, n, forms[1], r.IntN(2) == 0)
		op := CmpOp(r.IntN(6))
		in := randomSel(r, n)
		want := Sel{}
		for _, i := range rowsOfSel(n, in) {
			a, b := DatumAt(l, i), DatumAt(rt, i)
			if !a.Null && !b.Null && op.Holds(compareData(a, b)) {
				want = append(want, uint16(i))
			}
		}
		name := fmt.Sprintf("%v op %d forms %v sel %v", k, op, forms, in != nil)
		if got := SelectCompare(op, l, rt, n, in, nil); !slices.Equal(got, want) || got == nil {
			t.Fatalf("%s: %v, want %v", name, got, want)
		}
		if in != nil { // in place
			own := slices.Clone(in)
			if got := SelectCompare(op, l, rt, n, own, own); !slices.Equal(got, want) {
				t.Fatalf("%s in place: %v, want %v", name, got, want)
			}
		}
		if forms != [2]Form{Const, Const} {
			flags := make([]uint8, n)
			CompareFlags(op, flags, l, rt, n, in)
			for _, i := range rowsOfSel(n, in) {
				a, b := DatumAt(l, i), DatumAt(rt, i)
				if a.Null || b.Null {
					continue
				}
				if (flags[i] == 1) != op.Holds(compareData(a, b)) {
					t.Fatalf("%s flags: row %d", name, i)
				}
				if got := CompareRows(l, i, rt, i); got != compareData(a, b) {
					t.Fatalf("%s rows: %d", name, got)
				}
			}
		}
		if op.Negate().Negate() != op || op.Swap().Swap() != op || op.Holds(1) == op.Negate().Holds(1) {
			t.Fatal("operator algebra")
		}
	}
}

func TestHash(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		k := allKinds[r.IntN(len(allKinds))]
		n := 1 + r.IntN(min(100, BatchCap))
		v := randomVector(r, k, n, Form(r.IntN(3)), r.IntN(2) == 0)
		w := randomVector(r, k, n, Form(r.IntN(3)), r.IntN(2) == 0)
		in := randomSel(r, n)
		hv, hw := make([]uint64, n), make([]uint64, n)
		Hash(hv, v, n, in, false)
		Hash(hw, w, n, in, false)
		both := slices.Clone(hv)
		Hash(both, w, n, in, true)
		for _, i := range rowsOfSel(n, in) {
			if hv[i] != HashRow(v, i) {
				t.Fatal("HashRow differs from Hash")
			}
			for _, j := range rowsOfSel(n, in) {
				a, b := DatumAt(v, i), DatumAt(w, j)
				same := a.Null && b.Null || !a.Null && !b.Null && compareData(a, b) == 0
				if same != (hv[i] == hw[j]) {
					t.Fatalf("%v: hashes of %v and %v", k, a, b)
				}
				if hv[i] == hv[j] && hw[i] == hw[j] && both[i] != both[j] {
					t.Fatal("combined hash")
				}
			}
		}
	}
	// Integers of all widths hash alike.
	want := HashInt64(-5)
	for _, k := range []Kind{I8, I16, I32, I64} {
		if HashRow(ConstOf(IntDatum(k, -5)), 0) != want {
			t.Errorf("hash of %v", k)
		}
	}
	if HashRow(ConstOf(Int128Datum(Int128{Lo: ^uint64(4), Hi: -1})), 0) != want {
		t.Error("hash of a small I128")
	}
}

func TestGather(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 3000 {
		k := allKinds[r.IntN(len(allKinds))]
		n := 1 + r.IntN(min(150, BatchCap))
		src := randomVector(r, k, n, Form(r.IntN(3)), r.IntN(2) == 0)
		dst := randomVector(r, k, 1+r.IntN(80), Flat, r.IntN(2) == 0)
		var want []Datum
		for i := range dst.Len {
			want = append(want, DatumAt(dst, i))
		}
		idx := make([]uint32, r.IntN(100))
		for i := range idx {
			idx[i] = uint32(r.IntN(n))
		}
		sel := randomSel(r, n)
		if sel == nil {
			sel = SelectAll(n, nil, nil)
		}
		from := r.IntN(n)
		to := from + r.IntN(n-from+1)
		AppendGather(dst, src, idx)
		for _, i := range idx {
			want = append(want, DatumAt(src, int(i)))
		}
		AppendSel(dst, src, sel)
		for _, i := range sel {
			want = append(want, DatumAt(src, int(i)))
		}
		AppendRange(dst, src, from, to)
		for i := from; i < to; i++ {
			want = append(want, DatumAt(src, i))
		}
		check := func(what string, v *Vector, want []Datum) {
			t.Helper()
			if v.Len != len(want) {
				t.Fatalf("%s: %d rows, want %d", what, v.Len, len(want))
			}
			for i, w := range want {
				if got := DatumAt(v, i); got.Null != w.Null || !w.Null && compareData(got, w) != 0 {
					t.Fatalf("%s %v: row %d is %v, want %v", what, k, i, got, w)
				}
			}
		}
		check("appended", dst, want)
		flat := Flatten(&Vector{}, src, n)
		want = nil
		for i := range n {
			want = append(want, DatumAt(src, i))
		}
		check("flattened", flat, want)
		Gather(dst, src, idx)
		want = nil
		for _, i := range idx {
			want = append(want, DatumAt(src, int(i)))
		}
		check("gathered", dst, want)
		if k != Bytes {
			out := New(k, n)
			out.growRows(n)
			Scatter(out, src, sel)
			for _, i := range sel {
				if w := DatumAt(src, int(i)); !w.Null && compareData(DatumAt(out, int(i)), w) != 0 {
					t.Fatalf("scattered %v: row %d", k, i)
				}
			}
		}
	}
}

func TestArith(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 2000 {
		n := 1 + r.IntN(20)
		a, b, dst := make([]int64, n), make([]int64, n), make([]int64, n)
		shift := r.UintN(64)
		addOver, subOver, mulOver := false, false, false
		var m uint64
		for i := range a {
			a[i], b[i] = int64(r.Uint64())>>shift, int64(r.Uint64())>>shift
			s := a[i] + b[i]
			addOver = addOver || (a[i]^s)&(b[i]^s) < 0
			d := a[i] - b[i]
			subOver = subOver || (a[i]^b[i])&(a[i]^d) < 0
			p := Int128{Lo: uint64(a[i]), Hi: a[i] >> 63}.Mul(Int128{Lo: uint64(b[i]), Hi: b[i] >> 63})
			mulOver = mulOver || !p.IsInt64()
			abs := uint64(a[i])
			if a[i] < 0 {
				abs = -abs
			}
			m = max(m, abs)
		}
		if AddChecked(dst, a, b) == addOver || SubChecked(dst, a, b) == subOver || MulChecked64(dst, a, b) == mulOver {
			t.Fatal("overflow detection", a, b)
		}
		size := MagnitudeBits(a, nil)
		if size < bits.Len64(m) || size > bits.Len64(m) {
			t.Fatalf("MagnitudeBits = %d, want %d", size, bits.Len64(m))
		}
		wide := make([]Int128, n)
		Widen(wide, a)
		if got := MagnitudeBits128(wide, nil); got < bits.Len64(m) {
			t.Fatalf("MagnitudeBits128 = %d", got)
		}
	}
	for _, x := range []int32{math.MaxInt32, math.MinInt32, 1, -1, 46341} {
		dst := make([]int32, 1)
		if ok := MulChecked(dst, []int32{x}, []int32{x}); ok != (int64(x)*int64(x) == int64(x*x)) {
			t.Fatal(x)
		}
	}
}

func TestKernelsDoNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	n := BatchCap
	v, w := randomVector(r, I64, n, Flat, true), randomVector(r, Bytes, n, Flat, true)
	c := ConstOf(IntDatum(I64, 1))
	sel, hashes, dst := make(Sel, n), make([]uint64, n), New(Bytes, n)
	idx := []uint32{0, 1, 2}
	Gather(dst, w, idx)
	allocs := testing.AllocsPerRun(10, func() {
		out := SelectCompare(Lt, v, c, n, nil, sel)
		Hash(hashes, v, n, out, false)
		Hash(hashes, w, n, out, true)
		Gather(dst, w, idx)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestHashSpread(t *testing.T) {
	// Distinct keys of common shapes must not collide, nor crowd into few buckets.
	seen := map[uint64]string{}
	buckets := make([]int, 1024)
	add := func(key string, h uint64) {
		if other, ok := seen[h]; ok && other != key {
			t.Fatalf("%q and %q collide", key, other)
		}
		seen[h] = key
		buckets[h>>54]++
	}
	for i := range 200_000 {
		add(fmt.Sprint("i", i), HashInt64(int64(i)))
	}
	for i := range 100_000 {
		for _, format := range []string{"%d", "k%05d", "Customer#%09d", "a long key with a number %d in it"} {
			s := fmt.Sprintf(format, i)
			add(s, HashBytes([]byte(s)))
		}
	}
	mean := len(seen) / len(buckets)
	for i, n := range buckets {
		if n < mean*3/4 || n > mean*5/4 {
			t.Errorf("bucket %d holds %d of about %d", i, n, mean)
		}
	}
}
