package storage

import "sync"

// liveViews counts the snapshots that are open by the commit number they show.
type liveViews struct {
	mu     sync.Mutex
	counts map[uint64]int // guarded by mu
}

func (l *liveViews) add(commit uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.counts = map[uint64]int{}
	}
	l.counts[commit]++
}

func (l *liveViews) remove(commit uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts[commit]--; l.counts[commit] == 0 {
		delete(l.counts, commit)
	}
}

// LiveViews returns the commit numbers of the views that are open, in no order.
func (e *Engine) LiveViews() []uint64 {
	e.live.mu.Lock()
	defer e.live.mu.Unlock()
	out := make([]uint64, 0, len(e.live.counts))
	for commit := range e.live.counts {
		out = append(out, commit)
	}
	return out
}
