package storage

import (
	"bytes"
	"context"
	"errors"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

func rowResource(ref RowRef) resource { return resource{kind: lockRow, id: uint64(ref)} }

// LockRows locks rows in a row mode and returns the positions of those that changed after the
// statement's view was taken, deleted ones included, and of those that SkipLocked left out. Rows
// the transaction holds locked are not checked again, neither here nor by Update and Delete: who
// gets positions back reads those rows anew (LatestView), and gives up, or checks its predicate
// again, before it writes them.
func (t *Txn) LockRows(ctx context.Context, tbl *catalog.Table, refs []RowRef, mode LockMode, policy WaitPolicy) (changed, skipped []int, err error) {
	if err := t.checkActive(); err != nil {
		return nil, nil, err
	}
	if err := t.lockTable(ctx, tbl.ID, RowShare, Wait); err != nil {
		return nil, nil, err
	}
	codec, err := t.e.codec(tbl)
	if err != nil {
		return nil, nil, err
	}
	if mode >= NoKeyUpdate { // the table's lock would keep out those who share weaker ones
		if err := t.lockWhole(ctx, tbl); err != nil {
			return nil, nil, err
		}
		defer t.countLocks(tbl.ID, t.owner.locks())
	}
	t.mu.Lock()
	snap := t.statementSnapshot()
	t.mu.Unlock()
	defer snap.release()
	for i, ref := range refs {
		granted, conflict, err := t.lockRow(ctx, codec, snap, ref, mode, policy)
		switch {
		case err != nil:
			return nil, nil, err
		case !granted:
			skipped = append(skipped, i)
		case conflict != nil:
			changed = append(changed, i)
		}
	}
	return changed, skipped, t.charge(ctx)
}

// RereadsRows reports whether a statement that meets a row changed after its view goes on with the
// row's newest version (READ COMMITTED), instead of giving up with 40001.
func (t *Txn) RereadsRows() bool { return t.opts.Isolation == ReadCommitted }

// LatestView returns a view of the latest committed state with the transaction's earlier
// statements: where the newest version of a locked row is found. Counted once for the caller.
func (t *Txn) LatestView() *View {
	v := t.latest()
	if n := len(t.stack); n > 0 {
		v.cmd = t.stack[n-1].cmd
	} else {
		v.cmd = t.cmd + 1
	}
	return v
}

// lockUnchanged locks rows that must not have changed since the statement's view.
func (t *Txn) lockUnchanged(ctx context.Context, c *tableCodec, refs []RowRef, mode LockMode) error {
	t.mu.Lock()
	snap := t.statementSnapshot()
	t.mu.Unlock()
	defer snap.release()
	for i, ref := range refs {
		_, conflict, err := t.lockRow(ctx, c, snap, ref, mode, Wait)
		if err != nil {
			return err
		}
		if conflict != nil {
			conflict.Index = i
			return conflict
		}
	}
	return nil
}

// lockRow locks one row; a row that gets locked by it and has changed since snap is a conflict.
func (t *Txn) lockRow(ctx context.Context, c *tableCodec, snap *snapshot, ref RowRef, mode LockMode, policy WaitPolicy) (granted bool, _ *RowConflict, err error) {
	t.overlay.mu.RLock()
	own, err := t.overlay.hasRow(ref)
	t.overlay.mu.RUnlock()
	if own || err != nil { // written before, so locked, or inserted, so unknown to others
		return true, nil, err
	}
	if t.whole.Load().hasStore(ref.Store()) {
		// Nobody else locks or changes the row. One that was changed before is locked all the same, so
		// that it is found out once only.
		if changed, _, err := t.e.changedSince(c, snap, ref); err != nil || !changed {
			return true, nil, err
		}
	}
	granted, held, err := t.e.locks.lock(ctx, &t.owner, rowResource(ref), mode, policy)
	if err != nil || !granted || held {
		return granted, nil, err
	}
	changed, deleted, err := t.e.changedSince(c, snap, ref)
	if err != nil || !changed {
		return true, nil, err
	}
	t.e.metrics.rowConflicts.Add(1)
	if deleted && (len(c.tbl.Stores) > 1 || c.tbl.IsPartition()) && t.e.moves.moved(ref, t.e.journal.pageLastChange(ref.Store(), ref.Row()>>6)) {
		return true, nil, errMoved
	}
	return true, &RowConflict{Ref: ref, Deleted: deleted}, nil
}

// changedSince reports whether the latest committed version of a locked row differs from the one
// in snap. The lock keeps the answer true. Rows that were changed and changed back count as
// unchanged: no order of the transactions could tell.
func (e *Engine) changedSince(c *tableCodec, snap *snapshot, ref RowRef) (changed, deleted bool, err error) {
	if e.journal.pageLastChange(ref.Store(), ref.Row()>>6) <= snap.state.commit {
		return false, false, nil
	}
	before, err := readRow(snap.db, c.tableLayout, ref)
	if err != nil {
		return false, false, err
	}
	now, err := readRow(e.db, c.tableLayout, ref)
	if err != nil {
		return false, false, err
	}
	return !bytes.Equal(before, now), now == nil, nil
}

// readRow returns a row in single form, nil if it does not exist.
func readRow(r pebble.Reader, l *tableLayout, ref RowRef) ([]byte, error) {
	row, found, err := getValue(r, appendRowKey(nil, ref.Store(), ref.Row()))
	if err != nil || found {
		if len(row) == 0 { // tombstone
			row = nil
		}
		return row, err
	}
	data, found, err := getValue(r, appendPageKey(nil, ref.Store(), ref.Row()>>6, pageSlot))
	if err != nil || !found {
		return nil, err
	}
	var p page
	if err := p.parse(data, l); err != nil {
		return nil, err
	}
	slot := int(ref.Row() & 63)
	if p.present>>slot&1 == 0 {
		return nil, nil
	}
	return p.appendRow(nil, p.rank(slot))
}

// getValue returns a copy of a value.
func getValue(r pebble.Reader, key []byte) (value []byte, found bool, err error) {
	v, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, ioError("read rows", err)
	}
	value = bytes.Clone(v)
	return value, true, ioError("read rows", closer.Close())
}

// EncodeKey returns the stored form of a key of an index on columns, which is the same for keys that
// the index takes as equal, and whether there is a NULL in it.
func (e *Engine) EncodeKey(tbl *catalog.Table, index *catalog.Index, key []vector.Datum) (encoded []byte, hasNull bool, err error) {
	codec, err := e.codec(tbl)
	if err != nil {
		return nil, false, err
	}
	ix, err := codec.indexCodec(index)
	if err != nil {
		return nil, false, err
	}
	encoded, hasNull = ix.appendDatums(appendIndexPrefix(nil, index.ID), key)
	return encoded, hasNull, nil
}

// RowKeys are the keys that rows have in a unique index.
type RowKeys struct {
	table keyTable
}

// EncodeRows computes the keys that the live rows of b, whose vectors are the table's columns, would
// have in a unique index.
func (e *Engine) EncodeRows(tbl *catalog.Table, index *catalog.Index, b *vector.Batch) (*RowKeys, error) {
	codec, err := e.codec(tbl)
	if err != nil {
		return nil, err
	}
	ix, err := codec.indexCodec(index)
	if err != nil {
		return nil, err
	}
	var d denser
	k := &RowKeys{}
	k.table.reset(b.Live(), 1)
	return k, k.table.fill(0, ix, d.columns(b, len(tbl.Columns)), ix.inputs, nil, b.Live())
}

// Key returns the stored form of the key of live row i; ok is false when no other row can have it: the
// row does not belong to the index, or a NULL makes its key distinct from all.
func (k *RowKeys) Key(i int) (encoded []byte, ok bool) {
	x := k.table.get(i, 0)
	return x.key, x.present && !x.suffixed
}

// LookupLatest locks a key of a unique index in KeyShare, given by EncodeKey, whether it exists or not,
// and returns the row that has it in the latest committed state or in the transaction's own writes:
// what foreign keys need.
func (t *Txn) LookupLatest(ctx context.Context, tbl *catalog.Table, index *catalog.Index, encoded []byte) (RowRef, bool, error) {
	if err := t.checkLookup(index); err != nil {
		return 0, false, err
	}
	if err := t.lockTable(ctx, tbl.ID, RowShare, Wait); err != nil {
		return 0, false, err
	}
	if err := t.lockKey(ctx, index.ID, encoded, KeyShare); err != nil {
		return 0, false, err
	}
	return t.lookupLatest(index, encoded)
}

// LookupOrLock returns the row that has a key of a unique index, given by RowKeys, in the latest
// committed state or in the transaction's own writes; a key that no row has is locked for whoever
// inserts it: what ON CONFLICT needs. A key that was found is not locked, so that references to its row
// go on: whoever changes the row locks that, and makes sure then that it HasKey. at is a commit in or
// after which the row had it. It counts as reading the key.
func (t *Txn) LookupOrLock(ctx context.Context, tbl *catalog.Table, index *catalog.Index, encoded []byte) (ref RowRef, at uint64, found bool, err error) {
	at = t.e.published.Load().commit
	ref, found, err = t.lookupOrLock(ctx, tbl, index, encoded)
	return ref, at, found, err
}

func (t *Txn) lookupOrLock(ctx context.Context, tbl *catalog.Table, index *catalog.Index, encoded []byte) (RowRef, bool, error) {
	if err := t.checkLookup(index); err != nil {
		return 0, false, err
	}
	if err := t.lockTable(ctx, tbl.ID, RowExclusive, Wait); err != nil {
		return 0, false, err
	}
	if t.serial != nil {
		if err := t.serial.readKey(tbl.ID, index.ID, encoded); err != nil {
			return 0, false, err
		}
	}
	if t.whole.Load().hasIndex(index.ID) {
		return t.lookupLatest(index, encoded)
	}
	key, locks := keyResource(index.ID, encoded), t.e.locks
	granted, held, err := locks.lock(ctx, &t.owner, key, Update, SkipLocked)
	if err != nil {
		return 0, false, err
	}
	if granted {
		ref, found, err := t.lookupLatest(index, encoded)
		if found && !held {
			locks.release(&t.owner, key, Update)
		}
		return ref, found, err
	}
	// Some hold the key to keep it, or somebody is adding or removing it.
	if err := locks.awaitHolders(ctx, &t.owner, key, KeyShare); err != nil {
		return 0, false, err
	}
	if ref, found, err := t.lookupLatest(index, encoded); found || err != nil {
		return ref, found, err
	}
	if err := t.lockKey(ctx, index.ID, encoded, Update); err != nil {
		return 0, false, err
	}
	return t.lookupLatest(index, encoded)
}

// HasKey reports whether a row that the transaction has locked still has the key that it was found by, in or
// after a commit.
func (t *Txn) HasKey(index *catalog.Index, encoded []byte, ref RowRef, at uint64) (bool, error) {
	now, deleted, ok, err := t.overlay.lookupKey(index.ID, encoded, math.MaxUint32)
	if ok || err != nil {
		return now == ref && !deleted, err
	}
	if t.e.journal.pageLastChange(ref.Store(), ref.Row()>>6) <= at {
		return true, nil
	}
	now, found, err := getRef(t.e.db, encoded)
	return found && now == ref, err
}

func (t *Txn) checkLookup(index *catalog.Index) error {
	if err := t.checkActive(); err != nil {
		return err
	}
	if !index.Unique {
		return sqlerr.New(sqlerr.InternalError, "index is not unique: index=%s", index.Name)
	}
	return nil
}

// lookupLatest finds the row that has a key in the transaction's own writes or the latest committed
// state.
func (t *Txn) lookupLatest(index *catalog.Index, encoded []byte) (RowRef, bool, error) {
	if ref, deleted, ok, err := t.overlay.lookupKey(index.ID, encoded, math.MaxUint32); ok || err != nil {
		return ref, !deleted, err
	}
	if ref, at, ok := t.e.rows.find(encoded); ok && t.e.journal.pageLastChange(ref.Store(), ref.Row()>>6) <= at {
		return ref, true, nil
	}
	return getRef(t.e.db, encoded)
}
