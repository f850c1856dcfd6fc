package storage

import (
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
)

// sequenceChunk is how many values of a sequence are reserved on disk at a time: so many a crash may
// skip, as in PostgreSQL.
const sequenceChunk = 32

// sequenceState is the value of one sequence. It does not follow transactions.
type sequenceState struct {
	mu     sync.Mutex
	known  bool // the fields below have been read
	called bool // last has been handed out; else it is the next one
	last   int64
	left   int // values behind last that are reserved on disk
}

// NextValue advances a sequence and returns its new value, which is not handed out again, not even
// after a rollback. logged tells that values were reserved in the log: until that is synced, by
// SyncLog or by any later commit, a crash may bring them back.
func (e *Engine) NextValue(r *catalog.Table) (value int64, logged bool, err error) {
	s := &e.stores.get(r.Stores[0]).sequence
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(r)
	next, err := s.following(r)
	if err != nil {
		return 0, false, err
	}
	if logged = s.left == 0; logged {
		// What is stored is where to go on after a crash: behind the reserved values.
		reserved := sequenceState{last: next, called: true}
		left := 0
		for left < sequenceChunk-1 {
			v, err := reserved.following(r)
			if err != nil || (v > reserved.last) != (r.Sequence.Increment > 0) {
				break // the end: stored as it is
			}
			reserved.last, left = v, left+1
		}
		if err := reserved.save(e, r.Stores[0]); err != nil {
			return 0, false, err
		}
		s.left = left
	} else {
		s.left--
	}
	s.last, s.called = next, true
	return next, logged, nil
}

// following returns the value after the last one.
func (s *sequenceState) following(r *catalog.Table) (int64, error) {
	q := r.Sequence
	if !s.called {
		return s.last, nil
	}
	next := s.last + q.Increment
	if q.Increment > 0 && (next > q.Max || next < s.last) {
		if !q.Cycle {
			return 0, sqlerr.New(sqlerr.SequenceLimitExceeded, "nextval: reached maximum value of sequence %q (%d)", r.Name, q.Max)
		}
		return q.Min, nil
	}
	if q.Increment < 0 && (next < q.Min || next > s.last) {
		if !q.Cycle {
			return 0, sqlerr.New(sqlerr.SequenceLimitExceeded, "nextval: reached minimum value of sequence %q (%d)", r.Name, q.Min)
		}
		return q.Max, nil
	}
	return next, nil
}

// SyncLog waits until everything written so far is durable.
func (e *Engine) SyncLog() error {
	if !e.wal {
		return nil
	}
	return e.redo.sync(e.redo.lastNumber())
}

// SetValue sets a sequence's value; called says whether it counts as handed out. It is durable with
// SyncLog or any later commit.
func (e *Engine) SetValue(r *catalog.Table, value int64, called bool) error {
	if q := r.Sequence; value < q.Min || value > q.Max {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "setval: value %d is out of bounds for sequence %q (%d..%d)", value, r.Name, q.Min, q.Max)
	}
	s := &e.stores.get(r.Stores[0]).sequence
	s.mu.Lock()
	defer s.mu.Unlock()
	n := sequenceState{last: value, called: called}
	if err := n.save(e, r.Stores[0]); err != nil {
		return err
	}
	s.known, s.last, s.called, s.left = true, value, called, 0
	return nil
}

// SequenceValue returns a sequence's last value and whether it has been handed out.
func (e *Engine) SequenceValue(r *catalog.Table) (last int64, called bool) {
	s := &e.stores.get(r.Stores[0]).sequence
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(r)
	return s.last, s.called
}

// begin sets the start value of a sequence that was never used.
func (s *sequenceState) begin(r *catalog.Table) {
	if s.known {
		return
	}
	s.last, s.called, s.known = r.Sequence.Start, false, true
	if r.Sequence.Begin != nil {
		s.last = *r.Sequence.Begin
	}
}

func (s *sequenceState) write(b *pebble.Batch, id catalog.StoreID) {
	called := uint64(0)
	if s.called {
		called = 1
	}
	_ = b.Set(counterKey(id, counterLast), appendU64(nil, uint64(s.last)), nil) // a batch in memory does not fail
	_ = b.Set(counterKey(id, counterCalled), appendU64(nil, called), nil)
}

// save writes a state to the log.
func (s *sequenceState) save(e *Engine, id catalog.StoreID) error {
	b := e.newBatch()
	defer e.freeBatch(b)
	s.write(b, id)
	_, err := e.writeUnsynced(b)
	return err
}
