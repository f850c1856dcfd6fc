package expr

import (
	"github.com/weftdb/weft/vector"
)

// maxDictFilter is the largest dictionary whose entries are all tested ahead: one serves the 64
// batches of a row group, so larger ones may hold more entries than there are rows to test.
const maxDictFilter = 1 << 14

// dictFilter tests a condition on one column once per dictionary entry, when the column comes with
// a dictionary. The answers are kept while the dictionary stays the same.
type dictFilter struct {
	column int
	rows   Filter // the condition row by row
	entry  Filter // the condition on a batch whose only vector is the column's; nil until needed
	make   func() (Filter, error)
	dict   *vector.Vector
	failed bool    // an entry raised an error: rows decide, the entry may not occur in them
	flags  []uint8 // answer per entry
	onNull bool
	batch  vector.Batch
	chunk  vector.Vector
	sel    vector.Sel
}

// dictFilter reports false when e is no condition for dictionaries.
func (c *compiler) dictFilter(e Expr) (Filter, bool, error) {
	if c.noDict {
		return nil, false, nil
	}
	if op, ok := e.(*BoolOp); ok && !op.Or {
		return nil, false, nil // each conjunct by itself
	}
	var col *Col
	single := true
	Walk(e, func(e Expr) bool {
		switch e := e.(type) {
		case *Col:
			single = single && (col == nil || col.ID == e.ID)
			col = e
		case *Call:
			single = single && e.Fn.Volatility != Volatile
		case *Param:
			single = false
		case Node:
			single = false
		}
		return single
	})
	if !single || col == nil {
		return nil, false, nil
	}
	inner := *c
	inner.noDict = true
	rows, err := inner.filter(e)
	if err != nil {
		return nil, true, err
	}
	inner.memo = nil
	inner.layout = func(ColID) int { return 0 }
	f := &dictFilter{column: c.layout(col.ID), rows: rows, make: func() (Filter, error) { return inner.filter(e) }}
	f.batch.Vecs = []*vector.Vector{&f.chunk}
	return f, true, nil
}

func (f *dictFilter) Select(b *vector.Batch, in, out vector.Sel) (vector.Sel, error) {
	v := b.Vecs[f.column]
	if v.Form != vector.Dict || v.Dict.Len > maxDictFilter {
		return f.rows.Select(b, in, out)
	}
	if f.dict != v.Dict {
		f.dict = v.Dict
		f.failed = f.test() != nil
	}
	if f.failed {
		return f.rows.Select(b, in, out)
	}
	codes := v.Codes()
	if v.Valid == nil {
		return vector.SelectCodes(f.flags, codes, b.N, in, out), nil
	}
	out = vector.SelectAll(b.N, in, out)
	k := 0
	for _, i := range out {
		keep := f.onNull
		if v.Valid.Get(int(i)) {
			keep = f.flags[codes[i]] != 0
		}
		if keep {
			out[k] = i
			k++
		}
	}
	return out[:k], nil
}

// test fills flags and onNull for f.dict.
func (f *dictFilter) test() error {
	if f.entry == nil {
		var err error
		if f.entry, err = f.make(); err != nil {
			return err
		}
	}
	if cap(f.flags) < f.dict.Len {
		f.flags = make([]uint8, f.dict.Len)
	}
	f.flags = f.flags[:f.dict.Len]
	clear(f.flags)
	for from := 0; from < f.dict.Len; from += vector.BatchCap {
		f.batch.N = min(vector.BatchCap, f.dict.Len-from)
		f.chunk.SetSlice(f.dict, from, from+f.batch.N)
		sel, err := f.entry.Select(&f.batch, nil, f.sel)
		if err != nil {
			return err
		}
		f.sel = sel
		for _, i := range sel {
			f.flags[from+int(i)] = 1
		}
	}
	// A vector of its own: the chunk is a view of the dictionary's memory.
	null := vector.Batch{N: 1, Vecs: []*vector.Vector{vector.ConstOf(vector.NullDatum(f.dict.Kind))}}
	sel, err := f.entry.Select(&null, nil, f.sel)
	f.onNull = err == nil && len(sel) > 0
	return err
}
