//go:build !invariants

package vector

// BatchCap is the most rows a batch holds. Larger batches leave the first-level cache, smaller
// ones pay the per-batch cost of every operator more often.
const BatchCap = 1024
