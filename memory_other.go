//go:build !linux

package weft

// machineMemoryBytes returns the size assumed for the machine's memory.
func machineMemoryBytes() int64 { return fallbackMemoryBytes }
