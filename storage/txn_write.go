package storage

import (
	"bytes"
	"context"
	"sync"

	"github.com/zeebo/xxh3"

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
	order   []int
	ids     []uint64
	key     []byte
	picked  []*vector.Vector
}

var writeScratches = sync.Pool{New: func() any { return &writeScratch{} }}

func (s *writeScratch) grow(n int) {
	if cap(s.nodes) < n {
		s.nodes, s.hashes = make([]uint32, n), make([]uint32, n)
	}
	s.nodes, s.hashes = s.nodes[:n], s.hashes[:n]
}

// keyTable holds the keys of many rows for every index of a table, one behind the other.
type keyTable struct {
	buf     []byte
	ends    []int
	hasNull []bool
	indexes int
}

func (k *keyTable) reset(rows, indexes int) {
	n := rows * indexes
	if cap(k.ends) < 2*n {
		k.ends, k.hasNull = make([]int, 2*n), make([]bool, n)
	}
	k.buf, k.ends, k.hasNull, k.indexes = k.buf[:0], k.ends[:2*n], k.hasNull[:n], indexes
}

func (k *keyTable) get(row, index int) (key []byte, hasNull bool) {
	n := row*k.indexes + index
	return k.buf[k.ends[2*n]:k.ends[2*n+1]], k.hasNull[n]
}

// set encodes the key of row i of vecs as that of a row.
func (k *keyTable) set(row, index int, ix *indexCodec, vecs []*vector.Vector, i int) {
	n := row*k.indexes + index
	k.ends[2*n] = len(k.buf)
	k.buf, k.hasNull[n] = ix.appendRow(appendIndexPrefix(k.buf, ix.index.ID), vecs, i)
	k.ends[2*n+1] = len(k.buf)
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
	err := t.lockForWrite(ctx, tbl)
	if err == nil {
		var codec *tableCodec
		if codec, err = t.e.codec(tbl); err == nil {
			s := writeScratches.Get().(*writeScratch)
			err = fn(codec, s)
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

// lockForWrite locks the table and checks that tbl still describes it.
func (t *Txn) lockForWrite(ctx context.Context, tbl *catalog.Table) error {
	if err := t.LockTable(ctx, tbl.ID, RowExclusive, Wait); err != nil {
		return err
	}
	switch now := t.Catalog().Table(tbl.ID); {
	case now == nil:
		return sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", tbl.Name).WithTable(tbl.Name)
	case !sameShape(now, tbl):
		return errTableChanged(tbl)
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
	rows := s.enc.encode(c.tableLayout, b)
	n := rows.len()
	if err := t.e.checkNotNull(c, rows.vecs, n); err != nil {
		return nil, err
	}
	s.grow(n)
	c.route.route(s.nodes, s.hashes, rows.vecs, n)
	refs := make([]RowRef, n)
	if err := t.assignRefs(c, s.nodes, refs); err != nil {
		return nil, err
	}
	o := t.overlay
	for i := range n {
		for k := range c.indexes {
			ix := &c.indexes[k]
			key, hasNull := ix.appendRow(appendIndexPrefix(s.key[:0], ix.index.ID), s.pick(ix, rows.vecs), i)
			s.key = key
			if err := t.putKey(ctx, c, ix, key, hasNull, refs[i]); err != nil {
				return nil, err
			}
		}
		o.mu.Lock()
		o.put(refs[i], t.cmd, rows.row(i), true)
		o.mu.Unlock()
	}
	return refs, nil
}

// pick returns the columns of an index out of a table's. It is valid until the next call.
func (s *writeScratch) pick(ix *indexCodec, all []*vector.Vector) []*vector.Vector {
	s.picked = s.picked[:0]
	for _, c := range ix.cols {
		s.picked = append(s.picked, all[c])
	}
	return s.picked
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

// putKey adds an index entry for a row. The key of a unique index must be free: it is locked, and
// looked up among the transaction's own writes and in the latest committed state.
func (t *Txn) putKey(ctx context.Context, c *tableCodec, ix *indexCodec, key []byte, hasNull bool, ref RowRef) error {
	o := t.overlay
	if !ix.index.Unique || hasNull {
		o.mu.Lock()
		o.putKey(ix.index.ID, keyVersion{key: appendRef(key, ref), ref: ref, suffixed: true}, t.cmd)
		o.mu.Unlock()
		return nil
	}
	if err := t.lockKey(ctx, ix.index.ID, key, Update); err != nil {
		return err
	}
	_, taken, err := getRef(t.e.db, key)
	if err != nil {
		return err
	}
	// Workers of one transaction share its locks, so looking and adding is one step.
	o.mu.Lock()
	if v := o.newestKey(ix.index.ID, key); v != nil {
		taken = !v.deleted
	}
	if !taken {
		o.putKey(ix.index.ID, keyVersion{key: key, ref: ref}, t.cmd)
	}
	o.mu.Unlock()
	if !taken {
		return nil
	}
	values, _, err := ix.decode(key[indexPrefixLen:])
	if err != nil {
		return err
	}
	return t.e.errDuplicate(c.tbl, ix, values)
}

func (t *Txn) lockKey(ctx context.Context, index catalog.IndexID, key []byte, mode LockMode) error {
	_, _, err := t.e.locks.lock(ctx, &t.owner, resource{kind: lockKey, object: uint32(index), id: xxh3.Hash(key)}, mode, Wait)
	return err
}

// deleteKey removes the index entry of a row.
func (t *Txn) deleteKey(ctx context.Context, ix *indexCodec, key []byte, hasNull bool, ref RowRef) error {
	suffixed := !ix.index.Unique || hasNull
	if suffixed {
		key = appendRef(bytes.Clone(key), ref)
	} else if err := t.lockKey(ctx, ix.index.ID, key, Update); err != nil {
		return err
	}
	t.overlay.mu.Lock()
	t.overlay.putKey(ix.index.ID, keyVersion{key: key, ref: ref, suffixed: suffixed, deleted: true}, t.cmd)
	t.overlay.mu.Unlock()
	return nil
}

// Delete removes rows and returns how many. A row changed since the statement's view gives a
// *RowConflict and ends the call. Rows this statement has deleted or updated already are skipped.
func (t *Txn) Delete(ctx context.Context, tbl *catalog.Table, refs []RowRef) (int, error) {
	count := 0
	err := t.write(ctx, tbl, func(c *tableCodec, s *writeScratch) error {
		if err := t.lockUnchanged(ctx, c, refs, Update); err != nil {
			return err
		}
		skip, err := t.readOldKeys(c, s, refs)
		if err != nil {
			return err
		}
		for i, ref := range refs {
			if skip.Get(i) {
				continue
			}
			for k := range c.indexes {
				key, hasNull := s.oldKeys.get(i, k)
				if err := t.deleteKey(ctx, &c.indexes[k], key, hasNull, ref); err != nil {
					return err
				}
			}
			t.overlay.mu.Lock()
			t.overlay.put(ref, t.cmd, nil, false)
			t.overlay.mu.Unlock()
			count++
		}
		return nil
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
	c.route.route(s.nodes, s.hashes, rows.vecs, len(refs))
	after := append([]RowRef(nil), refs...)
	for i, ref := range refs {
		if skip.Get(i) {
			s.nodes[i], after[i] = noNode, 0
		} else if c.route.single() || c.tbl.Stores[s.nodes[i]] == ref.Store() {
			s.nodes[i] = noNode // stays
		}
	}
	if err := t.assignRefs(c, s.nodes, after); err != nil {
		return nil, err
	}
	for i, ref := range refs {
		if after[i] == 0 {
			continue
		}
		if err := t.updateKeys(ctx, c, s, i, ref, after[i], rows.vecs); err != nil {
			return nil, err
		}
		o := t.overlay
		o.mu.Lock()
		if after[i] != ref {
			o.put(ref, t.cmd, nil, false)
		}
		o.put(after[i], t.cmd, rows.row(i), after[i] != ref)
		o.mu.Unlock()
	}
	return after, nil
}

// updateKeys replaces the index entries of row i that change with it.
func (t *Txn) updateKeys(ctx context.Context, c *tableCodec, s *writeScratch, i int, from, to RowRef, vecs []*vector.Vector) error {
	for k := range c.indexes {
		ix := &c.indexes[k]
		oldKey, oldNull := s.oldKeys.get(i, k)
		key, hasNull := ix.appendRow(appendIndexPrefix(s.key[:0], ix.index.ID), s.pick(ix, vecs), i)
		s.key = key
		same := bytes.Equal(oldKey, key)
		if same && from == to {
			continue
		}
		if ix.index.Unique && !same { // foreign keys look at it: a stronger lock
			if _, _, err := t.e.locks.lock(ctx, &t.owner, rowResource(from), Update, Wait); err != nil {
				return err
			}
		}
		if err := t.deleteKey(ctx, ix, oldKey, oldNull, from); err != nil {
			return err
		}
		if err := t.putKey(ctx, c, ix, key, hasNull, to); err != nil {
			return err
		}
	}
	return nil
}
