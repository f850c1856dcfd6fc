package storage

import (
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
)

var errBadNumber = sqlerr.New(sqlerr.DataCorrupted, "malformed stored number")

// scanKind calls fn for every key of a kind, in order.
func scanKind(r pebble.Reader, kind byte, fn func(key, value []byte) error) error {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: []byte{kind}, UpperBound: []byte{kind + 1}})
	if err != nil {
		return ioError("read", err)
	}
	for it.First(); it.Valid(); it.Next() {
		value, err := it.ValueAndErr()
		if err == nil {
			err = fn(it.Key(), value)
		}
		if err != nil {
			return ioError("read", errors.Join(err, it.Close()))
		}
	}
	return ioError("read", it.Close())
}

// loadCatalog reads the stored catalog, nil if there is none.
func loadCatalog(r pebble.Reader) (*catalog.Snapshot, error) {
	state, closer, err := r.Get(metaKey(metaCatalog))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, ioError("read catalog", err)
	}
	defer closer.Close()
	var tables []*catalog.Table
	err = scanKind(r, kindTable, func(_, value []byte) error {
		t, err := catalog.DecodeTable(value)
		tables = append(tables, t)
		return err
	})
	if err != nil {
		return nil, err
	}
	return catalog.DecodeSnapshot(state, tables)
}

// createCatalog stores the catalog of a new database as commit 1.
func (e *Engine) createCatalog() error {
	state, err := catalog.NewSnapshot(e.opts.Nodes).EncodeState()
	if err != nil {
		return err
	}
	b := e.newBatch()
	defer e.freeBatch(b)
	_ = b.Set(metaKey(metaCatalog), state, nil) // a batch in memory does not fail
	_ = b.Set(metaKey(metaCommit), appendU64(nil, 1), nil)
	return e.writeSynced(b)
}

// loadCounters reads row counts and row id reservations.
func (e *Engine) loadCounters() error {
	return scanKind(e.db, kindCounter, func(key, value []byte) error {
		if len(key) != 6 || len(value) != 8 {
			return errBadNumber
		}
		s := e.stores.get(catalog.StoreID(binary.BigEndian.Uint32(key[1:])))
		n := binary.BigEndian.Uint64(value)
		switch key[5] {
		case counterRows:
			s.rows.Store(int64(n))
		case counterIDs:
			s.next, s.reserved = n, n
		case counterLast:
			s.sequence.last, s.sequence.known = int64(n), true
		case counterCalled:
			s.sequence.called = n == 1
		}
		return nil
	})
}

// loadStats reads the tables' statistics.
func (e *Engine) loadStats() error {
	return scanKind(e.db, kindStats, func(key, value []byte) error {
		if len(key) != 5 {
			return errBadNumber
		}
		s, err := catalog.DecodeStats(value)
		if err != nil {
			return err
		}
		e.stats.Store(catalog.TableID(binary.BigEndian.Uint32(key[1:])), s)
		return nil
	})
}

// Stats returns a table's latest committed statistics, nil if there are none.
func (e *Engine) Stats(id catalog.TableID) *catalog.Stats {
	s, _ := e.stats.Load(id)
	stats, _ := s.(*catalog.Stats)
	return stats
}

// writeCatalog adds the difference of two catalogs to a batch.
func writeCatalog(b *pebble.Batch, old, merged *catalog.Snapshot) error {
	state, err := merged.EncodeState()
	if err != nil {
		return err
	}
	if err := b.Set(metaKey(metaCatalog), state, nil); err != nil {
		return err
	}
	for _, c := range catalog.Diff(old, merged) {
		if c.New == nil {
			id := uint32(c.Old.ID)
			if err := errors.Join(b.Delete(tableKey(kindTable, id), nil), b.Delete(tableKey(kindStats, id), nil)); err != nil {
				return err
			}
			continue
		}
		text, err := catalog.EncodeTable(c.New)
		if err != nil {
			return err
		}
		if err := b.Set(tableKey(kindTable, uint32(c.New.ID)), text, nil); err != nil {
			return err
		}
	}
	return nil
}

// keySpaces are stores and indexes, which own ranges of keys.
type keySpaces struct {
	Stores  []catalog.StoreID
	Indexes []catalog.IndexID
}

// removeFrom deletes everything in the key spaces. A Pebble snapshot taken before keeps seeing it.
func (k *keySpaces) removeFrom(b *pebble.Batch) error {
	for _, s := range k.Stores {
		for _, kind := range []byte{kindCounter, kindGroup, kindRow} {
			low, high := storeBounds(kind, uint32(s))
			if err := b.DeleteRange(low, high, nil); err != nil {
				return err
			}
		}
	}
	for _, i := range k.Indexes {
		low, high := storeBounds(kindIndex, uint32(i))
		if err := b.DeleteRange(low, high, nil); err != nil {
			return err
		}
	}
	return nil
}

// spacesOf lists the key spaces of a table, nil = none.
func spacesOf(t *catalog.Table) (k keySpaces) {
	if t == nil {
		return k
	}
	k.Stores = append(k.Stores, t.Stores...)
	for i := range t.Indexes {
		k.Indexes = append(k.Indexes, t.Indexes[i].ID)
	}
	return k
}

// without returns the key spaces of k that are not in other.
func (k keySpaces) without(other keySpaces) (rest keySpaces) {
	stores := map[catalog.StoreID]bool{}
	for _, s := range other.Stores {
		stores[s] = true
	}
	for _, s := range k.Stores {
		if !stores[s] {
			rest.Stores = append(rest.Stores, s)
		}
	}
	indexes := map[catalog.IndexID]bool{}
	for _, i := range other.Indexes {
		indexes[i] = true
	}
	for _, i := range k.Indexes {
		if !indexes[i] {
			rest.Indexes = append(rest.Indexes, i)
		}
	}
	return rest
}
