package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/internal/sqlerr"
)

// Backup writes a copy of the database into target, which must not exist or be empty. The copy holds
// every commit that was acknowledged before the call, and no part of a transaction. It is a database
// directory like any other.
//
// A checkpoint is made in the database's own directory for temporary files, where hard links are
// likely to work: commits wait only while files are linked and the log, freshly flushed and so
// small, is copied. Then the checkpoint is moved to the target, or copied if that is on another file
// system. FORMAT comes last: without it the target is no database, whenever a backup is interrupted,
// and with the file COPYING instead of it nobody makes a new database there.
//
// A database in memory is written into a directory too: that is how it is kept.
func (e *Engine) Backup(ctx context.Context, target string) error {
	if err := e.failed(); err != nil {
		return err
	}
	b := &backup{e: e, ctx: ctx, target: target, to: e.fs.FS}
	if e.opts.InMemory {
		b.to = vfs.Default
	}
	if err := b.claim(); err != nil {
		return err
	}
	err := b.copy()
	b.leave(err)
	return err
}

// backup is one run of Backup.
type backup struct {
	e      *Engine
	ctx    context.Context
	target string
	to     vfs.FS // the target's; the source's unless that is in memory
	made   bool   // the target did not exist before
	lock   *dirLock
}

// claim makes sure that the target is empty and nobody else's.
func (b *backup) claim() error {
	if err := b.refuseInside(); err != nil {
		return err
	}
	names, err := b.to.List(b.target)
	switch {
	case errors.Is(err, os.ErrNotExist):
		b.made = true
	case err != nil:
		return ioError("look at backup target", err)
	case len(names) > 0:
		return b.taken()
	}
	if err := makeDirs(b.to, b.target); err != nil {
		return ioError("create backup target", err)
	}
	if b.lock, err = lockDir(b.to, b.target, b.e.opts.FS == nil); err != nil {
		return err
	}
	// Another backup may have been faster; what is there is its own.
	names, err = b.to.List(b.target)
	if err == nil && len(slices.DeleteFunc(names, isLockFile)) > 0 {
		err = b.taken()
	}
	if err != nil {
		_ = b.lock.release()
		return ioError("look at backup target", err)
	}
	notice := []byte("A backup is being written here, or was not finished.\n")
	err = writeFileSynced(b.to, b.to.PathJoin(b.target, copyingFile), notice)
	if err == nil {
		err = syncDir(b.to, b.target)
	}
	if err != nil {
		b.leave(err)
		return ioError("write into backup target", err)
	}
	return nil
}

func isLockFile(name string) bool { return name == lockFile || name == ownerFile }

func (b *backup) taken() error {
	return sqlerr.New(sqlerr.DuplicateFile, "backup target is not empty: %s", b.target).WithHint("Name a directory that does not exist, or an empty one.")
}

// refuseInside keeps the copy out of the database's own directory.
func (b *backup) refuseInside() error {
	if b.e.opts.InMemory {
		return nil
	}
	target := b.target
	if real, err := filepath.EvalSymlinks(target); err == nil {
		target = real
	} else if real, err := filepath.EvalSymlinks(filepath.Dir(target)); err == nil {
		target = filepath.Join(real, filepath.Base(target))
	}
	rel, err := filepath.Rel(b.e.dirs.root, target)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return nil
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "backup target lies in the database's own directory: %s", b.target)
}

// leave gives the target up; after an error it is as it was.
func (b *backup) leave(err error) {
	if err != nil {
		names, _ := b.to.List(b.target)
		for _, name := range names {
			if !isLockFile(name) {
				_ = b.to.RemoveAll(b.to.PathJoin(b.target, name))
			}
		}
	}
	// Whoever opens the copy at this moment locks a file of its own. Windows removes no locked file;
	// there it goes after its release, unless somebody has it open.
	path := b.to.PathJoin(b.target, lockFile)
	removed := b.to.Remove(path) == nil
	_ = b.lock.release()
	if !removed {
		_ = b.to.Remove(path)
	}
	if err != nil && b.made {
		_ = b.to.Remove(b.target)
	}
}

// copy fills the target.
func (b *backup) copy() error {
	e := b.e
	staged := e.fs.PathJoin(e.dirs.temp, fmt.Sprintf("backup-%d", e.nextLoad.Add(1)))
	defer func() { _ = e.fs.RemoveAll(staged) }()
	if err := b.checkpoint(staged); err != nil {
		return err
	}
	rows := b.to.PathJoin(b.target, "rows")
	if e.opts.InMemory || b.to.Rename(staged, rows) != nil {
		if err := b.transfer(staged, rows); err != nil {
			return err
		}
	}
	if err := b.canceled(); err != nil {
		return err
	}
	if err := writeFileSynced(b.to, b.to.PathJoin(b.target, redoFile), nil); err != nil { // rows has all there is
		return ioError("write REDO file of backup", err)
	}
	if err := syncDir(b.to, b.target); err != nil {
		return err
	}
	format := e.format
	format.Incarnation++ // from here on the copy has a history of its own
	if err := writeFormat(b.to, b.target, format); err != nil {
		return err
	}
	_ = b.to.Remove(b.to.PathJoin(b.target, copyingFile)) // with a FORMAT it means nothing
	_ = syncDir(b.to, b.target)
	return nil
}

// checkpoint makes a consistent copy of the store's files beside them.
func (b *backup) checkpoint(staged string) error {
	e := b.e
	// The log to copy is short then; a database in memory has no other way into a checkpoint.
	if err := e.Flush(b.ctx); err != nil {
		return err
	}
	// What is being ingested is written to the log past the commit mutex.
	for !e.ingesting.TryLock() {
		select {
		case <-b.ctx.Done():
			return b.canceled()
		case <-e.stopped:
			return e.failed()
		case <-time.After(5 * time.Millisecond):
		}
	}
	defer e.ingesting.Unlock()
	// Pebble copies the end of its log while it is being written, which a reader may later take for
	// damage in the middle. So nobody writes meanwhile.
	e.commitMu.Lock()
	defer e.commitMu.Unlock()
	if err := b.canceled(); err != nil {
		return err
	}
	if e.wal {
		if err := e.syncLog(); err != nil {
			return err
		}
	}
	err := func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = e.fail("checkpoint", fmt.Errorf("%v", r))
			}
		}()
		return e.db.Checkpoint(staged)
	}()
	if failure := e.failed(); failure != nil {
		return failure
	}
	return ioError("checkpoint", err)
}

// Flush writes what is in memory and in the log only to the store's files.
func (e *Engine) Flush(ctx context.Context) error {
	e.commitMu.Lock()
	var flushed <-chan struct{}
	err := e.guard("flush", func() (err error) {
		flushed, err = e.db.AsyncFlush()
		return err
	})
	e.commitMu.Unlock()
	if err != nil {
		return err
	}
	select {
	case <-flushed:
		return nil
	case <-ctx.Done():
		return sqlerr.New(sqlerr.QueryCanceled, "canceling flush: %w", context.Cause(ctx))
	case <-e.stopped:
		return e.failed()
	}
}

// transfer copies the checkpoint to another file system.
func (b *backup) transfer(staged, rows string) error {
	names, err := b.e.fs.List(staged)
	if err != nil {
		return ioError("list checkpoint", err)
	}
	if err := b.to.MkdirAll(rows, 0o755); err != nil {
		return ioError("create backup directory", err)
	}
	for _, name := range names {
		if err := b.copyFile(b.e.fs.PathJoin(staged, name), b.to.PathJoin(rows, name)); err != nil {
			return ioError("copy "+name+" into backup", err)
		}
	}
	return syncDir(b.to, rows)
}

// copyBytes is how much is copied between two looks at the context. More makes cancelling slower,
// less copying.
const copyBytes = 1 << 20

func (b *backup) copyFile(from, to string) error {
	src, err := b.e.fs.Open(from, vfs.SequentialReadsOption)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := b.to.Create(to, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	for err == nil {
		if err = b.canceled(); err == nil {
			_, err = io.CopyN(dst, src, copyBytes)
		}
	}
	if errors.Is(err, io.EOF) {
		err = dst.Sync()
	}
	if cerr := dst.Close(); err == nil {
		err = cerr
	}
	return err
}

func (b *backup) canceled() error {
	if b.ctx.Err() == nil {
		return nil
	}
	return sqlerr.New(sqlerr.QueryCanceled, "canceling backup: %w", context.Cause(b.ctx))
}
