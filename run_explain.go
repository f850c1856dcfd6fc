package weft

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// explainOptions reads EXPLAIN's option list.
func explainOptions(list []sql.Option) (planner.ExplainOptions, error) {
	o := planner.ExplainOptions{Costs: true, Timing: true}
	summary, timing := "", ""
	for i := range list {
		opt := &list[i]
		value := "on"
		if opt.HasValue {
			value = strings.ToLower(opt.Value)
		}
		if opt.Name == "format" {
			switch value {
			case "json":
				o.JSON = true
			case "text":
			default:
				return o, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized value for EXPLAIN option \"format\": %q", opt.Value).At(opt.Start).WithHint("Formats: text, json.")
			}
			continue
		}
		text, err := boolean(opt.Name, value)
		if err != nil {
			return o, sqlerr.New(sqlerr.SyntaxError, "%s requires a Boolean value", opt.Name).At(opt.Start)
		}
		on := text == "on"
		switch opt.Name {
		case "analyze":
			o.Analyze = on
		case "verbose":
			o.Verbose = on
		case "costs":
			o.Costs = on
		case "timing":
			timing = text
		case "summary":
			summary = text
		case "buffers", "wal", "settings":
		default:
			return o, sqlerr.New(sqlerr.SyntaxError, "unrecognized EXPLAIN option %q", opt.Name).At(opt.Start)
		}
	}
	o.Summary = o.Analyze
	if summary != "" {
		o.Summary = summary == "on"
	}
	if timing != "" {
		if timing == "on" && !o.Analyze {
			return o, sqlerr.New(sqlerr.InvalidParameterValue, "EXPLAIN option TIMING requires ANALYZE")
		}
		o.Timing = timing == "on"
	}
	return o, nil
}

// explain plans a statement and, with ANALYZE, runs it.
func (r *running) explain(n *sql.Explain) (*Rows, error) {
	o, err := explainOptions(n.Options)
	if err != nil {
		return nil, err
	}
	if r.s.txn != nil {
		if err := r.s.enterSnapshot(r.ctx, r.s.txn); err != nil {
			return nil, err
		}
	}
	w := r.s.beginWork(&r.work)
	defer w.abandon()
	lines, err := r.explainIn(n, o, w)
	if err := w.end(r.ctx, err); err != nil {
		return nil, err
	}
	if err := r.refreshViews(r.ctx, w); err != nil {
		return nil, err
	}
	rows := &Rows{done: true, tag: "EXPLAIN", columns: []Column{{"QUERY PLAN", catalog.Type{ID: catalog.Text}}}}
	b := &vector.Batch{N: len(lines), Vecs: []*vector.Vector{vector.New(vector.Bytes, len(lines))}}
	if o.JSON { // one value, as PostgreSQL returns it
		lines, b.N = []string{strings.Join(lines, "\n")}, 1
	}
	for _, line := range lines {
		b.Vecs[0].AppendString(line)
	}
	rows.kept = splitBatch(b)
	return rows, nil
}

// allocations counts the objects that the process has allocated.
func allocations() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Mallocs)
}

// splitBatch cuts a batch of one text column into batches of the usual size.
func splitBatch(b *vector.Batch) []*vector.Batch {
	var out []*vector.Batch
	for from := 0; from < b.N; from += vector.BatchCap {
		n := min(b.N-from, vector.BatchCap)
		part := vector.New(vector.Bytes, n)
		for i := range n {
			part.AppendBytes(b.Vecs[0].BytesAt(from + i))
		}
		out = append(out, &vector.Batch{N: n, Vecs: []*vector.Vector{part}})
	}
	return out
}

func (r *running) explainIn(n *sql.Explain, o planner.ExplainOptions, w *work) ([]string, error) {
	stmt := n.Stmt
	switch inner := stmt.(type) {
	case *sql.Select, *sql.Insert, *sql.Update, *sql.Delete, *sql.Merge:
	case *sql.CreateTableAs:
		if o.Analyze {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "EXPLAIN ANALYZE of CREATE TABLE AS is not supported").At(inner.Start).WithHint("Explain its query.")
		}
		stmt = inner.Query
	case *sql.Execute:
		prepared, err := r.prepared(inner)
		if err != nil {
			return nil, err
		}
		return prepared.explainIn(&sql.Explain{Span: n.Span, Options: n.Options, Stmt: prepared.stmt}, o, w)
	default:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "EXPLAIN of this statement is not supported").At(n.Start)
	}
	if q, reads := stmt.(*sql.Select); o.Analyze && r.s.currentTxOptions().ReadOnly && (!reads || firstLock(q) != nil) {
		return nil, errReadOnly(stmt)
	}
	var started time.Time
	locked, view, err := r.lockedPlan(w, func(c *catalog.Snapshot) (*cachedPlan, error) {
		in := r.s.input(c)
		in.ParamTypes = r.types
		o.Phases = &planner.Phases{}
		in.Phases = o.Phases
		before := int64(0)
		if o.Summary {
			before = allocations()
		}
		started = time.Now()
		plan, err := planner.Build(stmt, in)
		o.PlanningNanos = time.Since(started).Nanoseconds()
		if o.Summary {
			o.Phases.Allocations = allocations() - before
		}
		if err != nil {
			return nil, err
		}
		return newCachedPlan(plan), nil
	})
	if err != nil {
		return nil, err
	}
	defer view.Release()
	plan := locked.Plan
	r.s.notices(plan.Notices)
	o.Rows = rowLimits(view)
	unrun := r.execQuery(r.ctx, plan, view, nil, nil)
	o.WorkBytes = unrun.HolderBytes()
	if !o.Analyze {
		return planner.Explain(plan, o), nil
	}
	env, err := r.planEnv(plan)
	if err != nil {
		return nil, err
	}
	timed, cancel := r.timed()
	defer cancel()
	ctx := timed.ctx
	started = time.Now()
	q := timed.execQuery(ctx, plan, view, w.txn, env)
	q.Analyze, q.Keys = true, &exec.KeyChanges{}
	err = timed.inBulk(w, &q, func() (err error) {
		o.Actual, err = drain(ctx, q)
		return err
	})
	if err == nil {
		err = timed.settleKeys(w, q.Keys)
	}
	if err != nil {
		return nil, contextError(ctx, err)
	}
	o.ExecutionNanos = time.Since(started).Nanoseconds()
	return planner.Explain(plan, o), nil
}

// drain runs a query for what it says of its nodes.
func drain(ctx context.Context, q exec.Query) (actual func(planner.Node) *planner.Actual, err error) {
	cursor, err := exec.Start(ctx, q)
	if err != nil {
		return nil, err
	}
	for {
		b, err := cursor.Next()
		if err != nil {
			cursor.Close()
			return nil, err
		}
		if b == nil {
			return cursor.Actual, cursor.Close()
		}
	}
}

// rowLimits returns how many rows tables have at most in a view, which holds whenever it is asked. One table is
// asked for once, so that all bounds of a plan agree.
func rowLimits(view *storage.View) func(*catalog.Table) int64 {
	known := map[catalog.TableID]int64{}
	return func(t *catalog.Table) int64 {
		rows, ok := known[t.ID]
		if !ok {
			rows = view.RowLimit(t)
			known[t.ID] = rows
		}
		return rows
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
