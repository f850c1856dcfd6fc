package storage

import (
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// spillFS is the file system of a transaction's private store: its tables are on disk, everything else
// in memory. What says which tables there are is worth nothing once the process is gone, so it needs
// neither space on the disk nor syncs; and a full disk then meets only those who write tables, where it
// is an error like any other, and never the store's own book-keeping, which does not survive one.
type spillFS struct {
	vfs.FS // in memory
	disk   vfs.FS
}

func (f spillFS) of(name string) vfs.FS {
	if strings.HasSuffix(name, ".sst") {
		return f.disk
	}
	return f.FS
}

func (f spillFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.of(name).Create(name, c)
	if err != nil {
		return nil, err
	}
	return unsyncedFile{file}, nil
}

func (f spillFS) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	return f.of(name).Open(name, o...)
}

func (f spillFS) Link(from, to string) error { return f.of(from).Link(from, to) }

func (f spillFS) Remove(name string) error { return f.of(name).Remove(name) }

func (f spillFS) Rename(from, to string) error { return f.of(from).Rename(from, to) }

func (f spillFS) Stat(name string) (vfs.FileInfo, error) { return f.of(name).Stat(name) }

func (f spillFS) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.of(from).ReuseForWrite(from, to, c)
}

func (f spillFS) Unwrap() vfs.FS { return f.disk }

// unsyncedFile is a file that need not outlast the process.
type unsyncedFile struct{ vfs.File }

func (unsyncedFile) Sync() error                 { return nil }
func (unsyncedFile) SyncData() error             { return nil }
func (unsyncedFile) SyncTo(int64) (bool, error)  { return false, nil }
func (unsyncedFile) Prefetch(int64, int64) error { return nil }
