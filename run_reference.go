package weft

import (
	"slices"
	"sort"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/prune"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// keyWork does what the foreign keys of a statement leave to do when its rows are written: check new
// values, look for rows that reference values which went, and carry changes over to them. Statements
// that it runs in turn queue their own work behind, so that all rows are changed before anything is
// refused, as PostgreSQL's triggers do.
type keyWork struct {
	r     *running
	w     *work
	env   *expr.Env
	queue []*exec.KeyChanges
}

// settleKeys ends a statement that changed values of foreign keys.
func (r *running) settleKeys(w *work, changes *exec.KeyChanges) error {
	parts := changes.Parts()
	if parts == nil {
		return nil
	}
	k := &keyWork{r: r, w: w, env: r.sessionEnv(), queue: parts}
	for len(k.queue) > 0 {
		next := k.queue[0]
		k.queue = k.queue[1:]
		if err := k.settle(next); err != nil {
			return err
		}
	}
	if w.own {
		return k.checkPending(nil)
	}
	return nil
}

func (k *keyWork) settle(changes *exec.KeyChanges) error {
	if err := k.checkKnown(changes); err != nil {
		return err
	}
	for _, c := range changes.Referencing {
		if len(c.Values) == 0 {
			continue
		}
		if err := k.replaced(c); err != nil {
			return err
		}
	}
	for _, c := range changes.Held {
		if len(c.Values) == 0 && !c.Mixed {
			continue
		}
		if k.r.s.defers(c) {
			k.r.s.pending = append(k.r.s.pending, pendingKey{c, true})
		} else if err := k.checkHeld(c); err != nil {
			return err
		}
	}
	return nil
}

// checkKnown makes sure that planning knew all foreign keys that reference the table: one may have
// been added before the statement locked the table. From then on none can be.
func (k *keyWork) checkKnown(changes *exec.KeyChanges) error {
	if changes.References.Old == nil {
		return nil // INSERT takes nothing away
	}
	k.w.txn.BeginStatement()
	now := k.w.txn.Catalog()
	k.w.txn.EndStatement()
	if catalog.SameReferences(changes.References.Known, now.ReferencesTo(changes.Table)) {
		return nil
	}
	return sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent change of table %q", changes.Table.Name).WithTable(changes.Table.Name)
}

// replaced does what a foreign key says about referenced values that went.
func (k *keyWork) replaced(c *exec.KeyChange) error {
	action := c.Key.OnDelete
	if c.New != nil {
		action = c.Key.OnUpdate
	}
	switch {
	case action == catalog.NoAction && k.r.s.defers(c):
		k.r.s.pending = append(k.r.s.pending, pendingKey{c, false})
		return nil
	case action == catalog.NoAction:
		return k.checkGone(c, true)
	case action == catalog.Restrict:
		return k.checkGone(c, false)
	}
	use, err := k.current(c, false)
	if err != nil || use == nil {
		return err
	}
	t := newReferenceText(use, k.env)
	err = t.each(len(c.Values), func(from, to int) error {
		query := t.change(action, c, from, to)
		if query == "" {
			return nil
		}
		_, err := k.run(query)
		return err
	})
	if err != nil || action != catalog.SetDefault {
		return err
	}
	return k.checkGone(c, true) // the default may be what went
}

// current resolves a key's tables as they are now; nil if the key has been dropped. The parent is kept
// from being changed.
func (k *keyWork) current(c *exec.KeyChange, held bool) (*exec.KeyChange, error) {
	if err := k.w.txn.LockTable(k.r.ctx, c.Parent.ID, storage.RowShare, storage.Wait); err != nil {
		return nil, err
	}
	now := k.w.txn.Catalog()
	child := now.Table(c.Child.ID)
	if child == nil || child.ForeignKey(c.Key.Name) == nil {
		return nil, nil
	}
	changed := child
	if !held {
		changed = now.Table(c.Key.RefTable)
	}
	use, err := planner.NewKeyUse(now, child, child.ForeignKey(c.Key.Name), changed, held)
	return exec.NewKeyChange(use), err
}

// checkHeld makes sure that new values of a key exist in the referenced table, or that no row has them
// any more.
func (k *keyWork) checkHeld(c *exec.KeyChange) error {
	use, err := k.current(c, true)
	if err != nil || use == nil {
		return err
	}
	if c.All {
		return k.checkAll(use)
	}
	t := newReferenceText(use, k.env)
	if c.Mixed {
		if err := k.checkMixed(t); err != nil {
			return err
		}
	}
	for i, values := range c.Values {
		if i%vector.BatchCap == 0 && k.r.ctx.Err() != nil {
			return canceled(k.r.ctx)
		}
		found, err := k.exists(t, values)
		if err != nil {
			return err
		}
		if found {
			continue
		}
		some, err := k.some(t.withValues(values))
		if err != nil {
			return err
		}
		if some {
			return k.heldBy(use, values).
				WithDetail("Key %s is not present in table %q.", t.describe(values, true), use.Parent.Name)
		}
	}
	return nil
}

// heldBy is the error of a row whose key does not exist: of a partitioned table, the partition that has
// it is to blame.
func (k *keyWork) heldBy(use *exec.KeyChange, values []vector.Datum) *sqlerr.Error {
	for _, leaf := range k.w.txn.Catalog().Leaves(use.Child) {
		if leaf.ID == use.Child.ID {
			break
		}
		at := prune.ColumnMap(use.Child, leaf)
		for i := range leaf.ForeignKeys {
			key := &leaf.ForeignKeys[i]
			if !key.Inherited || key.RefTable != use.Key.RefTable || !slices.Equal(key.RefColumns, use.Key.RefColumns) || leaf.Columns[at[use.Columns[0]]].ID != key.Columns[0] {
				continue
			}
			own, err := planner.NewKeyUse(k.w.txn.Catalog(), leaf, key, leaf, true)
			if err != nil {
				break
			}
			if some, err := k.some(newReferenceText(exec.NewKeyChange(own), k.env).withValues(values)); err == nil && some {
				return heldViolation(leaf, key)
			}
		}
	}
	return heldViolation(use.Child, use.Key)
}

// checkMixed looks for a row that MATCH FULL forbids.
func (k *keyWork) checkMixed(t *referenceText) error {
	some, err := k.some(t.mixed())
	if err != nil || !some {
		return err
	}
	return heldViolation(t.use.Child, t.use.Key).WithDetail("MATCH FULL does not allow mixing of null and nonnull key values.")
}

// exists locks the row that has the values of a held key and reports whether there is one.
func (k *keyWork) exists(t *referenceText, values []vector.Datum) (bool, error) {
	values, ok := t.toParent(values)
	if !ok {
		return false, nil
	}
	home, err := t.use.Locate(k.w.txn.Engine(), values)
	if err != nil || home.Table == nil {
		return false, err
	}
	return k.w.txn.LockReferenced(k.r.ctx, home.Table, home.Index, home.Key)
}

// has reports whether the parent has a row with values now.
func (k *keyWork) has(use *exec.KeyChange, values []vector.Datum) (bool, error) {
	home, err := use.Locate(k.w.txn.Engine(), values)
	if err != nil || home.Table == nil {
		return false, err
	}
	_, found, err := k.w.txn.LookupLatest(k.r.ctx, home.Table, home.Index, home.Key)
	return found, err
}

// checkGone makes sure that no row references values that went. With again, values that another row
// has by now are in order.
func (k *keyWork) checkGone(c *exec.KeyChange, again bool) error {
	use, err := k.current(c, false)
	if err != nil || use == nil {
		return err
	}
	var values [][]vector.Datum
	for _, v := range c.Values {
		if again {
			found, err := k.has(use, v)
			if err != nil {
				return err
			}
			if found {
				continue
			}
		}
		values = append(values, v)
	}
	t := newReferenceText(use, k.env)
	return t.each(len(values), func(from, to int) error {
		// Whoever is deleting such a row is waited for.
		some, err := k.some(t.referencing(values[from:to], k.w.txn.RereadsRows()))
		if err != nil || !some {
			return err
		}
		first := sort.Search(to-from-1, func(i int) bool {
			some, failed := k.some(t.referencing(values[from:from+i+1], false))
			if failed != nil {
				err = failed
			}
			return some
		})
		if err != nil {
			return err
		}
		return referencedViolation(use).WithDetail("Key %s is still referenced from table %q.", t.describe(values[from+first], false), use.Child.Name)
	})
}

// heldViolation is the error of a row whose key does not exist.
func heldViolation(child *catalog.Table, key *catalog.ForeignKey) *sqlerr.Error {
	e := sqlerr.New(sqlerr.ForeignKeyViolation, "insert or update on table %q violates foreign key constraint %q", child.Name, key.Name).
		WithTable(child.Name).WithConstraint(key.Name)
	e.SchemaName = child.Schema
	return e
}

// referencedViolation is the error of a change that would leave rows without what they reference.
func referencedViolation(use *exec.KeyChange) *sqlerr.Error {
	e := sqlerr.New(sqlerr.ForeignKeyViolation, "update or delete on table %q violates foreign key constraint %q on table %q", use.Parent.Name, use.Key.Name, use.Child.Name).
		WithTable(use.Child.Name).WithConstraint(use.Key.Name)
	e.SchemaName = use.Child.Schema
	return e
}

// some reports whether a query yields a row; an empty one does not.
func (k *keyWork) some(query string) (bool, error) {
	if query == "" {
		return false, nil
	}
	rows, err := k.run(query)
	if err != nil {
		return false, err
	}
	return rows.Next(), nil
}

func (k *keyWork) latest() *storage.View {
	if k.w.txn.RereadsRows() {
		return k.w.txn.View() // taken now
	}
	return k.w.txn.LatestView()
}

// lockedPlan plans a statement with its tables locked, and returns the view that it sees.
func (k *keyWork) lockedPlan(stmt sql.Statement) (*planner.Plan, *storage.View, error) {
	for {
		view := k.latest()
		plan, err := planner.Build(stmt, k.r.s.input(view.Catalog()))
		old := false
		if err == nil {
			old, err = k.r.lockRelations(k.w.txn, plan, view)
		}
		if err == nil && !old {
			return plan, view, nil
		}
		view.Release()
		if err != nil {
			return nil, nil, err
		}
		k.w.txn.EndStatement() // it has not written
		k.w.txn.BeginStatement()
	}
}

// run runs a statement that sees the latest committed state and all the transaction has written so
// far, whatever the isolation level: what others committed since the transaction's snapshot counts.
// Writing rows that the snapshot does not have is a conflict, 40001.
func (k *keyWork) run(query string) (*Rows, error) {
	stmt, err := sql.ParseOne(query)
	if err != nil {
		return nil, err
	}
	txn := k.w.txn
	txn.BeginStatement()
	defer txn.EndStatement() // after an error the statement that this one is part of is undone
	inner := *k.r
	inner.stmt, inner.args, inner.text = stmt, nil, query
	plan, view, err := k.lockedPlan(stmt)
	if err != nil {
		return nil, err
	}
	defer view.Release()
	changes := &exec.KeyChanges{}
	rows, err := inner.writeRows(newCachedPlan(plan), k.w, view, changes)
	if err == nil && changes.Table != nil {
		k.queue = append(k.queue, changes)
	}
	return rows, err
}
