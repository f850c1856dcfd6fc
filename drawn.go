package weft

import (
	"sync"
	"sync/atomic"

	"github.com/weftdb/weft/catalog"
)

// drawnValues are the values that a session has drawn from sequences, for currval and lastval.
type drawnValues struct {
	mu     sync.Mutex // the workers of a statement share it
	values map[catalog.TableID]int64
	last   catalog.TableID
	// unsynced tells that the log holds values of sequences which are not durable yet.
	unsynced atomic.Bool
}

// syncSequences makes the values that the session has drawn or set durable, as a commit does its
// rows.
func (s *Session) syncSequences() error {
	if s.drawn.unsynced.Swap(false) && s.on(setSyncCommit) {
		return s.db.engine.SyncLog()
	}
	return nil
}

// remember notes a value that nextval returned.
func (d *drawnValues) remember(id catalog.TableID, v int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.values == nil {
		d.values = map[catalog.TableID]int64{}
	}
	d.values[id], d.last = v, id
}

// forget lets currval and lastval be undefined again.
func (d *drawnValues) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.values, d.last = nil, 0
}

// set replaces a value without making its sequence the last one drawn from.
func (d *drawnValues) set(id catalog.TableID, v int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.values == nil {
		d.values = map[catalog.TableID]int64{}
	}
	d.values[id] = v
}

func (d *drawnValues) of(id catalog.TableID) (int64, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, ok := d.values[id]
	return v, ok
}

func (d *drawnValues) latest() (int64, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, ok := d.values[d.last]
	return v, ok
}
