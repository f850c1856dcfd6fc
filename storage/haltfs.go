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
// returns, and from then on nothing is created, renamed or removed: whatever Pebble does with its
// state in doubt, the files stay as a crash would have left them.
type haltFS struct {
	vfs.FS
	halted atomic.Bool

	walSyncs atomic.Uint64 // syncs of log files
	stalls   atomic.Uint64 // times writers had to wait for Pebble

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
	if err := f.check(); err != nil {
		return f.created(name, nil, err)
	}
	if strings.HasPrefix(f.PathBase(name), "marker.") {
		// Pebble's markers name other files of their directory, which must last before they do.
		if err := syncDir(f.FS, f.PathDir(name)); err != nil {
			return nil, err
		}
	}
	file, err := f.FS.Create(name, c)
	return f.created(name, file, err)
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

func (f *haltFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	return f.FS.OpenReadWrite(name, c, o...)
}

func (f *haltFS) Remove(name string) error {
	if err := f.check(); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

func (f *haltFS) RemoveAll(name string) error {
	if err := f.check(); err != nil {
		return err
	}
	return f.FS.RemoveAll(name)
}

func (f *haltFS) Rename(oldname, newname string) error {
	if err := f.check(); err != nil {
		return err
	}
	return f.FS.Rename(oldname, newname)
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
