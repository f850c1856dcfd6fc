package decimal

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/weftdb/weft/internal/sqlerr"
)

// answer evaluates a golden case and prints it as the golden file does.
func answer(c []string) string {
	show := func(v any, err error) string {
		var e *sqlerr.Error
		switch {
		case errors.As(err, &e):
			return fmt.Sprintf("ERROR %s %s", e.Code, e.Message)
		case err != nil:
			return fmt.Sprintf("ERROR 22P02 invalid input syntax for type numeric: %q", c[1])
		}
		return fmt.Sprint(v)
	}
	if c[0] == "fromfloat8" {
		f, _ := strconv.ParseFloat(c[1], 64)
		return FromFloat64(f).String()
	}
	a, err := Parse(c[1])
	if err != nil || c[0] == "parse" {
		return show(a, err)
	}
	var b Decimal
	if len(c) > 2 {
		b, _ = Parse(c[2])
	}
	n, _ := b.Int64()
	switch c[0] {
	case "+":
		return a.Add(b).String()
	case "-":
		return a.Sub(b).String()
	case "*":
		return a.Mul(b).String()
	case "/":
		return show(a.Quo(b))
	case "%":
		return show(a.Rem(b))
	case "div":
		return show(a.QuoInt(b))
	case "cmp":
		return fmt.Sprint(min(max(a.Cmp(b), -1), 1))
	case "power":
		return show(a.Power(b))
	case "log":
		return show(b.Log(a))
	case "sqrt":
		return show(a.Sqrt())
	case "ln":
		return show(a.Ln())
	case "exp":
		return show(a.Exp())
	case "ceil":
		return a.Ceil().String()
	case "floor":
		return a.Floor().String()
	case "trim_scale":
		return a.TrimScale().String()
	case "-u":
		return a.Neg().String()
	case "abs":
		return a.Abs().String()
	case "round":
		return a.Round(int(n)).String()
	case "trunc":
		return a.Trunc(int(n)).String()
	case "float8":
		return fmt.Sprint(a.Float64())
	case "int8":
		i, ok := a.Int64()
		switch {
		case a.IsNaN():
			return "ERROR 0A000 cannot convert NaN to bigint"
		case a.IsInf():
			return "ERROR 0A000 cannot convert infinity to bigint"
		case !ok:
			return "ERROR 22003 bigint out of range"
		}
		return fmt.Sprint(i)
	}
	return "unknown case"
}

func randomDecimal(r *rand.Rand) Decimal {
	switch r.IntN(30) {
	case 0:
		return NaN
	case 1:
		return Inf
	case 2:
		return NegInf
	case 3:
		return Decimal{scale: uint16(r.IntN(5))}
	}
	m := new(big.Int).SetUint64(r.Uint64() >> r.UintN(64))
	for range r.IntN(4) {
		m.Mul(m, new(big.Int).SetUint64(r.Uint64()>>r.UintN(64)))
	}
	if r.IntN(3) == 0 {
		m.Mul(m, bigPow10(r.IntN(9)))
	}
	if r.IntN(2) == 0 {
		m.Neg(m)
	}
	return FromBig(m, r.IntN(30))
}

func (d Decimal) rat() *big.Rat {
	x := new(big.Rat).SetFrac(d.mag(), bigPow10(int(d.scale)))
	if d.neg {
		x.Neg(x)
	}
	return x
}

func TestAgainstRat(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		a, b := randomDecimal(r), randomDecimal(r)
		if !a.IsFinite() || !b.IsFinite() {
			continue
		}
		check := func(op string, got Decimal, want *big.Rat) {
			if got.rat().Cmp(want) != 0 {
				t.Fatalf("%v %s %v = %v, want %v", a, op, b, got, want.FloatString(40))
			}
		}
		check("+", a.Add(b), new(big.Rat).Add(a.rat(), b.rat()))
		check("-", a.Sub(b), new(big.Rat).Sub(a.rat(), b.rat()))
		check("*", a.Mul(b), new(big.Rat).Mul(a.rat(), b.rat()))
		if got, want := a.Cmp(b), a.rat().Cmp(b.rat()); got != want {
			t.Fatalf("cmp(%v, %v) = %d", a, b, got)
		}
		if !b.IsZero() {
			q, _ := a.Quo(b)
			exact := new(big.Rat).Quo(a.rat(), b.rat())
			diff := new(big.Rat).Sub(exact, q.rat())
			if diff.Abs(diff).Cmp(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Mul(big.NewInt(2), bigPow10(q.Scale())))) > 0 {
				t.Fatalf("%v / %v = %v", a, b, q)
			}
			quo, _ := a.QuoInt(b)
			rem, _ := a.Rem(b)
			check("div·b+mod", quo.Mul(b).Add(rem), a.rat())
		}
		scale := r.IntN(40) - 10
		round, trunc := a.Round(scale), a.Trunc(scale)
		unit := new(big.Rat).SetInt(bigPow10(max(-scale, 0)))
		if scale > 0 {
			unit.SetFrac(big.NewInt(1), bigPow10(scale))
		}
		if d := new(big.Rat).Sub(a.rat(), trunc.rat()); d.Abs(d).Cmp(unit) >= 0 || trunc.rat().Cmp(a.rat())*a.Sign() > 0 {
			t.Fatalf("trunc(%v, %d) = %v", a, scale, trunc)
		}
		if d := new(big.Rat).Sub(a.rat(), round.rat()); d.Abs(d).Mul(d, big.NewRat(2, 1)).Cmp(unit) > 0 {
			t.Fatalf("round(%v, %d) = %v", a, scale, round)
		}
	}
}

func TestRoundTrips(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		a, b := randomDecimal(r), randomDecimal(r)
		if r.IntN(4) == 0 && a.IsFinite() {
			b = a.Round(a.Scale() + r.IntN(4))
		}
		ab := AppendBytes(nil, a)
		if back := FromBytes(ab); back.Cmp(a) != 0 || back.Scale() != a.Scale() || back.String() != a.String() {
			t.Fatalf("bytes of %v read back as %v", a, back)
		}
		if back, err := Parse(a.String()); err != nil || back.Cmp(a) != 0 || back.Scale() != a.Scale() {
			t.Fatalf("text of %v read back as %v %v", a, back, err)
		}
		ka, kb := AppendSortKey(nil, a), AppendSortKey(nil, b)
		c := a.Cmp(b)
		if kc := bytes.Compare(ka, kb); kc != min(max(c, -1), 1) {
			t.Fatalf("%v %v: cmp %d, keys %d: % x % x", a, b, c, kc, ka, kb)
		}
		if (Hash(a) == Hash(b)) != (c == 0) {
			t.Fatalf("hash of %v and %v", a, b)
		}
		if back, rest, ok := FromSortKey(append(ka, 'x')); !ok || len(rest) != 1 || back.Cmp(a) != 0 || back.Scale() != a.MinScale() {
			t.Fatalf("key of %v read back as %v", a, back)
		}
		if !a.IsFinite() {
			continue
		}
		digits, weight := AppendBase10000(nil, a)
		sum := new(big.Rat)
		for i, d := range digits {
			p := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10000), big.NewInt(int64(max(weight-i, i-weight))), nil))
			if weight < i {
				p.Inv(p)
			}
			sum.Add(sum, p.Mul(p, big.NewRat(int64(d), 1)))
		}
		if sum.Cmp(a.Abs().rat()) != 0 {
			t.Fatalf("base 10000 of %v: %v weight %d", a, digits, weight)
		}
	}
}

func randomInt128(r *rand.Rand) Int128 {
	x := Int128{r.Uint64(), int64(r.Uint64())}
	n := r.UintN(128)
	q, _ := x.QuoRem(Int128{1 << (n & 63), 0})
	if n >= 64 {
		q = Int128{uint64(x.Hi) >> (n & 63), 0}
	}
	switch r.IntN(20) {
	case 0:
		return MinInt128
	case 1:
		return MaxInt128
	case 2:
		return Int128From(int64(r.IntN(3) - 1))
	}
	return q
}

func (x Int128) bigInt() *big.Int {
	z := new(big.Int).Lsh(big.NewInt(x.Hi), 64)
	return z.Add(z, new(big.Int).SetUint64(x.Lo))
}

func TestInt128(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	lo, hi := MinInt128.bigInt(), MaxInt128.bigInt()
	fits := func(z *big.Int) bool { return z.Cmp(lo) >= 0 && z.Cmp(hi) <= 0 }
	for range 50000 {
		x, y := randomInt128(r), randomInt128(r)
		a, b := x.bigInt(), y.bigInt()
		check := func(op string, got Int128, ok bool, want *big.Int) {
			if ok != fits(want) || ok && got.bigInt().Cmp(want) != 0 {
				t.Fatalf("%v %s %v = %v %v, want %v", a, op, b, got, ok, want)
			}
		}
		z, ok := x.AddChecked(y)
		check("+", z, ok, new(big.Int).Add(a, b))
		z, ok = x.SubChecked(y)
		check("-", z, ok, new(big.Int).Sub(a, b))
		z, ok = x.MulChecked(y)
		check("*", z, ok, new(big.Int).Mul(a, b))
		if ok && z != x.Mul(y) {
			t.Fatalf("mul %v %v", a, b)
		}
		z = Mul64(int64(x.Lo), int64(y.Lo))
		if z.bigInt().Cmp(new(big.Int).Mul(big.NewInt(int64(x.Lo)), big.NewInt(int64(y.Lo)))) != 0 {
			t.Fatalf("mul64 %v %v", a, b)
		}
		if y.Sign() != 0 && !(x == MinInt128 && y == Int128From(-1)) {
			q, m := x.QuoRem(y)
			bq, bm := new(big.Int).QuoRem(a, b, new(big.Int))
			check("/", q, true, bq)
			check("%", m, true, bm)
			d := x.DivRound(y)
			twice := new(big.Int).Sub(new(big.Int).Mul(d.bigInt(), b), a)
			if twice.Abs(twice).Lsh(twice, 1).CmpAbs(b) > 0 {
				t.Fatalf("%v / %v rounded = %v", a, b, d)
			}
		}
		if x.Cmp(y) != a.Cmp(b) || x.Less(y) != (a.Cmp(b) < 0) || x.Sign() != a.Sign() {
			t.Fatalf("compare %v %v", a, b)
		}
		if x.String() != a.String() {
			t.Fatalf("%v prints as %s", a, x)
		}
		n := r.IntN(40)
		if x.FitsDigits(n) != (new(big.Int).Abs(a).Cmp(bigPow10(n)) < 0) {
			t.Fatalf("%v fits %d", a, n)
		}
		d := FromInt128(x, 7)
		if back, ok := d.Int128(7); !ok || back != x {
			t.Fatalf("%v back as %v", x, back)
		}
		to := r.IntN(60)
		got, ok := x.Rescale(7, to)
		want, ok2 := d.Round(to).Int128(to)
		if ok != ok2 || ok && got != want {
			t.Fatalf("rescale %v to %d: %v %v %v %v", x, to, got, ok, want, ok2)
		}
	}
}
