package storage

import (
	"bytes"
	"context"

	"github.com/cockroachdb/pebble/v2"
	"github.com/zeebo/xxh3"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// encodeKeys encodes the index entries of rows of dense vectors as newKeys.
func (s *writeScratch) encodeKeys(c *tableCodec, vecs []*vector.Vector, n int) error {
	s.newKeys.reset(n, len(c.indexes))
	for k := range c.indexes {
		ix := &c.indexes[k]
		if err := s.newKeys.fill(k, ix, vecs, ix.inputs, nil, n); err != nil {
			return err
		}
	}
	return nil
}

// lockKeys locks the keys of unique indexes that want says are concerned. Whoever holds the lock of
// a key is the only one to add or remove it, and finds what others did about it committed.
func (t *Txn) lockKeys(ctx context.Context, c *tableCodec, keys *keyTable, want func(row, index int) bool) error {
	for i := range keys.rows() {
		for k := range c.indexes {
			x := keys.get(i, k)
			if !x.present || x.suffixed || !want(i, k) {
				continue
			}
			if err := t.lockKey(ctx, c.indexes[k].index.ID, x.key, Update); err != nil {
				return err
			}
		}
	}
	return nil
}

// lockFreeKeys locks the keys of new rows as lockKeys does. A key that others keep as it is, because
// references to its row are being added, is taken: there is nothing to wait for.
func (t *Txn) lockFreeKeys(ctx context.Context, c *tableCodec, keys *keyTable) error {
	for i := range keys.rows() {
		for k := range c.indexes {
			x, ix := keys.get(i, k), &c.indexes[k]
			if !x.present || x.suffixed || t.whole.Load().hasIndex(ix.index.ID) {
				continue
			}
			key := keyResource(ix.index.ID, x.key)
			granted, _, err := t.e.locks.lock(ctx, &t.owner, key, Update, SkipLocked)
			if err != nil {
				return err
			}
			if granted {
				continue
			}
			if err := t.e.locks.awaitHolders(ctx, &t.owner, key, KeyShare); err != nil {
				return err
			}
			_, found, err := t.lookupLatest(ix.index, x.key)
			if err == nil && found {
				if err = t.checkUnseenKey(c, ix, x.key); err == nil {
					err = t.e.errTaken(c, ix, x.key)
				}
			}
			if err != nil {
				return err
			}
			if err := t.lockKey(ctx, ix.index.ID, x.key, Update); err != nil {
				return err
			}
		}
	}
	return nil
}

// errTaken is the error of a row whose key another row has.
func (e *Engine) errTaken(c *tableCodec, ix *indexCodec, key []byte) error {
	values, _, err := ix.decode(key[indexPrefixLen:])
	if err != nil {
		return err
	}
	return e.errDuplicate(c.tbl, ix, values)
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
			x := s.newKeys.get(i, k)
			if !x.present || x.suffixed || !want(i, k) {
				continue
			}
			found, err := probe.has(x.key)
			if err == nil && found {
				err = t.checkUnseenKey(c, ix, x.key)
			}
			if err != nil {
				_ = probe.close() // it says the same again, or less
				return err
			}
			s.taken[i*len(c.indexes)+k] = found
		}
		if err := probe.close(); err != nil {
			return err
		}
	}
	return nil
}

// probeOwners looks up whose the wanted keys of oldKeys, which are locked, are in unique indexes that
// are being built: a row written before the index was may not have its entry yet, and another row
// have taken its key.
func (t *Txn) probeOwners(c *tableCodec, s *writeScratch, want func(row, index int) bool) error {
	for k := range c.indexes {
		if x := c.indexes[k].index; x.State != catalog.IndexBuilding || !x.Unique {
			continue
		}
		if s.owners == nil {
			s.owners = map[[2]int]RowRef{}
		}
		for i := range s.oldKeys.rows() {
			x := s.oldKeys.get(i, k)
			if !x.present || x.suffixed || !want(i, k) {
				continue
			}
			ref, _, err := getRef(t.e.db, x.key)
			if err != nil {
				return err
			}
			s.owners[[2]int{i, k}] = ref
		}
	}
	return nil
}

// owns reports whether entry (i, k) of oldKeys is the row's to remove. The overlay's mu is held.
func (t *Txn) owns(c *tableCodec, s *writeScratch, r *spillReader, i, k int, ref RowRef) (bool, error) {
	owner, probed := s.owners[[2]int{i, k}]
	if !probed {
		return true, nil
	}
	x := s.oldKeys.get(i, k)
	newest, deleted, found, err := t.overlay.newestKey(r, c.indexes[k].index.ID, x.key)
	if found {
		return !deleted && newest == ref, nil
	}
	return owner == ref, err
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

// putKey adds entry (i, k) of newKeys for a row. The key of a unique index must be free; what the
// transaction itself did counts more than the committed state. The overlay's mu is held, so looking
// and adding is one step, also for workers that share the transaction's locks.
func (t *Txn) putKey(c *tableCodec, s *writeScratch, r *spillReader, i, k int, ref RowRef) error {
	ix, o := &c.indexes[k], t.overlay
	x := s.newKeys.get(i, k)
	if !x.present {
		return nil
	}
	if x.suffixed {
		o.putKey(ix.index.ID, indexEntry{key: appendRef(x.key, ref), payload: x.payload, ref: ref}, true, t.cmd)
		return nil
	}
	taken := s.taken[i*len(c.indexes)+k]
	_, deleted, found, err := o.newestKey(r, ix.index.ID, x.key)
	if err != nil {
		return err
	}
	if found {
		taken = !deleted
	}
	if !taken {
		o.putKey(ix.index.ID, indexEntry{key: x.key, payload: x.payload, ref: ref}, false, t.cmd)
		return nil
	}
	return t.e.errTaken(c, ix, x.key)
}

func (t *Txn) lockKey(ctx context.Context, index catalog.IndexID, key []byte, mode LockMode) error {
	if t.whole.Load().hasIndex(index) {
		return nil
	}
	_, _, err := t.e.locks.lock(ctx, &t.owner, keyResource(index, key), mode, Wait)
	return err
}

// keyResource is what stands for a key of an index, with the index's prefix and no reference.
func keyResource(index catalog.IndexID, key []byte) resource {
	return resource{kind: lockKey, object: uint32(index), id: xxh3.Hash(key)}
}

// deleteKey removes entry (i, k) of oldKeys, that of a row. The overlay's mu is held.
func (t *Txn) deleteKey(c *tableCodec, s *writeScratch, r *spillReader, i, k int, ref RowRef) error {
	ix := &c.indexes[k]
	x := s.oldKeys.get(i, k)
	if !x.present {
		return nil
	}
	if owns, err := t.owns(c, s, r, i, k, ref); err != nil || !owns {
		return err
	}
	if x.suffixed {
		x.key = appendRef(x.key, ref)
	}
	t.overlay.putKey(ix.index.ID, indexEntry{key: x.key, ref: ref, deleted: true}, x.suffixed, t.cmd)
	return nil
}

// keyChanges reports whether an update changes the key of row i in index k.
func (s *writeScratch) keyChanges(i, k int) bool {
	before, now := s.oldKeys.get(i, k), s.newKeys.get(i, k)
	return before.present != now.present || !bytes.Equal(before.key, now.key)
}

// entryChanges reports whether an update changes the entry of row i in index k: its key, or what it
// carries.
func (s *writeScratch) entryChanges(i, k int) bool {
	before, now := s.oldKeys.get(i, k), s.newKeys.get(i, k)
	return !before.same(&now)
}

// lockChangedKeys locks the index keys that an update changes, old and new, and looks the new ones
// up. A change of a unique key takes the row's strongest lock: foreign keys look at it.
func (t *Txn) lockChangedKeys(ctx context.Context, c *tableCodec, s *writeScratch, refs, after []RowRef) error {
	changes := func(i, k int) bool { return after[i] != 0 && (after[i] != refs[i] || s.entryChanges(i, k)) }
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
	if err := t.probeOwners(c, s, changes); err != nil {
		return err
	}
	return t.probeKeys(c, s, changes)
}
