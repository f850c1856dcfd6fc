package storage

import (
	"context"
	"math"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// CheckSerializable fails with 40001 if the transaction cannot commit any more because of what others
// read, wrote and committed. Commit asks again; asking after each statement saves the work in
// between, and costs little while nobody committed.
func (t *Txn) CheckSerializable() error {
	if t.ended || t.serial == nil || t.serial.safe.Load() {
		return nil
	}
	return t.e.serial.checkEarly(t.serial)
}

// AwaitSnapshot is to be called before the first view of a transaction is made. One that is Deferrable
// waits for a snapshot that is safe: every writer that was running when it was taken has ended, and
// none has left an edge to a transaction that had committed before. Then no reading of it can be in
// conflict, and none is noted.
func (t *Txn) AwaitSnapshot(ctx context.Context) error {
	if t.ended || t.serial == nil || !t.opts.ReadOnly || !t.opts.Deferrable || t.snap != nil {
		return nil
	}
	for {
		snap := t.e.serial.begin(t.e, t.serial, true)
		var err error
		select {
		case <-t.serial.settled:
		case <-ctx.Done():
			err = sqlerr.New(sqlerr.QueryCanceled, "canceling statement while waiting for a safe snapshot: %w", context.Cause(ctx))
		}
		if err == nil && t.serial.safe.Load() {
			t.mu.Lock()
			t.snap = snap
			t.mu.Unlock()
			return nil
		}
		snap.release()
		t.e.serial.abandon(t.serial)
		t.serial = newSerialTxn(t.owner.id)
		if err != nil {
			return err
		}
	}
}

// checkUnseenKey fails if a key of a unique index that is taken was looked for before, in a snapshot
// that does not have it: who inserts what it did not find meets a conflict of transactions and not a
// mistake of its own.
func (t *Txn) checkUnseenKey(c *tableCodec, ix *indexCodec, key []byte) error {
	if t.serial == nil || !t.serial.hasRead(c.tbl.ID, ix.index.ID, key) {
		return nil
	}
	if _, _, own, err := t.overlay.lookupKey(ix.index.ID, key, math.MaxUint32); own || err != nil {
		return err
	}
	t.mu.Lock()
	snap := t.statementSnapshot()
	t.mu.Unlock()
	defer snap.release()
	_, found, err := getRef(snap.db, key)
	if err != nil || found {
		return err
	}
	return errDependencies("Canceled on identification as a pivot, during conflict in checking.")
}

// rowChange says which versions of rows a write concerns.
type rowChange uint8

const (
	rowsGo     rowChange = 1 << iota // the old ones, whose keys are in oldKeys
	rowsAppear                       // the new ones, whose keys are in newKeys
)

// noteWrites notes that rows are written, apart from those to skip, with their keys in every index.
func (t *Txn) noteWrites(c *tableCodec, s *writeScratch, refs []RowRef, skip vector.Bitmap, change rowChange) error {
	if t.serial == nil {
		return nil
	}
	return t.serial.note(func() {
		a := t.serial.writes.table(c.tbl.ID)
		var buf []byte
		add := func(keys *keyTable, i, k int, ref RowRef) {
			x, index := keys.get(i, k), c.indexes[k].index
			switch {
			case !x.present: // readers of the index do not see the row
			case x.suffixed:
				buf = appendRef(append(buf[:0], x.key...), ref)
				a.addKey(index.ID, buf)
			default:
				a.addKey(index.ID, x.key)
			}
		}
		for i, ref := range refs {
			if skip != nil && skip.Get(i) {
				continue
			}
			if change&rowsGo != 0 {
				buf = appendRef(buf[:0], ref)
				a.addKey(rowsIndex, buf)
			}
			for k := range c.indexes {
				if change&rowsGo != 0 {
					add(&s.oldKeys, i, k, ref)
				}
				if change&rowsAppear != 0 && (change&rowsGo == 0 || s.keyChanges(i, k)) {
					add(&s.newKeys, i, k, ref)
				}
			}
		}
	})
}

// hasRead reports whether a key of an index was read.
func (t *serialTxn) hasRead(table catalog.TableID, index catalog.IndexID, key []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reads.covers(table, index, key)
}
