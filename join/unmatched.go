package join

import (
	"sync"

	"github.com/weftdb/weft/vector"
)

// marking remembers which build rows found a match.
type marking struct {
	mu      sync.Mutex      // guards marks while workers open
	marks   []vector.Bitmap // one bitmap per worker
	matched vector.Bitmap
}

// AddMarks returns a bitmap over n build rows for one more worker, who sets the bits of rows with a
// match. It may be called concurrently.
func (m *marking) AddMarks(n int) vector.Bitmap {
	bits := vector.NewBitmap(n)
	m.mu.Lock()
	m.marks = append(m.marks, bits)
	m.mu.Unlock()
	return bits
}

// EndProbe puts the workers' marks together. It is called once, after the last probe, for kinds
// that mark build rows.
func (m *marking) EndProbe(rows int) {
	m.matched = vector.NewBitmap(rows)
	for _, marks := range m.marks {
		for i, w := range marks {
			m.matched[i] |= w
		}
	}
	m.marks = nil
}

// BuildRows writes to dst those of the build rows from to to−1 that a kind yields after all probe
// rows, as many as fit, and returns them with the row to go on at. Right and Full yield rows
// without a match, RightSemi those with one, RightAnti those without.
func (m *marking) BuildRows(kind Kind, from, to int, dst []uint32) (rows []uint32, next int) {
	want := kind == RightSemi
	k := 0
	for from < to && k < len(dst) {
		dst[k] = uint32(from)
		k += b2i(m.matched.Get(from) == want)
		from++
	}
	return dst[:k], from
}
