package storage

import (
	"errors"
	"os"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/internal/sqlerr"
)

// ioError gives an error of the store underneath or the file system its SQLSTATE.
func ioError(operation string, err error) error {
	var known *sqlerr.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case pebble.IsCorruptionError(err):
		return sqlerr.New(sqlerr.DataCorrupted, "%s: %w", operation, err)
	case vfs.IsNoSpaceError(err):
		return sqlerr.New(sqlerr.DiskFull, "%s: %w", operation, err)
	case errors.Is(err, os.ErrPermission):
		return sqlerr.New(sqlerr.IOError, "%s: %w", operation, err).WithHint("Check the owner and mode of the database's directory.")
	}
	return sqlerr.New(sqlerr.IOError, "%s: %w", operation, err)
}
