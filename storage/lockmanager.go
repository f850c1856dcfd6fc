package storage

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftdb/weft/internal/sqlerr"
)

// lockShards spreads the lock table over mutexes. Fewer contend on many cores; more cost memory
// for nothing.
const lockShards = 64

// lockManager is the lock table of an engine: rows, keys and tables, one deadlock detector.
//
// An uncontended lock touches one shard's mutex and one map entry. Everything that makes or ends
// waiting happens under waitMu in addition, so the detector sees a graph that stands still.
// Lock order: waitMu, then one shard at a time.
type lockManager struct {
	waitMu sync.Mutex
	shards [lockShards]lockShard

	waits     atomic.Uint64
	deadlocks atomic.Uint64
	// excluding counts the requests for tables in AccessExclusive of owners that have not released
	// their locks. While there are none, whoever reads and ends at once needs no lock.
	excluding atomic.Int64
}

type lockShard struct {
	mu    sync.Mutex
	locks lockTable // guarded by mu
	_     [40]byte  // keeps neighbours off the cache line
}

// lockState is what is held of a resource. The usual case, one holder and nobody waiting, takes no
// allocation.
type lockState struct {
	holder *lockOwner
	modes  modeSet
	more   *lockQueue // further holders and waiters, nil = none
}

type lockQueue struct {
	holders []lockHolder
	waiting []*lockWait // in order of arrival; those who upgrade come first
}

type lockHolder struct {
	owner *lockOwner
	modes modeSet
}

// lockWait is one request that waits. Its fields but done are guarded by waitMu.
type lockWait struct {
	owner *lockOwner
	res   resource
	mode  LockMode
	done  chan struct{} // closed when granted
	over  bool          // granted
	// only, where not nil, are those whose holds are waited for: nothing is locked in the end, and
	// nobody waits behind the request.
	only []*lockOwner
}

// lockOwner is a transaction as the lock manager sees it.
type lockOwner struct {
	id   uint64
	mu   sync.Mutex
	held []resource // guarded by mu; each once per grant of a new resource
	// excluding counts its requests for tables in AccessExclusive; guarded by mu.
	excluding int64
	// session is who runs the transaction or statement, nil = nobody in particular. It does one thing at
	// a time: what it runs cannot wait for what it has left open.
	session any
	// timeout bounds each wait, 0 = no bound. It changes between statements only.
	timeout time.Duration
	wait    []*lockWait // guarded by lockManager.waitMu: workers of one transaction may wait each
	// table is a table that the owner holds, by its id and, in the lowest byte, modes: statement after
	// statement asks for the same. Locks of tables are kept to the end.
	table atomic.Uint64
}

// holdsTable reports whether the owner is known to hold a table in modes that cover one.
func (o *lockOwner) holdsTable(r resource, mode LockMode) bool {
	last := o.table.Load()
	return uint32(last>>8) == r.object && r.covers(modeSet(last), mode)
}

// noteTable notes that the owner holds a table in a mode.
func (o *lockOwner) noteTable(r resource, mode LockMode) {
	modes := uint64(mode.bit())
	if last := o.table.Load(); uint32(last>>8) == r.object {
		modes |= last & 0xFF
	}
	o.table.Store(uint64(r.object)<<8 | modes)
}

func (m *lockManager) shard(r resource) *lockShard {
	return &m.shards[r.hash()>>58]
}

// lock takes a resource in a mode. It reports whether the owner held the resource before in a mode
// that covers this one, and false for granted if the policy gave up with SkipLocked.
func (m *lockManager) lock(ctx context.Context, o *lockOwner, r resource, mode LockMode, policy WaitPolicy) (granted, held bool, err error) {
	if r.kind == lockRelation {
		if o.holdsTable(r, mode) {
			return true, true, nil
		}
		defer func() {
			if granted {
				o.noteTable(r, mode)
			}
		}()
	}
	if r.kind == lockRelation && mode == AccessExclusive {
		o.mu.Lock()
		o.excluding++
		o.mu.Unlock()
		m.excluding.Add(1)
	}
	s := m.shard(r)
	s.mu.Lock()
	ok, held := s.tryLock(o, r, mode)
	s.mu.Unlock()
	if ok || held {
		return true, held, nil
	}
	switch policy {
	case NoWait:
		return false, false, sqlerr.New(sqlerr.LockNotAvailable, "could not obtain lock on %s", r)
	case SkipLocked:
		return false, false, nil
	}
	if err := m.wait(ctx, s, o, r, mode); err != nil {
		return false, false, err
	}
	return true, false, nil
}

// String describes the resource for error messages.
func (r resource) String() string {
	switch r.kind {
	case lockRelation:
		return fmt.Sprintf("relation %d", r.object)
	case lockKey:
		return fmt.Sprintf("key of index %d", r.object)
	case lockDefinition:
		return fmt.Sprintf("definition of relation %d", r.object)
	}
	return fmt.Sprintf("row (%d,%d)", RowRef(r.id).Store(), RowRef(r.id).Row())
}

// tryLock takes the lock if nothing stands in its way; held means that the owner has it already.
// The shard's mutex is held.
func (s *lockShard) tryLock(o *lockOwner, r resource, mode LockMode) (ok, held bool) {
	l := s.locks.find(r)
	if l == nil {
		s.locks.put(r, lockState{holder: o, modes: mode.bit()})
		o.remember(r)
		return true, false
	}
	mine := l.modesOf(o)
	if r.covers(mine, mode) {
		return false, true
	}
	if r.conflicts(mode)&l.modesOfOthers(o) != 0 {
		return false, false
	}
	// Whoever already holds the resource may strengthen its hold past the queue; others must not
	// overtake a waiting request that conflicts with theirs, or writers would starve.
	if mine == 0 && l.more != nil {
		for _, w := range l.more.waiting {
			if w.only == nil && r.conflicts(mode)&w.mode.bit() != 0 {
				return false, false
			}
		}
	}
	l.add(o, mode)
	if mine == 0 {
		o.remember(r)
	}
	return true, false
}

// heldByOthers reports whether somebody but o holds a resource in any mode.
func (m *lockManager) heldByOthers(o *lockOwner, r resource) bool {
	s := m.shard(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.locks.get(r)
	return l.modesOfOthers(o) != 0
}

func (o *lockOwner) remember(r resource) {
	o.mu.Lock()
	o.held = append(o.held, r)
	o.mu.Unlock()
}

func (l *lockState) modesOf(o *lockOwner) modeSet {
	if l.holder == o {
		return l.modes
	}
	if l.more != nil {
		for _, h := range l.more.holders {
			if h.owner == o {
				return h.modes
			}
		}
	}
	return 0
}

func (l *lockState) modesOfOthers(o *lockOwner) (all modeSet) {
	if l.holder != nil && l.holder != o {
		all = l.modes
	}
	if l.more != nil {
		for _, h := range l.more.holders {
			if h.owner != o {
				all |= h.modes
			}
		}
	}
	return all
}

func (l *lockState) add(o *lockOwner, mode LockMode) {
	if l.holder == nil || l.holder == o {
		l.holder = o
		l.modes |= mode.bit()
		return
	}
	if l.more == nil {
		l.more = &lockQueue{}
	}
	for i := range l.more.holders {
		if h := &l.more.holders[i]; h.owner == o {
			h.modes |= mode.bit()
			return
		}
	}
	l.more.holders = append(l.more.holders, lockHolder{o, mode.bit()})
}

// release ends the owner's hold of a resource in one mode, which a request of its own has just begun:
// nothing has been read or written yet in the belief that it would last.
func (m *lockManager) release(o *lockOwner, r resource, mode LockMode) {
	m.waitMu.Lock()
	defer m.waitMu.Unlock()
	s := m.shard(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.locks.get(r)
	if rest := l.modesOf(o) &^ mode.bit(); rest != 0 {
		l.weaken(o, rest)
	} else {
		l.remove(o)
		o.mu.Lock()
		for i := len(o.held) - 1; i >= 0; i-- { // it is the last, or near it
			if o.held[i] == r {
				o.held = slices.Delete(o.held, i, i+1)
				break
			}
		}
		o.mu.Unlock()
	}
	m.grant(s, r, l)
}

// weaken leaves o fewer of the modes that it holds.
func (l *lockState) weaken(o *lockOwner, rest modeSet) {
	if l.holder == o {
		l.modes = rest
		return
	}
	for i := range l.more.holders {
		if l.more.holders[i].owner == o {
			l.more.holders[i].modes = rest
		}
	}
}

// remove ends o's hold and reports whether the entry is of no more use.
func (l *lockState) remove(o *lockOwner) (unused bool) {
	if l.holder == o {
		l.holder, l.modes = nil, 0
	}
	if l.more != nil {
		for i := range l.more.holders {
			if l.more.holders[i].owner == o {
				l.more.holders = append(l.more.holders[:i], l.more.holders[i+1:]...)
				break
			}
		}
		if l.holder == nil && len(l.more.holders) > 0 {
			h := l.more.holders[len(l.more.holders)-1]
			l.holder, l.modes = h.owner, h.modes
			l.more.holders = l.more.holders[:len(l.more.holders)-1]
		}
		if len(l.more.holders) == 0 && len(l.more.waiting) == 0 {
			l.more = nil
		}
	}
	return l.holder == nil && l.more == nil
}

// releaseAll ends everything the owner holds. It must not be asking for locks at the same time.
func (m *lockManager) releaseAll(o *lockOwner) {
	o.mu.Lock()
	held, excluding := o.held, o.excluding
	o.held, o.excluding = nil, 0
	o.table.Store(0)
	o.mu.Unlock()
	if excluding > 0 {
		m.excluding.Add(-excluding)
	}
	for _, r := range held {
		s := m.shard(r)
		s.mu.Lock()
		l := s.locks.find(r)
		contended := l.more != nil && len(l.more.waiting) > 0
		if !contended && l.remove(o) {
			s.locks.remove(r)
		}
		s.mu.Unlock()
		if contended {
			m.releaseContended(s, o, r)
		}
	}
}
