package expr

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// caseNumbers is what a CASE or COALESCE needs whose type is numeric without modifiers because its
// arms differ in scale (CASE … THEN price * qty ELSE 0 END): the arms stay integers, with the
// display scale of each row beside them.
type caseNumbers struct {
	types  []catalog.Type
	vals   []numbers
	bufs   []vector.Vector // flattened dictionaries
	scaled []vector.Vector // arms brought to one scale, or to byte form
	out    vector.Vector
	final  vector.Vector
	scales []uint8
}

func newCaseNumbers(t catalog.Type) *caseNumbers {
	if t != (catalog.Type{ID: catalog.Numeric}) {
		return nil
	}
	return &caseNumbers{}
}

// arm returns the expression to compile for an arm.
func (c *caseNumbers) arm(e Expr) Expr {
	if c == nil {
		return e
	}
	e = widened(e)
	if k, ok := e.(*Const); ok && !k.Value.Null && k.Typ.Prec == 0 {
		// A constant that was cast to the common type: back to the form with a fixed scale.
		d := numericOfDatum(k.Typ, k.Value)
		t := literalNumericType(d)
		e = &Const{Value: numericDatum(t, d), Typ: t}
	}
	c.types = append(c.types, e.Type())
	c.vals = append(c.vals, numbers{})
	c.bufs = append(c.bufs, vector.Vector{})
	c.scaled = append(c.scaled, vector.Vector{})
	return e
}

func (e *caseEval) evalNumbers(b *vector.Batch, sel vector.Sel) (numbers, error) {
	if e.nums == nil {
		v, err := e.Eval(b, sel)
		return numbers{vec: v, scale: int(e.typ.Scale)}, err
	}
	rest, err := e.split(b, sel)
	if err != nil {
		return numbers{}, err
	}
	c := e.nums
	for k, arm := range e.arms {
		if len(e.sels[k]) > 0 {
			if c.vals[k], err = evalNumbers(arm, c.types[k], b, e.sels[k], &c.bufs[k]); err != nil {
				return numbers{}, err
			}
		}
	}
	return e.mergeNumbers(b.N, rest)
}

func (e *coalesceEval) evalNumbers(b *vector.Batch, sel vector.Sel) (numbers, error) {
	if e.nums == nil {
		v, err := e.Eval(b, sel)
		return numbers{vec: v, scale: int(e.typ.Scale)}, err
	}
	rest := vector.SelectAll(b.N, sel, e.rest)
	e.rest = rest
	for k, arm := range e.arms {
		e.sels[k] = e.sels[k][:0]
		if len(rest) == 0 {
			continue
		}
		x, err := evalNumbers(arm, e.nums.types[k], b, rest, &e.nums.bufs[k])
		if err != nil {
			return numbers{}, err
		}
		e.nums.vals[k] = x
		rest = e.keepNulls(k, x.vec, rest)
	}
	return e.mergeNumbers(b.N, rest)
}

// mergeNumbers puts the arms together in the narrowest form that holds them all.
func (e *caseEval) mergeNumbers(n int, rest vector.Sel) (numbers, error) {
	c := e.nums
	scale, size, fixed, uniform, first := 0, 1, true, true, -1
	for k := range e.arms {
		if len(e.sels[k]) == 0 || c.vals[k].constNull() {
			continue
		}
		x := &c.vals[k]
		fixed = fixed && x.fixed()
		uniform = uniform && x.scales == nil && (first < 0 || x.scale == c.vals[first].scale)
		scale = max(scale, x.scale)
		if first < 0 {
			first = k
		}
	}
	if first < 0 {
		return numbers{vec: setNull(&c.out, vector.I64), size: 1}, nil
	}
	for k := range e.arms {
		if fixed && len(e.sels[k]) > 0 && !c.vals[k].constNull() {
			size = max(size, c.vals[k].measure(n, e.sels[k])+pow10Bits(scale-c.vals[k].scale))
		}
	}
	if !fixed || size > 127 {
		return e.mergeDecimals(n, rest)
	}
	kind := vector.I64
	if size > 63 {
		kind = vector.I128
	}
	c.out.Reset(kind, n)
	e.out.Valid = nil
	for k := range e.arms {
		e.placeNumbers(k, kind, scale, n)
	}
	for _, i := range rest {
		c.out.SetNull(int(i), n)
	}
	r := numbers{vec: &c.out, scale: scale, size: size}
	if !uniform {
		r.scales = e.armScales(n)
	}
	return r, nil
}

// placeNumbers writes arm k's rows to the result.
func (e *caseEval) placeNumbers(k int, kind vector.Kind, scale, n int) {
	c, sel := e.nums, e.sels[k]
	if len(sel) == 0 {
		return
	}
	x := &c.vals[k]
	if !x.constNull() {
		v := x.vec
		if kind == vector.I64 {
			v = x.as64(scale-x.scale, n, &c.scaled[k])
		} else {
			v = x.as128(scale-x.scale, n, &c.scaled[k])
		}
		vector.Scatter(&c.out, v, sel)
	}
	if x.vec.Valid != nil {
		for _, i := range sel {
			if x.vec.IsNull(int(i)) {
				c.out.SetNull(int(i), n)
			}
		}
	}
}

func (e *caseEval) armScales(n int) []uint8 {
	c := e.nums
	if cap(c.scales) < n {
		c.scales = make([]uint8, max(n, vector.BatchCap))
	}
	out := c.scales[:n]
	clear(out)
	for k := range e.arms {
		x := &c.vals[k]
		for _, i := range e.sels[k] {
			if x.scales != nil {
				out[i] = x.scales[i]
			} else {
				out[i] = uint8(x.scale)
			}
		}
	}
	return out
}

// mergeDecimals is mergeNumbers in byte form.
func (e *caseEval) mergeDecimals(n int, rest vector.Sel) (numbers, error) {
	c := e.nums
	for k := range e.arms {
		e.values[k] = nil
		if len(e.sels[k]) == 0 {
			continue
		}
		v, err := c.vals[k].toKind(catalog.Type{ID: catalog.Numeric}, n, e.sels[k], &c.scaled[k])
		if err != nil {
			return numbers{}, err
		}
		e.values[k] = v
	}
	return numbers{vec: e.mergeBytes(n, rest)}, nil
}
