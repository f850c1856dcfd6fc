package storage

import (
	"bytes"
	"encoding/json"

	"github.com/weftdb/weft/internal/sqlerr"
)

// A bulk load fills key spaces that no table has yet. Before it ingests the first file it notes them
// under kindLoad; the commit that makes them a table's removes the note. A note that is found when
// the database is opened belongs to a load that did not come to its commit.

// removeOrphans removes what unfinished loads left behind.
func (e *Engine) removeOrphans() error {
	b := e.newBatch()
	defer e.freeBatch(b)
	err := scanKind(e.db, kindLoad, func(key, value []byte) error {
		var spaces keySpaces
		if err := json.Unmarshal(value, &spaces); err != nil {
			return sqlerr.New(sqlerr.DataCorrupted, "malformed note of a bulk load: %w", err)
		}
		var used keySpaces
		for _, t := range e.Catalog().Relations() {
			k := spacesOf(t)
			used.Stores = append(used.Stores, k.Stores...)
			used.Indexes = append(used.Indexes, k.Indexes...)
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
		e.log.Info("removed the data of unfinished bulk loads")
	}
	return e.writeSynced(b)
}
