//go:build unix

package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the processor time this process has used.
func cpuTime() (used time.Duration, known bool) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
