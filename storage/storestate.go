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

	// groups is how many groups may hold rows, once counted: those that were stored when somebody first
	// asked, and those that commits and loads have written to since the database was opened.
	groups  atomic.Int64
	counted atomic.Bool

	mu       sync.Mutex // guards the reservation; taken before Engine.commitMu
	next     uint64     // the next id to hand out
	reserved uint64     // ids below this are reserved on disk

	sequence sequenceState // of a sequence's store
}

// grow notes that a number of groups may hold rows.
func (s *storeState) grow(groups int) {
	for old := s.groups.Load(); old < int64(groups) && !s.groups.CompareAndSwap(old, int64(groups)); old = s.groups.Load() {
	}
}

// storeTable holds the states of the stores that committed tables have, and of those that transactions make.
// Those of dropped stores are gone: who still reads them has to do without, and must not make them again.
type storeTable struct {
	mu     sync.RWMutex
	stores map[catalog.StoreID]*storeState // guarded by mu
}

// find returns a store's state, nil if there is none.
func (t *storeTable) find(id catalog.StoreID) *storeState {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.stores[id]
}

// get returns a store's state, made on first use.
func (t *storeTable) get(id catalog.StoreID) *storeState {
	s := t.find(id)
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

// know makes the states of a table's stores; nil is none.
func (t *storeTable) know(tbl *catalog.Table) {
	if tbl == nil {
		return
	}
	for _, s := range tbl.Stores {
		t.get(s)
	}
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
