//go:build !unix

package join

import "time"

var started = time.Now()

// cpuSeconds is the time that has passed, where the system does not tell the processor time.
func cpuSeconds() float64 { return time.Since(started).Seconds() }
