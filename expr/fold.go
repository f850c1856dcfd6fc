package expr

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

func nullDatum(t catalog.Type) vector.Datum { return vector.NullDatum(t.Kind()) }

// isBoolConst reports a known truth value.
func isBoolConst(e Expr) (value, null, ok bool) {
	c, isConst := e.(*Const)
	if !isConst || c.Typ.ID != catalog.Bool {
		return false, false, false
	}
	return c.Value.I != 0, c.Value.Null, true
}

// foldBool drops the parts of AND and OR that do not matter.
func (f *folder) foldBool(e *BoolOp) Expr {
	var kept []Expr
	hasNull, changed := false, false
	f.guard++
	defer func() { f.guard-- }()
	for _, a := range e.Args {
		k := f.fold(a)
		changed = changed || k != a
		value, null, ok := isBoolConst(k)
		switch {
		case ok && null:
			hasNull, changed = true, true
			continue
		case ok && value == e.Or:
			return k // TRUE in OR, FALSE in AND
		case ok:
			changed = true
			continue
		}
		kept = append(kept, k)
	}
	if !changed {
		return e
	}
	if hasNull {
		kept = append(kept, nullOf(boolType))
	}
	switch len(kept) {
	case 0:
		return &Const{Value: vector.BoolDatum(!e.Or), Typ: boolType}
	case 1:
		return kept[0]
	}
	return &BoolOp{Or: e.Or, Args: kept}
}

// foldCase drops branches that are never taken, and those behind one that always is.
func (f *folder) foldCase(e *Case) Expr {
	out := &Case{Typ: e.Typ}
	changed := false
	f.guard++
	defer func() { f.guard-- }()
	for i, w := range e.Whens {
		cond := f.fold(w.Cond)
		value, null, ok := isBoolConst(cond)
		if ok && (null || !value) {
			changed = true
			continue
		}
		result := f.fold(w.Result)
		changed = changed || cond != w.Cond || result != w.Result
		if ok {
			out.Else = result
			if i == 0 || len(out.Whens) == 0 {
				return result
			}
			return out
		}
		out.Whens = append(out.Whens, When{cond, result})
	}
	if e.Else != nil {
		out.Else = f.fold(e.Else)
		changed = changed || out.Else != e.Else
	}
	switch {
	case len(out.Whens) == 0 && out.Else == nil:
		return nullOf(e.Typ)
	case len(out.Whens) == 0:
		return out.Else
	case !changed:
		return e
	}
	return out
}

// foldCoalesce drops NULLs and everything behind a known value.
func (f *folder) foldCoalesce(e *Coalesce) Expr {
	var kept []Expr
	changed := false
	f.guard++
	defer func() { f.guard-- }()
	for i, a := range e.Args {
		k := f.fold(a)
		changed = changed || k != a
		c, ok := k.(*Const)
		if ok && c.Value.Null {
			changed = true
			continue
		}
		kept = append(kept, k)
		if ok {
			changed = changed || i < len(e.Args)-1
			break
		}
	}
	switch {
	case len(kept) == 0:
		return nullOf(e.Typ)
	case len(kept) == 1:
		return kept[0]
	case !changed:
		return e
	}
	return &Coalesce{Args: kept, Typ: e.Typ}
}
