package expr

import "github.com/weftdb/weft/catalog"

// Equal reports whether two expressions are the same: equal trees, the same columns, functions
// and values. Positions in the statement do not matter.
func Equal(a, b Expr) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || a.Type() != b.Type() {
		return false
	}
	switch a := a.(type) {
	case *Col:
		b, ok := b.(*Col)
		return ok && a.ID == b.ID
	case *Const:
		b, ok := b.(*Const)
		return ok && a.Value == b.Value
	case *Param:
		b, ok := b.(*Param)
		return ok && a.Index == b.Index
	case *Call:
		b, ok := b.(*Call)
		return ok && a.Fn == b.Fn && equalLists(a.Args, b.Args)
	case *Cast:
		b, ok := b.(*Cast)
		return ok && a.Assignment == b.Assignment && Equal(a.Arg, b.Arg)
	case *BoolOp:
		b, ok := b.(*BoolOp)
		return ok && a.Or == b.Or && equalLists(a.Args, b.Args)
	case *Not:
		b, ok := b.(*Not)
		return ok && Equal(a.Arg, b.Arg)
	case *IsNull:
		b, ok := b.(*IsNull)
		return ok && a.Negated == b.Negated && Equal(a.Arg, b.Arg)
	case *IsDistinct:
		b, ok := b.(*IsDistinct)
		return ok && a.Negated == b.Negated && Equal(a.Left, b.Left) && Equal(a.Right, b.Right)
	case *InList:
		b, ok := b.(*InList)
		return ok && a.Negated == b.Negated && Equal(a.Arg, b.Arg) && equalLists(a.List, b.List)
	case *Case:
		b, ok := b.(*Case)
		return ok && len(a.Whens) == len(b.Whens) && (a.Else == nil) == (b.Else == nil) && equalLists(Children(a), Children(b))
	case *Coalesce:
		b, ok := b.(*Coalesce)
		return ok && equalLists(a.Args, b.Args)
	case interface{ EqualTo(Expr) bool }: // placeholders of the layers above
		return a.EqualTo(b)
	}
	return false
}

func equalLists(a, b []Expr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// Conjuncts returns the parts of e that AND connects; nil for a nil condition.
func Conjuncts(e Expr) []Expr {
	if e == nil {
		return nil
	}
	op, ok := e.(*BoolOp)
	if !ok || op.Or {
		return []Expr{e}
	}
	var list []Expr
	for _, a := range op.Args {
		list = append(list, Conjuncts(a)...)
	}
	return list
}

// ColSet is a set of columns.
type ColSet map[ColID]struct{}

// Has reports whether the set holds id.
func (s ColSet) Has(id ColID) bool {
	_, ok := s[id]
	return ok
}

// Columns returns the columns that e refers to.
func Columns(e Expr) ColSet {
	set := ColSet{}
	Walk(e, func(e Expr) bool {
		if c, ok := e.(*Col); ok {
			set[c.ID] = struct{}{}
		}
		return true
	})
	return set
}

// VolatilityOf returns the least constant part's volatility.
func VolatilityOf(e Expr) Volatility {
	v := Immutable
	Walk(e, func(e Expr) bool {
		switch e := e.(type) {
		case *Call:
			v = max(v, e.Fn.Volatility)
		case *Cast:
			v = max(v, castVolatility(e.Arg.Type().ID, e.Typ.ID))
		}
		return v < Volatile
	})
	return v
}

// FoldConstants evaluates the parts of e that are known before execution. Stable functions are
// evaluated with env, so the result holds for one statement only; with env nil they are left
// alone. Parameters stay. A part whose evaluation fails stays as it is, to fail when a row needs
// it; the error is returned only where PostgreSQL raises it while planning: always, except inside
// CASE, COALESCE, AND and OR.
func FoldConstants(e Expr, env *Env) (Expr, error) {
	f := folder{env: env}
	out := f.fold(e)
	return out, f.err
}

type folder struct {
	env   *Env
	err   error
	guard int // depth inside expressions that may never evaluate their parts
}

func (f *folder) fold(e Expr) Expr {
	switch n := e.(type) {
	case *Const, *Param, *Col:
		return e
	case *BoolOp:
		return f.foldBool(n)
	case *Case:
		return f.foldCase(n)
	case *Coalesce:
		return f.foldCoalesce(n)
	}
	kids := Children(e)
	constant, changed := len(kids) > 0, false
	out := make([]Expr, len(kids))
	for i, k := range kids {
		out[i] = f.fold(k)
		changed = changed || out[i] != k
		_, isConst := out[i].(*Const)
		constant = constant && isConst
	}
	if changed {
		e = WithChildren(e, out)
	}
	if call, ok := e.(*Call); ok && len(kids) == 0 {
		constant = call.Fn.Volatility == Stable || len(call.Fn.Args) == 0 && call.Fn.Volatility == Immutable
	}
	if !constant {
		if not, ok := e.(*Not); ok {
			return pushNot(not.Arg, true)
		}
		return f.foldStrictNull(e)
	}
	return f.evaluate(e)
}

// foldStrictNull replaces a strict call with a NULL argument.
func (f *folder) foldStrictNull(e Expr) Expr {
	call, ok := e.(*Call)
	if !ok || !call.Fn.Strict {
		return e
	}
	for _, a := range call.Args {
		if c, ok := a.(*Const); ok && c.Value.Null {
			return nullOf(call.Typ)
		}
	}
	return e
}

func (f *folder) evaluate(e Expr) Expr {
	switch e.(type) {
	case *Call, *Cast, *Not, *IsNull, *IsDistinct, *InList:
	default:
		return e
	}
	switch ownVolatility(e) {
	case Volatile:
		return e
	case Stable:
		if f.env == nil {
			return e
		}
	}
	d, err := EvalConst(e, f.env)
	if err != nil {
		if f.err == nil && f.guard == 0 {
			f.err = err
		}
		return e
	}
	return &Const{Value: d, Typ: e.Type()}
}

func ownVolatility(e Expr) Volatility {
	switch e := e.(type) {
	case *Call:
		return e.Fn.Volatility
	case *Cast:
		return castVolatility(e.Arg.Type().ID, e.Typ.ID)
	}
	return Immutable
}

// nullOf returns the NULL of a type.
func nullOf(t catalog.Type) *Const { return &Const{Value: nullDatum(t), Typ: t} }
