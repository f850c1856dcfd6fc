//go:build race

package storage

// raceEnabled tells that the race detector runs: tests do less then, and allocations are not
// counted.
const raceEnabled = true
