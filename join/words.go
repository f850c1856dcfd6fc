package join

import "github.com/weftdb/weft/vector"

// maxWords is the most distinct strings a column keeps in dictionary form. Larger dictionaries
// save no copying worth the look-ups, and their codes no longer fit direct tables.
const maxWords = 4096

// words is the dictionary of a stored column. Batches bring dictionaries of their own, a new one
// for each row group perhaps; each is translated once.
type words struct {
	list *vector.Vector
	code map[string]uint32
	from *vector.Vector // the dictionary that into translates
	into []uint32
	out  []uint32
}

func newWords() *words {
	return &words{list: vector.New(vector.Bytes, 16), code: map[string]uint32{}}
}

// add appends the live rows of v to the dictionary column dst. It reports false, having appended
// nothing, when v has another form or there are too many words.
func (w *words) add(dst, v *vector.Vector, n int, sel vector.Sel) bool {
	if sel == nil {
		sel = allRows[:n]
	}
	switch {
	case v.Form == vector.Const && (v.IsNull(0) || len(w.code) < maxWords):
		c := uint32(0)
		if !v.IsNull(0) {
			c = w.codeOf(v.BytesAt(0))
		}
		w.out = w.out[:0]
		for range sel {
			w.out = append(w.out, c)
		}
	case v.Form == vector.Dict && w.translate(v.Dict):
		w.out = translated(w.out[:0], v.Codes(), w.into, sel)
	default:
		return false
	}
	row := dst.Len
	dst.AppendCodes(w.out)
	if w.list.Len == 0 { // all NULL so far: their code must be readable too
		w.codeOf(nil)
	}
	if v.Valid != nil {
		for k, i := range sel {
			if v.IsNull(int(i)) {
				dst.SetNull(row+k, dst.Len)
			}
		}
	}
	return true
}

// translated appends the codes of a selection, translated. Codes outside the dictionary belong to
// NULL rows.
func translated(out, codes, into []uint32, sel vector.Sel) []uint32 {
	for _, i := range sel {
		c := uint32(0)
		if int(codes[i]) < len(into) {
			c = into[codes[i]]
		}
		out = append(out, c)
	}
	return out
}

// translate prepares the translation of dict and reports whether there is room for its strings.
func (w *words) translate(dict *vector.Vector) bool {
	if w.from == dict && len(w.into) == dict.Len { // the list of a growing store grows, too
		return true
	}
	if dict.Len > maxWords || dict.Kind != vector.Bytes {
		return false
	}
	w.into, w.from = w.into[:0], nil
	for i := range dict.Len {
		w.into = append(w.into, w.codeOf(dict.BytesAt(i)))
	}
	if len(w.code) > maxWords {
		return false
	}
	w.from = dict
	return true
}

func (w *words) codeOf(b []byte) uint32 {
	if c, ok := w.code[string(b)]; ok {
		return c
	}
	c := uint32(w.list.Len)
	w.code[string(b)] = c
	w.list.AppendBytes(b)
	return c
}
