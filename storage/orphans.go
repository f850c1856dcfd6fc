package storage

import (
	"bytes"
	"encoding/json"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
)

// A bulk load fills key spaces that no table has yet. Before it ingests the first file it notes them
// under kindLoad; the commit that makes them a table's removes the note. A note that is found when
// the database is opened belongs to a load that did not come to its commit.

// removeOrphans removes what unfinished loads and other transactions without a commit left behind.
func (e *Engine) removeOrphans() error {
	b := e.newBatch()
	defer e.freeBatch(b)
	var used keySpaces
	for _, t := range e.Catalog().Relations() {
		k := spacesOf(t)
		used.Stores = append(used.Stores, k.Stores...)
		used.Indexes = append(used.Indexes, k.Indexes...)
	}
	e.removeReservations(b, used.Stores)
	err := scanKind(e.db, kindLoad, func(key, value []byte) error {
		var spaces keySpaces
		if err := json.Unmarshal(value, &spaces); err != nil {
			return sqlerr.New(sqlerr.DataCorrupted, "malformed note of a bulk load: %w", err)
		}
		spaces = spaces.without(used)
		if err := spaces.removeFrom(b); err != nil {
			return err
		}
		for _, s := range spaces.Stores {
			e.stores.drop(s)
		}
		return b.Delete(bytes.Clone(key), nil)
	})
	if err != nil || b.Empty() {
		return err
	}
	if e.log != nil {
		e.log.Info("removed what transactions without a commit left behind")
	}
	return e.writeSynced(b)
}

// removeTemporaries removes the temporary relations of sessions that have not dropped theirs: their
// process was killed. It returns the catalog without them.
func (e *Engine) removeTemporaries(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
	left := snap
	b := e.newBatch()
	defer e.freeBatch(b)
	for _, t := range snap.Relations() {
		if !t.Temp {
			continue
		}
		left = left.WithoutTable(t.ID)
		spaces := spacesOf(t)
		if err := spaces.removeFrom(b); err != nil {
			return nil, ioError("remove temporary tables", err)
		}
	}
	if left == snap {
		return snap, nil
	}
	if err := writeCatalog(b, snap, left); err != nil {
		return nil, ioError("remove temporary tables", err)
	}
	return left, e.writeSynced(b)
}

// removeReservations removes the row ids and sequence values reserved in stores that no relation
// has: the transaction that made the store was not committed. The number of the store may be used
// again, and its next owner must not go on where that transaction stopped.
func (e *Engine) removeReservations(b *pebble.Batch, used []catalog.StoreID) {
	known := map[catalog.StoreID]bool{}
	for _, s := range used {
		known[s] = true
	}
	for _, s := range e.stores.all() {
		if known[s.id] {
			continue
		}
		for _, counter := range []byte{counterRows, counterIDs, counterLast, counterCalled} {
			_ = b.Delete(counterKey(s.id, counter), nil) // a batch in memory does not fail
		}
		e.stores.drop(s.id)
	}
}
