package storage

import (
	"fmt"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TempFile is a file of the directory for temporary files, of which opening a database leaves none. It is
// written by one goroutine and may be read by many.
type TempFile struct {
	file   vfs.File
	remove func() error
}

// NewTempFile makes a temporary file. A database in memory has them on disk, in the system's directory
// for such files, for they are there to save memory. Errors are 53100 when the disk is full, 58030
// otherwise.
func (e *Engine) NewTempFile() (*TempFile, error) {
	if e.opts.InMemory {
		name, err := os.MkdirTemp("", "weft-*")
		if err != nil {
			return nil, ioError("create temporary file", err)
		}
		return newTempFile(vfs.Default, vfs.Default.PathJoin(name, "rows"), func() error { return os.RemoveAll(name) })
	}
	name := e.fs.PathJoin(e.dirs.temp, fmt.Sprintf("rows-%d", e.nextLoad.Add(1)))
	return newTempFile(e.fs, name, func() error { return e.fs.Remove(name) })
}

func newTempFile(fs vfs.FS, name string, remove func() error) (*TempFile, error) {
	file, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, ioError("create temporary file", err)
	}
	return &TempFile{file: file, remove: remove}, nil
}

// Write appends to the file.
func (f *TempFile) Write(b []byte) (int, error) {
	n, err := f.file.Write(b)
	return n, ioError("write temporary file", err)
}

// ReadAt reads from an offset.
func (f *TempFile) ReadAt(b []byte, offset int64) (int, error) {
	n, err := f.file.ReadAt(b, offset)
	if n == len(b) {
		return n, nil // whatever follows
	}
	return n, ioError("read temporary file", err)
}

// Close removes the file.
func (f *TempFile) Close() error {
	err := f.file.Close()
	if removeErr := f.remove(); err == nil {
		err = removeErr
	}
	return ioError("remove temporary file", err)
}
