package weft

import (
	"sort"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
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
	if changes.Table == nil {
		return nil
	}
	env, err := r.sessionEnv()
	if err != nil {
		return err
	}
	k := &keyWork{r: r, w: w, env: env, queue: []*exec.KeyChanges{changes}}
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
	if catalog.SameReferences(changes.References.Known, now.References(changes.Table.ID)) {
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
	moves := k.mayMove(use)
	if moves && c.New != nil {
		if t.single, err = k.overlap(use, c); err != nil {
			return err
		}
	}
	err = t.each(len(c.Values), func(from, to int) error {
		return k.carry(t.change(action, c, from, to), t, c.Values[from:to], moves && action != catalog.SetDefault)
	})
	if err != nil || action != catalog.SetDefault {
		return err
	}
	return k.checkGone(c, true) // the default may be what went
}

// mayMove reports whether a statement may miss rows of the referencing table: at READ COMMITTED it
// takes a row that another transaction moves to another data node meanwhile for deleted.
func (k *keyWork) mayMove(use *exec.KeyChange) bool {
	return len(use.Child.Stores) > 1 && k.w.txn.RereadsRows()
}

// overlap reports whether some values become others that change too: which rows are left to change is
// clear value by value only then.
func (k *keyWork) overlap(use, c *exec.KeyChange) (bool, error) {
	old := map[string]struct{}{}
	for _, v := range c.Values {
		key, _, err := use.Encode(k.w.txn.Engine(), v)
		if err != nil {
			return false, err
		}
		old[string(key)] = struct{}{}
	}
	for _, v := range c.New {
		key, _, err := use.Encode(k.w.txn.Engine(), v)
		if err != nil {
			return false, err
		}
		if _, both := old[string(key)]; both {
			return true, nil
		}
	}
	return false, nil
}

// carry runs the statement that carries a change of values over, again while rows that moved are left.
func (k *keyWork) carry(query string, t *referenceText, values [][]vector.Datum, moves bool) error {
	if query == "" {
		return nil
	}
	const tries = 100 // each failure takes somebody who moved a row just then
	for range tries {
		if _, err := k.run(query); err != nil || !moves {
			return err
		}
		if left, err := k.some(t.referencing(values, false)); !left || err != nil {
			return err
		}
	}
	return sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent update")
}

// references reports whether a row references one of the values, waiting for those who are deleting
// such rows.
func (k *keyWork) references(t *referenceText, values [][]vector.Datum) (bool, error) {
	wait := k.w.txn.RereadsRows()
	for {
		some, err := k.some(t.referencing(values, wait))
		if some || err != nil || !k.mayMove(t.use) {
			return some, err
		}
		if left, err := k.some(t.referencing(values, false)); !left || err != nil {
			return false, err
		}
	}
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
	use, err := planner.NewKeyUse(now, child, child.ForeignKey(c.Key.Name), held)
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
		if some, err := k.some(t.mixed()); some || err != nil {
			return firstError(err, heldViolation(use.Child, use.Key).WithDetail("MATCH FULL does not allow mixing of null and nonnull key values."))
		}
	}
	casts := newKeyCasts(use, k.env)
	for i, values := range c.Values {
		if i%vector.BatchCap == 0 && k.r.ctx.Err() != nil {
			return canceled(k.r.ctx)
		}
		found, err := k.exists(use, casts, values)
		if err != nil {
			return err
		}
		if found {
			continue
		}
		if some, err := k.some(t.withValues(values)); some || err != nil {
			return firstError(err, heldViolation(use.Child, use.Key).
				WithDetail("Key %s is not present in table %q.", t.describe(values, true), use.Parent.Name))
		}
	}
	return nil
}

func firstError(err error, other *sqlerr.Error) error {
	if err != nil {
		return err
	}
	return other
}

// exists locks the row that has the values of a held key and reports whether there is one.
func (k *keyWork) exists(use *exec.KeyChange, casts *keyCasts, values []vector.Datum) (bool, error) {
	values, ok := casts.toParent(values)
	if !ok {
		return false, nil
	}
	engine := k.w.txn.Engine()
	key, _, err := use.Encode(engine, values)
	if err != nil {
		return false, err
	}
	return k.w.txn.LockReferenced(k.r.ctx, use.Parent, use.Index, key)
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
			key, _, err := use.Encode(k.w.txn.Engine(), v)
			if err != nil {
				return err
			}
			_, found, err := k.w.txn.LookupLatest(k.r.ctx, use.Index, key, storage.KeyShare)
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
		some, err := k.references(t, values[from:to])
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
	view := k.latest()
	defer view.Release()
	plan, err := planner.Build(stmt, k.r.s.input(view.Catalog()))
	if err != nil {
		return nil, err
	}
	inner := *k.r
	inner.stmt, inner.args, inner.text = stmt, nil, query
	changes := &exec.KeyChanges{}
	rows, err := inner.writeRows(plan, k.w, view, changes)
	if err == nil && changes.Table != nil {
		k.queue = append(k.queue, changes)
	}
	return rows, err
}
