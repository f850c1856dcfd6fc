package exec

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// refGroup is a group of the reference.
type refGroup struct {
	key      row
	count    int64
	sum      int64
	some     bool
	low      vector.Datum
	distinct map[string]bool
	filtered int64
}

// keyText identifies a key under SQL equality.
func keyText(types []catalog.Type, key row) string {
	var parts []string
	for i, d := range key {
		switch {
		case d.Null:
			parts = append(parts, "NULL")
		case types[i].ID == catalog.Char:
			parts = append(parts, fmt.Sprintf("%q", strings.TrimRight(d.S, " ")))
		case types[i] == numeric:
			whole, fraction, _ := strings.Cut(expr.FormatDatum(numeric, d, nil), ".")
			parts = append(parts, whole+"."+strings.TrimRight(fraction, "0"))
		default:
			parts = append(parts, lines([]row{{d}})[0])
		}
	}
	return strings.Join(parts, "|")
}

// aggregateReference groups rows of keys and an int8 by a map.
func aggregateReference(types []catalog.Type, list []row) map[string]*refGroup {
	groups := map[string]*refGroup{}
	for _, r := range list {
		key := keyText(types, r[:len(types)])
		g := groups[key]
		if g == nil {
			g = &refGroup{key: r[:len(types)], low: vector.NullDatum(vector.I64), distinct: map[string]bool{}}
			groups[key] = g
		}
		g.count++
		v := r[len(types)]
		if v.Null {
			continue
		}
		g.some = true
		g.sum += v.I
		g.distinct[fmt.Sprint(v.I)] = true
		if g.low.Null || v.I < g.low.I {
			g.low = v
		}
		if v.I > 2 {
			g.filtered++
		}
	}
	return groups
}

func TestAggregates(t *testing.T) {
	small(t)
	p := newPlans(t)
	shapes := [][]catalog.Type{nil, {bigint}, {smaller}, {text}, {char5}, {bpchar}, {text, text}, {bigint, bigint}, {smaller, date, boolean},
		{numeric}, {wide, text}, {double}, {span}, {bigint, bigint, bigint}}
	for s, types := range shapes {
		for variant := range 6 {
			n, distinct := []int{0, 5, 400, 1200}[variant%4], []int{4, 40, 2000}[variant%3]
			all := append(append([]catalog.Type(nil), types...), bigint)
			list := p.random(n, all, distinct, variant&1 != 0)
			want := aggregateReference(types, list)
			if types == nil && len(want) == 0 {
				want[""] = &refGroup{low: vector.NullDatum(vector.I64)}
			}
			for _, threads := range []int{1, 2, 4} {
				p.ctes = nil
				input := p.table(all, list)
				c := input.Cols()
				value := c[len(c)-1]
				node := &planner.Aggregate{Input: input}
				if variant >= 4 { // expect many groups: workers split them
					node.Rows = 1e6
				}
				for _, k := range c[:len(types)] {
					node.Groups = append(node.Groups, planner.Item{Col: p.col(k.Typ), Expr: k})
				}
				filtered := p.agg("count", false)
				filtered.Filter = p.op(">", value, integer(2))
				for _, call := range []*expr.AggCall{p.agg("count", false), p.agg("sum", false, value), p.agg("min", false, value),
					p.agg("count", true, value), filtered, p.agg("sum", true, value)} {
					node.Aggs = append(node.Aggs, planner.AggItem{Col: p.col(call.Typ), Call: call})
				}
				got := p.run(node, threads)
				name := fmt.Sprintf("shape %d variant %d threads %d", s, variant, threads)
				if len(got) != len(want) {
					t.Fatalf("%s: %d groups, want %d", name, len(got), len(want))
				}
				for _, r := range got {
					key := keyText(types, r[:len(types)])
					g := want[key]
					if g == nil {
						t.Fatalf("%s: unexpected group %s", name, key)
					}
					checkGroup(t, name+" group "+key, g, r[len(types):], node)
				}
			}
		}
	}
}

func checkGroup(t *testing.T, name string, g *refGroup, got row, node *planner.Aggregate) {
	t.Helper()
	number := func(i int) string { return expr.FormatDatum(node.Aggs[i].Call.Typ, got[i], nil) }
	sum, distinct := "", 0
	if g.some {
		sum = fmt.Sprint(g.sum)
		for s := range g.distinct {
			var v int
			fmt.Sscan(s, &v)
			distinct += v
		}
	}
	if number(0) != fmt.Sprint(g.count) || number(1) != sum || got[2] != g.low || number(3) != fmt.Sprint(len(g.distinct)) ||
		number(4) != fmt.Sprint(g.filtered) || g.some && number(5) != fmt.Sprint(distinct) {
		t.Fatalf("%s: got %v, want %+v", name, got, g)
	}
}

// TestDistinct is an aggregation without aggregates.
func TestDistinct(t *testing.T) {
	small(t)
	p := newPlans(t)
	types := []catalog.Type{bpchar, bigint}
	list := p.random(900, types, 12, true)
	want := aggregateReference(types[:1], list)
	for _, threads := range []int{1, 3} {
		p.ctes = nil
		input := p.table(types, list)
		node := &planner.Aggregate{Input: input, Groups: []planner.Item{{Col: p.col(bpchar), Expr: input.Cols()[0]}}}
		got := p.run(node, threads)
		if len(got) != len(want) {
			t.Fatalf("%d groups, want %d", len(got), len(want))
		}
	}
	// No columns at all: one row if there is any input.
	p.ctes = nil
	if got := p.run(&planner.Aggregate{Input: p.table(types, list)}, 2); len(got) != 1 {
		t.Fatalf("distinct over no columns: %d rows", len(got))
	}
}

// TestGroupFloats groups what SQL holds equal although its bits differ.
func TestGroupFloats(t *testing.T) {
	p := newPlans(t)
	f := func(x float64) row { return row{vector.FloatDatum(vector.F64, x)} }
	negative := math.Copysign(0, -1)
	input := p.table([]catalog.Type{double}, []row{f(0), f(negative), f(math.NaN()), f(-math.NaN()), f(1)})
	node := &planner.Aggregate{Input: input, Groups: []planner.Item{{Col: p.col(double), Expr: input.Cols()[0]}}}
	if got := p.run(node, 1); len(got) != 3 {
		t.Fatalf("groups %v, want 3", got)
	}
}
