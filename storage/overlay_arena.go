package storage

// byteArena holds many small byte strings that all live as long as the overlay. Versions tell where theirs are
// instead of pointing there, so that the garbage collector has nothing to look for in those of a large
// transaction.
type byteArena struct {
	chunks [][]byte // only the last is added to
	total  int
}

// arenaBytes is where a byte string of an arena is; the zero value stands for nil.
type arenaBytes struct{ chunk, start, size uint32 } // the first chunk has number 1

// arenaChunk is the size of an arena's pieces from the second on: larger ones waste memory in small
// transactions, smaller ones cost allocations in large ones.
const arenaChunk = 64 << 10

func (a *byteArena) add(b []byte) arenaBytes {
	if b == nil {
		return arenaBytes{}
	}
	n := len(a.chunks)
	if n == 0 || len(b) > cap(a.chunks[n-1])-len(a.chunks[n-1]) {
		size := arenaChunk
		if a.total == 0 {
			size = 512
		}
		a.chunks = append(a.chunks, make([]byte, 0, max(size, len(b))))
		a.total += cap(a.chunks[n])
		n++
	}
	chunk := &a.chunks[n-1]
	start := len(*chunk)
	*chunk = append(*chunk, b...)
	return arenaBytes{uint32(n), uint32(start), uint32(len(b))}
}

// at returns a byte string, which never moves nor changes.
func (a *byteArena) at(b arenaBytes) []byte {
	if b.chunk == 0 {
		return nil
	}
	return a.chunks[b.chunk-1][b.start : b.start+b.size : b.start+b.size]
}

// used returns about how many bytes were handed out.
func (a *byteArena) used() int {
	if len(a.chunks) == 0 {
		return 0
	}
	last := a.chunks[len(a.chunks)-1]
	return a.total - (cap(last) - len(last))
}
