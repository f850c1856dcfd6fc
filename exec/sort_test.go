package exec

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// compareRows orders rows by keys, for the reference.
func compareRows(types []catalog.Type, keys []planner.SortKey, a, b row) int {
	for i, k := range keys {
		x, y := a[i], b[i]
		c := 0
		switch {
		case x.Null && y.Null:
		case x.Null || y.Null:
			if c = -1; x.Null != k.NullsFirst {
				c = 1
			}
		default:
			c = expr.CompareValues(types[i])(vector.ConstOf(x), 0, vector.ConstOf(y), 0)
			if k.Desc {
				c = -c
			}
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func TestSort(t *testing.T) {
	small(t)
	p := newPlans(t)
	types := []catalog.Type{bigint, smaller, text, char5, bpchar, money, wide, numeric, double, date, span, boolean}
	for variant := range 60 {
		keys := 1 + p.r.IntN(3)
		var shape []catalog.Type
		for range keys {
			shape = append(shape, types[p.r.IntN(len(types))])
		}
		n := []int{0, 1, 100, 500, 1500}[p.r.IntN(5)]
		list := p.random(n, shape, []int{3, 50, 5000}[p.r.IntN(3)], p.r.IntN(2) == 0)
		for i := range list {
			if p.r.IntN(50) == 0 {
				extreme(p, shape, list[i])
			}
			list[i] = append(list[i], vector.IntDatum(vector.I64, int64(i)))
		}
		all := append(append([]catalog.Type(nil), shape...), bigint)
		limit, offset := -1, 0
		if p.r.IntN(2) == 0 {
			limit, offset = p.r.IntN(40), p.r.IntN(3)*10
		}
		threads := 1 + p.r.IntN(3)
		p.ctes = nil
		input := p.table(all, list)
		node := &planner.Sort{Input: input}
		for i := range keys {
			node.Keys = append(node.Keys, planner.SortKey{Expr: input.Cols()[i], Desc: p.r.IntN(2) == 0, NullsFirst: p.r.IntN(2) == 0})
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, func(a, b row) int { return compareRows(shape, node.Keys, a, b) })
		if limit >= 0 {
			node.Limit, node.Offset = integer(int64(limit)), integer(int64(offset))
			want = want[min(offset, len(want)):]
			want = want[:min(limit, len(want))]
		}
		got := p.run(node, threads)
		name := fmt.Sprintf("variant %d: %v of %d rows, limit %d offset %d, threads %d", variant, shape, n, limit, offset, threads)
		if len(got) != len(want) {
			t.Fatalf("%s: %d rows, want %d", name, len(got), len(want))
		}
		for i := range got {
			if compareRows(shape, node.Keys, got[i], want[i]) != 0 {
				t.Fatalf("%s: row %d is %v, want %v", name, i, lines(got[i:i+1]), lines(want[i:i+1]))
			}
		}
		// Each input row occurs at most once.
		seen := map[int64]bool{}
		for _, r := range got {
			id := r[keys].I
			if seen[id] || lines([]row{r})[0] != lines([]row{list[id]})[0] {
				t.Fatalf("%s: row %v is not an input row, or twice in the result", name, r)
			}
			seen[id] = true
		}
	}
}

// extreme replaces values by those at the end of their range.
func extreme(p *plans, shape []catalog.Type, r row) {
	for i, t := range shape {
		switch {
		case r[i].Null || p.r.IntN(2) == 0:
		case t == bigint:
			r[i].I = []int64{math.MinInt64, math.MaxInt64}[p.r.IntN(2)]
		case t == wide:
			r[i] = vector.Int128Datum(vector.Int128{Lo: p.r.Uint64(), Hi: int64(p.r.Uint64()) >> 1})
		case t == double:
			r[i].F = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}[p.r.IntN(4)]
		case t == text:
			r[i].S = []string{"", "\x00", "v1\x00", "a long string that ends in one or two ways: ", "a long string that ends in one or two ways: b"}[p.r.IntN(5)]
		}
	}
}

// TestSortLarge sorts enough rows for several goroutines and radix passes.
func TestSortLarge(t *testing.T) {
	p := newPlans(t)
	const n = 300_000
	series := &planner.FuncScan{Name: "generate_series", Args: []expr.Expr{integer(1), integer(n)}, Out: p.cols(bigint)}
	mixed := p.op("%", p.op("*", series.Out[0], integer(7919)), integer(n+1))
	project := &planner.Project{Input: series, Items: []planner.Item{{Col: p.col(bigint), Expr: mixed}}}
	node := &planner.Sort{Input: project, Keys: []planner.SortKey{{Expr: project.Cols()[0], Desc: true}}}
	for _, threads := range []int{1, 4} {
		last, count := int64(math.MaxInt64), 0
		check := pushFunc(func(b *vector.Batch) error {
			for i := range b.Live() {
				x := vector.DatumAt(b.Vecs[0], i).I
				if b.Sel != nil {
					x = vector.DatumAt(b.Vecs[0], int(b.Sel[i])).I
				}
				if x >= last {
					return fmt.Errorf("%d after %d", x, last)
				}
				last = x
				count++
			}
			return nil
		})
		if _, err := Run(context.Background(), Query{Plan: p.plan(node), Threads: threads}, check); err != nil || count != n {
			t.Fatal(count, err)
		}
	}
}

// pushFunc is a Result made of a function.
type pushFunc func(b *vector.Batch) error

func (f pushFunc) Push(b *vector.Batch) error { return f(b) }
