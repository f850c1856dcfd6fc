package storage

import (
	"encoding/binary"
	"errors"
	"runtime"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// snapshot is a Pebble snapshot with the committed state it shows. It is shared by all views of
// that state and counted.
type snapshot struct {
	e     *Engine
	db    *pebble.Snapshot
	state *committedState
	folds uint64 // Engine.folds, or an earlier number
	refs  atomic.Int64
}

func (s *snapshot) tryRetain() bool {
	for {
		n := s.refs.Load()
		if n == 0 {
			return false
		}
		if s.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (s *snapshot) release() {
	if s.refs.Add(-1) == 0 {
		_ = s.db.Close() // fails only when closed twice
		s.e.metrics.snapshots.Add(-1)
		s.e.live.remove(s.state.commit)
	}
}

// snapshot returns the latest committed state, counted once for the caller.
func (e *Engine) snapshot() *snapshot {
	for {
		if s := e.current.Load(); s != nil && s.state == e.published.Load() && s.tryRetain() {
			return s
		}
		s := e.takeSnapshot()
		s.refs.Store(2) // the caller's and that of e.current
		old := e.current.Swap(s)
		if old != nil {
			old.release()
		}
		if s.state != e.published.Load() {
			e.dropStale() // the commit that made it stale may have looked too early
		}
		return s
	}
}

// dropStale frees the shared snapshot if it is not the latest any more: an idle snapshot keeps old
// versions from being cleaned up.
func (e *Engine) dropStale() {
	s := e.current.Load()
	if s != nil && s.state != e.published.Load() && e.current.CompareAndSwap(s, nil) {
		s.release()
	}
}

// dropShared frees the shared snapshot: files were added below the committed state, which later views
// of their transaction have to show, or rows were packed, which later views are to find so.
func (e *Engine) dropShared() {
	if s := e.current.Swap(nil); s != nil {
		s.release()
	}
}

// takeSnapshot makes a Pebble snapshot that agrees with a committed state.
//
// A commit makes sequence odd, applies its batch, publishes its state and makes sequence even. A
// snapshot taken while sequence stood still at an even number shows the state published then. One
// taken during a commit, which may be held up by a full memtable for long, says itself what it
// shows: every commit stores its number in its batch. Either the number is that of the published
// state, or the commit is about to publish the one it has.
func (e *Engine) takeSnapshot() *snapshot {
	for {
		before := e.sequence.Load()
		state, folds := e.published.Load(), e.folds.Load()
		db := e.db.NewSnapshot()
		ok := before&1 == 0 && e.sequence.Load() == before
		if !ok {
			n, err := storedCommitNumber(db)
			ok = err == nil && n == state.commit
		}
		if ok {
			e.metrics.snapshots.Add(1)
			e.live.add(state.commit)
			return &snapshot{e: e, db: db, state: state, folds: folds}
		}
		_ = db.Close()
		runtime.Gosched()
	}
}

// storedCommitNumber reads the number of the last commit a snapshot shows.
func storedCommitNumber(r pebble.Reader) (uint64, error) {
	return readU64(r, metaKey(metaCommit))
}

// readU64 reads a stored number, 0 if there is none.
func readU64(r pebble.Reader, key []byte) (uint64, error) {
	b, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, ioError("read", err)
	}
	defer closer.Close()
	if len(b) != 8 {
		return 0, errBadNumber
	}
	return binary.BigEndian.Uint64(b), nil
}

func appendU64(dst []byte, x uint64) []byte { return binary.BigEndian.AppendUint64(dst, x) }
