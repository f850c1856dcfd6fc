//go:build amd64 && !purego

package imcv

import "golang.org/x/sys/cpu"

// The processor's wide registers compare 8 to 64 codes at a time. The Go kernels are what they are
// tested against, and what other processors use.

var wide = cpu.X86.HasAVX2

//go:noescape
func maskRange8AVX2(mask *uint64, codes *uint8, n int, low, span uint8)

//go:noescape
func maskRange16AVX2(mask *uint64, codes *uint16, n int, low, span uint16)

//go:noescape
func maskRange32AVX2(mask *uint64, codes *uint32, n int, low, span uint32)

//go:noescape
func maskRange64AVX2(mask *uint64, codes *uint64, n int, low, span uint64)

// maskBlocks8 does the whole blocks of 64 codes that it can and returns their number; so do the others.
func maskBlocks8(mask []uint64, codes []uint8, low, span uint8) int {
	n := len(codes) / 64
	if !wide || n == 0 {
		return 0
	}
	_ = mask[n-1]
	maskRange8AVX2(&mask[0], &codes[0], n, low, span)
	return n
}

func maskBlocks16(mask []uint64, codes []uint16, low, span uint16) int {
	n := len(codes) / 64
	if !wide || n == 0 {
		return 0
	}
	_ = mask[n-1]
	maskRange16AVX2(&mask[0], &codes[0], n, low, span)
	return n
}

func maskBlocks32(mask []uint64, codes []uint32, low, span uint32) int {
	n := len(codes) / 64
	if !wide || n == 0 {
		return 0
	}
	_ = mask[n-1]
	maskRange32AVX2(&mask[0], &codes[0], n, low, span)
	return n
}

func maskBlocks64(mask []uint64, codes []uint64, low, span uint64) int {
	n := len(codes) / 64
	if !wide || n == 0 {
		return 0
	}
	_ = mask[n-1]
	maskRange64AVX2(&mask[0], &codes[0], n, low, span)
	return n
}
