package storage

import (
	"context"
	"maps"

	"github.com/weftdb/weft/catalog"
)

// A transaction that has locked very many rows and keys of a table, or very many in all and a good part of them
// in the table, such as a partition, tries to lock the table as a whole, in the Exclusive mode: whoever writes the table, locks its rows or looks keys up in it to rely on them
// takes RowShare or RowExclusive first and keeps that to its end, so then nobody else has a lock of a row
// or key there or can get one, and further ones need not be taken. It never waits for the table: others
// may hold rows and wait for this transaction. Where it cannot have the table, it goes on with single
// locks and tries again later.

// lockBytes is about what a lock takes: its entry in the lock table and in the owner's list.
const lockBytes = 112

// lockCount counts a transaction's locks of rows and keys of a table.
type lockCount struct {
	locks int
	next  int // number of locks at which the table is tried for
	tried bool
}

// wholeShare is the part of the locks of a whole table that makes a table worth trying for when the transaction
// has as many in all.
const wholeShare = 16

// wholeTables are the key spaces of the tables that a transaction has locked as a whole. It is immutable.
type wholeTables struct {
	stores  map[catalog.StoreID]bool
	indexes map[catalog.IndexID]bool
}

func (w *wholeTables) hasStore(id catalog.StoreID) bool { return w != nil && w.stores[id] }
func (w *wholeTables) hasIndex(id catalog.IndexID) bool { return w != nil && w.indexes[id] }

// locks returns how many resources the owner holds.
func (o *lockOwner) locks() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.held)
}

// countLocks notes the locks taken since the owner had a number of them. Those that other workers of the
// statement took meanwhile may be counted twice.
func (t *Txn) countLocks(id catalog.TableID, before int) {
	now := t.owner.locks()
	taken := now - before
	if taken <= 0 || now < t.e.opts.WholeTableLocks/wholeShare { // most transactions have nothing worth counting
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.lockCounts[id]
	if c == nil {
		if t.lockCounts == nil {
			t.lockCounts = map[catalog.TableID]*lockCount{}
		}
		c = &lockCount{next: t.e.opts.WholeTableLocks}
		t.lockCounts[id] = c
	}
	c.locks += taken
}

// lockWhole tries to lock a table of which the transaction has locked very many rows and keys.
func (t *Txn) lockWhole(ctx context.Context, tbl *catalog.Table) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.lockCounts[tbl.ID]
	if c == nil || c.locks < c.next && (c.tried || c.locks < t.e.opts.WholeTableLocks/wholeShare || t.owner.locks() < t.e.opts.WholeTableLocks) {
		return nil
	}
	c.next, c.tried = c.locks+t.e.opts.WholeTableLocks, true
	granted, _, err := t.e.locks.lock(ctx, &t.owner, resource{kind: lockRelation, object: uint32(tbl.ID)}, Exclusive, SkipLocked)
	if err != nil || !granted {
		return err
	}
	t.holdWhole(tbl)
	return nil
}

// holdWhole notes that nobody else writes a table or locks its rows and keys, which the transaction has in
// Exclusive. Its mu is held.
func (t *Txn) holdWhole(tbl *catalog.Table) {
	w := &wholeTables{stores: map[catalog.StoreID]bool{}, indexes: map[catalog.IndexID]bool{}}
	if old := t.whole.Load(); old != nil {
		w.stores, w.indexes = maps.Clone(old.stores), maps.Clone(old.indexes)
	}
	for _, id := range tbl.Stores {
		w.stores[id] = true
	}
	for i := range tbl.Indexes {
		w.indexes[tbl.Indexes[i].ID] = true
	}
	t.whole.Store(w)
}
