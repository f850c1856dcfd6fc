package join

import "github.com/weftdb/weft/vector"

// addMarks returns a bitmap of build rows for one more worker.
func (t *Table) addMarks() vector.Bitmap {
	m := vector.NewBitmap(t.rows)
	t.mu.Lock()
	t.marks = append(t.marks, m)
	t.mu.Unlock()
	return m
}

// EndProbe puts the workers' marks together. It is called once, after the last Push of all
// joiners, for kinds that mark build rows.
func (t *Table) EndProbe() {
	t.matched = vector.NewBitmap(t.rows)
	for _, m := range t.marks {
		for i, w := range m {
			t.matched[i] |= w
		}
	}
	t.marks = nil
}

// BuildRows writes the build rows that a kind yields after all probe rows, from row from on, to
// dst and returns them with the row to go on at; none are left when that is Rows. Right and Full
// yield rows without a match, RightSemi those with one, RightAnti those without.
func (t *Table) BuildRows(kind Kind, from int, dst []uint32) (rows []uint32, next int) {
	want := kind == RightSemi
	k := 0
	for from < t.rows && k < len(dst) {
		dst[k] = uint32(from)
		k += b2i(t.matched.Get(from) == want)
		from++
	}
	return dst[:k], from
}
