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

// apply hands a batch to Pebble and to the redo log and returns its number. It is durable with redo.sync of
// that or a later one. The commit mutex is held.
func (e *Engine) apply(b *pebble.Batch) (number uint64, err error) {
	if err = e.failed(); err == nil {
		number, err = e.numberBatch(b)
	}
	if err != nil {
		return 0, err
	}
	var small []byte // a large one's memory becomes Pebble's
	if b.Len() <= maxRedoBatch {
		small = b.Repr()
	}
	if err = e.guard("write log", func() error { return e.db.Apply(b, pebble.NoSync) }); err == nil && e.wal {
		e.redo.add(number, small)
	}
	return number, err
}

// numberBatch gives the next batch its number, for the redo log. The commit mutex is held.
func (e *Engine) numberBatch(b *pebble.Batch) (number uint64, err error) {
	if !e.wal {
		return 0, nil
	}
	number = e.redo.lastNumber() + 1
	return number, ioError("number batch", b.Set(metaKey(metaBatch), appendU64(nil, number), nil))
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

// writeUnsynced applies a batch whose durability comes with a later one's.
func (e *Engine) writeUnsynced(b *pebble.Batch) (number uint64, err error) {
	e.commitMu.Lock()
	defer e.commitMu.Unlock()
	return e.apply(b)
}

// writeSynced writes a batch that is no commit and waits until it is durable.
func (e *Engine) writeSynced(b *pebble.Batch) error {
	number, err := e.writeUnsynced(b)
	if err != nil || !e.wal {
		return err
	}
	return e.redo.sync(number)
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
