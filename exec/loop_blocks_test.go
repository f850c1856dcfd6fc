package exec

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// TestSpilledLoops joins by every kind without keys, with builds on disk and probe rows in several blocks.
func TestSpilledLoops(t *testing.T) {
	small(t)
	p := newPlans(t)
	files := newTestFiles(t)
	for kind := planner.InnerJoin; kind <= planner.SingleJoin; kind++ {
		for range 4 {
			c := &joinCase{kind: kind, residual: p.r.IntN(4) > 0}
			right := []int{0, 1, 40, 300}[p.r.IntN(4)]
			if kind == planner.SingleJoin && p.r.IntN(3) > 0 {
				right = p.r.IntN(3)
			}
			types := []catalog.Type{bigint}
			c.left, c.right = p.random(p.r.IntN(120), types, 6, p.r.IntN(2) == 0), p.random(right, types, 6, p.r.IntN(2) == 0)
			limit := []int64{1, 500, 2000}[p.r.IntN(3)]
			name := fmt.Sprintf("%vjoin, condition %v, %d and %d rows, limit %d", kind, c.residual, len(c.left), right, limit)
			p.spills(name, c, limit, files)
		}
	}
	if files.made.Load() < 10 {
		t.Errorf("only %d files were made", files.made.Load())
	}
}

// TestLoopMemory joins more rows than memory takes, in the plan that fails without files.
func TestLoopMemory(t *testing.T) {
	p := newPlans(t)
	files := newTestFiles(t)
	for _, threads := range []int{1, 2} {
		a, b := p.series(1, 3), p.series(1, 2_000_000)
		count := p.agg("count", false)
		node := &planner.Aggregate{Input: &planner.Join{Kind: planner.LeftJoin, Left: a, Right: b}, Aggs: []planner.AggItem{{Col: p.col(count.Typ), Call: count}}}
		out, budget := &rows{}, NewBudget(4<<20)
		outcome, err := Run(context.Background(), Query{Plan: p.plan(node), Threads: threads, Memory: budget, Files: files, Analyze: true}, out)
		if err != nil || out.list[0][0].I != 6_000_000 {
			t.Fatal(err, out.list)
		}
		spill, temp := figuresOf(outcome.Actual(node.Input), "Spill"), figuresOf(outcome.Actual(node.Input), "Temp Files")
		if budget.Used() != 0 || files.made.Load() == 0 || files.made.Load() != files.removed.Load() {
			t.Errorf("%d bytes held, %d files made and %d removed", budget.Used(), files.made.Load(), files.removed.Load())
		}
		if spill["passes"] != int64(1) || temp["created"] != int64(1) || temp["left"] != int64(0) {
			t.Errorf("it says %v, %v", spill, temp)
		}
	}
}

// TestSpilledLoopFails lets each operation on a file fail in turn, and cancels joins whose build is on disk:
// nothing is left behind.
func TestSpilledLoopFails(t *testing.T) {
	p := newPlans(t)
	plan := func() *planner.Plan {
		a, b := p.series(1, 3000), p.series(1, 20_000)
		return p.plan(&planner.Join{Kind: planner.FullJoin, Left: a, Right: b})
	}
	few := pushFunc(func(*vector.Batch) error { return nil })
	for operations := range int64(6) {
		files := newTestFiles(t)
		files.fail.Store(operations * 7)
		if _, err := Run(context.Background(), Query{Plan: plan(), Threads: 2, WorkBytes: 1000, Files: files}, few); !errors.Is(err, errDisk) {
			t.Errorf("after %d operations: %v", operations, err)
		}
		if files.made.Load() != files.removed.Load() {
			t.Error("a file is left")
		}
	}
	files := newTestFiles(t)
	ctx, cancel := context.WithCancel(context.Background())
	batches := 0
	_, err := Run(ctx, Query{Plan: plan(), Threads: 2, WorkBytes: 1000, Files: files}, pushFunc(func(*vector.Batch) error {
		if batches++; batches == 20 {
			cancel()
		}
		return nil
	}))
	if !errors.Is(err, context.Canceled) || files.made.Load() == 0 || files.made.Load() != files.removed.Load() {
		t.Errorf("%v, %d files made and %d removed", err, files.made.Load(), files.removed.Load())
	}
}

// TestSpilledLoopAboveHashJoin has a join with builds on disk read the rows that another one adds at its end.
func TestSpilledLoopAboveHashJoin(t *testing.T) {
	small(t)
	p := newPlans(t)
	types := []catalog.Type{bigint, bigint}
	for _, outer := range []planner.JoinKind{planner.InnerJoin, planner.FullJoin} {
		a, b, c := p.random(80, types, 60, true), p.random(70, types, 60, true), p.random(30, types[:1], 60, true)
		lower := &joinCase{kind: planner.FullJoin, types: types[:1], left: a, right: b}
		step, _ := lower.want()
		want, _ := (&joinCase{kind: outer, left: step, right: c}).want()
		for _, work := range []int64{0, 1} {
			p.ctes = nil
			l, m, r := p.table(types, a), p.table(types, b), p.table(types[:1], c)
			hash := &planner.Join{Kind: planner.FullJoin, Left: l, Right: m, Keys: []planner.JoinKey{{Left: l.Cols()[0], Right: m.Cols()[0]}}}
			loop := &planner.Join{Kind: outer, Left: hash, Right: r}
			out := &rows{}
			if _, err := Run(context.Background(), Query{Plan: p.plan(loop), Threads: 2, WorkBytes: work, Memory: NewBudget(1 << 30), Files: newTestFiles(t)}, out); err != nil {
				t.Fatal(err)
			}
			p.same(fmt.Sprint(outer, work), out.list, want)
		}
	}
}
