package imcv

import (
	"math/bits"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// KeyFilter says which values of a column can find a match in a join above the scan. Rows with other
// values, and with NULL, may be left out, and need not be.
type KeyFilter struct {
	Column catalog.ColumnID
	// Values are all that can match, of the column's kind; nil = they are not listed.
	Values []vector.Datum
	// Low and High bound those of an integer column; NULL = bounds are not known.
	Low, High vector.Datum
	// Meets tells of an integer column whether some value that can match lies from low to high; nil = not known.
	Meets func(low, high int64) bool
}

// lentKeys is a KeyFilter on its way to units.
type lentKeys struct {
	KeyFilter
	tests   []*zoneTest // each of them is necessary; the first that codes answer is used
	removed int64
}

// Lend adds filters of joins to the filter. Unlike conjuncts they are only used where that is cheap.
func (f *UnitFilter) Lend(keys []KeyFilter) {
	for _, k := range keys {
		l := lentKeys{KeyFilter: k}
		if k.Values != nil {
			l.tests = append(l.tests, newZoneTest("in", k.Values...))
		}
		if !k.Low.Null {
			l.tests = append(l.tests, newZoneTest("between", k.Low, k.High))
		}
		f.lent = append(f.lent, l)
	}
}

// SkipByKeys returns the lent filter, by its number, that no trusted row of the group can pass; −1 if there
// is none.
func (f *UnitFilter) SkipByKeys(r *GroupReader) int {
	for i := range f.lent {
		l := &f.lent[i]
		at := r.index(l.Column)
		if at < 0 {
			continue
		}
		z := &r.columns[at].zone
		if l.Meets != nil && !z.Min.Null && !l.Meets(z.Min.I, z.Max.I) {
			return i
		}
		for _, t := range l.tests {
			if t.excludes(*z) || !t.mayHold(r.columns[at].bloom) {
				return i
			}
		}
	}
	return -1
}

// Removed returns how many rows the i-th lent filter has left out by their codes.
func (f *UnitFilter) Removed(i int) int64 { return f.lent[i].removed }

// bindKeys prepares the lent filters for the units of a loaded group.
func (f *UnitFilter) bindKeys(r *GroupReader) {
	f.boundKeys = f.boundKeys[:0]
	for i := range f.lent {
		l := &f.lent[i]
		at := r.index(l.Column)
		if at < 0 {
			continue
		}
		for _, t := range l.tests {
			b := boundTest{unit: r.units[at]}
			if t.op == "between" && !l.narrows(&b.unit.zone) || !b.compare(t) {
				continue
			}
			if b.outcome != allRows {
				f.boundKeys = append(f.boundKeys, boundKeys{b, i})
			}
			break
		}
	}
}

// narrows reports whether the bounds leave at most half of a zone's range. Where they leave more, testing
// them costs more than it saves: rows are tested one by one anyhow.
func (l *lentKeys) narrows(z *Zone) bool {
	if z.Min.Null {
		return false
	}
	low, high := max(l.Low.I, z.Min.I), min(l.High.I, z.Max.I)
	return low > high || uint64(high)-uint64(low) <= (uint64(z.Max.I)-uint64(z.Min.I))/2
}

// boundKeys is a lent filter made ready for one unit.
type boundKeys struct {
	boundTest
	lent int
}

// narrowByKeys clears the bits of rows of a window that the lent filters leave out.
func (f *UnitFilter) narrowByKeys(mask []uint64, from, n int, s *scratch) {
	for i := range f.boundKeys {
		b := &f.boundKeys[i]
		before := ones(mask)
		if before == 0 {
			return
		}
		if b.outcome == noRows {
			clear(mask)
		} else {
			b.narrow(mask, from, n, s)
		}
		f.lent[b.lent].removed += int64(before - ones(mask))
	}
}

func ones(mask []uint64) (n int) {
	for _, w := range mask {
		n += bits.OnesCount64(w)
	}
	return n
}
