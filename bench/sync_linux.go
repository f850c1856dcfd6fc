package bench

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData makes a file's contents durable.
func syncData(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
