//go:build !amd64 || purego

package imcv

// Without wide registers the Go kernels do all blocks.

func maskBlocks8([]uint64, []uint8, uint8, uint8) int { return 0 }

func maskBlocks16([]uint64, []uint16, uint16, uint16) int { return 0 }

func maskBlocks32([]uint64, []uint32, uint32, uint32) int { return 0 }

func maskBlocks64([]uint64, []uint64, uint64, uint64) int { return 0 }
