package exec

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/imcv"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// Query is a plan with what it runs on.
type Query struct {
	Plan *planner.Plan
	// View is what tables are read through; it must stay counted until the query has ended.
	View *storage.View
	// Txn takes the writes of Insert, Update and Delete.
	Txn *storage.Txn
	// Env holds the statement's parameters and session; it is copied, not changed.
	Env *expr.Env
	// Stop is set when the query has to end before its time; nil = when its context ends.
	Stop *atomic.Bool
	// Threads is the most workers a pipeline uses, 0 = as many as the machine runs at once.
	Threads int
	// Memory bounds what the operators hold; nil = no limit.
	Memory *Budget
	// WorkBytes is what a hash join may hold before it goes to disk, 0 = a share of Memory.
	WorkBytes int64
	// NoRuntimeFilters keeps scans from dropping rows by the keys of hash joins above them.
	NoRuntimeFilters bool
	// Files makes temporary files for what Memory does not take; nil = such a query fails with 53200.
	Files join.Files
	// Columns serves scans that the planner sends to column views; nil reads rows instead.
	Columns *imcv.Manager
	// TableFunction computes the rows of a function in FROM other than generate_series.
	TableFunction func(name string, args []vector.Datum) ([][]vector.Datum, error)
	// Statement is the text, for messages about bugs.
	Statement string
	// Keys collects what happens to the values of foreign keys; nil leaves foreign keys alone.
	Keys *KeyChanges
	// Bulk stores the rows of a plan that is an Insert, and is to be finished afterwards; nil inserts them one by one.
	Bulk *BulkInsert
	// Analyze counts rows and time per node, for Actual.
	Analyze bool
}

// Result receives a query's rows. Push is called from one goroutine at a time; the batch is
// borrowed for the call. An error ends the query and is returned by Run; ErrStop ends it early,
// without error.
type Result interface {
	Push(b *vector.Batch) error
}

// Outcome is what a query did besides yielding rows.
type Outcome struct {
	// Affected is the number of rows inserted, updated or deleted.
	Affected int64
	// Actual returns what happened at a plan node; nil without Query.Analyze.
	Actual func(planner.Node) *planner.Actual
}

// run is one execution of a plan, or of the inner plan of an Apply.
type run struct {
	query     *Query
	ctx       context.Context
	env       *expr.Env
	threads   int
	account   *account
	files     *tempFiles
	cancelled *atomic.Bool
	stats     *planStats            // nil without Analyze
	clock     *clock                // of the worker this run is a part of; nil without Analyze, and outermost
	ctes      map[*planner.CTE]*cte // of this run; changed while pipelines are built only
	inTurns   bool                  // it is a pipeline's that takes turns with the clock's worker
	outer     *run                  // the run whose Apply or recheck this one belongs to
	newest    *newestRows           // of a recheck: what one scan reads instead
	beside    bool                  // it only checks what another run leaves out
	affected  *atomic.Int64
}

// Run executes a query to its end.
func Run(ctx context.Context, q Query, out Result) (Outcome, error) {
	r := &run{query: &q, ctx: ctx, threads: q.Threads, account: &account{budget: q.Memory},
		files: newTempFiles(q.Files), affected: &atomic.Int64{}}
	var unwatch func() bool
	r.cancelled, unwatch = q.watch(ctx)
	defer unwatch()
	if r.threads <= 0 {
		r.threads = runtime.GOMAXPROCS(0)
	}
	var outcome Outcome
	if q.Analyze {
		r.stats = newPlanStats()
		outcome.Actual = r.stats.actual
	}
	r.env = copyEnv(q.Env, q.Plan.ParamSlots)
	r.env.Stop = r.cancelled
	if err := ctx.Err(); err != nil {
		return outcome, ctx.Err()
	}
	defer r.account.release()
	err := r.guard(func() error { return r.execute(q.Plan, out) })
	if closeErr := r.files.close(); err == nil {
		err = closeErr
	}
	outcome.Affected = r.affected.Load()
	return outcome, err
}

// watch returns what is set when the query has to end, and a function that ends the watching.
func (q *Query) watch(ctx context.Context) (stop *atomic.Bool, unwatch func() bool) {
	if q.Stop != nil {
		return q.Stop, func() bool { return true }
	}
	own := &atomic.Bool{}
	return own, context.AfterFunc(ctx, func() { own.Store(true) })
}

// copyEnv returns an Env with room for every parameter of a plan.
func copyEnv(env *expr.Env, slots int) *expr.Env {
	c := expr.Env{}
	if env != nil {
		c = *env
	}
	c.Params = make([]vector.Datum, max(slots, len(c.Params)))
	if env != nil {
		copy(c.Params, env.Params)
	}
	return &c
}

func (r *run) execute(p *planner.Plan, out Result) error {
	for i := range p.InitPlans {
		if err := r.initPlan(&p.InitPlans[i]); err != nil {
			return err
		}
	}
	return r.collect(p.Root, &resultSink{out: out})
}

// collect runs a tree into a sink.
func (r *run) collect(n planner.Node, sink Sink) error {
	b := &builder{run: r}
	streams, err := b.build(n, nil)
	if err != nil {
		return err
	}
	for _, p := range b.into(streams, sink, nil) {
		if err := r.run(p); err != nil {
			return err
		}
	}
	return nil
}

// initPlan runs an uncorrelated subquery and sets its parameter. What its data make fail is kept
// for the row that needs the value, for there may be none: the outer query may have no rows, or a
// CASE may avoid it.
func (r *run) initPlan(ip *planner.InitPlan) error {
	sink := &firstRows{exists: ip.Exists, kind: ip.Type.Kind()}
	err := r.collect(ip.Plan, sink)
	if err == nil {
		r.env.Params[ip.Param-1], err = sink.value()
	}
	if err != nil && sqlerr.CodeOf(err).OfData() {
		if r.env.ParamErrors == nil {
			r.env.ParamErrors = make([]error, len(r.env.Params))
		}
		r.env.ParamErrors[ip.Param-1] = err
		return nil
	}
	return err
}

// resultSink passes batches on to a Result, from one worker at a time.
type resultSink struct {
	out Result
	mu  sync.Mutex
}

type resultPusher struct{ sink *resultSink }

func (s *resultSink) Open(*Worker) (Pusher, error) { return &resultPusher{s}, nil }
func (s *resultSink) Finish(*Worker) error         { return nil }

func (p *resultPusher) Push(b *vector.Batch) error {
	p.sink.mu.Lock()
	defer p.sink.mu.Unlock()
	return p.sink.out.Push(b)
}

func (p *resultPusher) Flush() error { return nil }

// firstRows keeps the single value of a subquery.
type firstRows struct {
	exists bool
	kind   vector.Kind
	mu     sync.Mutex
	rows   int
	first  vector.Datum
}

type firstRowsPusher struct{ sink *firstRows }

func (s *firstRows) Open(*Worker) (Pusher, error) { return &firstRowsPusher{s}, nil }
func (s *firstRows) Finish(*Worker) error         { return nil }

func (p *firstRowsPusher) Push(b *vector.Batch) error {
	s := p.sink
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == 0 && !s.exists {
		row := 0
		if b.Sel != nil {
			row = int(b.Sel[0])
		}
		s.first = vector.DatumAt(b.Vecs[0], row)
	}
	if s.rows += b.Live(); s.exists || s.rows > 1 {
		return ErrStop
	}
	return nil
}

func (p *firstRowsPusher) Flush() error { return nil }

func (s *firstRows) value() (vector.Datum, error) {
	switch {
	case s.exists:
		return vector.BoolDatum(s.rows > 0), nil
	case s.rows == 0:
		return vector.NullDatum(s.kind), nil
	case s.rows > 1:
		return vector.Datum{}, errTwoRows
	}
	return s.first, nil
}
