package storage

import (
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// openStore opens Pebble. Where that writes and fails, Pebble repeats it for as long as it takes, or gives
// up and closes what its work in the background is reading, which panics where nobody can recover. So
// the first failure stops the engine; from then on the file system only pretends to write (see
// openingFile), which lets Pebble come to an end, and the failure is reported. Where Pebble does not
// come to an end, because a file cannot be read, it is left behind: it cannot change anything any more.
func (e *Engine) openStore() error {
	type opened struct {
		db  *pebble.DB
		err error
	}
	done := make(chan opened, 1)
	e.opening.Store(true)
	go func() {
		var o opened
		defer func() {
			if r := recover(); r != nil { // so Pebble reports some failures
				o.err = e.fail("open store", fmt.Errorf("%v", r))
			}
			e.storeOpts.Cache.Unref()
			e.opening.Store(false)
			done <- o
		}()
		o.db, o.err = pebble.Open(e.dirs.rows, e.storeOpts)
	}()
	var o opened
	select {
	case o = <-done:
	case <-e.stopped:
		select {
		case o = <-done:
		case <-time.After(time.Second):
			return e.failed()
		}
	}
	e.db = o.db
	if err := e.failed(); err != nil { // it says more than what came of it
		return err
	}
	if o.err != nil {
		return openError(o.err)
	}
	return nil
}

// maxBackgroundFailures is how often in a row Pebble's work in the background may fail. Each failure
// takes a pause, so this is about a second, in which somebody may have made room on the disk.
const (
	maxBackgroundFailures = 50
	backgroundPause       = 20 * time.Millisecond
)

// backgroundFailed is told when Pebble could not write or read a file in the background. Pebble tries
// again, at once and for ever, while whoever waits for it hears nothing: so the engine gives up at
// some point.
func (e *Engine) backgroundFailed(err error) {
	if e.log != nil {
		e.log.Warn("store: background work failed", "error", err)
	}
	n := e.backgroundFailures.Add(1)
	flush := e.failedFlush.Load()
	if n >= maxBackgroundFailures || e.opening.Load() && flush != nil && *flush == err {
		_ = e.fail("write files in the background", err) // the engine keeps it
	}
	time.Sleep(backgroundPause)
}

// flushEnded and mergeEnded note that work in the background has succeeded, and which flush has not.
func (e *Engine) flushEnded(info pebble.FlushInfo) {
	if info.Err == nil {
		e.backgroundFailures.Store(0)
		return
	}
	e.failedFlush.Store(&info.Err)
}

func (e *Engine) mergeEnded(info pebble.CompactionInfo) {
	if info.Err == nil {
		e.backgroundFailures.Store(0)
	}
}
