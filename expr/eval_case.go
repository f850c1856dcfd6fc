package expr

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// caseEval evaluates each branch for the rows that reach it.
type caseEval struct {
	kind   vector.Kind
	typ    catalog.Type
	nums   *caseNumbers // arms are numerics of varying scale
	conds  []Filter
	arms   []Evaluator // one more than conds when there is an ELSE
	sels   []vector.Sel
	rest   vector.Sel
	taken  []int16 // arm per row, -1 = NULL; Bytes results only
	values []*vector.Vector
	out    vector.Vector
}

func (c *compiler) compileCase(e *Case) (Evaluator, error) {
	out := &caseEval{kind: e.Typ.Kind(), typ: e.Typ}
	out.nums = newCaseNumbers(e.Typ)
	p := c.private()
	for i, w := range e.Whens {
		from := p
		if i == 0 {
			from = c
		}
		cond, err := from.filter(w.Cond)
		if err != nil {
			return nil, err
		}
		arm, err := p.compile(out.nums.arm(w.Result))
		if err != nil {
			return nil, err
		}
		out.conds, out.arms = append(out.conds, cond), append(out.arms, arm)
	}
	if e.Else != nil {
		arm, err := p.compile(out.nums.arm(e.Else))
		if err != nil {
			return nil, err
		}
		out.arms = append(out.arms, arm)
	}
	return out.prepare(), nil
}

func (e *caseEval) prepare() *caseEval {
	e.sels = make([]vector.Sel, len(e.arms)+1)
	e.values = make([]*vector.Vector, len(e.arms))
	return e
}

func (e *caseEval) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	if e.nums != nil {
		x, err := e.evalNumbers(b, sel)
		if err != nil {
			return nil, err
		}
		return x.toKind(e.typ, b.N, sel, &e.nums.final)
	}
	rest, err := e.split(b, sel)
	if err != nil {
		return nil, err
	}
	for k, arm := range e.arms {
		e.values[k] = nil
		if len(e.sels[k]) == 0 {
			continue
		}
		if e.values[k], err = arm.Eval(b, e.sels[k]); err != nil {
			return nil, err
		}
	}
	return e.merge(b.N, rest), nil
}

// split sorts the rows into e.sels, one per arm, and returns those that no arm takes.
func (e *caseEval) split(b *vector.Batch, sel vector.Sel) (rest vector.Sel, err error) {
	rest = vector.SelectAll(b.N, sel, e.rest)
	e.rest = rest
	for k, cond := range e.conds {
		e.sels[k] = e.sels[k][:0]
		if len(rest) == 0 {
			continue
		}
		if e.sels[k], err = cond.Select(b, rest, e.sels[k]); err != nil {
			return nil, err
		}
		rest = subtract(rest, e.sels[k])
	}
	if len(e.arms) > len(e.conds) {
		last := len(e.conds)
		e.sels[last] = append(e.sels[last][:0], rest...)
		rest = rest[:0]
	}
	return rest, nil
}

// subtract removes the rows of b, a subset, from a in place.
func subtract(a, b vector.Sel) vector.Sel {
	if len(b) == 0 {
		return a
	}
	k, j := 0, 0
	for _, i := range a {
		if j < len(b) && b[j] == i {
			j++
			continue
		}
		a[k] = i
		k++
	}
	return a[:k]
}

// merge puts the arms' values together; rest is NULL.
func (e *caseEval) merge(n int, rest vector.Sel) *vector.Vector {
	if e.kind == vector.Bytes {
		return e.mergeBytes(n, rest)
	}
	e.out.Reset(e.kind, n)
	for k, v := range e.values {
		if v == nil {
			continue
		}
		vector.Scatter(&e.out, v, e.sels[k])
		e.markNulls(v, e.sels[k], n)
	}
	for _, i := range rest {
		e.out.SetNull(int(i), n)
	}
	return &e.out
}

func (e *caseEval) markNulls(v *vector.Vector, sel vector.Sel, n int) {
	if v.Valid == nil {
		return
	}
	for _, i := range sel {
		if v.IsNull(int(i)) {
			e.out.SetNull(int(i), n)
		}
	}
}

func (e *caseEval) mergeBytes(n int, rest vector.Sel) *vector.Vector {
	if cap(e.taken) < n {
		e.taken = make([]int16, max(n, vector.BatchCap))
	}
	taken := e.taken[:n]
	for i := range taken {
		taken[i] = -1
	}
	for k, sel := range e.sels[:len(e.arms)] {
		for _, i := range sel {
			taken[i] = int16(k)
		}
	}
	e.out.Reset(vector.Bytes, n)
	for i, k := range taken {
		if k < 0 || e.values[k].IsNull(i) {
			e.out.CloseTo(i + 1)
			continue
		}
		e.out.AppendBytes(e.values[k].BytesAt(i))
	}
	for k, v := range e.values {
		if v != nil {
			e.markNulls(v, e.sels[k], n)
		}
	}
	for _, i := range rest {
		e.out.SetNull(int(i), n)
	}
	return &e.out
}

// coalesceEval returns the first argument that is not NULL.
type coalesceEval struct {
	caseEval
}

func (c *compiler) compileCoalesce(e *Coalesce) (Evaluator, error) {
	out := &coalesceEval{}
	out.kind, out.typ = e.Typ.Kind(), e.Typ
	out.nums = newCaseNumbers(e.Typ)
	p := c.private()
	for i, a := range e.Args {
		from := p
		if i == 0 {
			from = c
		}
		arm, err := from.compile(out.nums.arm(a))
		if err != nil {
			return nil, err
		}
		out.arms = append(out.arms, arm)
	}
	out.prepare()
	return out, nil
}

func (e *coalesceEval) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	if e.nums != nil {
		x, err := e.evalNumbers(b, sel)
		if err != nil {
			return nil, err
		}
		return x.toKind(e.typ, b.N, sel, &e.nums.final)
	}
	rest := vector.SelectAll(b.N, sel, e.rest)
	e.rest = rest
	for k, arm := range e.arms {
		e.values[k] = nil
		e.sels[k] = e.sels[k][:0]
		if len(rest) == 0 {
			continue
		}
		v, err := arm.Eval(b, rest)
		if err != nil {
			return nil, err
		}
		if k == 0 && v.Valid == nil && sel == nil {
			return v, nil
		}
		e.values[k] = v
		rest = e.keepNulls(k, v, rest)
	}
	return e.merge(b.N, rest), nil
}

// keepNulls gives arm k the rows where v is a value and returns the others.
func (e *coalesceEval) keepNulls(k int, v *vector.Vector, rest vector.Sel) vector.Sel {
	if v.Valid == nil {
		e.sels[k] = append(e.sels[k], rest...)
		return rest[:0]
	}
	left := 0
	for _, i := range rest {
		if v.IsNull(int(i)) {
			rest[left] = i
			left++
		} else {
			e.sels[k] = append(e.sels[k], i)
		}
	}
	return rest[:left]
}
