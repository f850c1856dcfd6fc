package imcv

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// valueFilter asks a condition on a single column about values, one by one: the entries of a
// dictionary stand for all rows that have them.
type valueFilter struct {
	col    catalog.ColumnID
	cond   expr.Expr
	env    *expr.Env
	filter expr.Filter // nil until needed
	batch  vector.Batch
	chunk  vector.Vector
	sel    vector.Sel
	flags  []uint8
}

// newValueFilter returns nil where a condition uses other than one covered column, or may give another
// answer for the same value.
func newValueFilter(cond expr.Expr, column func(expr.ColID) (catalog.ColumnID, bool), env *expr.Env) *valueFilter {
	f := &valueFilter{cond: cond, env: env}
	single := true
	expr.Walk(cond, func(e expr.Expr) bool {
		switch e := e.(type) {
		case *expr.Col:
			id, covered := column(e.ID)
			single = single && covered && (f.col == 0 || f.col == id)
			f.col = id
		case *expr.Call:
			single = single && e.Fn.Volatility != expr.Volatile
		case expr.Node:
			single = false
		}
		return single
	})
	if !single || f.col == 0 {
		return nil
	}
	f.batch.Vecs = []*vector.Vector{&f.chunk}
	return f
}

// test returns 1 for each value that passes, and whether NULL does. It fails where a value raises an
// error: the value may occur in no row that is looked at, so rows decide.
func (f *valueFilter) test(dict *vector.Vector) (flags []uint8, onNull, ok bool) {
	if f.filter == nil {
		var err error
		if f.filter, err = expr.CompileFilter(f.cond, func(expr.ColID) int { return 0 }, f.env); err != nil {
			return nil, false, false // compiling the whole filter reports it
		}
	}
	if cap(f.flags) < dict.Len {
		f.flags = make([]uint8, dict.Len)
	}
	f.flags = f.flags[:dict.Len]
	clear(f.flags)
	for from := 0; from < dict.Len; from += vector.BatchCap {
		f.batch.N = min(vector.BatchCap, dict.Len-from)
		f.chunk.SetSlice(dict, from, from+f.batch.N)
		sel, err := f.filter.Select(&f.batch, nil, f.sel)
		if err != nil {
			return nil, false, false
		}
		f.sel = sel
		for _, i := range sel {
			f.flags[from+int(i)] = 1
		}
	}
	// A vector of its own: the chunk is a view of the dictionary's memory.
	null := vector.Batch{N: 1, Vecs: []*vector.Vector{vector.ConstOf(vector.NullDatum(dict.Kind))}}
	sel, err := f.filter.Select(&null, nil, f.sel)
	return f.flags, err == nil && len(sel) > 0, err == nil
}
