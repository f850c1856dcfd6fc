package expr

import (
	"math"
	"math/bits"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/vector"
)

// exactSum is sum or avg over integers and numerics. Sums are 128-bit integers of one scale; what
// may not fit is moved to decimals in time.
type exactSum struct {
	avg   bool
	arg   catalog.Type
	typ   catalog.Type
	scale int
	sums  []decimal.Int128
	count []int64
	// bound is above the magnitude of every sum; before it passes 2^126 the sums go to wide.
	bound float64
	wide  []decimal.Decimal // nil while unused
	shown []uint8           // largest display scale per group, nil while all rows have scale
	buf   vector.Vector
	val   vector.Vector
	rows  vector.Sel
}

func (a *exactSum) Grow(groups int) {
	a.sums, a.count = grow(a.sums, groups), grow(a.count, groups)
	if a.wide != nil {
		a.wide = grow(a.wide, groups)
	}
	if a.shown != nil {
		a.shown = grow(a.shown, groups)
	}
}

func (a *exactSum) Update(groups []uint32, args []*vector.Vector, n int, sel vector.Sel) error {
	v := args[0]
	x := numbers{scale: int(a.arg.Scale)}
	switch {
	case v.Form == vector.Const && v.IsNull(0):
		return nil
	case v.Form != vector.Flat && v.Kind != vector.Bytes:
		v = vector.Flatten(&a.buf, v, n)
	case v.Form == vector.Dict:
		v = vector.Flatten(&a.buf, v, n)
	}
	if a.arg.IsInteger() {
		v, x.size = widenInts(v, &a.val, n)
	}
	x.vec = v
	return a.updateNumbers(groups, x, n, sel)
}

// widenInts converts integers to 64 bits and returns a bound of their size, 0 for unknown.
func widenInts(v, buf *vector.Vector, n int) (*vector.Vector, int) {
	if v.Kind == vector.I64 {
		return v, 0
	}
	buf.Reset(vector.I64, n)
	out := vector.Of[int64](buf)[:n]
	buf.Valid = v.Valid
	if v.Kind == vector.I16 {
		for i, x := range vector.Of[int16](v)[:n] {
			out[i] = int64(x)
		}
		return buf, 16
	}
	for i, x := range vector.Of[int32](v)[:n] {
		out[i] = int64(x)
	}
	return buf, 32
}

func (a *exactSum) updateNumbers(groups []uint32, x numbers, n int, sel vector.Sel) error {
	if x.constNull() {
		return nil
	}
	if x.vec.Valid != nil && x.vec.Form != vector.Const {
		a.rows = vector.SelectValid(x.vec.Valid, n, sel, a.rows)
		sel = a.rows
	}
	rows := count(n, sel)
	if rows == 0 {
		return nil
	}
	if !x.fixed() {
		a.addDecimals(groups, &x, n, sel)
		return nil
	}
	if x.scale != a.scale || x.scales != nil || a.shown != nil {
		a.noteScale(groups, &x, n, sel)
	}
	up := a.scale - x.scale
	size := x.measure(n, sel) + pow10Bits(up)
	if size > 120 {
		a.addDecimals(groups, &x, n, sel)
		return nil
	}
	if a.bound += math.Ldexp(float64(rows), size); a.bound > math.Ldexp(1, 126) {
		a.flush()
		a.bound = math.Ldexp(float64(rows), size)
	}
	countRows(a.count, groups, n, sel)
	if x.vec.Form == vector.Const {
		x.vec = vector.Flatten(&a.buf, x.vec, n)
	}
	if size <= 63 {
		a.add64(groups, vector.Of[int64](x.as64(up, n, &a.val))[:n], sel, size+bits.Len(uint(rows)) <= 63)
	} else {
		a.add128(groups, vector.Of[vector.Int128](x.as128(up, n, &a.val))[:n], sel)
	}
	return nil
}

// noteScale adapts to an operand of another scale.
func (a *exactSum) noteScale(groups []uint32, x *numbers, n int, sel vector.Sel) {
	used := a.bound > 0 || a.wide != nil
	if !used && x.scales == nil && a.shown == nil {
		a.scale = x.scale
		return
	}
	a.needShown()
	if x.scale > a.scale {
		if used {
			a.flush()
		}
		a.scale = x.scale
	}
	if a.shown != nil {
		a.eachRow(groups, n, sel, func(i, g int) {
			s := uint8(x.scale)
			if x.scales != nil {
				s = x.scales[i]
			}
			a.shown[g] = max(a.shown[g], s)
		})
	}
}

// needShown starts to keep the display scale by group.
func (a *exactSum) needShown() {
	if a.shown != nil || a.typ.Prec > 0 {
		return
	}
	a.shown = make([]uint8, len(a.sums), cap(a.sums))
	for g := range a.shown {
		if a.count[g] > 0 {
			a.shown[g] = uint8(a.scale)
		}
	}
}

func (a *exactSum) eachRow(groups []uint32, n int, sel vector.Sel, f func(i, g int)) {
	for k := range count(n, sel) {
		i, g := k, 0
		if sel != nil {
			i = int(sel[k])
		}
		if groups != nil {
			g = int(groups[i])
		}
		f(i, g)
	}
}

// add64 adds int64s; small tells that their sum fits int64 too.
func (a *exactSum) add64(groups []uint32, v []int64, sel vector.Sel, small bool) {
	sums := a.sums
	switch {
	case groups == nil && small:
		sum := int64(0)
		if sel == nil {
			for _, x := range v {
				sum += x
			}
		} else {
			for _, i := range sel {
				sum += v[i]
			}
		}
		sums[0] = sums[0].Add(decimal.Int128From(sum))
	case groups == nil:
		a.eachRow(nil, len(v), sel, func(i, _ int) { sums[0] = sums[0].Add(decimal.Int128From(v[i])) })
	case sel == nil:
		for i, x := range v {
			s := &sums[groups[i]]
			lo, carry := bits.Add64(s.Lo, uint64(x), 0)
			s.Lo, s.Hi = lo, s.Hi+x>>63+int64(carry)
		}
	default:
		for _, i := range sel {
			s, x := &sums[groups[i]], v[i]
			lo, carry := bits.Add64(s.Lo, uint64(x), 0)
			s.Lo, s.Hi = lo, s.Hi+x>>63+int64(carry)
		}
	}
}

func (a *exactSum) add128(groups []uint32, v []vector.Int128, sel vector.Sel) {
	sums := a.sums
	switch {
	case groups == nil && sel == nil:
		s := sums[0]
		for _, x := range v {
			s = s.Add(x)
		}
		sums[0] = s
	case groups == nil:
		s := sums[0]
		for _, i := range sel {
			s = s.Add(v[i])
		}
		sums[0] = s
	case sel == nil:
		for i, x := range v {
			g := groups[i]
			sums[g] = sums[g].Add(x)
		}
	default:
		for _, i := range sel {
			g := groups[i]
			sums[g] = sums[g].Add(v[i])
		}
	}
}

func (a *exactSum) addDecimals(groups []uint32, x *numbers, n int, sel vector.Sel) {
	a.needWide()
	if a.scale > 0 {
		a.needShown()
	}
	a.eachRow(groups, n, sel, func(i, g int) {
		a.wide[g] = a.wide[g].Add(x.at(i))
		a.count[g]++
	})
}

func (a *exactSum) needWide() {
	if a.wide == nil {
		a.wide = make([]decimal.Decimal, len(a.sums), cap(a.sums))
	}
}

// flush moves all sums to decimals.
func (a *exactSum) flush() {
	a.needWide()
	for g := range a.sums {
		if a.count[g] > 0 {
			a.wide[g] = a.total(g)
			a.sums[g] = decimal.Int128{}
		}
	}
	a.bound = 0
}

// total returns a group's sum.
func (a *exactSum) total(g int) decimal.Decimal {
	d := decimal.FromInt128(a.sums[g], a.scale)
	if a.shown != nil {
		d = d.Round(int(a.shown[g]))
	}
	if a.wide != nil {
		d = d.Add(a.wide[g])
	}
	return d
}

func (a *exactSum) Merge(other Accumulator, mapping []uint32) error {
	o := other.(*exactSum)
	for g := range o.sums {
		if o.count[g] == 0 {
			continue
		}
		to := mapGroup(mapping, g)
		if o.wide == nil && o.shown == nil && a.shown == nil && o.scale == a.scale {
			if sum, ok := a.sums[to].AddChecked(o.sums[g]); ok {
				a.sums[to] = sum
				a.count[to] += o.count[g]
				continue
			}
		}
		if a.wide == nil {
			a.needShown()
			a.flush()
		}
		a.wide[to] = a.wide[to].Add(o.total(g))
		a.count[to] += o.count[g]
	}
	a.bound += o.bound
	return nil
}

func (a *exactSum) Result(from, to int, out *vector.Vector) error {
	if !a.avg && a.wide == nil && a.shown == nil && a.typ.ID == catalog.Numeric && a.typ.Kind() == vector.I128 &&
		int(a.typ.Scale) == a.scale && a.bound < maxPlainSum {
		a.plainSums(from, to, out)
		return nil
	}
	for g := from; g < to; g++ {
		if a.count[g] == 0 {
			vector.AppendDatum(out, vector.NullDatum(a.typ.Kind()))
			continue
		}
		d := a.total(g)
		if a.avg {
			var err error
			if d, err = d.Quo(decimal.FromInt64(a.count[g])); err != nil {
				return err
			}
		}
		if err := appendNumeric(out, a.typ, d); err != nil {
			return err
		}
	}
	return nil
}

// maxPlainSum is below what numeric(38) holds, with room for the rounding of bounds.
const maxPlainSum = 9e37

// plainSums appends sums that have the result's representation already.
func (a *exactSum) plainSums(from, to int, out *vector.Vector) {
	for g := from; g < to; g++ {
		if a.count[g] == 0 {
			vector.AppendDatum(out, vector.NullDatum(vector.I128))
			continue
		}
		at := out.Len
		vector.Append(out, a.sums[g])
		if out.Valid != nil {
			out.SetNull(at, at+1) // gives the row a bit
			out.Valid.Set(at)
		}
	}
}

// appendNumeric appends d in the form of type t.
func appendNumeric(out *vector.Vector, t catalog.Type, d decimal.Decimal) error {
	d, err := fitNumeric(t, d)
	if err != nil {
		return err
	}
	vector.AppendDatum(out, numericDatum(t, d))
	return nil
}

func (a *exactSum) SizeBytes() int {
	return cap(a.sums)*16 + cap(a.count)*8 + cap(a.wide)*48 + cap(a.shown)
}
