package join

import (
	"math/bits"

	"github.com/weftdb/weft/vector"
)

// dictBits bounds the direct table of dictGroups: 256 KB, what the second-level cache holds with
// room to spare.
const dictBits = 16

// dictGroups looks groups up in an array by the keys' dictionary codes side by side. It suits one
// to four string columns with few distinct values that arrive in dictionary form.
type dictGroups struct {
	cols  []dictColumn
	table []uint32 // group+1 by combined codes
	slots [BlockRows]uint32
}

// dictColumn numbers a column's words. Code 0 is NULL.
type dictColumn struct {
	words *words
	bits  uint
	shift uint
	full  bool // too many words for any table
}

// newDictGroups returns the index for keys that are all in dictionary form, else nil.
func newDictGroups(keys []*vector.Vector) *dictGroups {
	if len(keys) == 0 || len(keys) > 4 {
		return nil
	}
	d := &dictGroups{cols: make([]dictColumn, len(keys))}
	for i, k := range keys {
		if k.Kind != vector.Bytes || k.Form != vector.Dict {
			return nil
		}
		d.cols[i].words = newWords()
		d.cols[i].bits = max(uint(bits.Len(uint(k.Dict.Len+1))), 2)
	}
	if !d.layout() {
		return nil
	}
	return d
}

// layout places the columns' codes side by side and makes the table; false = too large.
func (d *dictGroups) layout() bool {
	total := uint(0)
	for i := range d.cols {
		d.cols[i].shift = total
		total += d.cols[i].bits
	}
	if total > dictBits {
		return false
	}
	d.table = make([]uint32, 1<<total)
	return true
}

func (d *dictGroups) name() string { return "dictionary" }

// next makes a larger table, as long as that helps.
func (d *dictGroups) next(g *Groups) groupIndex {
	wider, more := &dictGroups{cols: make([]dictColumn, len(d.cols))}, false
	for i, c := range d.cols {
		if c.full {
			return firstPacked(g)
		}
		need := uint(bits.Len(uint(c.words.list.Len + 1)))
		more = more || need > c.bits
		wider.cols[i] = dictColumn{words: c.words, bits: max(c.bits, need)}
	}
	if more && wider.layout() {
		return wider
	}
	return firstPacked(g)
}

func (d *dictGroups) assign(g *Groups, dst []uint32, keys []*vector.Vector, n int, in vector.Sel) (bool, error) {
	for i := range d.cols {
		if !d.cols[i].addCodes(&d.slots, keys[i], in, i == 0) {
			return false, nil
		}
	}
	table := d.table
	for _, i := range in {
		i &= BlockRows - 1
		at := d.slots[i]
		group := table[at]
		if group == 0 {
			group = g.begin(i) + 1
			table[at] = group
		}
		dst[i] = group - 1
	}
	return true, nil
}

func (d *dictGroups) insert(g *Groups, keys []*vector.Vector, from, n int) (bool, error) {
	for i := range d.cols {
		if !d.cols[i].addCodes(&d.slots, keys[i], allRows[:n], i == 0) {
			return false, nil
		}
	}
	for i := range n {
		d.table[d.slots[i]] = uint32(from+i) + 1
	}
	return true, nil
}

// addCodes adds a column's codes, shifted to their place, to slots. False = the words do not fit.
func (c *dictColumn) addCodes(slots *[BlockRows]uint32, v *vector.Vector, in vector.Sel, first bool) bool {
	w := c.words
	switch v.Form {
	case vector.Dict:
		if !w.translate(v.Dict) {
			c.full = true
			return false
		}
		codes, into := v.Codes(), w.into
		for _, i := range in {
			code := uint32(0)
			if v.Valid == nil || v.Valid.Get(int(i)) {
				code = into[codes[i]] + 1
			}
			put(slots, i, code<<c.shift, first)
		}
	default:
		for _, i := range in {
			code := uint32(0)
			if !v.IsNull(int(i)) {
				if code = w.codeOf(v.BytesAt(int(i))) + 1; w.list.Len > maxWords {
					c.full = true
					return false
				}
			}
			put(slots, i, code<<c.shift, first)
		}
	}
	return w.list.Len < 1<<c.bits
}

func put(slots *[BlockRows]uint32, i uint16, code uint32, first bool) {
	if first {
		slots[i&(BlockRows-1)] = code
	} else {
		slots[i&(BlockRows-1)] |= code
	}
}
