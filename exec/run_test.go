package exec

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// long lists plans that would run for minutes.
func (p *plans) long() map[string]planner.Node {
	const many = 1 << 40
	endless := func() (planner.Node, *expr.Col) {
		n := p.series(1, many)
		return n, n.Out[0]
	}
	out := map[string]planner.Node{}
	scan, _ := endless()
	count := p.agg("count", false)
	counted := func(n planner.Node) planner.Node {
		return &planner.Aggregate{Input: n, Aggs: []planner.AggItem{{Col: p.col(count.Typ), Call: count}}}
	}
	out["scan"] = counted(scan)
	a, b := p.series(1, 100_000), p.series(1, 100_000_000)
	out["nested loop"] = counted(&planner.Join{Kind: planner.InnerJoin, Left: b, Right: a, Residual: []expr.Expr{p.op("=", p.op("+", a.Out[0], b.Out[0]), integer(-1))}})
	c, d := p.series(1, 2_000_000), p.series(1, 2_000_000)
	one := func(n *planner.FuncScan) expr.Expr { return p.op("%", n.Out[0], integer(2)) }
	out["hash join"] = counted(&planner.Join{Kind: planner.InnerJoin, Left: c, Right: d, Keys: []planner.JoinKey{{Left: one(c), Right: one(d)}}})
	e := p.series(1, 200_000_000)
	out["sort"] = &planner.Sort{Input: e, Keys: []planner.SortKey{{Expr: p.op("%", e.Out[0], integer(1_000_003))}}}
	f := p.series(1, 1000)
	g := p.series(1, 50_000_000)
	inner := counted(&planner.Filter{Input: g, Conds: []expr.Expr{p.op("<>", g.Out[0], &expr.Param{Index: 1, Typ: bigint})}})
	out["apply"] = &planner.Apply{Kind: planner.SingleJoin, Outer: f, Inner: inner, Params: []planner.ApplyParam{{Index: 1, Col: f.Out[0]}}}
	return out
}

func TestCancel(t *testing.T) {
	p := newPlans(t)
	for name, node := range p.long() {
		for _, threads := range []int{1, 2} {
			ctx, cancel := context.WithCancel(context.Background())
			var at time.Time
			timer := time.AfterFunc(150*time.Millisecond, func() {
				at = time.Now()
				cancel()
			})
			budget := NewBudget(4 << 30)
			_, err := Run(ctx, Query{Plan: p.plan(node), Threads: threads, Memory: budget}, pushFunc(func(*vector.Batch) error { return nil }))
			late := time.Since(at)
			timer.Stop()
			cancel()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
			if late > 2*time.Second { // the goal is 20 ms; test machines are busy, and their memory may be new to them
				t.Errorf("%s, threads %d: returned %v after it was cancelled", name, threads, late)
			}
			if budget.Used() != 0 {
				t.Errorf("%s: %d bytes stay reserved", name, budget.Used())
			}
		}
	}
}

func TestMemoryLimit(t *testing.T) {
	p := newPlans(t)
	series := func() *planner.FuncScan { return p.series(1, 3_000_000) }
	a, b, c, d, e := series(), series(), series(), series(), series()
	count := p.agg("count", false)
	distinct := p.agg("count", true, e.Out[0])
	for name, node := range map[string]planner.Node{
		"sort":      &planner.Sort{Input: a, Keys: []planner.SortKey{{Expr: a.Out[0]}}},
		"hash join": &planner.Join{Kind: planner.InnerJoin, Left: p.series(1, 1), Right: b, Keys: []planner.JoinKey{{Left: integer(1), Right: b.Out[0]}}},
		"aggregate": &planner.Aggregate{Input: c, Groups: []planner.Item{{Col: p.col(bigint), Expr: c.Out[0]}}, Aggs: []planner.AggItem{{Col: p.col(count.Typ), Call: count}}},
		"loop join": &planner.Join{Kind: planner.InnerJoin, Left: p.series(1, 1), Right: d},
		"distinct":  &planner.Aggregate{Input: e, Aggs: []planner.AggItem{{Col: p.col(distinct.Typ), Call: distinct}}},
	} {
		budget := NewBudget(10 << 20)
		_, err := Run(context.Background(), Query{Plan: p.plan(node), Memory: budget}, &rows{})
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Code != sqlerr.OutOfMemory || e.Message != "out of memory" || !strings.Contains(e.Hint, "memory_limit") {
			t.Errorf("%s: %v", name, err)
		}
		if budget.Used() != 0 {
			t.Errorf("%s: %d bytes stay reserved", name, budget.Used())
		}
		budget.SetLimit(1 << 30)
		if _, err := Run(context.Background(), Query{Plan: p.plan(&planner.Limit{Input: node, Count: integer(5)}), Memory: budget}, &rows{}); err != nil {
			t.Errorf("%s with more memory: %v", name, err)
		}
	}
}

// TestFailure checks that an error, or a bug, in one worker ends the query with that error.
func TestFailure(t *testing.T) {
	small(t)
	p := newPlans(t)
	n := p.series(1, 100_000)
	divide := &planner.Project{Input: n, Items: []planner.Item{{Col: p.col(bigint), Expr: p.op("/", integer(1), p.op("-", n.Out[0], integer(77_777)))}}}
	for _, threads := range []int{1, 4} {
		if _, err := Run(context.Background(), Query{Plan: p.plan(divide), Threads: threads}, &rows{}); sqlerr.CodeOf(err) != sqlerr.DivisionByZero {
			t.Error(err)
		}
		bug := pushFunc(func(*vector.Batch) error { panic("on purpose") })
		_, err := Run(context.Background(), Query{Plan: p.plan(n), Threads: threads, Statement: "select 1"}, bug)
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Code != sqlerr.InternalError || !strings.Contains(e.Message, "on purpose") || !strings.Contains(e.Detail, "select 1") {
			t.Error(err)
		}
		if strings.Contains(e.Message+e.Detail+e.Hint, "goroutine") || !strings.Contains(e.Stack(), "goroutine") {
			t.Errorf("the stack is not where it belongs: %+v", err)
		}
	}
}

func TestCursor(t *testing.T) {
	small(t)
	p := newPlans(t)
	c, err := Start(context.Background(), Query{Plan: p.plan(p.series(1, 5000)), Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	next := int64(1)
	for {
		b, err := c.Next()
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			break
		}
		for i := range b.N {
			if x := vector.DatumAt(b.Vecs[0], i).I; x != next {
				t.Fatalf("got %d, want %d", x, next)
			}
			next++
		}
	}
	if err := c.Close(); err != nil || next != 5001 {
		t.Error(err, next)
	}
	// Abandoned, and after an error.
	if c, err = Start(context.Background(), Query{Plan: p.plan(p.series(1, 1<<40))}); err != nil {
		t.Fatal(err)
	}
	if b, err := c.Next(); b == nil || err != nil {
		t.Error(b, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	n := p.series(1, 10)
	bad := &planner.Project{Input: n, Items: []planner.Item{{Col: p.col(bigint), Expr: p.op("/", n.Out[0], integer(0))}}}
	if c, err = Start(context.Background(), Query{Plan: p.plan(bad)}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Next(); sqlerr.CodeOf(err) != sqlerr.DivisionByZero {
		t.Error(err)
	}
	if err := c.Close(); sqlerr.CodeOf(err) != sqlerr.DivisionByZero {
		t.Error(err)
	}
	// Cancelled from outside while the reader waits.
	ctx, cancel := context.WithCancel(context.Background())
	if c, err = Start(ctx, Query{Plan: p.plan(p.long()["sort"])}); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := c.Next(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_ = c.Close()
}

func TestAnalyze(t *testing.T) {
	p := newPlans(t)
	a, b := p.series(1, 1000), p.series(1, 10)
	joined := &planner.Join{Kind: planner.InnerJoin, Left: a, Right: b, Keys: []planner.JoinKey{{Left: a.Out[0], Right: b.Out[0]}}}
	count := p.agg("count", false)
	node := &planner.Aggregate{Input: joined, Aggs: []planner.AggItem{{Col: p.col(count.Typ), Call: count}}}
	outcome, err := Run(context.Background(), Query{Plan: p.plan(node), Analyze: true}, &rows{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		node planner.Node
		rows int64
	}{{node, 1}, {joined, 10}, {a, 1000}, {b, 10}} {
		got := outcome.Actual(c.node)
		if got == nil || got.Rows != c.rows || got.Loops != 1 || got.TotalNanos <= 0 || got.StartupNanos > got.TotalNanos {
			t.Errorf("%T: %+v, want %d rows", c.node, got, c.rows)
		}
	}
	if root, kid := outcome.Actual(node), outcome.Actual(joined); root.TotalNanos < kid.TotalNanos {
		t.Error("a node's time does not include its input's")
	}
	if a := outcome.Actual(&planner.Values{}); a.Loops != 0 || a.Facts != nil {
		t.Error("facts about a node that did not run")
	}
}

// TestTimesAreShared divides the wall-clock time of two workers among the nodes they worked in.
func TestTimesAreShared(t *testing.T) {
	stats := newPlanStats()
	r := &run{stats: stats}
	scan, sort := stats.of(&planner.Scan{}), stats.of(&planner.Sort{})
	worker := func(scanned, sorted time.Duration) *Worker {
		w := &Worker{clock: clock{on: true}}
		w.clock.lap(scan).add(scanned.Nanoseconds())
		w.clock.lap(sort).add(sorted.Nanoseconds())
		w.clock.lap(nil).add((10 * time.Second).Nanoseconds())
		return w
	}
	took := stretch{r, time.Now().Add(-50 * time.Second)}
	took.end(worker(40*time.Second, 10*time.Second), worker(20*time.Second, 10*time.Second))
	for name, c := range map[string]struct{ got, want int64 }{"scan": {scan.own.Load(), 30}, "sort": {sort.own.Load(), 10}, "before the first row": {scan.early.Load(), 30}} {
		if seconds := float64(c.got) / 1e9; math.Abs(seconds-float64(c.want)) > 0.1 {
			t.Errorf("%s took %.3f s, want %d", name, seconds, c.want)
		}
	}
}

// TestCTE checks that a CTE is computed once, whoever reads it.
func TestCTE(t *testing.T) {
	p := newPlans(t)
	calls := 0
	f := &planner.FuncScan{Name: "f", Out: p.cols(bigint)}
	cte := &planner.CTE{Plan: f}
	p.ctes = append(p.ctes, cte)
	scan := func() *planner.CTEScan { return &planner.CTEScan{CTE: cte, Out: p.cols(bigint)} }
	a, b := scan(), scan()
	joined := &planner.Join{Kind: planner.InnerJoin, Left: a, Right: b, Keys: []planner.JoinKey{{Left: a.Out[0], Right: b.Out[0]}}}
	outer := scan()
	node := &planner.Apply{Kind: planner.SemiJoin, Outer: outer, Inner: joined, Params: []planner.ApplyParam{{Index: 1, Col: outer.Out[0]}}}
	out := &rows{}
	_, err := Run(context.Background(), Query{Plan: p.plan(node), TableFunction: func(string, []vector.Datum) ([][]vector.Datum, error) {
		calls++
		return [][]vector.Datum{{vector.IntDatum(vector.I64, 1)}, {vector.IntDatum(vector.I64, 2)}}, nil
	}}, out)
	if err != nil || calls != 1 || len(out.list) != 2 {
		t.Error(err, calls, out.list)
	}
}
