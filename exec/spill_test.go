package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// testFiles makes temporary files of a test.
type testFiles struct {
	dir     string
	made    atomic.Int64
	removed atomic.Int64
	fail    atomic.Int64 // this many operations succeed; negative = all
	failed  atomic.Bool
}

type testFile struct {
	*os.File
	files *testFiles
}

var errDisk = errors.New("disk failed")

func (f *testFiles) operation() error {
	if f.fail.Load() >= 0 && f.fail.Add(-1) < 0 {
		f.fail.Store(0)
		f.failed.Store(true)
		return errDisk
	}
	return nil
}

func (f *testFiles) Create() (join.File, error) {
	if err := f.operation(); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(f.dir, "")
	f.made.Add(1)
	return &testFile{file, f}, err
}

func (f *testFile) Write(b []byte) (int, error) {
	if err := f.files.operation(); err != nil {
		return 0, err
	}
	return f.File.Write(b)
}

func (f *testFile) ReadAt(b []byte, at int64) (int, error) {
	if err := f.files.operation(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, at)
}

func (f *testFile) Close() error {
	f.files.removed.Add(1)
	if err := f.File.Close(); err != nil {
		return err
	}
	return os.Remove(f.Name())
}

func newTestFiles(t testing.TB) *testFiles {
	f := &testFiles{dir: t.TempDir()}
	f.fail.Store(-1)
	return f
}

// spills runs a join with so much memory, on one worker and several: its rows are those of the reference, and
// neither memory nor a file is kept.
func (p *plans) spills(name string, c *joinCase, limit int64, files *testFiles) {
	p.t.Helper()
	want, ok := c.want()
	for _, threads := range []int{1, 3} {
		p.ctes = nil
		out, budget := &rows{}, NewBudget(1<<30)
		_, err := Run(context.Background(), Query{Plan: p.plan(c.node(p)), Threads: threads, Memory: budget, WorkBytes: limit, Files: files}, out)
		if ok != (err == nil) || err != nil && err.Error() != errTwoRows.Error() {
			p.t.Fatalf("%s: error %v", name, err)
		}
		if err == nil {
			p.same(fmt.Sprint(name, ", threads ", threads), out.list, want)
		}
		if budget.Used() != 0 || files.made.Load() != files.removed.Load() {
			p.t.Fatalf("%s: %d bytes held and %d of %d files left", name, budget.Used(), files.made.Load()-files.removed.Load(), files.made.Load())
		}
	}
}

// TestSpilledJoins joins by every kind with builds that do not fit: in parts of which some fit, in parts
// of parts, and in blocks where most rows have one key.
func TestSpilledJoins(t *testing.T) {
	small(t)
	p := newPlans(t)
	keys := [][]catalog.Type{{bigint}, {smaller, bigint}, {text}, {numeric}, {bpchar}, {text, double}, {wide}, {span}}
	files := newTestFiles(t)
	for kind := planner.InnerJoin; kind <= planner.SingleJoin; kind++ {
		for range 3 {
			k := p.r.IntN(len(keys))
			types, variant := keys[k], p.r.IntN(8)
			c := &joinCase{kind: kind, types: types, nullSafe: variant&1 != 0, residual: variant&2 != 0}
			nulls := variant&4 != 0
			if kind == planner.NullAwareAntiJoin && !c.residual && len(types) == 1 && !c.nullSafe {
				c.nullAware = true
			}
			if kind == planner.MarkJoin && len(types) == 1 && !c.nullSafe && !c.residual {
				c.nullAware = p.r.IntN(2) == 0
			}
			if kind == planner.NullAwareAntiJoin && !c.residual && !c.nullAware {
				continue // there is no such join
			}
			right := []int{100, 1500}[p.r.IntN(2)]
			distinct := []int{1, 3, 40, 5000}[p.r.IntN(4)]
			if kind == planner.SingleJoin && p.r.IntN(4) != 0 {
				right, distinct = 12, 40
			}
			left := max(5, min(100, 20*distinct))
			all := append(append([]catalog.Type(nil), types...), bigint)
			c.left, c.right = p.random(left, all, distinct, nulls), p.random(right, all, distinct, nulls)
			limit := []int64{1, 2000, 20000, 60000}[p.r.IntN(4)]
			name := fmt.Sprintf("%vjoin, keys %d, %+v, %d rows, %d values, limit %d", kind, k, [4]bool{c.nullSafe, c.nullAware, c.residual, nulls}, right, distinct, limit)
			p.spills(name, c, limit, files)
		}
	}
	if files.made.Load() < 300 {
		t.Errorf("only %d files were made", files.made.Load())
	}
}

// spilledCase is a join whose builds go to disk, into parts and blocks.
func spilledCase(p *plans, kind planner.JoinKind) *joinCase {
	c := &joinCase{kind: kind, types: []catalog.Type{bigint}}
	types := []catalog.Type{bigint, bigint}
	c.left, c.right = p.random(300, types, 20, true), p.random(1500, types, 20, true)
	for range 1200 {
		c.right = append(c.right, row{vector.IntDatum(vector.I64, 7), vector.IntDatum(vector.I64, 1)}) // one key with most of the rows
	}
	return c
}

// TestSpillFailures lets the disk fail at each operation: the error is the query's, and nothing is left.
func TestSpillFailures(t *testing.T) {
	small(t)
	p := newPlans(t)
	files := newTestFiles(t)
	for _, kind := range []planner.JoinKind{planner.InnerJoin, planner.FullJoin, planner.SemiJoin} {
		c := spilledCase(p, kind)
		want, _ := c.want()
		for fail, done := int64(0), false; !done; fail += 1 + p.r.Int64N(40) {
			files.fail.Store(fail)
			files.failed.Store(false)
			p.ctes = nil
			budget := NewBudget(1 << 30)
			out := &rows{}
			_, err := Run(context.Background(), Query{Plan: p.plan(c.node(p)), Threads: 2, Memory: budget, WorkBytes: 4000, Files: files}, out)
			if done = !files.failed.Load(); done {
				p.same(kind.String(), out.list, want)
			}
			if done != (err == nil) || err != nil && !errors.Is(err, errDisk) {
				t.Fatalf("%v, %d operations succeed: %v", kind, fail, err)
			}
			if budget.Used() != 0 || files.made.Load() != files.removed.Load() {
				t.Fatalf("%v, %d operations succeed: %d bytes held, %d files left", kind, fail, budget.Used(), files.made.Load()-files.removed.Load())
			}
		}
	}
}

// TestSpillCancelled cancels a join while it goes to disk and comes back.
func TestSpillCancelled(t *testing.T) {
	small(t)
	p := newPlans(t)
	files := newTestFiles(t)
	c := spilledCase(p, planner.InnerJoin)
	for after := range 30 {
		ctx, cancel := context.WithCancel(context.Background())
		left := 20 * after
		out := resultFunc(func(*vector.Batch) error {
			if left--; left < 0 {
				cancel()
				time.Sleep(time.Duration(-left) * time.Millisecond) // the join is told by another goroutine
			}
			return nil
		})
		p.ctes = nil
		budget := NewBudget(1 << 30)
		_, err := Run(ctx, Query{Plan: p.plan(c.node(p)), Threads: 2, Memory: budget, WorkBytes: 4000, Files: files}, out)
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) || err == nil && left < -20 { // the last batch may be the one
			t.Fatalf("cancelled after %d batches: %v", 20*after, err)
		}
		if budget.Used() != 0 || files.made.Load() != files.removed.Load() {
			t.Fatalf("%d bytes held, %d files left", budget.Used(), files.made.Load()-files.removed.Load())
		}
	}
}

type resultFunc func(*vector.Batch) error

func (f resultFunc) Push(b *vector.Batch) error { return f(b) }

// TestSpillFigures: EXPLAIN ANALYZE tells what went to disk.
func TestSpillFigures(t *testing.T) {
	small(t)
	p := newPlans(t)
	files := newTestFiles(t)
	n := spilledCase(p, planner.InnerJoin).node(p)
	outcome, err := Run(context.Background(), Query{Plan: p.plan(n), Memory: NewBudget(1 << 30), WorkBytes: 4000, Files: files, Analyze: true}, &rows{})
	if err != nil {
		t.Fatal(err)
	}
	spill, temp := figuresOf(outcome.Actual(n), "Spill"), figuresOf(outcome.Actual(n), "Temp Files")
	if spill["partitions"] != int64(16) || spill["levels"].(int64) < 2 || spill["passes"].(int64) < 2 || spill["skew_keys"] == int64(0) {
		t.Errorf("Spill: %v", spill)
	}
	if temp["created"] != int64(files.made.Load()) || temp["left"] != int64(0) {
		t.Errorf("Temp Files: %v, want %d created", temp, files.made.Load())
	}
}

// figuresOf returns the figures of a line of EXPLAIN ANALYZE.
func figuresOf(a *planner.Actual, key string) map[string]any {
	figures := map[string]any{}
	for _, f := range a.Facts {
		if f.Key == key {
			for _, p := range f.Value.(planner.Parts) {
				figures[p.Name] = p.Value
			}
		}
	}
	return figures
}
