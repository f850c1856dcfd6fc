package storage

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/internal/sqlerr"
)

// durability follows which commits are durable. The log is synced in commit order, so one number
// says it all.
type durability struct {
	done atomic.Uint64 // every commit up to this one is durable

	mu      sync.Mutex
	wake    chan struct{}    // guarded by mu: closed when done advances; nil = nobody waits
	pending chan pendingSync // guarded by mu until made: commits nobody waits for
	syncer  sync.WaitGroup
}

// pendingSync is a commit whose transaction did not wait.
type pendingSync struct {
	batch  *pebble.Batch
	commit uint64
	number uint64 // of the batch
}

// advance notes that commit n is durable.
func (d *durability) advance(n uint64) {
	for {
		old := d.done.Load()
		if old >= n {
			return
		}
		if d.done.CompareAndSwap(old, n) {
			break
		}
	}
	d.wakeAll()
}

func (d *durability) wakeAll() {
	d.mu.Lock()
	if d.wake != nil {
		close(d.wake)
		d.wake = nil
	}
	d.mu.Unlock()
}

// wait waits until commit n is durable.
func (d *durability) wait(ctx context.Context, n uint64, failed func() error) error {
	for d.done.Load() < n {
		d.mu.Lock()
		if d.wake == nil {
			d.wake = make(chan struct{})
		}
		wake := d.wake
		d.mu.Unlock()
		// Both may have changed before wake was in place.
		if d.done.Load() >= n {
			return nil
		}
		if err := failed(); err != nil {
			return err
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return sqlerr.New(sqlerr.QueryCanceled, "canceling statement while waiting for a commit to become durable: %w",
				context.Cause(ctx))
		}
	}
	return nil
}

// maxPendingSyncs bounds the commits that are visible but not durable and that nobody waits for.
const maxPendingSyncs = 1024

// later has a commit's sync awaited in the background.
func (e *Engine) syncLater(p pendingSync) {
	d := &e.durable
	d.mu.Lock()
	if d.pending == nil {
		d.pending = make(chan pendingSync, maxPendingSyncs)
		d.syncer.Go(func() {
			for p := range d.pending {
				_ = e.syncNow(p) // the failure is kept by the engine
			}
		})
	}
	pending := d.pending
	d.mu.Unlock()
	pending <- p
}

// syncNow waits until a commit is durable and frees its batch.
func (e *Engine) syncNow(p pendingSync) error {
	if e.wal {
		if err := e.redo.sync(p.number); err != nil {
			return err
		}
		e.metrics.syncWaits.Add(1)
	}
	e.durable.advance(p.commit)
	e.freeBatch(p.batch)
	return nil
}

// stop ends the background syncer.
func (d *durability) stop() {
	d.mu.Lock()
	pending := d.pending
	d.mu.Unlock()
	if pending != nil {
		close(pending)
		d.syncer.Wait()
	}
}
