package decimal

import "math/big"

// Round returns d with scale fraction digits, rounding half away from zero or adding zeros. A
// negative scale rounds before the point and leaves a display scale of 0.
func (d Decimal) Round(scale int) Decimal { return d.toScale(scale, roundHalf) }

// Trunc is Round towards zero.
func (d Decimal) Trunc(scale int) Decimal { return d.toScale(scale, roundDown) }

// Ceil returns the smallest integer not less than d.
func (d Decimal) Ceil() Decimal {
	if d.neg {
		return d.toScale(0, roundDown)
	}
	return d.toScale(0, roundUp)
}

// Floor returns the largest integer not greater than d.
func (d Decimal) Floor() Decimal {
	if d.neg {
		return d.toScale(0, roundUp)
	}
	return d.toScale(0, roundDown)
}

// rounding says what to do with the magnitude's cut-off digits.
type rounding uint8

const (
	roundHalf rounding = iota
	roundDown
	roundUp
)

func (d Decimal) toScale(scale int, mode rounding) Decimal {
	if d.kind != finite || scale == int(d.scale) {
		return d
	}
	scale = max(min(scale, MaxScale), -MaxWhole)
	cut := int(d.scale) - scale
	if cut < 0 {
		return d.extend(-cut)
	}
	display := max(scale, 0)
	if cut > d.digits() && mode != roundUp {
		return Decimal{scale: uint16(display)} // |d| is below a tenth of the last kept digit
	}
	var r Decimal
	if d.big == nil && cut <= MaxPow10 {
		p := pow10[cut]
		hi, lo := divMode(d.hi, d.lo, p, mode)
		r = Decimal{lo: lo, hi: hi, neg: d.neg && hi|lo != 0}
	} else {
		r = fromMag(divModeBig(d.mag(), bigPow10(cut), mode), 0, d.neg)
	}
	if scale < 0 {
		r = r.extend(-scale)
	}
	r.scale = uint16(display)
	return r
}

func divMode(hi, lo uint64, p Int128, mode rounding) (qhi, qlo uint64) {
	if mode == roundHalf {
		return udivRound(hi, lo, uint64(p.Hi), p.Lo)
	}
	qhi, qlo, rhi, rlo := udiv128(hi, lo, uint64(p.Hi), p.Lo)
	if mode == roundUp && rhi|rlo != 0 {
		if qlo++; qlo == 0 {
			qhi++
		}
	}
	return qhi, qlo
}

func divModeBig(a, b *big.Int, mode rounding) *big.Int {
	if mode == roundHalf {
		return divRoundBig(a, b)
	}
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if mode == roundUp && r.Sign() != 0 {
		q.Add(q, smallBigPow10[0])
	}
	return q
}

// extend multiplies the magnitude by 10^n and raises the scale by n.
func (d Decimal) extend(n int) Decimal {
	scale := d.scale + uint16(n)
	if d.big == nil && n <= MaxPow10 {
		if hi, lo, ok := umul128(d.hi, d.lo, uint64(pow10[n].Hi), pow10[n].Lo); ok {
			return Decimal{lo: lo, hi: hi, neg: d.neg, scale: scale}
		}
	}
	if d.IsZero() {
		return Decimal{scale: scale}
	}
	return fromMag(new(big.Int).Mul(d.mag(), bigPow10(n)), int(scale), d.neg)
}

// TrimScale drops trailing fraction zeros.
func (d Decimal) TrimScale() Decimal { return d.Round(d.MinScale()) }

// MinScale returns the fewest fraction digits that represent d exactly.
func (d Decimal) MinScale() int {
	if d.kind != finite || d.scale == 0 {
		return 0
	}
	if d.IsZero() {
		return 0
	}
	lo, hi := 0, int(d.scale) // smallest scale that keeps the value, by bisection
	for lo < hi {
		mid := (lo + hi) / 2
		if d.Trunc(mid).cmpMag(d) == 0 {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// CheckLimits returns ErrOverflow for a number of more digits than numeric can hold.
func (d Decimal) CheckLimits() error {
	if d.kind == finite && d.WholeDigits() > MaxWhole {
		return ErrOverflow
	}
	return nil
}
