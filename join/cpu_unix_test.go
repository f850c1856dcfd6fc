//go:build unix

package join

import "syscall"

// cpuSeconds is the processor time that the process has used, garbage collection included. On a machine
// that others use too it says more than the time that passes.
func cpuSeconds() float64 {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}
