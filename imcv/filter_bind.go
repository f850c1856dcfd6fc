package imcv

import (
	"math"

	"github.com/weftdb/weft/vector"
)

// outcome is what a conjunct says about a unit.
type outcome uint8

const (
	someRows   outcome = iota
	noRows             // no row passes
	allRows            // every row passes
	validRows          // every row with a value passes
	nullRows           // every NULL passes
	byRange            // codes within a range pass
	byFlags            // codes with a flag pass
	bySpelling         // strings spelt in one of these ways pass
	byMatch            // strings that match a pattern pass
)

// boundTest is a conjunct made ready for one unit.
type boundTest struct {
	outcome outcome
	unit    *unit
	codes   *ints
	// Codes low … low+span pass, modulo the codes' width. Where codes lie on a slope these are values.
	low, span uint64
	flags     []uint8
	nulls     bool // NULL passes
	spellings [][]uint16
	match     *likeTest
}

// bind makes a conjunct ready for a unit; false when the unit's encoding cannot answer it.
func (c *conjunct) bind(u *unit) (boundTest, bool) {
	b := boundTest{unit: u}
	if c.null != noNullTest {
		b.outcome = nullOutcome(u, c.null)
		return b, true
	}
	if c.test != nil {
		if c.test.excludes(u.zone) {
			b.outcome = noRows
			return b, true
		}
		if ok := b.compare(c.test); ok {
			return b, true
		}
	}
	if _, ok := u.values.(*symbols); ok && c.match != nil {
		c.match.reset()
		b.outcome, b.match = byMatch, c.match
		return b, true
	}
	if d, ok := u.values.(*dictionary); ok && c.values != nil {
		return b, b.perValue(d, c.values)
	}
	return b, false
}

func nullOutcome(u *unit, t nullTest) outcome {
	switch {
	case u.zone.Nulls == 0 && t == isNotNull, u.zone.Nulls == u.zone.Rows && t == isNull:
		return allRows
	case u.zone.Nulls == 0, u.zone.Nulls == u.zone.Rows:
		return noRows
	case t == isNull:
		return nullRows
	}
	return validRows
}

// compare binds a comparison with known values.
func (b *boundTest) compare(t *zoneTest) bool {
	if b.unit.zone.Min.Null {
		return false // bounds are unknown, so the representation has no order
	}
	switch x := b.unit.values.(type) {
	case *constant:
		// The bounds are the value: what they do not exclude passes.
		b.outcome = b.withoutNulls()
		return true
	case *integers:
		return b.ranges(t, x.ints, b.unit.zone.Min.I, b.unit.zone.Max.I, func(k int64, d vector.Datum) int { return order(k, d.I) })
	case *narrow:
		return b.ranges(t, x.ints, b.unit.zone.Min.I, b.unit.zone.Max.I, func(k int64, d vector.Datum) int {
			return vector.Int128{Lo: uint64(k), Hi: k >> 63}.Cmp(d.Int128())
		})
	case *scaled:
		value := func(k int64) float64 { return float64(k) / x.divisor }
		if x.kind == vector.F32 {
			value = func(k int64) float64 { return float64(float32(float64(k) / x.divisor)) }
		}
		low, high := math.RoundToEven(b.unit.zone.Min.F*x.divisor), math.RoundToEven(b.unit.zone.Max.F*x.divisor)
		return b.ranges(t, x.ints, int64(low), int64(high), func(k int64, d vector.Datum) int {
			if d.F != d.F {
				return -1 // NaN is the greatest, and no decimal
			}
			return order(value(k), d.F)
		})
	case *dictionary:
		return b.ranges(t, x.codes, 0, int64(x.dict.Len-1), func(k int64, d vector.Datum) int {
			return vector.CompareRows(x.dict, int(k), vector.ConstOf(d), 0)
		})
	case *symbols:
		return b.spelt(t, x)
	}
	return false
}

func order[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// withoutNulls is the outcome when all values pass.
func (b *boundTest) withoutNulls() outcome {
	if b.unit.zone.Nulls == 0 {
		return allRows
	}
	return validRows
}

// ranges binds a comparison to a sequence whose integers, low … high, ascend with the values they stand
// for; compare says how the value of an integer compares with another.
func (b *boundTest) ranges(t *zoneTest, s *ints, low, high int64, compare func(k int64, d vector.Datum) int) bool {
	b.codes = s
	if t.op == "in" {
		return b.oneOf(t, s, low, high, compare)
	}
	value := t.values[0]
	if value.Null {
		b.outcome = noRows
		return true
	}
	// first is the first integer at or above the value, after the first above it, as distances from low.
	span := uint64(high) - uint64(low)
	if span == math.MaxUint64 {
		return false // there is no distance behind the last
	}
	first := searchFrom(low, span, func(k int64) bool { return compare(k, value) >= 0 })
	after := searchFrom(low, span, func(k int64) bool { return compare(k, value) > 0 })
	from, to := uint64(0), span // inclusive; empty when there is nothing at all
	none := false
	switch t.op {
	case "<":
		none, to = first == 0, first-1
	case "<=":
		none, to = after == 0, after-1
	case ">":
		none, from = after > span, after
	case ">=":
		none, from = first > span, first
	case "=", "<>":
		none, from, to = first == after, first, after-1
	case "between":
		after = searchFrom(low, span, func(k int64) bool { return compare(k, t.values[1]) > 0 })
		none, from, to = first >= after, first, after-1
	}
	if t.op == "<>" {
		b.except(none, s, low+int64(from), low+int64(to))
		return true
	}
	if none {
		b.outcome = noRows
		return true
	}
	b.within(s, low+int64(from), low+int64(to), from == 0 && to == span)
	return true
}

// searchFrom returns the smallest distance from low for which a monotone condition holds, span+1 if there
// is none; span is not the largest.
func searchFrom(low int64, span uint64, ok func(k int64) bool) uint64 {
	a, z := uint64(0), span
	if !ok(low + int64(span)) {
		return span + 1
	}
	for a < z {
		mid := a + (z-a)/2
		if ok(low + int64(mid)) {
			z = mid
		} else {
			a = mid + 1
		}
	}
	return a
}

// within lets values low … high pass.
func (b *boundTest) within(s *ints, low, high int64, all bool) {
	if all || s.width == 0 && s.slope == 0 {
		if all || low <= s.base && s.base <= high {
			b.outcome = b.withoutNulls()
		} else {
			b.outcome = noRows
		}
		return
	}
	b.outcome = byRange
	first, last, ok := s.codeRange(low, high)
	if !ok {
		b.outcome = noRows
		return
	}
	b.low, b.span = first, last-first
}

// codeRange returns the codes of values low … high, values themselves on a slope.
func (s *ints) codeRange(low, high int64) (first, last uint64, ok bool) {
	if s.slope != 0 {
		return uint64(low), uint64(high), true
	}
	first, last = uint64(low)-uint64(s.base), uint64(high)-uint64(s.base)
	if s.step != 1 {
		step := uint64(s.step)
		up := uint64(0)
		if first%step != 0 {
			up = 1
		}
		first, last = first/step+up, last/step
		if first > last {
			return 0, 0, false
		}
	}
	return first, last, true
}

// except lets all values but low … high pass, which are equal to one value: of floats, zero has two. absent =
// the sequence holds none.
func (b *boundTest) except(absent bool, s *ints, low, high int64) {
	b.outcome = b.withoutNulls()
	if absent {
		return
	}
	first, last, ok := s.codeRange(low, high)
	switch {
	case !ok:
	case s.width == 0 && s.slope == 0:
		b.outcome = noRows
	default:
		// Counted modulo the width, the others begin behind them and end before them.
		b.outcome, b.low, b.span = byRange, last+1, math.MaxUint64-1-(last-first)
	}
}

// maxFlagBytes bounds the tables of flags per code.
const maxFlagBytes = 1 << 16

// oneOf binds IN.
func (b *boundTest) oneOf(t *zoneTest, s *ints, low, high int64, compare func(k int64, d vector.Datum) int) bool {
	span := uint64(high) - uint64(low)
	if s.slope != 0 || s.width > 2 {
		return false
	}
	b.flags = make([]uint8, 1<<(8*s.width))
	any := false
	for _, d := range t.values {
		if d.Null {
			continue
		}
		at := searchFrom(low, span, func(k int64) bool { return compare(k, d) >= 0 })
		for ; at <= span && compare(low+int64(at), d) == 0; at++ { // of floats, zero has two
			if code, _, ok := s.codeRange(low+int64(at), low+int64(at)); ok {
				b.flags[code&uint64(len(b.flags)-1)] = 1
				any = true
			}
		}
	}
	switch {
	case !any:
		b.outcome = noRows
	case s.width == 0:
		b.outcome = b.withoutNulls()
	default:
		b.outcome = byFlags
	}
	return true
}

// spelt binds equality with strings: equal strings are spelt alike.
func (b *boundTest) spelt(t *zoneTest, x *symbols) bool {
	if t.op != "=" && t.op != "in" || len(t.values) > maxSpellings {
		return false
	}
	encoder := x.alphabet.trainer()
	for _, d := range t.values {
		if !d.Null {
			b.spellings = append(b.spellings, encoder.encode(nil, []byte(d.S)))
		}
	}
	b.outcome = bySpelling
	if len(b.spellings) == 0 {
		b.outcome = noRows
	}
	return true
}

// maxSpellings is how many strings are compared one after the other.
const maxSpellings = 4

// perValue asks a condition on one column once per entry of the unit's dictionary.
func (b *boundTest) perValue(d *dictionary, f *valueFilter) bool {
	if d.dict.Len > maxFlagBytes || d.dict.Len*4 > b.unit.rows {
		return false
	}
	flags, onNull, ok := f.test(d.dict)
	if !ok {
		return false
	}
	b.codes, b.nulls = d.codes, onNull && b.unit.valid != nil
	first, count := len(flags), 0
	for i, flag := range flags {
		if flag != 0 {
			first = min(first, i)
			count++
		}
	}
	switch {
	case count == 0 && b.nulls:
		b.outcome = nullRows
	case count == 0:
		b.outcome = noRows
	case count == len(flags) && (b.nulls || b.unit.zone.Nulls == 0):
		b.outcome = allRows
	case count == len(flags):
		b.outcome = validRows
	case !b.nulls && first+count <= len(flags) && allSet(flags[first:first+count]):
		b.within(d.codes, int64(first), int64(first+count-1), false)
	case d.codes.width > 2 || d.codes.base != 0 || d.codes.step != 1 || d.codes.slope != 0:
		return false
	default:
		b.outcome = byFlags
		b.flags = make([]uint8, 1<<(8*d.codes.width))
		copy(b.flags, flags)
	}
	return true
}

func allSet(flags []uint8) bool {
	for _, f := range flags {
		if f == 0 {
			return false
		}
	}
	return true
}
