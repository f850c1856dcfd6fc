package weft

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
)

// rewrite fills the fresh stores of a table, which has no indexes yet, with the rows that a plan
// makes of those it had, in their order. They are the latest committed ones and the transaction's
// own: the lock keeps others from writing. The view was taken before the table was redefined. rewrite
// returns the table as the load leaves it.
func (d *definition) rewrite(t *catalog.Table, plan *planner.Plan, view *storage.View) (*catalog.Table, error) {
	timed, cancel := d.r.timed()
	defer cancel()
	env, err := timed.planEnv(plan)
	if err != nil {
		return nil, err
	}
	env.Sequences = &sequences{r: timed, txn: d.w.txn}
	loader, err := d.w.txn.NewLoader(timed.ctx, t)
	if err != nil {
		return nil, err
	}
	defer loader.Abort()
	q := d.r.execQuery(timed.ctx, plan, view, nil, env)
	q.Threads = 1
	rows := exec.NewBulkLoad(d.w.txn, t, loader)
	if _, err := exec.Run(timed.ctx, q, rows); err != nil {
		return nil, contextError(timed.ctx, err)
	}
	if err := rows.Finish(); err != nil {
		return nil, contextError(timed.ctx, err)
	}
	d.ddl.Catalog = d.w.txn.Catalog()
	return d.ddl.Catalog.Table(t.ID), nil
}
