package expr

import (
	"github.com/weftdb/weft/vector"
)

// stringRows gives loops direct access to a vector's strings.
type stringRows struct {
	offsets []int32
	heap    []byte
	step    int // 0 for a constant
}

func rowsOfStrings(v *vector.Vector) stringRows {
	s := stringRows{v.Offsets(), v.Heap(), 1}
	if v.Form == vector.Const {
		s.step = 0
	}
	return s
}

func (s *stringRows) at(i int) []byte {
	i *= s.step
	return s.heap[s.offsets[i]:s.offsets[i+1]]
}

// selectNotNull drops the rows where one of two vectors is NULL.
func selectNotNull(l, r *vector.Vector, n int, in, out vector.Sel) vector.Sel {
	out = vector.SelectAll(n, in, out)
	for _, v := range [2]*vector.Vector{l, r} {
		switch {
		case v.Valid == nil:
		case v.Form != vector.Const:
			out = vector.SelectValid(v.Valid, n, out, out)
		case v.IsNull(0):
			return out[:0]
		}
	}
	return out
}

// charFilter compares char(n) values, whose trailing blanks do not count.
type charFilter struct {
	op         vector.CmpOp
	left       Evaluator
	right      Evaluator
	lbuf, rbuf vector.Vector
}

func (f *charFilter) Select(b *vector.Batch, in, out vector.Sel) (vector.Sel, error) {
	l, err := f.left.Eval(b, in)
	if err != nil {
		return nil, err
	}
	r, err := f.right.Eval(b, in)
	if err != nil {
		return nil, err
	}
	l, r = flat(l, &f.lbuf, b.N), flat(r, &f.rbuf, b.N)
	out = selectNotNull(l, r, b.N, in, out)
	if len(out) == 0 {
		return out, nil
	}
	x, y := rowsOfStrings(l), rowsOfStrings(r)
	k := 0
	if y.step == 0 && (f.op == vector.Eq || f.op == vector.Ne) {
		want, c := f.op == vector.Eq, trimBlankBytes(y.at(0))
		for _, i := range out {
			s := x.at(int(i))
			equal := len(s) >= len(c) && string(s[:len(c)]) == string(c) && allBlank(s[len(c):])
			if equal == want {
				out[k] = i
				k++
			}
		}
		return out[:k], nil
	}
	for _, i := range out {
		if f.op.Holds(compareBytes(trimBlankBytes(x.at(int(i))), trimBlankBytes(y.at(int(i))))) {
			out[k] = i
			k++
		}
	}
	return out[:k], nil
}

func allBlank(b []byte) bool {
	for _, c := range b {
		if c != ' ' {
			return false
		}
	}
	return true
}

// likeFilter keeps the rows that match a constant pattern; other patterns go through likeEval.
type likeFilter struct{ eval *likeEval }

func (f *likeFilter) Select(b *vector.Batch, in, out vector.Sel) (vector.Sel, error) {
	e := f.eval
	l, err := e.l.Eval(b, in)
	if err != nil {
		return nil, err
	}
	r, err := e.r.Eval(b, in)
	if err != nil {
		return nil, err
	}
	l, r = flat(l, &e.lbuf, b.N), flat(r, &e.rbuf, b.N)
	out = selectNotNull(l, r, b.N, in, out)
	if len(out) == 0 {
		return out, nil
	}
	x, y := rowsOfStrings(l), rowsOfStrings(r)
	k := 0
	for j, i := range out {
		if j == 0 || y.step > 0 {
			e.prepare(vector.StringOf(y.at(int(i))))
		}
		matched := false
		if e.pattern.incomplete == nil {
			matched = e.pattern.match(x.at(int(i)))
		} else if matched, err = matchIncomplete(x.at(int(i)), e.pattern.incomplete); err != nil {
			return nil, err
		}
		if matched != e.negated {
			out[k] = i
			k++
		}
	}
	return out[:k], nil
}
