package weft

import (
	"golang.org/x/sys/unix"
)

// machineMemoryBytes returns the size of the machine's memory.
func machineMemoryBytes() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return fallbackMemoryBytes
	}
	return int64(info.Totalram) * int64(info.Unit)
}
