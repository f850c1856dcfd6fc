package storage

import (
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logFile is a file of the write-ahead log. Pebble panics when its log cannot be written, and where
// it changes to the next log it does so in a way no recover can catch. So the first failure stops
// the engine, and from then on the log takes everything and keeps nothing: who waits for a commit
// finds the engine's failure, not what Pebble believes to be on disk.
type logFile struct {
	vfs.File
	fs *haltFS
}

// created returns a new file, guarded as its kind needs.
func (f *haltFS) created(name string, file vfs.File, err error) (vfs.File, error) {
	switch {
	case strings.HasSuffix(name, ".log"):
	case err != nil:
		return nil, err
	case f.opening.Load() && strings.HasPrefix(f.PathBase(name), "MANIFEST-"):
		return &manifestFile{&openingFile{file, f}, f}, nil
	case strings.HasPrefix(f.PathBase(name), "MANIFEST-"):
		return &manifestFile{file, f}, nil
	case f.opening.Load():
		return &openingFile{file, f}, nil
	default:
		return file, nil
	}
	if err != nil {
		_ = f.fail("create log", err) // the engine keeps it
		if file, err = vfs.NewMem().Create("log", vfs.WriteCategoryUnspecified); err != nil {
			return nil, err
		}
	}
	return &logFile{file, f}, nil
}

// lost makes err, met while writing a log, the engine's failure.
func (f *logFile) lost(operation string, err error) {
	if err != nil {
		_ = f.fs.fail(operation, err) // the engine keeps it
	}
}

func (f *logFile) Write(p []byte) (int, error) {
	if !f.fs.halted.Load() {
		_, err := f.File.Write(p)
		f.lost("write log", err)
	}
	return len(p), nil
}

// Preallocate may fail: the writes it prepares for will tell.
func (f *logFile) Preallocate(offset, length int64) error {
	if !f.fs.halted.Load() {
		_ = f.File.Preallocate(offset, length)
	}
	return nil
}

func (f *logFile) Sync() error {
	f.fs.logSyncs.Add(1)
	if !f.fs.halted.Load() {
		f.lost("sync log", f.File.Sync())
	}
	return nil
}

func (f *logFile) SyncData() error {
	f.fs.logSyncs.Add(1)
	if !f.fs.halted.Load() {
		f.lost("sync log", f.File.SyncData())
	}
	return nil
}

func (f *logFile) SyncTo(length int64) (fullSync bool, err error) {
	if f.fs.halted.Load() {
		return true, nil
	}
	fullSync, err = f.File.SyncTo(length)
	f.lost("sync log", err)
	return fullSync, nil
}

func (f *logFile) Close() error {
	f.lost("close log", f.File.Close())
	return nil
}
