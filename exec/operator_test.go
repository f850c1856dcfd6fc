package exec

import (
	"context"
	"fmt"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

func (p *plans) series(args ...int64) *planner.FuncScan {
	n := &planner.FuncScan{Name: "generate_series", Out: p.cols(bigint)}
	for _, a := range args {
		n.Args = append(n.Args, integer(a))
	}
	return n
}

func ints(list []row) []int64 {
	out := []int64{}
	for _, r := range list {
		out = append(out, r[0].I)
	}
	return out
}

func TestLimit(t *testing.T) {
	small(t)
	p := newPlans(t)
	for _, c := range []struct{ n, limit, offset, want int64 }{
		{1000, 10, 0, 10}, {1000, 0, 0, 0}, {1000, 10, 995, 5}, {1000, 10, 2000, 0}, {1000, -1, 990, 10}, {5, 10, 0, 5}, {1000, 250, 130, 250},
	} {
		for _, threads := range []int{1, 3} {
			node := &planner.Limit{Input: p.series(1, c.n)}
			if c.limit >= 0 {
				node.Count = integer(c.limit)
			}
			if c.offset > 0 {
				node.Offset = integer(c.offset)
			}
			got := ints(p.run(node, threads))
			if int64(len(got)) != c.want {
				t.Errorf("%+v threads %d: %d rows", c, threads, len(got))
			}
			for i, x := range got {
				if threads == 1 && x != c.offset+int64(i)+1 {
					t.Fatalf("%+v: row %d is %d", c, i, x)
				}
			}
		}
	}
	for _, node := range []*planner.Limit{{Input: p.series(1, 5), Count: integer(-1)}, {Input: p.series(1, 5), Offset: integer(-1)}} {
		_, err := Run(context.Background(), Query{Plan: p.plan(node)}, &rows{})
		if code := sqlerr.CodeOf(err); code != sqlerr.InvalidRowCountInLimit && code != sqlerr.InvalidRowCountInOffset {
			t.Error(err)
		}
	}
}

// TestStop checks that LIMIT ends the pipelines it is part of and no others.
func TestStop(t *testing.T) {
	small(t)
	p := newPlans(t)
	const many = 1 << 40
	// A join below, a union of two endless inputs, and an aggregation above.
	build := p.series(1, 50)
	both := &planner.Append{Inputs: []planner.Node{p.series(1, many), p.series(1, many)}, Out: p.cols(bigint)}
	joined := &planner.Join{Kind: planner.InnerJoin, Left: both, Right: build, Keys: []planner.JoinKey{{Left: both.Out[0], Right: build.Out[0]}}}
	limit := &planner.Limit{Input: joined, Count: integer(20)}
	count := p.agg("count", false)
	node := &planner.Aggregate{Input: limit, Aggs: []planner.AggItem{{Col: p.col(count.Typ), Call: count}}}
	for _, threads := range []int{1, 4} {
		if got := ints(p.run(node, threads)); len(got) != 1 || got[0] != 20 {
			t.Errorf("threads %d: %v", threads, got)
		}
	}
	// A result that wants no more.
	n := 0
	_, err := Run(context.Background(), Query{Plan: p.plan(p.series(1, many)), Threads: 2}, pushFunc(func(b *vector.Batch) error {
		if n += b.Live(); n > 10 {
			return ErrStop
		}
		return nil
	}))
	if err != nil {
		t.Error(err)
	}
}

func TestOrderOfScans(t *testing.T) {
	small(t)
	p := newPlans(t)
	both := &planner.Append{Inputs: []planner.Node{p.series(1, 500), p.series(501, 900), p.series(950, 901, -1)}, Out: p.cols(bigint)}
	got := ints(p.run(both, 1))
	if len(got) != 950 || got[0] != 1 || got[899] != 900 || got[900] != 950 || got[949] != 901 {
		t.Error(len(got), got)
	}
}

func TestRepeat(t *testing.T) {
	p := newPlans(t)
	list := []row{}
	var want []row
	for i := range int64(100) {
		list = append(list, row{vector.IntDatum(vector.I64, i), vector.IntDatum(vector.I64, i%40)})
		for range i % 40 {
			want = append(want, row{vector.IntDatum(vector.I64, i)})
		}
	}
	input := p.table([]catalog.Type{bigint, bigint}, list)
	node := &planner.Repeat{Input: input, Times: input.Cols()[1], Out: input.Cols()[:1]}
	p.same("repeat", p.run(node, 1), want)
}

func TestSeries(t *testing.T) {
	p := newPlans(t)
	for _, c := range []struct {
		args []int64
		want string
	}{
		{[]int64{1, 5}, "[1 2 3 4 5]"}, {[]int64{5, 1}, "[]"}, {[]int64{5, 1, -2}, "[5 3 1]"}, {[]int64{1, 6, 2}, "[1 3 5]"},
		{[]int64{9223372036854775805, 9223372036854775807, 2}, "[9223372036854775805 9223372036854775807]"},
		{[]int64{-9223372036854775807, -9223372036854775808, -1}, "[-9223372036854775807 -9223372036854775808]"},
	} {
		if got := fmt.Sprint(ints(p.run(p.series(c.args...), 1))); got != c.want {
			t.Errorf("%v: %s, want %s", c.args, got, c.want)
		}
	}
	if _, err := Run(context.Background(), Query{Plan: p.plan(p.series(1, 2, 0))}, &rows{}); sqlerr.CodeOf(err) != sqlerr.InvalidParameterValue {
		t.Error(err)
	}
	parse := func(typ catalog.Type, s string) expr.Expr {
		d, err := expr.ParseDatum(typ, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		return constant(typ, d)
	}
	stamp := catalog.Type{ID: catalog.Timestamp}
	for _, c := range []struct {
		typ, step catalog.Type
		args      []string
		want      []string
	}{
		{stamp, span, []string{"2024-01-31", "2024-04-30", "1 month"}, []string{"2024-01-31 00:00:00", "2024-02-29 00:00:00", "2024-03-29 00:00:00", "2024-04-29 00:00:00"}},
		{stamp, span, []string{"2024-01-02", "2024-01-01", "-12 hours"}, []string{"2024-01-02 00:00:00", "2024-01-01 12:00:00", "2024-01-01 00:00:00"}},
		{numeric, numeric, []string{"1", "2", "0.25"}, []string{"1", "1.25", "1.50", "1.75", "2.00"}},
		{numeric, numeric, []string{"3", "1", "-1.0"}, []string{"3", "2.0", "1.0"}},
	} {
		node := &planner.FuncScan{Name: "generate_series", Out: p.cols(c.typ), Args: []expr.Expr{parse(c.typ, c.args[0]), parse(c.typ, c.args[1]), parse(c.step, c.args[2])}}
		var got []string
		for _, r := range p.run(node, 1) {
			got = append(got, expr.FormatDatum(c.typ, r[0], nil))
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v: %v, want %v", c.args, got, c.want)
		}
	}
}

func TestTableFunction(t *testing.T) {
	p := newPlans(t)
	node := &planner.FuncScan{Name: "f", Args: []expr.Expr{integer(7)}, Out: p.cols(bigint, text)}
	q := Query{Plan: p.plan(node), TableFunction: func(name string, args []vector.Datum) ([][]vector.Datum, error) {
		return [][]vector.Datum{{args[0], vector.StringDatum(name)}, {vector.NullDatum(vector.I64), vector.NullDatum(vector.Bytes)}}, nil
	}}
	out := &rows{}
	if _, err := Run(context.Background(), q, out); err != nil {
		t.Fatal(err)
	}
	p.sameLines("function", lines(out.list), []string{`7 "f"`, "NULL NULL"})
}

func TestInitPlans(t *testing.T) {
	p := newPlans(t)
	param := func(i int, typ catalog.Type) expr.Expr { return &expr.Param{Index: i, Typ: typ} }
	root := &planner.Values{Out: p.cols(bigint, boolean, bigint), Rows: [][]expr.Expr{{param(2, bigint), param(3, boolean), param(4, bigint)}}}
	plan := p.plan(root)
	empty := &planner.Limit{Input: p.series(1, 5), Count: integer(0)}
	plan.InitPlans = []planner.InitPlan{
		{Param: 2, Plan: p.series(42, 42), Type: bigint}, {Param: 3, Plan: p.series(1, 1<<40), Exists: true, Type: boolean}, {Param: 4, Plan: empty, Type: bigint},
	}
	out := &rows{}
	if _, err := Run(context.Background(), Query{Plan: plan}, out); err != nil {
		t.Fatal(err)
	}
	p.sameLines("init plans", lines(out.list), []string{"42 1 NULL"})
	plan.InitPlans[0].Plan = p.series(1, 2)
	if _, err := Run(context.Background(), Query{Plan: plan}, out); sqlerr.CodeOf(err) != sqlerr.CardinalityViolation {
		t.Error(err)
	}
}

// TestApply compares each kind with the join it stands for: the inner plan filters by a parameter.
func TestApply(t *testing.T) {
	small(t)
	p := newPlans(t)
	types := []catalog.Type{bigint, bigint}
	for _, kind := range []planner.JoinKind{planner.InnerJoin, planner.LeftJoin, planner.SemiJoin, planner.AntiJoin, planner.MarkJoin, planner.SingleJoin} {
		for variant := range 4 {
			size := 60
			if kind == planner.SingleJoin {
				size = 8
			}
			c := &joinCase{kind: kind, types: types[:1], residual: variant&1 != 0, left: p.random(300, types, 40, true), right: p.random(size, types, 40, variant&2 != 0)}
			want, ok := c.want()
			for _, threads := range []int{1, 3} {
				p.ctes = nil
				outer, table := p.table(types, c.left), p.table(types, c.right)
				inner := &planner.Filter{Input: table, Conds: []expr.Expr{p.op("=", table.Cols()[0], &expr.Param{Index: 3, Typ: bigint})}}
				node := &planner.Apply{Kind: kind, Outer: outer, Inner: inner, Params: []planner.ApplyParam{{Index: 3, Col: outer.Cols()[0]}}}
				if c.residual {
					node.On = []expr.Expr{p.op("<>", p.op("+", outer.Cols()[1], inner.Cols()[1]), integer(3))}
				}
				if kind == planner.MarkJoin {
					node.Mark = p.col(boolean)
				}
				out := &rows{}
				_, err := Run(context.Background(), Query{Plan: p.plan(node), Threads: threads}, out)
				if (err == nil) != ok {
					t.Fatalf("%vvariant %d: %v", kind, variant, err)
				}
				if ok {
					p.same(fmt.Sprint(kind, variant, threads), out.list, want)
				}
			}
		}
	}
}

// TestApplyInvariant checks that the part of an inner plan without parameters is computed once, also
// inside of nested Applies, and that nothing else is.
func TestApplyInvariant(t *testing.T) {
	p := newPlans(t)
	calls := 0
	source := func() *planner.FuncScan { return &planner.FuncScan{Name: "f", Out: p.cols(bigint)} }
	grouped := func(n planner.Node) *planner.Aggregate {
		return &planner.Aggregate{Input: n, Groups: []planner.Item{{Col: p.col(bigint), Expr: n.Cols()[0]}}}
	}
	apply := func(index int, outer, inner planner.Node) *planner.Apply {
		return &planner.Apply{Kind: planner.InnerJoin, Outer: outer, Inner: inner, Params: []planner.ApplyParam{{Index: index, Col: outer.Cols()[0]}}}
	}
	filtered := func(n planner.Node, index int) planner.Node {
		return &planner.Filter{Input: n, Conds: []expr.Expr{p.op("<=", n.Cols()[0], &expr.Param{Index: index, Typ: bigint})}}
	}
	// Rows y <= x, then z <= y.
	inner := apply(2, filtered(grouped(source()), 1), filtered(grouped(source()), 2))
	node := apply(1, p.series(1, 50), inner)
	out := &rows{}
	_, err := Run(context.Background(), Query{Plan: p.plan(node), Threads: 1, TableFunction: func(string, []vector.Datum) ([][]vector.Datum, error) {
		calls++
		return [][]vector.Datum{{vector.IntDatum(vector.I64, 1)}, {vector.IntDatum(vector.I64, 2)}, {vector.IntDatum(vector.I64, 3)}}, nil
	}}, out)
	// x = 1: 1 pair; x = 2: 3 pairs; from 3 on 6 pairs.
	if err != nil || len(out.list) != 1+3+48*6 {
		t.Error(err, len(out.list))
	}
	if calls > 1+51 { // the inner Apply's own part is kept per run of it
		t.Errorf("the function ran %d times", calls)
	}
}
