package weft

import (
	"context"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// running is one statement on its way.
type running struct {
	s    *Session
	ctx  context.Context
	stmt sql.Statement
	text string
	args []argument
	// types are what PREPARE declares the parameters to be, Unknown where the context decides.
	types   []catalog.Type
	now     int64           // microseconds
	env     expr.Env        // of sessionEnv and planEnv
	seq     sequences       // of env
	params  []vector.Datum  // memory of env.Params
	changes exec.KeyChanges // of the statement
	work    work            // of a statement that may write
}

// run dispatches on the kind of statement.
func (r *running) run() (*Rows, error) {
	switch n := r.stmt.(type) {
	case *sql.Select, *sql.Insert, *sql.Update, *sql.Delete, *sql.Merge:
		return r.query()
	case *sql.Explain:
		return r.explain(n)
	case *sql.Begin:
		return r.begin(n)
	case *sql.Commit:
		return r.commit(n)
	case *sql.Rollback:
		return r.rollback(n)
	case *sql.Savepoint, *sql.Release, *sql.RollbackTo:
		return r.savepoint()
	case *sql.SetTransaction:
		return r.setTransaction(n)
	case *sql.Lock:
		return r.lockTables(n)
	case *sql.SetConstraints:
		return r.setConstraints(n)
	case *sql.Set:
		return r.set(n)
	case *sql.Show:
		return r.show(n)
	case *sql.Reset:
		return r.reset(n)
	case *sql.Copy:
		return r.copy(n)
	case *sql.Prepare:
		return r.prepare(n)
	case *sql.Execute:
		return r.execute(n)
	case *sql.Deallocate:
		return r.deallocate(n)
	case *sql.Checkpoint:
		return done("CHECKPOINT"), r.s.db.engine.Flush(r.ctx)
	case *sql.Discard:
		return r.discard(n)
	}
	return r.define()
}

// done is the result of a statement without rows.
func done(tag string) *Rows { return &Rows{done: true, tag: tag} }

// work is a unit of writing: the statement's own transaction outside of a block, a nested statement
// inside one.
type work struct {
	s    *Session
	txn  *storage.Txn
	own  bool
	done bool
	// viewsChanged tells that column views have to follow what the work does.
	viewsChanged bool
}

// beginWork starts a statement that may write, in the memory of w, which it returns.
func (s *Session) beginWork(w *work) *work {
	*w = work{s: s, txn: s.txn}
	if w.txn == nil {
		w.own = true
		w.txn = s.db.engine.Begin(s.txnOptions(s.defaultTxOptions()))
	}
	w.txn.SetLockTimeout(s.derived().lockTimeout)
	w.txn.BeginStatement()
	s.txUsed = true
	if w.own {
		s.pending, s.constraints = nil, constraintModes{}
	}
	return w
}

// end keeps the statement's writes, committing them outside of a transaction block; after an error
// it undoes them.
func (w *work) end(ctx context.Context, err error) error {
	if w.done {
		return err
	}
	w.done = true
	if err == nil && !w.own {
		err = w.txn.CheckSerializable()
	}
	if err != nil {
		w.txn.RollbackStatement()
		if w.own {
			w.txn.Rollback()
		}
		return err
	}
	w.txn.EndStatement()
	if !w.own {
		return nil
	}
	defer w.txn.Rollback()
	if err := w.s.atCommit(ctx, w.txn); err != nil {
		return err
	}
	if err := w.txn.Commit(ctx); err != nil {
		return err
	}
	return w.s.syncSequences()
}

// abandon undoes what has not come to its end: a panic passed by.
func (w *work) abandon() {
	if w.done {
		return
	}
	w.done = true
	w.txn.RollbackStatement()
	if w.own {
		w.txn.Rollback()
	}
}

// input is what the planner gets to see: for statements that read, the catalog that belongs to
// the view they read through.
func (s *Session) input(c *catalog.Snapshot) planner.Input {
	return planner.Input{Catalog: c, World: &world{db: s.db}, Settings: s.plannerSettings()}
}

// sortShare is the part of the memory for statements that one sort is expected to get.
const sortShare = 4

func (s *Session) plannerSettings() *planner.Settings {
	p := planner.DefaultSettings()
	p.SearchPath = s.derived().searchPath
	p.TempSchema, p.TempUsed = s.temp.schema, s.temp.used
	p.EnableHTAP = s.on(setEnableHTAP)
	p.EnableImcvScan = s.on(setImcvScan)
	p.EnableHybrid = s.on(setHybridScan)
	p.EnableHashJoin = s.on(setHashJoin)
	p.EnableMergeJoin = s.on(setMergeJoin)
	p.EnableSeqScan, p.EnableIndexScan, p.EnableIndexOnlyScan, p.EnableBitmapScan = s.on(setSeqScan), s.on(setIndexScan), s.on(setIndexOnlyScan), s.on(setBitmapScan)
	p.EnableIndexJoin = s.on(setNestedLoop)
	p.EnablePruning = s.on(setPartitionPruning)
	p.SortRoomBytes = max(s.db.budget.Limit()/sortShare, 1)
	p.EnablePartitionwiseJoin = s.on(setPartitionwiseJoin)
	p.EnablePartitionwiseAggregate = s.on(setPartitionwiseGroup)
	switch s.setting(setRouterMode) {
	case "row":
		p.Router = planner.RouterRow
	case "column":
		p.Router = planner.RouterColumn
	}
	if names := splitList(s.setting(setDisabledRules)); len(names) > 0 {
		p.DisabledRules = map[string]bool{}
		for _, n := range names {
			p.DisabledRules[n] = true
		}
	}
	return p
}

// sessionEnv is what expressions without parameters may depend on.
func (r *running) sessionEnv() *expr.Env {
	d := r.s.derived()
	r.seq = sequences{r: r}
	r.env = expr.Env{Now: r.s.txStart, StatementNow: r.now, TimeZone: d.zone, SearchPath: d.searchPath, Version: "PostgreSQL " + serverVersion, Sequences: &r.seq}
	return &r.env
}

// env is what a plan's expressions may depend on.
func (r *running) planEnv(plan *planner.Plan) (*expr.Env, error) {
	if err := r.s.refuseInBlock(plan); err != nil {
		return nil, err
	}
	env := r.sessionEnv()
	if len(r.args) != len(plan.Params) {
		return nil, sqlerr.New(sqlerr.UndefinedParameter, "the statement takes %d parameters but %d arguments were given", len(plan.Params), len(r.args))
	}
	r.params = append(r.params[:0], make([]vector.Datum, plan.ParamSlots)...)
	env.Params = r.params
	for i, t := range plan.Params {
		var err error
		if env.Params[i], err = r.args[i].datum(t, env); err != nil {
			return nil, err
		}
	}
	return env, nil
}

// deadline applies statement_timeout.
func (s *Session) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	d := s.derived().statementTimeout
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d, errStatementTimeout)
}

// timed is the statement with a context that ends when statement_timeout has passed.
func (r *running) timed() (*running, context.CancelFunc) {
	if r.s.derived().statementTimeout <= 0 {
		return r, func() {}
	}
	inner := *r
	var cancel context.CancelFunc
	inner.ctx, cancel = r.s.deadline(r.ctx)
	return &inner, cancel
}

// query runs SELECT, INSERT, UPDATE, DELETE or MERGE.
func (r *running) query() (*Rows, error) {
	if q, ok := r.stmt.(*sql.Select); ok {
		if firstLock(q) == nil {
			return r.read()
		}
		if r.s.readOnly() {
			return nil, errReadOnly(q)
		}
	}
	if err := r.refuseIfReadOnly(); err != nil {
		return nil, err
	}
	w := r.s.beginWork(&r.work)
	defer w.abandon()
	rows, err := r.writeIn(w)
	seen := r.s.db.engine.CommitNumber() // rows may be newer than the statement's view: what was locked is read anew
	if err := w.end(r.ctx, err); err != nil {
		return nil, err
	}
	if err := r.refreshViews(r.ctx, w); err != nil {
		return nil, err
	}
	if len(rows.columns) > 0 {
		if err := r.s.db.engine.WaitDurable(r.ctx, seen); err != nil {
			return nil, contextError(r.ctx, err)
		}
	}
	return rows, nil
}

func (r *running) writeIn(w *work) (*Rows, error) {
	plan, view, err := r.lockedPlan(w, r.plan)
	if err != nil {
		return nil, err
	}
	defer view.Release()
	return r.write(plan, w, view)
}

// read starts a SELECT; its rows stream from a running plan.
func (r *running) read() (rows *Rows, err error) {
	in, err := r.s.beginReading(r.ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if rows == nil { // also when planning panics
			in.abandon()
		}
	}()
	return r.readIn(in)
}

// readIn runs a SELECT; the rows end the reading when they are closed.
func (r *running) readIn(in *reading) (*Rows, error) {
	s := r.s
	plan, err := r.planReading(in)
	if err != nil {
		return nil, err
	}
	view := in.view
	env, err := r.planEnv(plan.Plan)
	if err != nil {
		return nil, err
	}
	if err := view.WaitDurable(r.ctx); err != nil {
		return nil, err
	}
	if plan.Point != nil {
		return r.readPoint(plan, in, env)
	}
	s.db.uses.note(s.db, plan.Plan)
	ctx, cancel := s.deadline(r.ctx)
	rows := &Rows{ctx: ctx, columns: plan.columns, env: env, tagPrefix: "SELECT", onError: s.fail}
	if s.derived().verify {
		rows.kept, err = r.verify(ctx, in, plan, env)
	} else {
		rows.cursor, err = exec.Start(ctx, r.execQuery(ctx, plan.Plan, view, nil, env))
	}
	if err != nil {
		cancel()
		return nil, contextError(ctx, err)
	}
	rows.finish = func() {
		cancel()
		s.db.users.removeRows(rows)
		if rows.err != nil {
			in.abandon()
		} else {
			rows.err = in.end(context.WithoutCancel(ctx)) // the rows are read: only conflicts count
		}
		if s.txn == nil {
			if err := s.syncSequences(); err != nil && rows.err == nil {
				rows.err = err
			}
		}
	}
	s.db.users.addRows(s, rows)
	return rows, nil
}

// execQuery is what a plan runs on under a context.
func (r *running) execQuery(ctx context.Context, plan *planner.Plan, view *storage.View, txn *storage.Txn, env *expr.Env) exec.Query {
	db, settings := r.s.db, r.s.derived()
	q := exec.Query{Plan: plan, View: view, Txn: txn, Env: env, Threads: settings.threads,
		Memory: db.budget, WorkBytes: settings.workBytes, Files: tempFiles{db.engine}, NoRuntimeFilters: !settings.runtimeFilters,
		Columns: db.views, Statement: r.text, Stop: db.users.stop(ctx)}
	if len(plan.Functions) > 0 {
		call := &functionCall{ctx: ctx, db: db, catalog: view.Catalog(), path: settings.searchPath}
		if r.s.temp.used {
			call.path = append([]string{r.s.temp.schema}, call.path...)
		}
		q.TableFunction = call.run
	}
	return q
}

// write runs a plan that writes, to its end, and what its foreign keys make of it.
func (r *running) write(plan *cachedPlan, w *work, view *storage.View) (*Rows, error) {
	timed, cancel := r.timed()
	defer cancel()
	changes := &timed.changes
	*changes = exec.KeyChanges{}
	rows, err := timed.writeRows(plan, w, view, changes)
	if err == nil {
		err = timed.settleKeys(w, changes)
	}
	if err != nil {
		return nil, contextError(timed.ctx, err)
	}
	return rows, nil
}

// writeRows runs a plan that writes, to its end: its RETURNING rows are collected.
func (r *running) writeRows(plan *cachedPlan, w *work, view *storage.View, changes *exec.KeyChanges) (*Rows, error) {
	env, err := r.planEnv(plan.Plan)
	if err != nil {
		return nil, err
	}
	q := r.execQuery(r.ctx, plan.Plan, view, w.txn, env)
	q.Keys = changes
	rows := r.s.takeRows()
	rows.ctx, rows.columns = r.ctx, plan.columns
	if len(rows.columns) > 0 {
		rows.env = env
	}
	if plan.direct {
		err = rows.runDirect(r.ctx, plan, q)
	} else {
		err = r.inBulk(w, &q, func() error { return rows.runToEnd(r.ctx, q) })
	}
	if err != nil {
		return nil, contextError(r.ctx, err)
	}
	switch r.stmt.(type) {
	case *sql.Insert:
		rows.wrote = "INSERT 0"
	case *sql.Update:
		rows.wrote = "UPDATE"
	case *sql.Delete:
		rows.wrote = "DELETE"
	case *sql.Merge:
		rows.wrote = "MERGE"
	case *sql.Select:
		rows.tagPrefix = "SELECT"
	}
	return rows, nil
}

// runToEnd runs a plan and keeps its rows.
func (rows *Rows) runToEnd(ctx context.Context, q exec.Query) error {
	cursor, err := exec.Start(ctx, q)
	if err != nil {
		return err
	}
	if err := rows.collect(cursor); err != nil {
		return err
	}
	rows.affected = cursor.Affected()
	return nil
}

// runDirect runs a plan that writes a few rows on operators that were opened for it before.
func (rows *Rows) runDirect(ctx context.Context, plan *cachedPlan, q exec.Query) (err error) {
	direct, _ := plan.pool.Get().(*exec.Direct)
	if direct == nil {
		if direct, err = exec.OpenDirect(plan.Plan, q); err != nil {
			return err
		}
	}
	if rows.kept, rows.affected, err = direct.Run(ctx, q); err != nil {
		return err
	}
	rows.done = true
	plan.pool.Put(direct)
	return nil
}
