package storage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weftdb/weft/internal/sqlerr"
)

// wait queues a request, looks for a deadlock, and waits for the grant.
func (m *lockManager) wait(ctx context.Context, s *lockShard, o *lockOwner, r resource, mode LockMode) error {
	m.waitMu.Lock()
	s.mu.Lock()
	if ok, held := s.tryLock(o, r, mode); ok || held { // freed meanwhile
		s.mu.Unlock()
		m.waitMu.Unlock()
		return nil
	}
	w := &lockWait{owner: o, res: r, mode: mode, done: make(chan struct{})}
	l := s.locks.get(r)
	if l.more == nil {
		l.more = &lockQueue{}
	}
	if l.modesOf(o) != 0 { // an upgrade: waiting behind a newcomer would be a deadlock
		l.more.waiting = append([]*lockWait{w}, l.more.waiting...)
	} else {
		l.more.waiting = append(l.more.waiting, w)
	}
	s.locks.put(r, l)
	s.mu.Unlock()
	return m.await(ctx, s, w)
}

// awaitHolders waits until everybody who now holds a resource in a mode that conflicts with mode has
// ended. It locks nothing, and others go on locking the resource.
func (m *lockManager) awaitHolders(ctx context.Context, o *lockOwner, r resource, mode LockMode) error {
	s := m.shard(r)
	m.waitMu.Lock()
	s.mu.Lock()
	l := s.locks.get(r)
	only := l.conflicting(o, r.conflicts(mode))
	if len(only) == 0 {
		s.mu.Unlock()
		m.waitMu.Unlock()
		return nil
	}
	w := &lockWait{owner: o, res: r, mode: mode, done: make(chan struct{}), only: only}
	if l.more == nil {
		l.more = &lockQueue{}
	}
	l.more.waiting = append(l.more.waiting, w)
	s.locks.put(r, l)
	s.mu.Unlock()
	return m.await(ctx, s, w)
}

// conflicting lists the holders other than o whose modes are among some.
func (l *lockState) conflicting(o *lockOwner, some modeSet) []*lockOwner {
	var list []*lockOwner
	if l.holder != nil && l.holder != o && l.modes&some != 0 {
		list = append(list, l.holder)
	}
	if l.more != nil {
		for _, h := range l.more.holders {
			if h.owner != o && h.modes&some != 0 {
				list = append(list, h.owner)
			}
		}
	}
	return list
}

// await waits for a request that is in its queue; before, it looks for a deadlock. waitMu is held and
// is released.
func (m *lockManager) await(ctx context.Context, s *lockShard, w *lockWait) error {
	o, r := w.owner, w.res
	o.wait = append(o.wait, w)
	m.waits.Add(1)

	if o.session != nil && slices.ContainsFunc(m.blockers(w), o.sameSession) {
		m.cancel(s, w)
		m.waitMu.Unlock()
		return sqlerr.New(sqlerr.ObjectInUse, "cannot lock %s because it is being used by active queries in this session", r)
	}
	if other := m.findCycle(w); other != nil {
		m.cancel(s, w)
		m.waitMu.Unlock()
		m.deadlocks.Add(1)
		return sqlerr.New(sqlerr.DeadlockDetected, "deadlock detected").WithDetail(
			"Transaction %d waits for %s, which transaction %d holds or waits for; it waits in turn for transaction %d.",
			o.id, r, other.id, o.id)
	}
	m.waitMu.Unlock()

	var expired <-chan time.Time
	if o.timeout > 0 {
		timer := time.NewTimer(o.timeout)
		defer timer.Stop()
		expired = timer.C
	}
	late := false
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
	case <-expired:
		late = true
	}
	m.waitMu.Lock()
	defer m.waitMu.Unlock()
	if w.over { // granted just now: keep it
		return nil
	}
	m.cancel(s, w)
	if late {
		return sqlerr.New(sqlerr.LockNotAvailable, "canceling statement due to lock timeout")
	}
	return sqlerr.New(sqlerr.QueryCanceled, "canceling statement while waiting for a lock on %s: %w",
		fmt.Sprint(r), context.Cause(ctx))
}

// cancel removes a waiting request; those behind it may go on. waitMu is held.
func (m *lockManager) cancel(s *lockShard, w *lockWait) {
	s.mu.Lock()
	l := s.locks.get(w.res)
	for i, x := range l.more.waiting {
		if x == w {
			l.more.waiting = append(l.more.waiting[:i], l.more.waiting[i+1:]...)
			break
		}
	}
	w.owner.forget(w)
	m.grant(s, w.res, l)
	s.mu.Unlock()
}

func (o *lockOwner) sameSession(other *lockOwner) bool {
	return o.session != nil && o.session == other.session
}

func (o *lockOwner) forget(w *lockWait) {
	for i, x := range o.wait {
		if x == w {
			o.wait = append(o.wait[:i], o.wait[i+1:]...)
			return
		}
	}
}

// releaseContended ends a hold that others wait for.
func (m *lockManager) releaseContended(s *lockShard, o *lockOwner, r resource) {
	m.waitMu.Lock()
	s.mu.Lock()
	l := s.locks.get(r)
	l.remove(o)
	m.grant(s, r, l)
	s.mu.Unlock()
	m.waitMu.Unlock()
}

// grant gives the lock to those in front of the queue that can have it and stores the state. A
// request is passed over only by requests that do not conflict with it. waitMu and the shard's
// mutex are held.
func (m *lockManager) grant(s *lockShard, r resource, l lockState) {
	if l.more != nil {
		blocked := modeSet(0) // modes of the requests left waiting
		queue := l.more.waiting
		rest := queue[:0]
		for _, w := range queue {
			conflicts := r.conflicts(w.mode)
			if w.only != nil {
				if !l.holdsAny(w.only, conflicts) {
					w.owner.forget(w)
					w.over = true
					close(w.done)
				} else {
					rest = append(rest, w)
				}
				continue
			}
			mine := l.modesOf(w.owner)
			if conflicts&l.modesOfOthers(w.owner) != 0 || mine == 0 && conflicts&blocked != 0 {
				blocked |= w.mode.bit()
				rest = append(rest, w)
				continue
			}
			l.add(w.owner, w.mode)
			if mine == 0 {
				w.owner.remember(r)
			}
			w.owner.forget(w)
			w.over = true
			close(w.done)
		}
		clear(queue[len(rest):])
		l.more.waiting = rest
		if len(rest) == 0 && len(l.more.holders) == 0 {
			l.more = nil
		}
	}
	if l.holder == nil && l.more == nil {
		s.locks.remove(r)
		return
	}
	s.locks.put(r, l)
}

// holdsAny reports whether some of a list of owners still hold the resource in modes among some.
func (l *lockState) holdsAny(owners []*lockOwner, some modeSet) bool {
	return slices.ContainsFunc(owners, func(o *lockOwner) bool { return l.modesOf(o)&some != 0 })
}

// findCycle looks for a chain of waits that leads from w back to its owner, and returns the
// transaction at the start of the chain. waitMu is held, so no wait begins or ends meanwhile.
func (m *lockManager) findCycle(w *lockWait) *lockOwner {
	visited := map[*lockOwner]bool{}
	for _, o := range m.blockers(w) {
		if m.reaches(o, w.owner, visited) {
			return o
		}
	}
	return nil
}

func (m *lockManager) reaches(from, to *lockOwner, visited map[*lockOwner]bool) bool {
	if from == to || to.sameSession(from) {
		return true
	}
	if visited[from] {
		return false
	}
	visited[from] = true
	for _, w := range from.wait {
		for _, o := range m.blockers(w) {
			if m.reaches(o, to, visited) {
				return true
			}
		}
	}
	return false
}

// blockers lists the transactions a request waits for: holders in conflicting modes and
// conflicting requests in front of it.
func (m *lockManager) blockers(w *lockWait) []*lockOwner {
	s := m.shard(w.res)
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.locks.get(w.res)
	conflicts := w.res.conflicts(w.mode)
	list := l.conflicting(w.owner, conflicts)
	if w.only != nil {
		return slices.DeleteFunc(list, func(o *lockOwner) bool { return !slices.Contains(w.only, o) })
	}
	if l.more == nil {
		return list
	}
	if l.modesOf(w.owner) != 0 { // grant lets upgrades pass the queue
		return list
	}
	for _, x := range l.more.waiting {
		if x == w {
			break
		}
		if x.only == nil && x.owner != w.owner && conflicts&x.mode.bit() != 0 {
			list = append(list, x.owner)
		}
	}
	return list
}
