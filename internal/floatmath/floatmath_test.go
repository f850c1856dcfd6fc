package floatmath

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/cockroachdb/apd/v3"
)

// exactly computes a function to 40 digits and rounds it to a float64.
func exactly(t *testing.T, f func(c *apd.Context, r *apd.Decimal) (apd.Condition, error)) float64 {
	t.Helper()
	c := apd.BaseContext.WithPrecision(40)
	c.Traps = 0
	var r apd.Decimal
	if _, err := f(c, &r); err != nil {
		t.Fatal(err)
	}
	x, err := strconv.ParseFloat(r.String(), 64)
	if err != nil && !math.IsInf(x, 0) {
		t.Fatal(err)
	}
	return x
}

func decimalOf(x float64) *apd.Decimal {
	d, _, err := apd.NewFromString(strconv.FormatFloat(x, 'e', 45, 64))
	if err != nil {
		panic(err)
	}
	return d
}

// TestRounding compares with 40-digit results: nearly all must be the nearest float, and none may
// be more than one away.
func TestRounding(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	wrong := map[string]int{}
	const rounds = 200
	check := func(name string, got, want float64) {
		t.Helper()
		if got == want {
			return
		}
		if wrong[name]++; math.Nextafter(got, want) != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	for range rounds {
		x := math.Exp((random.Float64() - 0.5) * 1400)
		check("ln", Log(x), exactly(t, func(c *apd.Context, r *apd.Decimal) (apd.Condition, error) { return c.Ln(r, decimalOf(x)) }))
		check("log10", Log10(x), exactly(t, func(c *apd.Context, r *apd.Decimal) (apd.Condition, error) { return c.Log10(r, decimalOf(x)) }))
		near := 1 + (random.Float64()-0.5)/8
		check("ln", Log(near), exactly(t, func(c *apd.Context, r *apd.Decimal) (apd.Condition, error) { return c.Ln(r, decimalOf(near)) }))
		y := (random.Float64() - 0.5) * 1400
		check("exp", Exp(y), exactly(t, func(c *apd.Context, r *apd.Decimal) (apd.Condition, error) { return c.Exp(r, decimalOf(y)) }))
		base, power := math.Exp((random.Float64()-0.5)*10), (random.Float64()-0.5)*200
		check("pow", Pow(base, power), exactly(t, func(c *apd.Context, r *apd.Decimal) (apd.Condition, error) {
			return c.Pow(r, decimalOf(base), decimalOf(power))
		}))
	}
	for name, n := range wrong {
		if n > rounds/50 {
			t.Errorf("%s: %d of %d results are not the nearest float", name, n, rounds)
		}
	}
}

// TestExact checks results that are exact, or at the ends of the range.
func TestExact(t *testing.T) {
	for n := -300; n <= 300; n++ {
		x, _ := strconv.ParseFloat("1e"+strconv.Itoa(n), 64)
		if got := Log10(x); got != float64(n) {
			t.Errorf("log10(1e%d) = %v", n, got)
		}
		if got := Pow(10, float64(n)); got != x {
			t.Errorf("10^%d = %v", n, got)
		}
	}
	for i := 1.0; i < 2000; i++ {
		if got := Pow(i*i, 0.5); got != i {
			t.Errorf("%v^0.5 = %v", i*i, got)
		}
		if got := Pow(-i, 3); got != -i*i*i {
			t.Errorf("(-%v)^3 = %v", i, got)
		}
	}
	for _, test := range []struct{ got, want float64 }{
		{Exp(709.78), 1.7928227943945155e308}, {Exp(709.79), math.Inf(1)}, {Exp(-745.13), 5e-324}, {Exp(-745.2), 0}, {Exp(0), 1}, {Exp(1), math.E},
		{Log(5e-324), -744.4400719213812}, {Log(math.MaxFloat64), 709.782712893384}, {Log(1), 0}, {Log10(5e-324), -323.3062153431158},
		{Pow(2, 1023), 0x1p1023}, {Pow(2, 1024), math.Inf(1)}, {Pow(2, -1074), 0x1p-1074}, {Pow(2, -1080), 0}, {Pow(-2, 1025), math.Inf(-1)},
		{Pow(0.5, 1e300), 0}, {Pow(1.5, 1e300), math.Inf(1)}, {Pow(1, 1e300), 1}, {Pow(-1, 1e300), 1}, {Pow(-1, 4503599627370497), -1},
		{Sinh(710), 1.1169973830808555e308}, {Cosh(-710), 1.1169973830808555e308}, {Sinh(-710), -1.1169973830808555e308}, {Sinh(711), math.Inf(1)}, {Sinh(30), 5343237290762.231},
		{Pow(0, -1), math.Inf(1)}, {Pow(7, 0), 1}, {Pow(math.Inf(1), -1), 0}, {Pow(-8, 2), 64},
	} {
		if test.got != test.want {
			t.Errorf("got %v, want %v", test.got, test.want)
		}
	}
	for _, x := range []float64{Log(-1), Log10(-1), Pow(-2, 0.5), Exp(math.NaN()), Pow(math.NaN(), 1)} {
		if x == x {
			t.Errorf("got %v, want NaN", x)
		}
	}
}

func Benchmark(b *testing.B) {
	x, y := 1.2345, 6.789
	for name, f := range map[string]func() float64{
		"exp": func() float64 { return Exp(y) }, "ln": func() float64 { return Log(y) }, "log10": func() float64 { return Log10(y) }, "pow": func() float64 { return Pow(x, y) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
	}
}
