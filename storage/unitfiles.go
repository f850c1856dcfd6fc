package storage

import (
	"context"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// UnitFiles returns the file system and the directory in which files of column units are kept. The
// directory need not exist. ok is false for a database in memory, which has none.
func (e *Engine) UnitFiles() (fs vfs.FS, dir string, ok bool) {
	return e.fs, e.fs.PathJoin(e.dirs.root, "units"), !e.opts.InMemory
}

// WaitDurable waits until commit n, and so every one before it, is durable.
func (e *Engine) WaitDurable(ctx context.Context, n uint64) error {
	return e.durable.wait(ctx, n, e.failed)
}
