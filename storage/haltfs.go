package storage

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// haltFS is a file system that stops changing when told to. Pebble calls Logger.Fatalf where it
// cannot go on, expecting the process to end there; a library must not end its host. So Fatalf
// returns, and from then on nothing is created, renamed or removed, and the log and the manifest are not
// written: whatever Pebble does with its state in doubt, the files stay as a crash would have left them.
type haltFS struct {
	vfs.FS
	halted atomic.Bool

	store string // the directory of Pebble's files

	logSyncs atomic.Uint64 // syncs of log files
	stalls   atomic.Uint64 // times writers had to wait for Pebble

	// opening is set while Pebble opens the store.
	opening *atomic.Bool
	// fail stops the engine, and with it this file system.
	fail func(operation string, cause error) error
}

var errHalted = fmt.Errorf("storage has stopped after an earlier failure")

func (f *haltFS) check() error {
	if !f.halted.Load() {
		return nil
	}
	time.Sleep(20 * time.Millisecond) // Pebble repeats failed flushes at once
	return errHalted
}

// Unwrap is part of the vfs.FS interface.
func (f *haltFS) Unwrap() vfs.FS { return f.FS }

func (f *haltFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.create(name, c)
	if err != nil && f.pretend("create file", err) == nil {
		file, err = vfs.NewMem().Create("none", c)
	}
	return f.created(name, file, err)
}

func (f *haltFS) create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if strings.HasPrefix(f.PathBase(name), "marker.") {
		// Pebble's markers name other files of their directory, which must last before they do.
		if err := syncDir(f.FS, f.PathDir(name)); err != nil {
			return nil, err
		}
	}
	return f.FS.Create(name, c)
}

// List lists a directory.
func (f *haltFS) List(dir string) ([]string, error) {
	names, err := f.FS.List(dir)
	return names, f.pretend("list directory", err)
}

func (f *haltFS) Link(oldname, newname string) error {
	if err := f.check(); err != nil {
		return err
	}
	err := f.FS.Link(oldname, newname)
	if errors.Is(err, os.ErrPermission) {
		// So say some file systems that have no links. Pebble copies the file instead, unless it
		// sees that a permission is missing; if one is, copying will tell.
		return fmt.Errorf("link %s: %v", newname, err)
	}
	return err
}

// OpenDir opens a directory, guarded when it is the store's.
func (f *haltFS) OpenDir(name string) (vfs.File, error) {
	dir, err := f.FS.OpenDir(name)
	if err != nil || name != f.store {
		return dir, err
	}
	return &storeDir{dir, f}, nil
}

// storeDir is the directory of Pebble's files. Pebble panics when it cannot be synced, in the
// background too, where nobody can recover. So the failure stops the engine, as with the log.
type storeDir struct {
	vfs.File
	fs *haltFS
}

// Sync stops the engine when it fails.
func (d *storeDir) Sync() error {
	if !d.fs.halted.Load() {
		if err := d.File.Sync(); err != nil {
			_ = d.fs.fail("sync directory", err) // the engine keeps it
		}
	}
	return nil
}

// pretend turns an operation's failure into the engine's while the store is being opened; the operation
// then looks as if it had succeeded.
func (f *haltFS) pretend(operation string, err error) error {
	if err == nil || !f.opening.Load() || errors.Is(err, os.ErrNotExist) {
		return err
	}
	_ = f.fail(operation, err) // the engine keeps it
	return nil
}

// openingFile is a file that was created while the store was being opened. Until the store is open,
// writing it succeeds or stops the engine.
type openingFile struct {
	vfs.File
	fs *haltFS
}

func (f *openingFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	if err != nil && f.fs.pretend("write file", err) == nil {
		return len(p), nil
	}
	return n, err
}

func (f *openingFile) Sync() error { return f.fs.pretend("sync file", f.File.Sync()) }

func (f *openingFile) SyncData() error { return f.fs.pretend("sync file", f.File.SyncData()) }

func (f *openingFile) SyncTo(length int64) (fullSync bool, err error) {
	fullSync, err = f.File.SyncTo(length)
	return fullSync, f.fs.pretend("sync file", err)
}

func (f *openingFile) Close() error { return f.fs.pretend("close file", f.File.Close()) }

// manifestFile is a list of the store's files. After the halt it stays as it is, since what it would
// list may not last.
type manifestFile struct {
	vfs.File
	fs *haltFS
}

func (f *manifestFile) Write(p []byte) (int, error) {
	if f.fs.halted.Load() {
		return len(p), nil
	}
	return f.File.Write(p)
}

func (f *manifestFile) Sync() error {
	if f.fs.halted.Load() {
		return nil
	}
	return f.File.Sync()
}

func (f *haltFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	return f.FS.OpenReadWrite(name, c, o...)
}

func (f *haltFS) Remove(name string) error {
	err := f.check()
	if err == nil {
		err = f.FS.Remove(name)
	}
	return f.pretend("remove file", err)
}

func (f *haltFS) RemoveAll(name string) error {
	if err := f.check(); err != nil {
		return err
	}
	return f.FS.RemoveAll(name)
}

func (f *haltFS) Rename(oldname, newname string) error {
	err := f.check()
	if err == nil {
		err = f.FS.Rename(oldname, newname)
	}
	return f.pretend("rename file", err)
}

func (f *haltFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.check(); err != nil {
		return f.created(newname, nil, err)
	}
	file, err := f.FS.ReuseForWrite(oldname, newname, c)
	return f.created(newname, file, err)
}

func (f *haltFS) MkdirAll(dir string, perm os.FileMode) error {
	if err := f.check(); err != nil {
		return err
	}
	return f.FS.MkdirAll(dir, perm)
}

func (f *haltFS) Lock(name string) (io.Closer, error) { return f.FS.Lock(name) }

// storeLogger passes Pebble's messages on.
type storeLogger struct {
	log   *slog.Logger
	fatal func(error)
}

func (l storeLogger) Infof(format string, args ...any) {
	if l.log != nil {
		l.log.Debug("store: " + fmt.Sprintf(format, args...))
	}
}

func (l storeLogger) Errorf(format string, args ...any) {
	if l.log != nil {
		l.log.Error("store: " + fmt.Sprintf(format, args...))
	}
}

// Fatalf returns, against the interface's letter: see haltFS.
func (l storeLogger) Fatalf(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if l.log != nil {
		l.log.Error("store: fatal: " + err.Error())
	}
	l.fatal(err)
}
