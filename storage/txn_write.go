package storage

import (
	"context"
	"sync"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// writeScratch is the memory of one write call, reused by later ones.
type writeScratch struct {
	enc     rowEncoder
	nodes   []uint32
	hashes  []uint32
	oldKeys keyTable
	newKeys keyTable
	taken   []bool // per key of newKeys: the committed state has it
	order   []int
	ids     []uint64
	// owners are what probeOwners found, by row and index; nil = no such index.
	owners map[[2]int]RowRef
}

var writeScratches = sync.Pool{New: func() any { return &writeScratch{} }}

func (s *writeScratch) grow(n int) {
	if cap(s.nodes) < n {
		s.nodes, s.hashes = make([]uint32, n), make([]uint32, n)
	}
	s.nodes, s.hashes = s.nodes[:n], s.hashes[:n]
}

// write runs one writing call inside a statement, making one if there is none.
func (t *Txn) write(ctx context.Context, tbl *catalog.Table, fn func(c *tableCodec, s *writeScratch) error) error {
	if err := t.checkWritable(); err != nil {
		return err
	}
	alone := len(t.stack) == 0
	if alone {
		t.BeginStatement()
	}
	now, err := t.lockForWrite(ctx, tbl)
	if err == nil {
		err = t.lockWhole(ctx, tbl)
	}
	if err == nil {
		defer t.countLocks(tbl.ID, t.owner.locks())
		var codec *tableCodec
		if codec, err = t.e.codec(now); err == nil {
			s := writeScratches.Get().(*writeScratch)
			s.owners = nil
			if err = fn(codec, s); err == nil {
				err = t.charge(ctx)
			}
			writeScratches.Put(s)
		}
	}
	switch {
	case alone && err != nil:
		t.RollbackStatement()
	case alone:
		t.EndStatement()
	}
	return err
}

// lockForWrite locks the table, checks that tbl still describes its rows, and returns the description
// to write by: it may have indexes that are being built, or lack one that is being dropped, since tbl
// was read.
func (t *Txn) lockForWrite(ctx context.Context, tbl *catalog.Table) (*catalog.Table, error) {
	if err := t.lockTable(ctx, tbl.ID, RowExclusive, Wait); err != nil {
		return nil, err
	}
	return t.describedNow(tbl)
}

// describedNow checks that tbl still describes the table's rows and returns the description to write by.
func (t *Txn) describedNow(tbl *catalog.Table) (*catalog.Table, error) {
	now := t.currentTable(tbl.ID)
	switch {
	case now == nil:
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", tbl.Name).WithTable(tbl.Name)
	case sameShape(now, tbl):
		return tbl, nil
	case !sameRows(now, tbl) || !t.writesFor(now, tbl):
		return nil, errTableChanged(tbl)
	}
	return now, nil
}

// writesFor reports whether writing by the description now keeps the indexes that the transaction
// may read by tbl. One that reads by the catalog of its snapshot would miss its own rows in an index
// that is not written any more.
func (t *Txn) writesFor(now, tbl *catalog.Table) bool {
	for i := range tbl.Indexes {
		x := &tbl.Indexes[i]
		if !x.Written() {
			continue
		}
		y := indexByID(now, x.ID)
		if y == nil || !y.Written() && t.opts.Isolation != ReadCommitted {
			return false
		}
	}
	return true
}

func indexByID(t *catalog.Table, id catalog.IndexID) *catalog.Index {
	for i := range t.Indexes {
		if t.Indexes[i].ID == id {
			return &t.Indexes[i]
		}
	}
	return nil
}

func (t *Txn) statement() *statement { return &t.stack[len(t.stack)-1] }

// Insert adds rows: one vector per column of tbl, in tbl.Columns order, any form, any selection.
// It returns the live rows' references in order.
func (t *Txn) Insert(ctx context.Context, tbl *catalog.Table, rows *vector.Batch) ([]RowRef, error) {
	var refs []RowRef
	err := t.write(ctx, tbl, func(c *tableCodec, s *writeScratch) (err error) {
		refs, err = t.insert(ctx, c, s, rows)
		return err
	})
	return refs, err
}

func (t *Txn) insert(ctx context.Context, c *tableCodec, s *writeScratch, b *vector.Batch) ([]RowRef, error) {
	if err := c.checkBatch(b); err != nil {
		return nil, err
	}
	rows := s.enc.encode(c.tableLayout, b)
	n := rows.len()
	if err := t.e.checkNotNull(c, rows.vecs, n); err != nil {
		return nil, err
	}
	s.grow(n)
	c.nodes.Place(s.nodes, s.hashes, rows.vecs, n)
	refs := make([]RowRef, n)
	if err := t.assignRefs(c, s.nodes, refs); err != nil {
		return nil, err
	}
	if err := s.encodeKeys(c, rows.vecs, n); err != nil {
		return nil, err
	}
	every := func(row, index int) bool { return true }
	if err := t.lockFreeKeys(ctx, c, &s.newKeys); err != nil {
		return nil, err
	}
	if err := t.probeKeys(c, s, every); err != nil {
		return nil, err
	}
	if err := t.noteWrites(c, s, refs, nil, rowsAppear); err != nil {
		return nil, err
	}
	o := t.overlay
	o.mu.Lock()
	defer o.mu.Unlock()
	spilled := spillReader{store: o.spill}
	for i, ref := range refs {
		for k := range c.indexes {
			if err := t.putKey(c, s, &spilled, i, k, ref); err != nil {
				return nil, spilled.close(err)
			}
		}
		o.put(ref, t.cmd, rows.row(i), true)
	}
	return refs, spilled.close(nil)
}

// assignRefs gives each row a reference in the store of its node. Nodes ≥ noNode are passed over.
func (t *Txn) assignRefs(c *tableCodec, nodes []uint32, refs []RowRef) error {
	for node, store := range c.tbl.Stores {
		count := 0
		for _, x := range nodes {
			if x == uint32(node) {
				count++
			}
		}
		if count == 0 {
			continue
		}
		id, err := t.e.stores.get(store).reserve(t.e, count)
		if err != nil {
			return err
		}
		for i, x := range nodes {
			if x == uint32(node) {
				refs[i] = MakeRowRef(store, id)
				id++
			}
		}
	}
	return nil
}

const noNode = 1<<32 - 1

// Delete removes rows and returns how many. A row changed since the statement's view gives a
// *RowConflict and ends the call. Rows this statement has deleted or updated already are skipped.
func (t *Txn) Delete(ctx context.Context, tbl *catalog.Table, refs []RowRef) (int, error) {
	return t.remove(ctx, tbl, refs, false)
}

// Leave deletes rows that the caller inserts into another table, a partition of the same one: who waits
// for such a row learns that it was moved.
func (t *Txn) Leave(ctx context.Context, tbl *catalog.Table, refs []RowRef) error {
	_, err := t.remove(ctx, tbl, refs, true)
	return err
}

func (t *Txn) remove(ctx context.Context, tbl *catalog.Table, refs []RowRef, moved bool) (int, error) {
	count := 0
	err := t.write(ctx, tbl, func(c *tableCodec, s *writeScratch) error {
		if err := t.lockUnchanged(ctx, c, refs, Update); err != nil {
			return err
		}
		skip, err := t.readOldKeys(c, s, refs)
		if err != nil {
			return err
		}
		kept := func(row, _ int) bool { return !skip.Get(row) }
		if err := t.lockKeys(ctx, c, &s.oldKeys, kept); err != nil {
			return err
		}
		if err := t.probeOwners(c, s, kept); err != nil {
			return err
		}
		if err := t.noteWrites(c, s, refs, skip, rowsGo); err != nil {
			return err
		}
		o := t.overlay
		o.mu.Lock()
		defer o.mu.Unlock()
		spilled := spillReader{store: o.spill}
		for i, ref := range refs {
			if skip.Get(i) {
				continue
			}
			for k := range c.indexes {
				if err := t.deleteKey(c, s, &spilled, i, k, ref); err != nil {
					return spilled.close(err)
				}
			}
			if moved {
				t.noteMove(ref)
			}
			o.put(ref, t.cmd, nil, false)
			count++
		}
		return spilled.close(nil)
	})
	return count, err
}

// Update replaces rows: live row i of rows replaces refs[i]. It returns the rows' references after
// the update: a row whose distribution key moves it to another store gets a new one, and a row
// that this statement has deleted or updated already is skipped and gets 0. A row changed since the
// statement's view gives a *RowConflict and ends the call.
func (t *Txn) Update(ctx context.Context, tbl *catalog.Table, refs []RowRef, rows *vector.Batch) ([]RowRef, error) {
	if rows.Live() != len(refs) {
		return nil, sqlerr.New(sqlerr.InternalError, "update of %d rows with %d new ones", len(refs), rows.Live())
	}
	var after []RowRef
	err := t.write(ctx, tbl, func(c *tableCodec, s *writeScratch) (err error) {
		after, err = t.update(ctx, c, s, refs, rows)
		return err
	})
	return after, err
}

func (t *Txn) update(ctx context.Context, c *tableCodec, s *writeScratch, refs []RowRef, b *vector.Batch) ([]RowRef, error) {
	if err := c.checkBatch(b); err != nil {
		return nil, err
	}
	if err := t.lockUnchanged(ctx, c, refs, NoKeyUpdate); err != nil {
		return nil, err
	}
	skip, err := t.readOldKeys(c, s, refs)
	if err != nil {
		return nil, err
	}
	rows := s.enc.encode(c.tableLayout, b)
	if err := t.e.checkNotNull(c, rows.vecs, rows.len()); err != nil {
		return nil, err
	}
	s.grow(len(refs))
	c.nodes.Place(s.nodes, s.hashes, rows.vecs, len(refs))
	after := append([]RowRef(nil), refs...)
	for i, ref := range refs {
		if skip.Get(i) {
			s.nodes[i], after[i] = noNode, 0
		} else if c.nodes.Single() || c.tbl.Stores[s.nodes[i]] == ref.Store() {
			s.nodes[i] = noNode // stays
		}
	}
	if err := t.assignRefs(c, s.nodes, after); err != nil {
		return nil, err
	}
	if err := s.encodeKeys(c, rows.vecs, len(refs)); err != nil {
		return nil, err
	}
	if err := t.lockChangedKeys(ctx, c, s, refs, after); err != nil {
		return nil, err
	}
	if err := t.noteWrites(c, s, refs, skip, rowsGo|rowsAppear); err != nil {
		return nil, err
	}
	o := t.overlay
	o.mu.Lock()
	defer o.mu.Unlock()
	spilled := spillReader{store: o.spill}
	for i, ref := range refs {
		if after[i] == 0 {
			continue
		}
		for k := range c.indexes {
			if !s.entryChanges(i, k) && after[i] == ref {
				continue
			}
			err := t.deleteKey(c, s, &spilled, i, k, ref)
			if err == nil {
				err = t.putKey(c, s, &spilled, i, k, after[i])
			}
			if err != nil {
				return nil, spilled.close(err)
			}
		}
		if after[i] != ref {
			t.noteMove(ref)
			o.put(ref, t.cmd, nil, false)
		}
		o.put(after[i], t.cmd, rows.row(i), after[i] != ref)
	}
	return after, spilled.close(nil)
}

// noteMove notes that a row has moved to another store.
func (t *Txn) noteMove(ref RowRef) {
	if len(t.moved) <= maxMoves { // one more than are remembered stands for all
		t.moved = append(t.moved, ref)
	}
}
