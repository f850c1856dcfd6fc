package storage

import (
	"context"
	"sync"
	"time"

	"github.com/weftdb/weft/catalog"
)

// Rows that are inserted or changed one by one are stored one by one; a deleted one leaves a
// tombstone. In the background, pages that have not changed for a while are folded into packed ones,
// which are several times cheaper to scan.
const (
	// foldInterval is how long a page must have been left alone. A shorter time folds pages that
	// are written again soon, a longer one lets scans pay for single rows longer.
	foldInterval = 5 * time.Second
	// foldHot is the number of changes after which a group that is still being written has its
	// cold pages folded. Fewer changes are not worth reading the group for.
	foldHot = 8192
	// foldCold is that number for a group that nobody has written for an interval.
	foldCold = 16
)

// maintainer is the background work of an engine.
type maintainer struct {
	stop context.CancelFunc
	done sync.WaitGroup
}

func (e *Engine) startMaintenance() {
	if e.opts.NoFold || e.opts.NoMaintenance {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	e.maintenance.stop = cancel
	e.maintenance.done.Go(func() {
		tick := time.NewTicker(foldInterval)
		defer tick.Stop()
		before := e.CommitNumber()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			now := e.CommitNumber()
			e.foldWorn(ctx, before)
			before = now
		}
	})
}

func (m *maintainer) halt() {
	if m.stop != nil {
		m.stop()
		m.done.Wait()
	}
}

// foldWorn folds the pages of worn groups that no commit after `before` changed.
func (e *Engine) foldWorn(ctx context.Context, before uint64) {
	worn := e.journal.worn(before)
	if len(worn) == 0 || e.failed() != nil {
		return
	}
	tables := map[catalog.StoreID]*catalog.Table{}
	for _, t := range e.Catalog().Tables() {
		for _, s := range t.Stores {
			tables[s] = t
		}
	}
	for _, g := range worn {
		if tbl := tables[g.id.store]; tbl != nil {
			seen := g.changes.Load()
			if _, err := e.FoldGroup(ctx, tbl, g.id.store, g.id.group, before); err != nil {
				if e.log != nil && ctx.Err() == nil {
					e.log.Warn("folding rows failed", "table", tbl.Name, "error", err)
				}
				return
			}
			g.changes.Add(-seen)
		}
	}
}

// worn lists the groups with enough changes since they were last folded.
func (j *journal) worn(before uint64) (list []*groupState) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	for _, g := range j.groups {
		n := g.changes.Load()
		if n >= foldHot || n >= foldCold && g.lastChange.Load() <= before {
			list = append(list, g)
		}
	}
	return list
}
