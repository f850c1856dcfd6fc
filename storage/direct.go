package storage

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Where Pebble panics, it leaves a mutex locked that every later write would wait for (logFile keeps
// the failures of the log itself from getting that far). So all writes go through the commit mutex: the one that meets the panic turns it into
// the engine's failure, and those behind it find that instead of the mutex.

func (e *Engine) newBatch() *pebble.Batch { return e.db.NewBatch() }

// newBatchOf returns a batch for rows and index entries that take about size bytes. A batch that grows
// copies what it holds each time.
func (e *Engine) newBatchOf(size int) *pebble.Batch {
	const small = 4 << 10 // batches begin smaller, and are used again until they get much larger
	if size < small {
		return e.db.NewBatch()
	}
	return e.db.NewBatchWithSize(size)
}

// freeBatch gives a batch back for reuse, unless Pebble, having failed, may hold on to it.
func (e *Engine) freeBatch(b *pebble.Batch) {
	if e.failed() == nil {
		_ = b.Close() // fails only when closed twice
	}
}

// applyBatch hands a batch to Pebble without waiting for the log's sync, which the caller does with
// SyncWait if there is a log. The commit mutex is held.
func (e *Engine) applyBatch(b *pebble.Batch) error {
	return e.guard("write log", func() error {
		if e.wal {
			return e.db.ApplyNoSyncWait(b, pebble.Sync)
		}
		return e.db.Apply(b, pebble.NoSync)
	})
}

// applyUnsynced hands a batch to Pebble whose durability comes with a later one's. The commit mutex
// is held.
func (e *Engine) applyUnsynced(b *pebble.Batch) error {
	return e.guard("write log", func() error { return e.db.Apply(b, pebble.NoSync) })
}

// guard runs a write; whatever goes wrong stops the engine.
func (e *Engine) guard(operation string, write func() error) (err error) {
	if err := e.failed(); err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			err = e.fail(operation, fmt.Errorf("%v", r))
		}
	}()
	if err := write(); err != nil {
		return e.fail(operation, err)
	}
	return e.failed()
}

// writeUnsynced is applyUnsynced for callers that do not hold the commit mutex.
func (e *Engine) writeUnsynced(b *pebble.Batch) error {
	e.commitMu.Lock()
	defer e.commitMu.Unlock()
	return e.applyUnsynced(b)
}

// writeSynced writes a batch that is no commit and waits until it is durable.
func (e *Engine) writeSynced(b *pebble.Batch) error {
	e.commitMu.Lock()
	err := e.applyBatch(b)
	e.commitMu.Unlock()
	if err != nil || !e.wal {
		return err
	}
	if err := b.SyncWait(); err != nil {
		return e.fail("sync log", err)
	}
	return nil
}

// ingest makes files part of the store.
func (e *Engine) ingest(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	if err := e.failed(); err != nil {
		return err
	}
	// It takes Pebble's mutex too, but too long to hold up commits; so it is left behind if the
	// engine fails meanwhile.
	done := make(chan error, 1)
	go func() {
		done <- e.ingestFiles(ctx, paths)
	}()
	select {
	case err := <-done:
		return err
	case <-e.stopped:
		return e.failed()
	}
}

func (e *Engine) ingestFiles(ctx context.Context, paths []string) (err error) {
	e.ingesting.RLock()
	defer e.ingesting.RUnlock()
	defer func() {
		if r := recover(); r != nil {
			err = e.fail("ingest bulk load", fmt.Errorf("%v", r))
		}
	}()
	err = ioError("ingest bulk load", e.db.Ingest(ctx, paths))
	e.dropShared()
	return err
}
