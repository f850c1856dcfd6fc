package storage

// versionChunk is how many versions lie together. More waste memory in transactions that are not quite
// small, fewer cost allocations in large ones.
const versionChunk = 256

// versionList is a list that grows without moving what it holds: a large transaction neither copies its
// versions again and again nor leaves the smaller copies to the garbage collector. Only the first chunk
// begins small.
type versionList[T any] struct {
	chunks [][]T // all but the last have versionChunk versions; none is empty
}

func (l *versionList[T]) len() int {
	n := len(l.chunks)
	if n == 0 {
		return 0
	}
	return (n-1)*versionChunk + len(l.chunks[n-1])
}

// at returns a version, which stays where it is, but for those of the first chunk, until it is cut off.
func (l *versionList[T]) at(i int32) *T {
	return &l.chunks[uint32(i)/versionChunk][uint32(i)%versionChunk]
}

// add appends a version and returns its number.
func (l *versionList[T]) add(v T) int32 {
	n := len(l.chunks)
	switch {
	case n == 0:
		l.chunks = append(l.chunks, make([]T, 0, 1))
		n++
	case len(l.chunks[n-1]) == versionChunk:
		l.chunks = append(l.chunks, make([]T, 0, versionChunk))
		n++
	}
	last := &l.chunks[n-1]
	*last = append(*last, v)
	return int32((n-1)*versionChunk + len(*last) - 1)
}

// cut drops the versions from number n on.
func (l *versionList[T]) cut(n int) {
	keep := (n + versionChunk - 1) / versionChunk
	clear(l.chunks[keep:])
	l.chunks = l.chunks[:keep]
	if keep > 0 {
		last := &l.chunks[keep-1]
		rest := n - (keep-1)*versionChunk
		clear((*last)[rest:])
		*last = (*last)[:rest]
	}
}
