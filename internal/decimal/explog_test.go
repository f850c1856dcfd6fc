package decimal

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/apd/v3"
)

// TestExpLog compares exp and ln with another implementation, at many scales.
func TestExpLog(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		scale, digits := random.IntN(150), 1+random.IntN(60)
		text := strings.Builder{}
		for i := range digits {
			text.WriteByte(byte('0' + random.IntN(10)))
			if i == digits-1-random.IntN(digits) && !strings.Contains(text.String(), ".") {
				text.WriteByte('.')
			}
		}
		text.WriteByte('1')
		d, err := Parse(text.String())
		if err != nil {
			t.Fatal(err)
		}
		x, _, err := apd.NewFromString(text.String())
		if err != nil {
			t.Fatal(err)
		}
		c := apd.BaseContext.WithPrecision(uint32(scale + 150))
		c.Rounding = apd.RoundHalfUp
		var r apd.Decimal
		if _, err := c.Ln(&r, x); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Quantize(&r, &r, int32(-scale)); err != nil {
			t.Fatal(err)
		}
		if got, want := d.lnScale(scale), r.Text('f'); got.Cmp(must(Parse(want))) != 0 || got.Scale() != scale {
			t.Fatalf("ln(%s) to %d digits:\n got %s\nwant %s", text.String(), scale, got, want)
		}
		d = must(d.Rem(FromInt64(300)))
		for _, neg := range []bool{false, true} {
			if neg {
				d = d.Neg()
			}
			x, _, _ = apd.NewFromString(d.String())
			if _, err := c.Exp(&r, x); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Quantize(&r, &r, int32(-scale)); err != nil {
				t.Fatal(err)
			}
			got, err := d.expScale(scale)
			if want := r.Text('f'); err != nil || got.Cmp(must(Parse(want))) != 0 || got.Scale() != scale {
				t.Fatalf("exp(%s) to %d digits:\n got %s, %v\nwant %s", d, scale, got, err, want)
			}
		}
	}
}

// TestExpLogInverse goes there and back at sizes and precisions that series reach slowly.
func TestExpLogInverse(t *testing.T) {
	for _, text := range []string{"5999.5", "3000", "0.001", "1", "700.123456789"} {
		d := must(Parse(text))
		for _, scale := range []int{20, 1000, 4000} {
			e, err := d.expScale(scale)
			if err != nil {
				t.Fatal(err)
			}
			if back := e.lnScale(scale); back.Sub(d).Abs().Cmp(FromScaledInt64(1, scale)) > 0 {
				t.Errorf("ln(exp(%s)) to %d digits is off: %.80s", text, scale, back)
			}
		}
	}
}

func must(d Decimal, err error) Decimal {
	if err != nil {
		panic(err)
	}
	return d
}

func BenchmarkExpLog(b *testing.B) {
	d := must(Parse("12.345"))
	b.Run("exp", func(b *testing.B) {
		for b.Loop() {
			d.Exp()
		}
	})
	b.Run("ln", func(b *testing.B) {
		for b.Loop() {
			d.Ln()
		}
	})
}
