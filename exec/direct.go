package exec

import (
	"context"
	"sync/atomic"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// Direct runs a plan that writes a few rows given by value or by key, again and again, on the calling
// goroutine: its one pipeline is built once and its operators stay open from run to run. It belongs to
// one goroutine at a time. After an error it must not be used again.
type Direct struct {
	query   Query
	env     expr.Env
	run     run
	worker  *Worker
	scanner Scanner
	out     Pusher
	write   *writeOp
	result  directResult
}

// directRows is how many rows of VALUES a kept pipeline may have: what it holds between runs is
// small.
const directRows = 128

// IsDirect reports whether a plan can be run by a Direct.
func IsDirect(p *planner.Plan) bool {
	if len(p.CTEs) > 0 || len(p.InitPlans) > 0 {
		return false
	}
	switch n := p.Root.(type) {
	case *planner.Insert, *planner.Update, *planner.Delete:
		return givesFewRows(n.Kids()[0])
	}
	return false
}

func givesFewRows(n planner.Node) bool {
	switch n := n.(type) {
	case *planner.Values:
		return len(n.Rows) <= directRows
	case *planner.Scan:
		return n.Access == planner.AccessKey && n.Parts == nil
	case *planner.Project, *planner.Filter:
		return givesFewRows(n.Kids()[0])
	}
	return false
}

// OpenDirect builds the pipeline of a plan that IsDirect.
func OpenDirect(p *planner.Plan, q Query) (*Direct, error) {
	d := &Direct{query: q}
	d.query.Plan = p
	d.run = run{query: &d.query, env: &d.env, threads: 1, account: &account{budget: q.Memory}, affected: &atomic.Int64{}}
	b := &builder{run: &d.run}
	streams, err := b.build(p.Root, nil)
	if err != nil {
		return nil, err
	}
	pipeline := b.into(streams, &resultSink{out: &d.result}, nil)[0]
	for _, op := range pipeline.Ops {
		if w, ok := op.(*writeOp); ok {
			d.write = w
		}
	}
	d.worker = d.run.newWorker(0, &pipeline.halted)
	if d.scanner, d.out, err = pipeline.open(d.worker); err != nil {
		return nil, err
	}
	return d, nil
}

// Run runs the plan with another query's view, transaction, parameters and session. It returns the
// rows of RETURNING, which belong to the caller, and the number of rows written.
func (d *Direct) Run(ctx context.Context, q Query) ([]*vector.Batch, int64, error) {
	plan := d.query.Plan
	d.query = q
	d.query.Plan = plan
	defer func() { // nothing of the run is kept alive between runs
		d.query, d.env, d.result = Query{Plan: plan}, expr.Env{}, directResult{}
		d.run.ctx, d.worker.Ctx = nil, nil
	}()
	stop, unwatch := q.watch(ctx)
	defer unwatch()
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	d.env = *q.Env
	d.env.Stop = stop
	d.run.ctx, d.run.cancelled, d.worker.Ctx = ctx, stop, ctx
	d.run.affected.Store(0)
	defer d.run.account.release()
	if d.write != nil {
		clear(d.write.seen) // by the run before
	}
	err := d.run.guard(func() error {
		if err := d.scanner.Scan(0); err != nil {
			return err
		}
		return d.out.Flush()
	})
	return d.result.rows, d.run.affected.Load(), d.worker.close(err)
}

// directResult collects what RETURNING yields: as few rows as were written.
type directResult struct{ rows []*vector.Batch }

func (r *directResult) Push(b *vector.Batch) error {
	r.rows = append(r.rows, ownedBatch(b))
	return nil
}
