package weft

import (
	"slices"

	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
)

// inBulk runs a query that writes, by a bulk load where that is possible.
func (r *running) inBulk(w *work, q *exec.Query, run func() error) error {
	insert, ok := q.Plan.Root.(*planner.Insert)
	if !ok || !r.bulkInserts(insert, w) {
		return run()
	}
	q.Bulk = exec.NewBulkInsert(r.ctx, w.txn, insert.Table)
	defer q.Bulk.Abort()
	if err := run(); err != nil {
		return err
	}
	fresh, err := q.Bulk.Finish()
	w.viewsChanged = w.viewsChanged || fresh && insert.Table.HasView
	return err
}

// bulkInserts reports whether an INSERT may store its rows by a bulk load: into a table that nobody has put rows into,
// with nothing that asks for rows as they are stored. The load excludes other writers until the transaction ends. So
// within a transaction block it is for tables that the transaction keeps others from writing anyway; and elsewhere not
// for tables with foreign keys, whose rows are checked by waiting for others, who may wait to write this table.
func (r *running) bulkInserts(n *planner.Insert, w *work) bool {
	if _, values := n.Input.(*planner.Values); values || n.Conflict != nil || len(n.Returning) > 0 || n.Into.Parts != nil || n.Table.IsPartition() {
		return false
	}
	var held []planner.KeyUse
	if n.Keys != nil {
		held = n.Keys.Held
	}
	if slices.ContainsFunc(held, func(k planner.KeyUse) bool { return k.Parent.ID == n.Table.ID }) {
		return false
	}
	engine := r.s.db.engine
	own := engine.Catalog().Table(n.Table.ID) == nil || w.txn.HoldsTable(n.Table.ID, storage.Exclusive)
	return (own || w.own && len(held) == 0) && engine.RowCount(n.Table) == 0
}
