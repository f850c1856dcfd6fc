// Package vector holds the data that flows through weft: kinds, vectors, batches, bitmaps and the
// typed kernels that work on them.
//
// Memory layout is Arrow's (little-endian fixed-width values, int32 offsets plus bytes, validity
// bitmaps), so that results leave the engine without copying fixed-width data.
//
// No compatibility promise: use the root package.
package vector
