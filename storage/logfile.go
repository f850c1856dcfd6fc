package storage

import (
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logFile is a file of the write-ahead log. Pebble panics when its log cannot be written, and where
// it changes to the next log it does so in a way no recover can catch. So the first failure stops
// the engine, and from then on the log takes everything and keeps nothing: who waits for a commit
// finds the engine's failure, not what Pebble believes to be on disk.
//
// Small writes go where zeros have been written before. A sync then has data to write but no new file
// size, which spares the file system a record in its own journal: on ext4 a third of the time of a
// commit. Pebble reads such a log as it reads those whose file was used before.
type logFile struct {
	vfs.File
	fs      *haltFS
	written int64 // bytes of the log
	filled  int64 // end of what the file holds, zeros included
}

const (
	// logFillBytes is how far zeros go at a time: hundreds of small commits, and little to write in
	// the sync that meets them.
	logFillBytes = 128 << 10
	// maxFilledWrite is the size from which writes are taken for bulk, which zeros would only slow
	// down. Pebble's log has blocks of this size.
	maxFilledWrite = 32 << 10
)

var logZeros [logFillBytes]byte

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
	l := &logFile{File: file, fs: f}
	if info, err := file.Stat(); err == nil { // else the file is filled once more
		l.filled = info.Size()
	}
	return l, nil
}

// lost makes err, met while writing a log, the engine's failure.
func (f *logFile) lost(operation string, err error) {
	if err != nil {
		_ = f.fs.fail(operation, err) // the engine keeps it
	}
}

func (f *logFile) Write(p []byte) (int, error) {
	if !f.fs.halted.Load() {
		f.fill(int64(len(p)))
		_, err := f.File.Write(p)
		f.lost("write log", err)
	}
	return len(p), nil
}

// fill makes room for a small write of n bytes. It may fail: the write will tell.
func (f *logFile) fill(n int64) {
	f.written += n
	if f.written <= f.filled {
		return
	}
	if n < maxFilledWrite {
		if _, err := f.File.WriteAt(logZeros[:], f.filled); err == nil {
			f.filled += logFillBytes
			return
		}
	}
	f.filled = f.written
}

// Preallocate may fail: the writes it prepares for will tell.
func (f *logFile) Preallocate(offset, length int64) error {
	if !f.fs.halted.Load() {
		_ = f.File.Preallocate(offset, length)
	}
	return nil
}

func (f *logFile) Sync() error {
	f.fs.walSyncs.Add(1)
	if !f.fs.halted.Load() {
		f.lost("sync log", f.File.Sync())
	}
	return nil
}

func (f *logFile) SyncData() error {
	f.fs.walSyncs.Add(1)
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
