//go:build !unix

package bench

import "time"

// cpuTime returns the processor time this process has used.
func cpuTime() (used time.Duration, known bool) { return 0, false }
