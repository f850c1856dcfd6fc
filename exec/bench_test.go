package exec

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/invariants"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// harness holds an opened chain of operators, to be pushed into by hand.
type harness struct {
	head  Pusher
	batch *vector.Batch
	rows  int
}

func (h *harness) Push(b *vector.Batch) error { h.rows += b.Live(); return nil }
func (h *harness) Flush() error               { return nil }

// open builds the plan that make returns over a source, runs what must come before, and opens the
// last pipeline's operators. The source's batch has an int8 column 0 … n−1 shuffled, an int4, a
// money and two string columns.
func open(p *plans, make func(input planner.Node) planner.Node) *harness {
	types := []catalog.Type{bigint, smaller, money, text, text}
	source := p.values(types, nil)
	h := &harness{batch: benchBatch(p)}
	q := Query{Plan: p.plan(make(source)), Threads: 1}
	r := &run{query: &q, ctx: context.Background(), env: copyEnv(nil, 8), threads: 1, account: &account{}, cancelled: &atomic.Bool{},
		affected: &atomic.Int64{}}
	b := &builder{run: r}
	streams, err := b.build(q.Plan.Root, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	pipelines := b.into(streams, &sinkFunc{h}, nil)
	pipeline := sourcePipeline(pipelines, source)
	for _, before := range pipeline.After {
		if err := r.run(before); err != nil {
			p.t.Fatal(err)
		}
	}
	w := r.newWorker(0, &pipeline.halted)
	out, err := pipeline.Sink.Open(w)
	for i := len(pipeline.Ops) - 1; i >= 0 && err == nil; i-- {
		out, err = pipeline.Ops[i].Open(w, out)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	h.head = out
	return h
}

// sourcePipeline finds the pipeline that starts at a Values node.
func sourcePipeline(list []*Pipeline, source planner.Node) *Pipeline {
	for _, p := range list {
		if v, ok := p.Source.(*valuesSource); ok && planner.Node(v.node) == source {
			return p
		}
		if found := sourcePipeline(p.After, source); found != nil {
			return found
		}
	}
	return nil
}

// sinkFunc is a sink that passes batches to a harness.
type sinkFunc struct{ h *harness }

func (s *sinkFunc) Open(*Worker) (Pusher, error) { return s.h, nil }
func (s *sinkFunc) Finish(*Worker) error         { return nil }

func benchBatch(p *plans) *vector.Batch {
	n := vector.BatchCap
	ids, small, amounts := make([]int64, n), make([]int32, n), make([]int64, n)
	for i, k := range p.r.Perm(n) {
		ids[i], small[i], amounts[i] = int64(k), int32(k%1000), int64(k*100)
	}
	dict := func(words int) *vector.Vector {
		list := vector.New(vector.Bytes, words)
		for i := range words {
			list.AppendString(fmt.Sprint("word ", i))
		}
		codes := make([]uint32, n)
		for i := range codes {
			codes[i] = uint32(p.r.IntN(words))
		}
		v := &vector.Vector{}
		v.SetDict(codes, list, nil)
		return v
	}
	return &vector.Batch{N: n, Vecs: []*vector.Vector{vector.FromSlice(vector.I64, ids), vector.FromSlice(vector.I32, small),
		vector.FromSlice(vector.I64, amounts), dict(3), dict(2)}}
}

// chains lists plans over the harness's source.
func (p *plans) chains() map[string]func(planner.Node) planner.Node {
	sum := func(c *expr.Col) planner.AggItem {
		call := p.agg("sum", false, c)
		return planner.AggItem{Col: p.col(call.Typ), Call: call}
	}
	count := func() planner.AggItem {
		call := p.agg("count", false)
		return planner.AggItem{Col: p.col(call.Typ), Call: call}
	}
	filter := func(in planner.Node) planner.Node {
		return &planner.Filter{Input: in, Conds: []expr.Expr{p.op("<", in.Cols()[0], integer(int64(vector.BatchCap/2)))}}
	}
	joined := func(kind planner.JoinKind, right planner.Node, key expr.Expr) func(planner.Node) planner.Node {
		return func(in planner.Node) planner.Node {
			j := &planner.Join{Kind: kind, Left: in, Right: right, Keys: []planner.JoinKey{{Left: in.Cols()[0], Right: key}}}
			if kind == planner.MarkJoin {
				j.Mark = p.col(boolean)
			}
			return j
		}
	}
	unique, duplicates := p.series(0, 1<<20), p.series(0, 4096)
	return map[string]func(planner.Node) planner.Node{
		"filter": filter,
		"filter+sum": func(in planner.Node) planner.Node {
			f := filter(in)
			return &planner.Aggregate{Input: f, Aggs: []planner.AggItem{sum(f.Cols()[2])}}
		},
		"project": func(in planner.Node) planner.Node {
			return &planner.Project{Input: in, Items: []planner.Item{{Col: p.col(bigint), Expr: p.op("+", in.Cols()[0], integer(1))}}}
		},
		"group int": func(in planner.Node) planner.Node {
			return &planner.Aggregate{Input: in, Groups: []planner.Item{{Col: p.col(smaller), Expr: in.Cols()[1]}}, Aggs: []planner.AggItem{sum(in.Cols()[2]), count()}}
		},
		"group 2 dict": func(in planner.Node) planner.Node {
			return &planner.Aggregate{Input: in, Groups: []planner.Item{{Col: p.col(text), Expr: in.Cols()[3]}, {Col: p.col(text), Expr: in.Cols()[4]}},
				Aggs: []planner.AggItem{sum(in.Cols()[2]), count()}}
		},
		"top 10": func(in planner.Node) planner.Node {
			return &planner.Sort{Input: in, Keys: []planner.SortKey{{Expr: in.Cols()[2], Desc: true}}, Limit: integer(10)}
		},
		"join inner":     joined(planner.InnerJoin, unique, unique.Out[0]),
		"join left":      joined(planner.LeftJoin, unique, unique.Out[0]),
		"join semi":      joined(planner.SemiJoin, unique, unique.Out[0]),
		"join mark":      joined(planner.MarkJoin, unique, unique.Out[0]),
		"join 4 matches": joined(planner.InnerJoin, duplicates, p.op("/", duplicates.Out[0], integer(4))),
	}
}

// TestSteadyState checks that pushing allocates nothing once buffers have grown.
func TestSteadyState(t *testing.T) {
	if invariants.Enabled {
		t.Skip("hostile batches are copies")
	}
	p := newPlans(t)
	for name, chain := range p.chains() {
		if name == "top 10" { // prunes now and then
			continue
		}
		h := open(p, chain)
		push := func() {
			if err := h.head.Push(h.batch); err != nil {
				t.Fatal(err)
			}
		}
		for range 130 {
			push()
		}
		if n := testing.AllocsPerRun(200, push); n != 0 {
			t.Errorf("%s: %v allocations a batch", name, n)
		}
	}
}

func BenchmarkPush(b *testing.B) {
	p := newPlans(b)
	for name, chain := range p.chains() {
		h := open(p, chain)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := h.head.Push(h.batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(h.batch.N), "ns/row")
		})
	}
}

func BenchmarkSort(b *testing.B) {
	const n = 1 << 20
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprint("int8/threads=", threads), func(b *testing.B) {
			p := newPlans(b)
			series := p.series(1, n)
			project := &planner.Project{Input: series, Items: []planner.Item{{Col: p.col(bigint), Expr: p.op("%", p.op("*", series.Out[0], integer(7919)), integer(n+1))}}}
			node := &planner.Sort{Input: project, Keys: []planner.SortKey{{Expr: project.Cols()[0]}}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Run(context.Background(), Query{Plan: p.plan(node), Threads: threads}, pushFunc(func(*vector.Batch) error { return nil })); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}
