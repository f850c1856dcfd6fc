package exec

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// joinCase is a join with its reference.
type joinCase struct {
	kind        planner.JoinKind
	types       []catalog.Type // of the keys; nil = no keys
	nullSafe    bool
	nullAware   bool
	residual    bool
	left, right []row // keys, then an bigint
}

const (
	isFalse = iota
	isTrue
	isNull
)

// residualOf is the test's residual condition, l + r <> 3 with NULLs, by hand.
func residualOf(l, r vector.Datum) int {
	switch {
	case l.Null || r.Null:
		return isNull
	case l.I+r.I != 3:
		return isTrue
	}
	return isFalse
}

func (c *joinCase) match(l, r row) int {
	result := isTrue
	for i, t := range c.types {
		a, b := l[i], r[i]
		switch {
		case a.Null || b.Null:
			if c.nullSafe && a.Null && b.Null {
				continue
			}
			if c.nullSafe || !c.nullAware {
				return isFalse
			}
			result = isNull
		case !equalValues(t, a, b):
			return isFalse
		}
	}
	if c.residual && result == isTrue {
		return residualOf(l[len(c.types)], r[len(c.types)])
	}
	return result
}

func equalValues(t catalog.Type, a, b vector.Datum) bool {
	return expr.CompareValues(t)(vector.ConstOf(a), 0, vector.ConstOf(b), 0) == 0
}

// want joins by nested loops; ok is false where the join must fail.
func (c *joinCase) want() (out []row, ok bool) {
	both := func(l, r row) row { return append(append(row(nil), l...), r...) }
	nulls := func(like []row, types int) row {
		var out row
		for i := range types {
			kind := vector.I64
			if i < len(c.types) {
				kind = c.types[i].Kind()
			}
			out = append(out, vector.NullDatum(kind))
		}
		return out
	}
	width := len(c.types) + 1
	matched := make([]bool, len(c.right))
	for _, l := range c.left {
		count, null := 0, false
		for i, r := range c.right {
			switch c.match(l, r) {
			case isNull:
				null = true
			case isTrue:
				count++
				matched[i] = true
				switch c.kind {
				case planner.InnerJoin, planner.LeftJoin, planner.RightJoin, planner.FullJoin, planner.SingleJoin:
					out = append(out, both(l, r))
				}
			}
		}
		switch c.kind {
		case planner.SingleJoin, planner.LeftJoin, planner.FullJoin:
			if c.kind == planner.SingleJoin && count > 1 {
				return nil, false
			}
			if count == 0 {
				out = append(out, both(l, nulls(c.right, width)))
			}
		case planner.SemiJoin:
			if count > 0 {
				out = append(out, l)
			}
		case planner.AntiJoin:
			if count == 0 {
				out = append(out, l)
			}
		case planner.NullAwareAntiJoin:
			if count == 0 && !null {
				out = append(out, l)
			}
		case planner.MarkJoin:
			mark := vector.BoolDatum(count > 0)
			if count == 0 && null {
				mark = vector.NullDatum(vector.Bool)
			}
			out = append(out, append(append(row(nil), l...), mark))
		}
	}
	for i, r := range c.right {
		switch {
		case !matched[i] && (c.kind == planner.RightJoin || c.kind == planner.FullJoin):
			out = append(out, both(nulls(c.left, width), r))
		case matched[i] && c.kind == planner.RightSemiJoin, !matched[i] && c.kind == planner.RightAntiJoin:
			out = append(out, r)
		}
	}
	return out, true
}

func (c *joinCase) node(p *plans) planner.Node {
	types := append(append([]catalog.Type(nil), c.types...), bigint)
	n := &planner.Join{Kind: c.kind, Left: p.table(types, c.left), Right: p.table(types, c.right), NullAware: c.nullAware}
	l, r := n.Left.Cols(), n.Right.Cols()
	for i := range c.types {
		n.Keys = append(n.Keys, planner.JoinKey{Left: l[i], Right: r[i], NullSafe: c.nullSafe})
	}
	if c.residual {
		sum := p.op("+", l[len(l)-1], r[len(r)-1])
		n.Residual = append(n.Residual, p.op("<>", sum, integer(3)))
	}
	if c.kind == planner.MarkJoin {
		n.Mark = p.col(boolean)
	}
	return n
}

func TestJoins(t *testing.T) {
	small(t)
	p := newPlans(t)
	keys := [][]catalog.Type{nil, {bigint}, {smaller, bigint}, {text}, {numeric}, {bpchar}, {text, double}, {wide}, {span}}
	for kind := planner.InnerJoin; kind <= planner.SingleJoin; kind++ {
		for k, types := range keys {
			for variant := range 8 {
				c := &joinCase{kind: kind, types: types, nullSafe: variant&1 != 0, residual: variant&2 != 0}
				nulls, distinct := variant&4 != 0, 40
				if types == nil {
					distinct = 10
				}
				if kind == planner.NullAwareAntiJoin && !c.residual && types != nil {
					c.nullAware = true
				}
				if kind == planner.MarkJoin && variant == 4 {
					c.nullAware = true
				}
				if c.nullAware && (len(types) != 1 || c.nullSafe || c.residual) {
					continue
				}
				sizes := [][2]int{{150, 60}, {20, 120}, {60, 0}, {0, 60}}[p.r.IntN(4)]
				if kind == planner.SingleJoin {
					sizes[1] = min(sizes[1], 12)
				}
				all := append(append([]catalog.Type(nil), types...), bigint)
				c.left, c.right = p.random(sizes[0], all, distinct, nulls), p.random(sizes[1], all, distinct, nulls)
				name := fmt.Sprintf("%vjoin, keys %d, %+v", kind, k, [4]bool{c.nullSafe, c.nullAware, c.residual, nulls})
				want, ok := c.want()
				for _, threads := range []int{1, 2, 4} {
					p.ctes = nil
					out := &rows{}
					_, err := Run(context.Background(), Query{Plan: p.plan(c.node(p)), Threads: threads}, out)
					if ok != (err == nil) || err != nil && !errors.Is(err, errTwoRows) && err.Error() != errTwoRows.Error() {
						t.Fatalf("%s: error %v", name, err)
					}
					if err == nil {
						p.same(fmt.Sprint(name, ", threads ", threads), out.list, want)
					}
				}
			}
		}
	}
}

// TestJoinChain runs right and full joins on top of each other: each adds a pipeline of its own.
func TestJoinChain(t *testing.T) {
	small(t)
	p := newPlans(t)
	types := []catalog.Type{bigint, bigint}
	kinds := []planner.JoinKind{planner.InnerJoin, planner.LeftJoin, planner.RightJoin, planner.FullJoin}
	for _, first := range kinds {
		for _, second := range kinds {
			a, b, c := p.random(80, types, 60, true), p.random(70, types, 60, true), p.random(60, types, 60, true)
			inner := &joinCase{kind: first, types: types[:1], left: a, right: b}
			step, _ := inner.want()
			for i := range step { // the second join's key is the first row's second column
				step[i] = append(row{step[i][1]}, step[i]...)
			}
			outer := func() (out []row) {
				matched := make([]bool, len(c))
				for _, l := range step {
					found := false
					for i, r := range c {
						if !l[0].Null && !r[0].Null && l[0].I == r[0].I {
							found, matched[i] = true, true
							out = append(out, append(append(row(nil), l[1:]...), r...))
						}
					}
					if !found && (second == planner.LeftJoin || second == planner.FullJoin) {
						out = append(out, append(append(row(nil), l[1:]...), vector.NullDatum(vector.I64), vector.NullDatum(vector.I64)))
					}
				}
				for i, r := range c {
					if !matched[i] && (second == planner.RightJoin || second == planner.FullJoin) {
						null := vector.NullDatum(vector.I64)
						out = append(out, append(row{null, null, null, null}, r...))
					}
				}
				return out
			}()
			for _, threads := range []int{1, 3} {
				p.ctes = nil
				l, m, r := p.table(types, a), p.table(types, b), p.table(types, c)
				j := &planner.Join{Kind: first, Left: l, Right: m, Keys: []planner.JoinKey{{Left: l.Cols()[0], Right: m.Cols()[0]}}}
				k := &planner.Join{Kind: second, Left: j, Right: r, Keys: []planner.JoinKey{{Left: l.Cols()[1], Right: r.Cols()[0]}}}
				p.same(fmt.Sprint(first, second, threads), p.run(k, threads), outer)
			}
		}
	}
}
