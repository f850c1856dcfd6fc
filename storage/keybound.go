package storage

import (
	"bytes"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
)

// keyBounds knows for unique indexes a key that no committed entry is above of. Rows inserted in the
// order of their keys, as serial numbers and times are, so need no look-up: a key above the bound is
// free.
//
// A bound is only ever too high: entries that go leave it where it is. It is read under the lock of
// the key that is looked for; who added that key committed before it gave the lock back, and raised
// the bound before that.
type keyBounds struct {
	mu     sync.RWMutex
	bounds map[catalog.IndexID]*atomic.Pointer[[]byte] // guarded by mu; a nil key = not known
}

// maxKeyBounds bounds how many indexes are followed; the map is emptied when it is full.
const maxKeyBounds = 4096

func (k *keyBounds) get(id catalog.IndexID) *atomic.Pointer[[]byte] {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.bounds[id]
}

// isAbove reports whether a key is above all committed entries of its index.
func (e *Engine) isAbove(id catalog.IndexID, key []byte) (bool, error) {
	if bound := e.keyBounds.get(id); bound != nil {
		return bytes.Compare(key, *bound.Load()) > 0, nil
	}
	// Commits are kept out, so that none adds an entry between looking and remembering.
	e.commitMu.Lock()
	defer e.commitMu.Unlock()
	last, err := e.lastKey(id)
	if err != nil {
		return false, err
	}
	k := &e.keyBounds
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.bounds == nil || len(k.bounds) >= maxKeyBounds {
		k.bounds = map[catalog.IndexID]*atomic.Pointer[[]byte]{}
	}
	bound := &atomic.Pointer[[]byte]{}
	bound.Store(&last)
	k.bounds[id] = bound
	return bytes.Compare(key, last) > 0, nil
}

// lastKey returns a copy of the last key of an index, empty if it has none.
func (e *Engine) lastKey(id catalog.IndexID) ([]byte, error) {
	low, high := storeBounds(kindIndex, uint32(id))
	it, err := e.db.NewIter(&pebble.IterOptions{LowerBound: low, UpperBound: high})
	if err != nil {
		return nil, ioError("read index", err)
	}
	last := []byte{}
	if it.Last() {
		last = bytes.Clone(it.Key())
	}
	return last, ioError("read index", it.Close())
}

// raise makes a bound at least a key that is about to be stored. The commit mutex is held.
func (k *keyBounds) raise(id catalog.IndexID, key []byte) {
	if bound := k.get(id); bound != nil && bytes.Compare(key, *bound.Load()) > 0 {
		own := bytes.Clone(key)
		bound.Store(&own)
	}
}

// forget drops the bound of an index that entries were added to other than by a commit's batch.
func (k *keyBounds) forget(id catalog.IndexID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.bounds, id)
}
