package exec

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// TestSpillAtLimit joins with exactly as much memory as the build takes, a byte less and a byte more, and with
// what single parts of it take: where the step to the disk is off by one, a part is left out or read twice.
func TestSpillAtLimit(t *testing.T) {
	small(t)
	p := newPlans(t)
	types := []catalog.Type{bigint}
	c := &joinCase{kind: planner.FullJoin, types: types}
	all := []catalog.Type{bigint, bigint}
	c.left, c.right = p.random(40, all, 150, true), p.random(250, all, 150, true)
	spills := func(limit int64) bool {
		files := newTestFiles(t)
		p.ctes = nil
		if _, err := Run(context.Background(), Query{Plan: p.plan(c.node(p)), Threads: 1, Memory: NewBudget(1 << 30), WorkBytes: limit, Files: files}, &rows{}); err != nil {
			t.Fatal(err)
		}
		return files.made.Load() > 0
	}
	in, out := int64(1<<14), int64(1<<10) // of memory: the build is in it, it is not
	if spills(in) || !spills(out) {
		t.Fatal("there is no limit to look for")
	}
	for in-out > 1 {
		if middle := (in + out) / 2; spills(middle) {
			out = middle
		} else {
			in = middle
		}
	}
	files := newTestFiles(t)
	for _, limit := range []int64{out - 1, out, in, in + 1, in / 2, in/16 - 1, in / 16, in/16 + 1, 2*in/16 - 1, 2 * in / 16} {
		p.spills(fmt.Sprint("limit ", limit), c, limit, files)
	}
}

// TestSpillLevels scatters a build again and again until no part has two keys, with a probe side that has rows
// for few of the parts.
func TestSpillLevels(t *testing.T) {
	p := newPlans(t)
	var left, right []row
	for i := range int64(220) {
		right = append(right, row{vector.IntDatum(vector.I64, i), vector.IntDatum(vector.I64, i%5)})
		if i%11 == 0 {
			left = append(left, row{vector.IntDatum(vector.I64, i*2), vector.IntDatum(vector.I64, i%3)})
		}
	}
	c := &joinCase{kind: planner.RightAntiJoin, types: []catalog.Type{bigint}, left: left, right: right}
	n := c.node(p)
	out := &rows{}
	outcome, err := Run(context.Background(), Query{Plan: p.plan(n), Threads: 2, Memory: NewBudget(1 << 30), WorkBytes: 1, Files: newTestFiles(t), Analyze: true}, out)
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for i := range 220 {
		if i%22 != 0 {
			want++
		}
	}
	if len(out.list) != want {
		t.Errorf("%d rows, want %d", len(out.list), want)
	}
	if facts := fmt.Sprint(outcome.Actual(n).Facts); strings.Contains(facts, "levels 1,") || strings.Contains(facts, "levels 2,") || !strings.Contains(facts, "levels ") {
		t.Errorf("it says %s", facts)
	}
}
