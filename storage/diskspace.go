package storage

import (
	"errors"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/internal/sqlerr"
)

// checkRecoverySpace refuses to open a store whose logs might not fit on the disk once more.
// Opening writes what the logs hold into tables, and Pebble repeats a write that finds the disk
// full for as long as it takes: the caller would wait for ever, with nothing to tell it why. The
// size of the logs bounds what recovery writes.
func (e *Engine) checkRecoverySpace(closed bool) error {
	names, err := e.fs.List(e.dirs.rows)
	if err != nil {
		return ioError("list store", err)
	}
	var logBytes uint64
	if info, err := e.fs.Stat(e.fs.PathJoin(e.dirs.root, redoFile)); err == nil && !closed { // opening it will tell
		logBytes = uint64(info.Size())
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".log") {
			continue
		}
		info, err := e.fs.Stat(e.fs.PathJoin(e.dirs.rows, name))
		if err != nil {
			return ioError("read size of log", err)
		}
		logBytes += uint64(info.Size())
	}
	if logBytes == 0 {
		return nil
	}
	usage, err := e.fs.GetDiskUsage(e.dirs.rows)
	if errors.Is(err, vfs.ErrUnsupported) {
		return nil // a file system in memory
	}
	if err != nil {
		return ioError("read free space", err)
	}
	if usage.AvailBytes < logBytes {
		return sqlerr.New(sqlerr.DiskFull, "recovery may write %d bytes and the disk has %d bytes free",
			logBytes, usage.AvailBytes).WithHint("Free space on the disk and open the database again. Nothing is lost.")
	}
	return nil
}
