package weft

import (
	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// prepareKeys decides how the foreign keys of a table that is being loaded are checked: rows that go to
// fresh stores by one join at the end, with the referenced tables kept from being written until the
// transaction ends. Other rows, and those of a load that would have to wait for that, are checked key
// by key as INSERT does.
func (l *copyLoad) prepareKeys(w *work) error {
	uses, err := planner.InsertReferences(l.table, l.in)
	if err != nil || uses == nil {
		return err
	}
	l.keyUses = uses
	joined := l.inserts == nil && l.loader.Fresh()
	for i := 0; joined && i < len(uses.Held); i++ {
		parent := uses.Held[i].Parent
		err := w.txn.LockTable(l.ctx, parent.ID, storage.TableShare, storage.NoWait)
		if sqlerr.CodeOf(err) == sqlerr.LockNotAvailable {
			joined = false
		} else if err != nil {
			return err
		}
	}
	if !joined {
		l.changes = exec.NewKeyChanges(l.table, uses)
	}
	return nil
}

// noteKeys notes the foreign keys of rows.
func (l *copyLoad) noteKeys(rows *vector.Batch) {
	if l.changes == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.changes.Held {
		c.AddHeld(rows, nil, nil)
	}
}

// finishLoad ends a load and checks the foreign keys of its rows.
func (r *running) finishLoad(l *copyLoad, w *work) (int64, error) {
	count, err := l.finish()
	if err != nil {
		return 0, err
	}
	w.viewsChanged = l.voidsViews()
	if l.wasEmpty {
		if err := w.txn.SetStats(l.table.ID, l.stats()); err != nil {
			return 0, err
		}
	}
	switch {
	case l.keyUses == nil || count == 0:
		return count, nil
	case l.changes != nil:
		return count, r.settleKeys(w, l.changes)
	}
	return count, r.checkLoaded(l, w)
}

// checkLoaded checks the rows of a table that was empty.
func (r *running) checkLoaded(l *copyLoad, w *work) error {
	env := r.sessionEnv()
	k := &keyWork{r: r, w: w, env: env}
	for i := range l.keyUses.Held {
		c := exec.NewKeyChange(l.keyUses.Held[i])
		c.All = true
		if r.s.defers(c) && !w.own {
			r.s.pending = append(r.s.pending, pendingKey{c, true})
		} else if err := k.checkHeld(c); err != nil {
			return err
		}
	}
	return nil
}
