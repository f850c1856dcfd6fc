package weft

import (
	"context"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
)

// reading is what a statement that only reads holds until its rows are closed.
type reading struct {
	s    *Session
	view *storage.View
	// implicit is the transaction of a serializable statement outside of a block.
	implicit *storage.Txn
	// tables holds the table locks of a statement that belongs to no transaction; nil = none.
	tables *storage.Reader
}

// beginReading takes the state that the next statement, which only reads, sees. Outside of a transaction
// block a serializable statement gets a transaction of its own.
func (s *Session) beginReading(ctx context.Context) (*reading, error) {
	in := &reading{s: s}
	txn := s.txn
	if txn == nil {
		o := s.defaultTxOptions()
		if o.Isolation != Serializable {
			in.view = s.db.engine.View()
			return in, nil
		}
		o.Deferrable = o.Deferrable && o.ReadOnly
		o.ReadOnly = true
		in.implicit = s.db.engine.Begin(s.txnOptions(o))
		txn = in.implicit
	}
	if err := s.enterSnapshot(ctx, txn); err != nil {
		if in.implicit != nil {
			in.implicit.Rollback()
		}
		return nil, err
	}
	s.txUsed = true
	txn.SetLockTimeout(s.derived().lockTimeout)
	in.view = statementView(txn)
	return in, nil
}

// statementView is the state that a statement of a transaction sees.
func statementView(txn *storage.Txn) *storage.View {
	txn.BeginStatement()
	defer txn.EndStatement()
	return txn.View()
}

// enterSnapshot fails for a serializable transaction that cannot commit any more, and waits for the
// snapshot of a deferrable one.
func (s *Session) enterSnapshot(ctx context.Context, txn *storage.Txn) error {
	if err := txn.CheckSerializable(); err != nil {
		return err
	}
	ctx, cancel := s.deadline(ctx)
	defer cancel()
	if err := txn.AwaitSnapshot(ctx); err != nil {
		return canceled(ctx)
	}
	return nil
}

// end gives back what the reading holds; a serializable statement learns whether it may have read what
// it did.
func (in *reading) end(ctx context.Context) error {
	var err error
	if in.implicit != nil {
		err = in.implicit.Commit(ctx)
	}
	in.abandon()
	return err
}

// abandon gives back what the reading holds.
func (in *reading) abandon() {
	in.view.Release()
	if in.implicit != nil {
		in.implicit.Rollback()
	}
	if in.tables != nil {
		in.tables.Release()
	}
}

// tableLocks is who holds the table locks of a statement.
type tableLocks interface {
	LockRelation(ctx context.Context, id catalog.TableID, mode storage.LockMode) (waited bool, err error)
	CurrentTable(id catalog.TableID) *catalog.Table
}

var useModes = map[planner.Use]storage.LockMode{planner.Reads: storage.AccessShare, planner.LocksRows: storage.RowShare,
	planner.Writes: storage.RowExclusive}

// lockRelations takes the locks that a plan's tables and views need. It reports whether the plan and the
// state that it reads have become old by that: because others were waited for, or because a relation
// was changed before it was locked.
func (r *running) lockRelations(locks tableLocks, plan *planner.Plan, view *storage.View) (old bool, err error) {
	if len(plan.Relations) == 0 {
		return false, nil
	}
	timed, cancel := r.timed()
	defer cancel()
	for _, u := range plan.Relations {
		waited, err := locks.LockRelation(timed.ctx, u.ID, useModes[u.Use])
		if err != nil {
			return false, contextError(timed.ctx, err)
		}
		old = old || waited
	}
	for _, u := range plan.Relations {
		old = old || view.Catalog().Table(u.ID) != locks.CurrentTable(u.ID)
	}
	return old, nil
}

// planReading plans a statement that only reads, with its tables locked and the state it reads taken
// after that, as far as the isolation level lets it.
func (r *running) planReading(in *reading) (*cachedPlan, error) {
	s := r.s
	txn := in.implicit
	if txn == nil {
		txn = s.txn
	}
	for {
		plan, err := r.plan(in.view.Catalog())
		if err != nil || len(plan.Relations) == 0 {
			return plan, err
		}
		var locks tableLocks = txn
		if txn == nil {
			if plan.Point != nil && !s.db.engine.ReadersExcluded() {
				return plan, nil // it has read before anybody can come
			}
			if in.tables == nil {
				in.tables = s.db.engine.NewReader(s, s.derived().lockTimeout)
			}
			locks = in.tables
		}
		old, err := r.lockRelations(locks, plan.Plan, in.view)
		if err != nil || !old || txn != nil && !txn.RereadsRows() {
			return plan, err
		}
		in.view.Release()
		if txn == nil {
			in.view = s.db.engine.View()
		} else {
			in.view = statementView(txn)
		}
	}
}

// lockedPlan plans a statement that may write, as planReading does, and returns the view that it sees.
func (r *running) lockedPlan(w *work, build func(*catalog.Snapshot) (*cachedPlan, error)) (*cachedPlan, *storage.View, error) {
	for {
		view := w.txn.View()
		plan, err := build(view.Catalog())
		if err == nil && !w.own && plan == r.s.lockedPlan {
			return plan, view, nil
		}
		old := false
		if err == nil {
			old, err = r.lockRelations(w.txn, plan.Plan, view)
		}
		if err == nil && (!old || !w.txn.RereadsRows()) {
			if !w.own && !old {
				r.s.lockedPlan = plan
			}
			return plan, view, nil
		}
		view.Release()
		if err != nil {
			return nil, nil, err
		}
		w.txn.EndStatement() // it has not written
		w.txn.BeginStatement()
	}
}
