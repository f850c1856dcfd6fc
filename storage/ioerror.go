package storage

import (
	"errors"
	"os"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/internal/sqlerr"
)

// ioError gives an error of the store underneath or the file system its SQLSTATE.
func ioError(operation string, err error) error {
	if err == nil {
		return nil
	}
	var known *sqlerr.Error
	switch {
	case errors.As(err, &known):
		return err
	case pebble.IsCorruptionError(err):
		return errCorrupt(operation, err)
	case vfs.IsNoSpaceError(err):
		return sqlerr.New(sqlerr.DiskFull, "%s: %w", operation, oneLine{err})
	case errors.Is(err, os.ErrPermission):
		return sqlerr.New(sqlerr.IOError, "%s: %w", operation, oneLine{err}).WithHint("Check the owner and mode of the database's directory.")
	}
	return sqlerr.New(sqlerr.IOError, "%s: %w", operation, oneLine{err})
}

// openError is the error of a store that could not be opened: files that are not there, or not as
// long as they were, are damage too.
func openError(err error) error {
	if errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "object size mismatch") {
		return errCorrupt("open store", err)
	}
	return ioError("open store", err)
}

// foundDamage stops writing because of a damaged file. While the store is being opened that waits:
// an opening that fails half-way ends what Pebble's background work stands on.
func (e *Engine) foundDamage(info pebble.DataCorruptionInfo) {
	e.damage.CompareAndSwap(nil, &info)
	if !e.opening.Load() {
		_ = e.fail("read "+info.Path, info.Details)
	}
}

// errCorrupt is damage to the database's files.
func errCorrupt(operation string, err error) *sqlerr.Error {
	e := sqlerr.New(sqlerr.DataCorrupted, "%s: data on disk is corrupt: %w", operation, oneLine{err}).
		WithHint("Copy the database directory before anything else, check the disk, and restore a backup; tables that can still be read can be saved with COPY.")
	if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
		return e.WithDetail("File: %s", info.Path)
	}
	return e
}

// oneLine is a library's error in a message: the first line of its text, behind which stack traces
// and the same about other files may follow.
type oneLine struct{ error }

// Error returns the first line.
func (e oneLine) Error() string {
	line, _, _ := strings.Cut(e.error.Error(), "\n")
	return line
}

// Unwrap returns the error itself.
func (e oneLine) Unwrap() error { return e.error }
