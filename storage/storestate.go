package storage

import (
	"sync"
	"sync/atomic"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
)

// Row ids are reserved on disk in chunks before they are handed out, so that none is used again
// after a crash. A chunk grows with the store: what is left of one is lost in a crash, and what is
// lost makes groups sparse.
const (
	minIDChunk = 256
	maxIDChunk = 8192
)

// storeState is what is known in memory of one store.
type storeState struct {
	id   catalog.StoreID
	rows atomic.Int64 // live rows as of the last commit; changed under Engine.commitMu

	mu       sync.Mutex // guards the reservation; taken before Engine.commitMu
	next     uint64     // the next id to hand out
	reserved uint64     // ids below this are reserved on disk

	sequence sequenceState // of a sequence's store
}

// storeTable holds the states of all stores.
type storeTable struct {
	mu     sync.RWMutex
	stores map[catalog.StoreID]*storeState // guarded by mu
}

// get returns a store's state, made on first use.
func (t *storeTable) get(id catalog.StoreID) *storeState {
	t.mu.RLock()
	s := t.stores[id]
	t.mu.RUnlock()
	if s != nil {
		return s
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s = t.stores[id]; s == nil {
		s = &storeState{id: id}
		t.stores[id] = s
	}
	return s
}

func (t *storeTable) drop(id catalog.StoreID) {
	t.mu.Lock()
	delete(t.stores, id)
	t.mu.Unlock()
}

func (t *storeTable) all() []*storeState {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := make([]*storeState, 0, len(t.stores))
	for _, s := range t.stores {
		list = append(list, s)
	}
	return list
}

// reserve hands out n consecutive row ids. The reservation goes to the log before any commit that
// uses them, so it need not be synced by itself: that commit's sync covers it.
func (s *storeState) reserve(e *Engine, n int) (first uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.next + uint64(n)
	if end > MaxRow {
		return 0, sqlerr.New(sqlerr.ProgramLimitExceeded, "too many rows were ever inserted into one partition")
	}
	if end > s.reserved {
		limit := end + min(max(end/8, minIDChunk), maxIDChunk)
		b := e.newBatch()
		defer e.freeBatch(b)
		if err := b.Set(counterKey(s.id, counterIDs), appendU64(nil, limit), nil); err != nil {
			return 0, ioError("reserve row ids", err)
		}
		if _, err := e.writeUnsynced(b); err != nil {
			return 0, err
		}
		s.reserved = limit
	}
	first = s.next
	s.next = end
	return first, nil
}
