package storage

import (
	"bytes"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"
	"github.com/zeebo/xxh3"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

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

func (k *keyTable) rows() int {
	if k.indexes == 0 {
		return 0
	}
	return len(k.hasNull) / k.indexes
}

func (k *keyTable) get(row, index int) (key []byte, hasNull bool) {
	n := row*k.indexes + index
	return k.buf[k.ends[2*n]:k.ends[2*n+1]], k.hasNull[n]
}

// maxKeyBytes is the largest index key. The store keeps some keys of every block in memory.
const maxKeyBytes = 16 << 10

// set encodes the key of row i of vecs as that of a row.
func (k *keyTable) set(row, index int, ix *indexCodec, vecs []*vector.Vector, i int) error {
	n := row*k.indexes + index
	k.ends[2*n] = len(k.buf)
	k.buf, k.hasNull[n] = ix.appendRow(appendIndexPrefix(k.buf, ix.index.ID), vecs, i)
	k.ends[2*n+1] = len(k.buf)
	return ix.checkSize(k.ends[2*n+1] - k.ends[2*n])
}

func (ix *indexCodec) checkSize(bytes int) error {
	if bytes <= maxKeyBytes {
		return nil
	}
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "index row size %d exceeds maximum %d for index %q", bytes, maxKeyBytes, ix.index.Name).
		WithConstraint(ix.index.Name)
}

// encodeKeys encodes the index keys of rows of dense vectors as newKeys.
func (s *writeScratch) encodeKeys(c *tableCodec, vecs []*vector.Vector, n int) error {
	s.newKeys.reset(n, len(c.indexes))
	for k := range c.indexes {
		ix := &c.indexes[k]
		picked := s.pick(ix, vecs)
		for i := range n {
			if err := s.newKeys.set(i, k, ix, picked, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// lockKeys locks the keys of unique indexes that want says are concerned. Whoever holds the lock of
// a key is the only one to add or remove it, and finds what others did about it committed.
func (t *Txn) lockKeys(ctx context.Context, c *tableCodec, keys *keyTable, want func(row, index int) bool) error {
	for i := range keys.rows() {
		for k := range c.indexes {
			key, hasNull := keys.get(i, k)
			if !c.indexes[k].index.Unique || hasNull || !want(i, k) {
				continue
			}
			if err := t.lockKey(ctx, c.indexes[k].index.ID, key, Update); err != nil {
				return err
			}
		}
	}
	return nil
}

// manyKeys is from how many keys on an iterator is cheaper than single reads.
const manyKeys = 8

// probeKeys looks the wanted keys of newKeys, which are locked, up in the latest committed state.
func (t *Txn) probeKeys(c *tableCodec, s *writeScratch, want func(row, index int) bool) error {
	n := s.newKeys.rows()
	s.taken = append(s.taken[:0], make([]bool, n*len(c.indexes))...)
	for k := range c.indexes {
		ix := &c.indexes[k]
		if !ix.index.Unique {
			continue
		}
		probe, err := t.e.newKeyProbe(ix, n)
		if err != nil {
			return err
		}
		for i := range n {
			key, hasNull := s.newKeys.get(i, k)
			if hasNull || !want(i, k) {
				continue
			}
			found, err := probe.has(key)
			if err != nil {
				return errors.Join(err, probe.close())
			}
			s.taken[i*len(c.indexes)+k] = found
		}
		if err := probe.close(); err != nil {
			return err
		}
	}
	return nil
}

// keyProbe looks keys up in the latest committed state.
type keyProbe struct {
	e     *Engine
	index catalog.IndexID
	it    *pebble.Iterator // nil = by single reads
}

func (e *Engine) newKeyProbe(ix *indexCodec, keys int) (keyProbe, error) {
	p := keyProbe{e: e, index: ix.index.ID}
	if keys < manyKeys {
		return p, nil
	}
	low, high := storeBounds(kindIndex, uint32(ix.index.ID))
	it, err := e.db.NewIter(&pebble.IterOptions{LowerBound: low, UpperBound: high})
	p.it = it
	return p, ioError("read index", err)
}

func (p *keyProbe) has(key []byte) (bool, error) {
	if above, err := p.e.isAbove(p.index, key); above || err != nil {
		return false, err
	}
	if p.it == nil {
		_, found, err := getRef(p.e.db, key)
		return found, err
	}
	found := p.it.SeekPrefixGE(key) && bytes.Equal(p.it.Key(), key)
	return found, ioError("read index", p.it.Error())
}

func (p *keyProbe) close() error {
	if p.it == nil {
		return nil
	}
	return ioError("read index", p.it.Close())
}

// putKey adds key (i, k) of newKeys for a row. The key of a unique index must be free; what the
// transaction itself did counts more than the committed state. The overlay's mu is held, so looking
// and adding is one step, also for workers that share the transaction's locks.
func (t *Txn) putKey(c *tableCodec, s *writeScratch, r *spillReader, i, k int, ref RowRef) error {
	ix, o := &c.indexes[k], t.overlay
	key, hasNull := s.newKeys.get(i, k)
	if !ix.index.Unique || hasNull {
		key = appendRef(key[:len(key):len(key)], ref)
		o.putKey(ix.index.ID, keyVersion{key: key, ref: ref, suffixed: true}, t.cmd)
		return nil
	}
	taken := s.taken[i*len(c.indexes)+k]
	v, err := o.newestKey(r, ix.index.ID, key)
	if err != nil {
		return err
	}
	if v != nil {
		taken = !v.deleted
	}
	if !taken {
		o.putKey(ix.index.ID, keyVersion{key: key, ref: ref}, t.cmd)
		return nil
	}
	values, _, err := ix.decode(key[indexPrefixLen:])
	if err != nil {
		return err
	}
	return t.e.errDuplicate(c.tbl, ix, values)
}

func (t *Txn) lockKey(ctx context.Context, index catalog.IndexID, key []byte, mode LockMode) error {
	if t.whole.Load().hasIndex(index) {
		return nil
	}
	_, _, err := t.e.locks.lock(ctx, &t.owner, resource{kind: lockKey, object: uint32(index), id: xxh3.Hash(key)}, mode, Wait)
	return err
}

// deleteKey removes key (i, k) of oldKeys, that of a row. The overlay's mu is held.
func (t *Txn) deleteKey(c *tableCodec, s *writeScratch, i, k int, ref RowRef) {
	ix := &c.indexes[k]
	key, hasNull := s.oldKeys.get(i, k)
	suffixed := !ix.index.Unique || hasNull
	if suffixed {
		key = appendRef(key[:len(key):len(key)], ref)
	}
	t.overlay.putKey(ix.index.ID, keyVersion{key: key, ref: ref, suffixed: suffixed, deleted: true}, t.cmd)
}

// keyChanges reports whether an update changes the key of row i in index k.
func (s *writeScratch) keyChanges(i, k int) bool {
	before, _ := s.oldKeys.get(i, k)
	now, _ := s.newKeys.get(i, k)
	return !bytes.Equal(before, now)
}

// lockChangedKeys locks the index keys that an update changes, old and new, and looks the new ones
// up. A change of a unique key takes the row's strongest lock: foreign keys look at it.
func (t *Txn) lockChangedKeys(ctx context.Context, c *tableCodec, s *writeScratch, refs, after []RowRef) error {
	changes := func(i, k int) bool { return after[i] != 0 && (after[i] != refs[i] || s.keyChanges(i, k)) }
	for i := range refs {
		for k := range c.indexes {
			if c.indexes[k].index.Unique && after[i] != 0 && s.keyChanges(i, k) && !t.whole.Load().hasStore(refs[i].Store()) {
				if _, _, err := t.e.locks.lock(ctx, &t.owner, rowResource(refs[i]), Update, Wait); err != nil {
					return err
				}
			}
		}
	}
	if err := t.lockKeys(ctx, c, &s.oldKeys, changes); err != nil {
		return err
	}
	if err := t.lockKeys(ctx, c, &s.newKeys, changes); err != nil {
		return err
	}
	return t.probeKeys(c, s, changes)
}
