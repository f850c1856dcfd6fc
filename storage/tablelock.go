package storage

import (
	"context"
	"slices"
	"time"

	"github.com/weftdb/weft/catalog"
)

// LockRelation is LockTable for a statement that is planned already. It reports whether others had to
// be waited for, so that the statement may have to look at what they left; the catalog stays as it is
// until the next statement.
func (t *Txn) LockRelation(ctx context.Context, id catalog.TableID, mode LockMode) (waited bool, err error) {
	if err := t.checkActive(); err != nil {
		return false, err
	}
	return t.e.locks.lockRelation(ctx, &t.owner, id, mode)
}

// CurrentTable returns a table as the next statement would find it, nil if there is none.
func (t *Txn) CurrentTable(id catalog.TableID) *catalog.Table { return t.currentTable(id) }

// HoldsTable reports whether the transaction holds a table in a mode, or in one that covers it.
func (t *Txn) HoldsTable(id catalog.TableID, mode LockMode) bool {
	return t.e.locks.holds(&t.owner, resource{kind: lockRelation, object: uint32(id)}, mode)
}

// LockForIndex keeps writers from a table until the transaction ends, and others from adding an index to
// it; readers go on. After a wait the caller looks the table up again in Catalog().
func (t *Txn) LockForIndex(ctx context.Context, id catalog.TableID) error {
	if err := t.checkActive(); err != nil {
		return err
	}
	err := t.lockToChange(ctx, id, TableShare)
	t.rebase()
	return err
}

// changeLock is the mode in which a table is locked to be changed in the catalog. Readers go on where
// rows and what leads to them stay as they are.
func changeLock(before, after *catalog.Table) LockMode {
	switch {
	case after == nil:
		return AccessExclusive
	case sameShape(before, after), indexesOnline(before, after):
		return ShareUpdateExclusive
	case !sameShape(before, withoutAdded(before, after)):
		return AccessExclusive
	case len(after.ForeignKeys) != len(before.ForeignKeys):
		return ShareRowExclusive
	}
	return TableShare
}

// withoutAdded returns after without the indexes and foreign keys that before does not have.
func withoutAdded(before, after *catalog.Table) *catalog.Table {
	left := after.Clone()
	left.Indexes = slices.DeleteFunc(left.Indexes, func(ix catalog.Index) bool {
		return !slices.ContainsFunc(before.Indexes, func(old catalog.Index) bool { return old.ID == ix.ID })
	})
	left.ForeignKeys = slices.DeleteFunc(left.ForeignKeys, func(k catalog.ForeignKey) bool { return before.ForeignKey(k.Name) == nil })
	return left
}

// lockToChange locks a table to be changed in the catalog. TableShare, which does not exclude itself, is
// for adding an index: those who add one follow each other by another lock, which comes first. Who
// excludes them by the table's own lock must not ask for it, for they may wait for that one with it.
func (t *Txn) lockToChange(ctx context.Context, id catalog.TableID, mode LockMode) error {
	if mode == TableShare && !t.HoldsTable(id, ShareRowExclusive) {
		definition := resource{kind: lockDefinition, object: uint32(id)}
		if _, _, err := t.e.locks.lock(ctx, &t.owner, definition, Update, Wait); err != nil {
			return err
		}
	}
	return t.lockTable(ctx, id, mode, Wait)
}

// holds reports whether an owner holds a resource in modes that cover one.
func (m *lockManager) holds(o *lockOwner, r resource, mode LockMode) bool {
	s := m.shard(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.locks.get(r)
	return r.covers(l.modesOf(o), mode)
}

func (m *lockManager) lockRelation(ctx context.Context, o *lockOwner, id catalog.TableID, mode LockMode) (waited bool, err error) {
	r := resource{kind: lockRelation, object: uint32(id)}
	granted, _, err := m.lock(ctx, o, r, mode, SkipLocked)
	if err == nil && !granted {
		waited = true
		_, _, err = m.lock(ctx, o, r, mode, Wait)
	}
	return waited, err
}

// Reader holds the table locks of a statement that reads outside of a transaction.
type Reader struct {
	e     *Engine
	owner lockOwner
}

// NewReader returns a reader for a session, as TxnOptions have it, whose waits for a lock end with 55P03
// after a time; 0 = no bound.
func (e *Engine) NewReader(session any, lockTimeout time.Duration) *Reader {
	r := &Reader{e: e}
	r.owner.id, r.owner.session, r.owner.timeout = e.nextTxn.Add(1), session, lockTimeout
	return r
}

// LockRelation locks a table or view until Release, as that of Txn does.
func (r *Reader) LockRelation(ctx context.Context, id catalog.TableID, mode LockMode) (waited bool, err error) {
	return r.e.locks.lockRelation(ctx, &r.owner, id, mode)
}

// CurrentTable returns a table as the next statement would find it, nil if there is none.
func (r *Reader) CurrentTable(id catalog.TableID) *catalog.Table { return r.e.Catalog().Table(id) }

// Release gives the locks back.
func (r *Reader) Release() { r.e.locks.releaseAll(&r.owner) }

// ReadersExcluded reports whether somebody holds a table in AccessExclusive, or waits for it. If not, a
// statement that reads and ends at once runs before whoever comes next, without a lock.
func (e *Engine) ReadersExcluded() bool { return e.locks.excluding.Load() != 0 }
