package storage

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/gofrs/flock"

	"github.com/weftdb/weft/internal/sqlerr"
)

// A database directory belongs to one process. LOCK is locked for as long as it is open; OWNER
// holds the process id for the error message of whoever comes second (a locked file cannot be read
// everywhere).
const (
	lockFile  = "LOCK"
	ownerFile = "OWNER"
)

type dirLock struct {
	lock  io.Closer
	owner string // path of OWNER on the operating system's file system, "" = none
}

// lockDir locks a database directory.
func lockDir(fs vfs.FS, dir string, osFS bool) (*dirLock, error) {
	if !osFS { // a file system for tests brings its own locks
		c, err := fs.Lock(fs.PathJoin(dir, lockFile))
		if err != nil {
			return nil, inUse(dir, "")
		}
		return &dirLock{lock: c}, nil
	}
	l := flock.New(filepath.Join(dir, lockFile))
	owner := filepath.Join(dir, ownerFile)
	ok, err := l.TryLock()
	if err != nil {
		return nil, ioError("lock database directory", err)
	}
	if !ok {
		pid, _ := os.ReadFile(owner)
		return nil, inUse(dir, strings.TrimSpace(string(pid)))
	}
	if err := os.WriteFile(owner, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644); err != nil {
		return nil, ioError("lock database directory", errors.Join(err, l.Close()))
	}
	return &dirLock{lock: l, owner: owner}, nil
}

func inUse(dir, pid string) error {
	if pid == "" {
		pid = "unknown"
	}
	return sqlerr.New(sqlerr.ObjectInUse, "database is open in another process: pid=%s dir=%s", pid, dir).
		WithHint("A database directory can be open in one process at a time; several connections of one process may share it.")
}

func (l *dirLock) release() error {
	if l.owner != "" {
		_ = os.Remove(l.owner)
	}
	return l.lock.Close()
}
