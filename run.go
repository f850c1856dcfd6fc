package weft

import (
	"context"
	"fmt"
	"strconv"
	"time"

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
	types []catalog.Type
	now   int64 // microseconds
}

// run dispatches on the kind of statement.
func (r *running) run() (*Rows, error) {
	switch n := r.stmt.(type) {
	case *sql.Select, *sql.Insert, *sql.Update, *sql.Delete:
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
		return done("CHECKPOINT"), nil
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
}

// beginWork starts a statement that may write.
func (s *Session) beginWork() *work {
	w := &work{s: s, txn: s.txn}
	if w.txn == nil {
		w.own = true
		w.txn = s.db.engine.Begin(s.txnOptions(s.defaultTxOptions()))
	}
	w.txn.SetLockTimeout(s.milliseconds(setLockTimeout))
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

func (s *Session) plannerSettings() *planner.Settings {
	p := planner.DefaultSettings()
	p.SearchPath, _ = splitNames(s.setting(setSearchPath)) // checked when it was set
	p.EnableHTAP = s.on(setEnableHTAP)
	p.EnableImcvScan = s.on(setImcvScan)
	p.EnableHybrid = s.on(setHybridScan)
	p.EnableHashJoin = s.on(setHashJoin)
	p.EnableSeqScan, p.EnableIndexScan, p.EnableIndexOnlyScan, p.EnableBitmapScan = s.on(setSeqScan), s.on(setIndexScan), s.on(setIndexOnlyScan), s.on(setBitmapScan)
	p.EnableIndexJoin = s.on(setNestedLoop)
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
func (r *running) sessionEnv() (*expr.Env, error) {
	zone, err := expr.LoadZone(r.s.setting(setTimeZone))
	if err != nil {
		return nil, err
	}
	path, _ := splitNames(r.s.setting(setSearchPath)) // checked when it was set
	return &expr.Env{Now: r.s.txStart, StatementNow: r.now, TimeZone: zone, SearchPath: path, Version: "PostgreSQL " + serverVersion, Sequences: sequences{r}}, nil
}

// env is what a plan's expressions may depend on.
func (r *running) env(plan *planner.Plan) (*expr.Env, error) {
	if err := r.s.refuseInBlock(plan); err != nil {
		return nil, err
	}
	env, err := r.sessionEnv()
	if err != nil {
		return nil, err
	}
	if len(r.args) != len(plan.Params) {
		return nil, sqlerr.New(sqlerr.UndefinedParameter, "the statement takes %d parameters but %d arguments were given", len(plan.Params), len(r.args))
	}
	env.Params = make([]vector.Datum, plan.ParamSlots)
	for i, t := range plan.Params {
		if env.Params[i], err = r.args[i].datum(t, env); err != nil {
			return nil, err
		}
	}
	return env, nil
}

// deadline applies statement_timeout.
func (r *running) deadline() (context.Context, context.CancelFunc) {
	d := r.s.milliseconds(setStatementTimeout)
	if d <= 0 {
		return context.WithCancel(r.ctx)
	}
	return context.WithTimeoutCause(r.ctx, d, errStatementTimeout)
}

// milliseconds is the value of a setting that is a time.
func (s *Session) milliseconds(name string) time.Duration {
	ms, _ := strconv.ParseInt(s.setting(name), 10, 64) // normalised when it was set
	return time.Duration(ms) * time.Millisecond
}

// timed is the statement with a context that ends when statement_timeout has passed.
func (r *running) timed() (*running, context.CancelFunc) {
	inner := *r
	var cancel context.CancelFunc
	inner.ctx, cancel = r.deadline()
	return &inner, cancel
}

func (s *Session) threads() int {
	n, _ := strconv.Atoi(s.setting(setThreads)) // normalised when it was set
	return max(n, 1)
}

// query runs SELECT, INSERT, UPDATE or DELETE.
func (r *running) query() (*Rows, error) {
	if q, ok := r.stmt.(*sql.Select); ok {
		if !locksRows(q) {
			return r.read()
		}
		if r.s.readOnly() {
			return nil, sqlerr.New(sqlerr.ReadOnlyTransaction, "cannot execute SELECT FOR UPDATE in a read-only transaction")
		}
	}
	if err := r.refuseIfReadOnly(); err != nil {
		return nil, err
	}
	w := r.s.beginWork()
	defer w.abandon()
	rows, err := r.writeIn(w)
	if err := w.end(r.ctx, err); err != nil {
		return nil, err
	}
	return rows, nil
}

func (r *running) writeIn(w *work) (*Rows, error) {
	view := w.txn.View()
	defer view.Release()
	plan, err := r.plan(view.Catalog())
	if err != nil {
		return nil, err
	}
	return r.write(plan, w, view)
}

// read starts a SELECT; its rows stream from a running plan.
func (r *running) read() (rows *Rows, err error) {
	view := r.s.view()
	defer func() {
		if rows == nil { // also when planning panics
			view.Release()
		}
	}()
	return r.readThrough(view)
}

// readThrough runs a SELECT through a view, which the rows release when they are closed.
func (r *running) readThrough(view *storage.View) (*Rows, error) {
	s := r.s
	plan, err := r.plan(view.Catalog())
	if err != nil {
		return nil, err
	}
	env, err := r.env(plan)
	if err != nil {
		return nil, err
	}
	if err := view.WaitDurable(r.ctx); err != nil {
		return nil, err
	}
	if plan.Point != nil {
		return r.readPoint(plan, view, env)
	}
	ctx, cancel := r.deadline()
	cursor, err := exec.Start(ctx, s.execQuery(plan, view, nil, env, r.text))
	if err != nil {
		cancel()
		return nil, contextError(ctx, err)
	}
	rows := &Rows{ctx: ctx, columns: resultColumns(plan), cursor: cursor, env: env, tagPrefix: "SELECT", onError: s.fail}
	rows.finish = func() {
		cancel()
		view.Release()
		s.db.users.removeRows(rows)
		if s.txn == nil {
			if err := s.syncSequences(); err != nil && rows.err == nil {
				rows.err = err
			}
		}
	}
	s.db.users.addRows(rows)
	return rows, nil
}

// view is the state the next statement sees.
func (s *Session) view() *storage.View {
	if s.txn == nil {
		return s.db.engine.View()
	}
	s.txUsed = true
	s.txn.BeginStatement()
	defer s.txn.EndStatement()
	return s.txn.View()
}

func (s *Session) execQuery(plan *planner.Plan, view *storage.View, txn *storage.Txn, env *expr.Env, text string) exec.Query {
	return exec.Query{Plan: plan, View: view, Txn: txn, Env: env, Threads: s.threads(), Memory: s.db.budget,
		Columns: s.db.views, TableFunction: s.db.tableFunction, Statement: text}
}

// locksRows reports whether a query has FOR UPDATE or the like in it.
func locksRows(q *sql.Select) bool {
	found := false
	sql.Inspect(q, func(n sql.Node) bool {
		if q, ok := n.(*sql.Select); ok && len(q.Locking) > 0 {
			found = true
		}
		return !found
	})
	return found
}

// write runs a plan that writes, to its end, and what its foreign keys make of it.
func (r *running) write(plan *planner.Plan, w *work, view *storage.View) (*Rows, error) {
	timed, cancel := r.timed()
	defer cancel()
	changes := &exec.KeyChanges{}
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
func (r *running) writeRows(plan *planner.Plan, w *work, view *storage.View, changes *exec.KeyChanges) (*Rows, error) {
	env, err := r.env(plan)
	if err != nil {
		return nil, err
	}
	q := r.s.execQuery(plan, view, w.txn, env, r.text)
	q.Keys = changes
	cursor, err := exec.Start(r.ctx, q)
	if err != nil {
		return nil, contextError(r.ctx, err)
	}
	rows := &Rows{ctx: r.ctx, columns: resultColumns(plan), env: env}
	if err := rows.collect(cursor); err != nil {
		return nil, contextError(r.ctx, err)
	}
	rows.affected = cursor.Affected()
	switch r.stmt.(type) {
	case *sql.Insert:
		rows.tag = fmt.Sprintf("INSERT 0 %d", rows.affected)
	case *sql.Update:
		rows.tag = fmt.Sprintf("UPDATE %d", rows.affected)
	case *sql.Delete:
		rows.tag = fmt.Sprintf("DELETE %d", rows.affected)
	case *sql.Select:
		rows.tagPrefix = "SELECT"
	}
	return rows, nil
}
