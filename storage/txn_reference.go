package storage

import (
	"context"
	"math"

	"github.com/weftdb/weft/catalog"
)

// LockReferenced keeps a key of a unique index, given by EncodeKey and without a NULL in it, as it is
// until the transaction ends, and reports whether a row has it, in the latest committed state or in
// the transaction's own writes: what the rows that reference it need. The row is locked too, for
// whoever locks it FOR UPDATE counts on nobody beginning to reference it; before the key, as those do
// who delete it. At REPEATABLE READ the row must be one that the transaction sees.
func (t *Txn) LockReferenced(ctx context.Context, tbl *catalog.Table, index *catalog.Index, encoded []byte) (found bool, err error) {
	if err := t.lockTable(ctx, tbl.ID, RowShare, Wait); err != nil {
		return false, err
	}
	for {
		state := t.e.published.Load()
		ref, own, found, err := t.peekKey(index, encoded)
		if err != nil {
			return false, err
		}
		if found && !own {
			if _, _, err := t.e.locks.lock(ctx, &t.owner, rowResource(ref), KeyShare, Wait); err != nil {
				return false, err
			}
		}
		if err := t.lockKey(ctx, index.ID, encoded, KeyShare); err != nil {
			return false, err
		}
		// Who changes the key holds its lock until the change is published.
		if state != t.e.published.Load() {
			now, _, still, err := t.peekKey(index, encoded)
			if err != nil || !still {
				return false, err
			}
			if !own && (!found || now != ref) {
				continue // another row has it by now
			}
		}
		if !found {
			return false, nil
		}
		return t.seesKey(index, encoded, own)
	}
}

// peekKey looks a key up without locking it.
func (t *Txn) peekKey(index *catalog.Index, encoded []byte) (ref RowRef, own, found bool, err error) {
	if ref, deleted, ok, err := t.overlay.lookupKey(index.ID, encoded, math.MaxUint32); ok || err != nil {
		return ref, true, !deleted, err
	}
	ref, found, err = getRef(t.e.db, encoded)
	return ref, false, found, err
}

// seesKey reports whether the transaction's own view has a key that exists.
func (t *Txn) seesKey(index *catalog.Index, encoded []byte, own bool) (bool, error) {
	if own || t.RereadsRows() {
		return true, nil
	}
	t.mu.Lock()
	snap := t.statementSnapshot()
	t.mu.Unlock()
	defer snap.release()
	_, found, err := getRef(snap.db, encoded)
	return found, err
}
