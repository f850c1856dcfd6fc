package storage

import (
	"bytes"
	"context"
	"errors"
	"math"
	"sort"

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
	return changed, skipped, nil
}

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
	_, own := t.overlay.newest(ref)
	t.overlay.mu.RUnlock()
	if own { // written before, so locked, or inserted, so unknown to others
		return true, nil, nil
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

// readOldKeys reads the index keys of rows, which are locked, in their newest version. Rows to pass
// over are set in the result: those the running statement wrote already, and those deleted by the
// transaction.
func (t *Txn) readOldKeys(c *tableCodec, s *writeScratch, refs []RowRef) (skip vector.Bitmap, err error) {
	skip = vector.NewBitmap(len(refs))
	s.oldKeys.reset(len(refs), len(c.indexes))
	s.order = s.order[:0]
	started := t.statement().cmd
	t.overlay.mu.RLock()
	for i, ref := range refs {
		if v, ok := t.overlay.newest(ref); ok && (v.cmd >= started || v.row == nil) {
			skip.Set(i)
			continue
		}
		s.order = append(s.order, i)
	}
	t.overlay.mu.RUnlock()
	sort.Slice(s.order, func(a, b int) bool {
		x, y := s.order[a], s.order[b]
		return refs[x] < refs[y] || refs[x] == refs[y] && x < y
	})
	cols, at := c.keyColumns()
	view := t.latest()
	defer view.Release()
	limit := min(len(refs), vector.BatchCap)
	f, err := view.newFetcher(c.tbl, cols, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b vector.Batch
	for begin := 0; begin < len(s.order); {
		store := refs[s.order[begin]].Store()
		s.ids = s.ids[:0]
		end := begin
		for ; end < len(s.order) && len(s.ids) < limit && refs[s.order[end]].Store() == store; end++ {
			i := s.order[end]
			if end > 0 && refs[s.order[end-1]] == refs[i] { // the same row twice: the first one counts
				skip.Set(i)
				continue
			}
			s.ids = append(s.ids, refs[i].Row())
		}
		missing, err := f.Fetch(store, s.ids, &b)
		if err != nil {
			return nil, err
		}
		row := 0
		for _, i := range s.order[begin:end] {
			if skip.Get(i) {
				continue
			}
			if missing != nil && missing.Get(row) {
				return nil, &RowConflict{Index: i, Ref: refs[i], Deleted: true}
			}
			for k := range c.indexes {
				if err := s.oldKeys.set(i, k, &c.indexes[k], pick(b.Vecs, at[k]), row); err != nil {
					return nil, err
				}
			}
			row++
		}
		begin = end
	}
	return skip, nil
}

// keyColumns lists the columns that occur in indexes, and for each index where its columns are in
// that list.
func (c *tableCodec) keyColumns() (cols []int, at [][]int) {
	for k := range c.indexes {
		var places []int
		for _, col := range c.indexes[k].cols {
			place := -1
			for i, have := range cols {
				if have == col {
					place = i
				}
			}
			if place < 0 {
				place = len(cols)
				cols = append(cols, col)
			}
			places = append(places, place)
		}
		at = append(at, places)
	}
	return cols, at
}

func pick(vecs []*vector.Vector, at []int) []*vector.Vector {
	list := make([]*vector.Vector, len(at))
	for i, n := range at {
		list[i] = vecs[n]
	}
	return list
}

// LookupLatest locks a key of a unique index, whether it exists or not, and returns the row that
// has it in the latest committed state or in the transaction's own writes: what foreign keys
// (KeyShare) and ON CONFLICT (Update) need. A key with a NULL is never found.
func (t *Txn) LookupLatest(ctx context.Context, tbl *catalog.Table, index *catalog.Index, key []vector.Datum, mode LockMode) (RowRef, bool, error) {
	if err := t.checkActive(); err != nil {
		return 0, false, err
	}
	codec, err := t.e.codec(tbl)
	if err != nil {
		return 0, false, err
	}
	ix, err := codec.indexCodec(index)
	if err != nil {
		return 0, false, err
	}
	if !index.Unique {
		return 0, false, sqlerr.New(sqlerr.InternalError, "index is not unique: index=%s", index.Name)
	}
	encoded, hasNull := ix.appendDatums(appendIndexPrefix(nil, index.ID), key)
	if hasNull {
		return 0, false, nil
	}
	if err := t.lockKey(ctx, index.ID, encoded, mode); err != nil {
		return 0, false, err
	}
	if ref, deleted, ok := t.overlay.lookupKey(index.ID, encoded, math.MaxUint32); ok {
		return ref, !deleted, nil
	}
	return getRef(t.e.db, encoded)
}
