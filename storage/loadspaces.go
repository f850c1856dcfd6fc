package storage

import (
	"encoding/json"

	"github.com/weftdb/weft/catalog"
)

// freshSpaces are the stores and index key spaces that a bulk load fills before its commit makes
// them a table's.
type freshSpaces struct {
	note   uint64 // number under kindLoad, where they are listed until the commit
	spaces keySpaces
	stores []freshStore
}

// freshStore is a filled store.
type freshStore struct {
	id   catalog.StoreID
	rows int64
	next uint64 // ids below are taken
}

func loadKey(note uint64) []byte { return appendU64([]byte{kindLoad}, note) }

// noteLoad lists key spaces as belonging to a load under way, durably: from now on they may be
// filled.
func (t *Txn) noteLoad(spaces keySpaces) (*freshSpaces, error) {
	text, err := json.Marshal(spaces)
	if err != nil {
		return nil, err
	}
	f := &freshSpaces{note: t.e.nextLoad.Add(1), spaces: spaces}
	b := t.e.newBatch()
	defer t.e.freeBatch(b)
	if err := b.Set(loadKey(f.note), text, nil); err != nil {
		return nil, ioError("begin bulk load", err)
	}
	if err := t.e.writeSynced(b); err != nil {
		return nil, err
	}
	t.loads = append(t.loads, f)
	return f, nil
}

// addLoads gives the loaded stores to the commit, or removes what the transaction's catalog does
// not use.
func (p *pendingCommit) addLoads(committed *spaceSet) error {
	for _, f := range p.t.loads {
		var unused keySpaces
		for _, s := range f.spaces.Stores {
			if committed == nil || !committed.stores[s] {
				unused.Stores = append(unused.Stores, s)
			}
		}
		for _, i := range f.spaces.Indexes {
			if committed == nil || !committed.indexes[i] {
				unused.Indexes = append(unused.Indexes, i)
			}
		}
		if err := unused.removeFrom(p.batch); err != nil {
			return ioError("encode commit", err)
		}
		for _, s := range f.stores {
			if committed == nil || !committed.stores[s.id] {
				continue
			}
			state := p.t.e.stores.get(s.id)
			p.count(state, s.rows)
			state.mu.Lock()
			reserved := state.reserved
			state.mu.Unlock()
			if err := p.batch.Set(counterKey(s.id, counterIDs), appendU64(nil, reserved), nil); err != nil {
				return ioError("encode commit", err)
			}
			for g := 0; uint64(g)<<16 < s.next; g++ {
				p.loaded = append(p.loaded, groupID{s.id, g})
			}
		}
		if err := p.batch.Delete(loadKey(f.note), nil); err != nil {
			return ioError("encode commit", err)
		}
	}
	return nil
}

// discardLoads removes the key spaces of the transaction's loads.
func (t *Txn) discardLoads() {
	if len(t.loads) == 0 || t.e.failed() != nil {
		return // what is left is removed at the next open
	}
	b := t.e.newBatch()
	defer t.e.freeBatch(b)
	for _, f := range t.loads {
		if f.spaces.removeFrom(b) != nil || b.Delete(loadKey(f.note), nil) != nil {
			return
		}
		for _, s := range f.spaces.Stores {
			t.e.stores.drop(s)
		}
	}
	t.loads = nil
	_, _ = t.e.writeUnsynced(b) // a failure is kept by the engine
}
