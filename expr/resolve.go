package expr

import (
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
)

// ResolveBinary finds the operator for two operands by PostgreSQL's rules and returns the call
// with its operands converted. pos is the operator's offset in the statement.
func ResolveBinary(op string, left, right Expr, pos int) (Expr, error) {
	if op == "!=" {
		op = "<>"
	}
	args := []Expr{left, right}
	l, r := left.Type().ID, right.Type().ID
	list := registered.binary[op]
	// An operand of unknown type is first taken to have the other's type.
	el, er := l, r
	if l == catalog.Unknown && r != catalog.Unknown {
		el = r
	} else if r == catalog.Unknown && l != catalog.Unknown {
		er = l
	}
	f := exactMatch(list, []catalog.TypeID{el, er})
	if f == nil {
		var ambiguous bool
		if f, ambiguous = bestCandidate(list, []catalog.TypeID{l, r}); f == nil {
			return nil, operatorError(op, args, ambiguous, pos)
		}
	}
	return finishBinary(f, args, pos)
}

func finishBinary(f *Function, args []Expr, pos int) (Expr, error) {
	if f.via != 0 {
		return resolveVia(f, args, pos)
	}
	return finishCall(f, args, pos)
}

// resolveVia converts operands of mixed types to their common type. In a comparison a constant
// takes the other operand's type when it fits, so that columns are compared as stored.
func resolveVia(f *Function, args []Expr, pos int) (Expr, error) {
	target := f.via
	if f.Ret == catalog.Bool {
		for i, a := range args {
			c, ok := a.(*Const)
			if other := args[1-i].Type(); ok && other.ID != target && constFits(c, other.ID) {
				target = other.ID
				narrow := &Const{Value: c.Value, Typ: other}
				narrow.Value.Kind = other.Kind()
				args = []Expr{args[0], args[1]}
				args[i] = narrow
				break
			}
		}
	}
	to := exactMatch(registered.binary[f.Name], []catalog.TypeID{target, target})
	return finishCall(to, args, pos)
}

// constFits reports whether an integer constant is in the range of a narrower integer type.
func constFits(c *Const, id catalog.TypeID) bool {
	switch {
	case !c.Typ.IsInteger():
		return false
	case c.Value.Null || id == catalog.Int8:
		return true
	case id == catalog.Int4:
		return c.Value.I == int64(int32(c.Value.I))
	case id == catalog.Int2:
		return c.Value.I == int64(int16(c.Value.I))
	}
	return false
}

// finishCall converts the arguments to f's types and builds the call.
func finishCall(f *Function, args []Expr, pos int) (Expr, error) {
	args, err := convertArgs(f, args, pos)
	if err != nil {
		return nil, err
	}
	return &Call{Fn: f, Args: args, Typ: resultType(f, args), Pos: pos}, nil
}

func resultType(f *Function, args []Expr) catalog.Type {
	if f.typ != nil {
		return f.typ(args)
	}
	return catalog.Type{ID: f.Ret}
}

func convertArgs(f *Function, args []Expr, pos int) ([]Expr, error) {
	out := make([]Expr, len(args))
	for i, a := range args {
		var err error
		if out[i], err = coerceArg(a, f.argType(i), pos); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ResolveUnary finds the prefix operator for an operand.
func ResolveUnary(op string, arg Expr, pos int) (Expr, error) {
	list := registered.unary[op]
	args := []Expr{arg}
	ids := []catalog.TypeID{arg.Type().ID}
	f := exactMatch(list, ids)
	if f == nil {
		var ambiguous bool
		if f, ambiguous = bestCandidate(list, ids); f == nil {
			return nil, operatorError(op, args, ambiguous, pos)
		}
	}
	return finishCall(f, args, pos)
}

// ResolveLike resolves [NOT] LIKE (or ILIKE, fold): escape may be nil.
func ResolveLike(arg, pattern, escape Expr, fold, negated bool, pos int) (Expr, error) {
	if escape != nil {
		var err error
		if pattern, err = ResolveCall("like_escape", []Expr{pattern, escape}, pos); err != nil {
			return nil, err
		}
	}
	op := "~~"
	if negated {
		op = "!~~"
	}
	if fold {
		op += "*"
	}
	return ResolveBinary(op, arg, pattern, pos)
}

// ResolveCall finds the function for a call by PostgreSQL's rules and returns the call with its
// arguments converted. A type's name called with one argument is a cast. pos is the call's offset
// in the statement.
func ResolveCall(name string, args []Expr, pos int) (Expr, error) {
	if special := specialCalls[name]; special != nil {
		return special(args, pos)
	}
	ids := typeIDs(args)
	list := registered.functions[name]
	f := exactMatch(list, ids)
	if f == nil {
		if to, ok := typeWords[name]; ok && len(args) == 1 && to != anyType && canCast(ids[0], to, ExplicitCast) {
			return Coerce(args[0], catalog.Type{ID: to}, ExplicitCast, pos)
		}
		var ambiguous bool
		if f, ambiguous = bestCandidate(list, ids); f == nil {
			return nil, functionError(name, args, ambiguous, pos)
		}
	}
	if f.agg != nil {
		return nil, sqlerr.New(sqlerr.GroupingError, "aggregate functions are not allowed here").At(pos)
	}
	return finishCall(f, args, pos)
}

func typeIDs(args []Expr) []catalog.TypeID {
	ids := make([]catalog.TypeID, len(args))
	for i, a := range args {
		ids[i] = a.Type().ID
	}
	return ids
}

func exactMatch(list []*Function, ids []catalog.TypeID) *Function {
	for _, f := range list {
		if f.Variadic || len(f.Args) != len(ids) {
			continue
		}
		match := true
		for i, id := range ids {
			match = match && f.Args[i] == id
		}
		if match {
			return f
		}
	}
	return nil
}

// bestCandidate is PostgreSQL's func_select_candidate: of the overloads that the arguments can be
// converted to implicitly it keeps those with the most exact matches, then with the most preferred
// types, then decides for arguments of unknown type by category. It returns nil when there is none
// or, ambiguous, no best one.
func bestCandidate(list []*Function, ids []catalog.TypeID) (best *Function, ambiguous bool) {
	var found []*Function
	for _, f := range list {
		if f.takes(len(ids)) && f.accepts(ids) {
			found = append(found, f)
		}
	}
	if len(found) <= 1 {
		return first(found), false
	}
	found = keepMost(found, func(f *Function) int { return f.matches(ids, false) })
	if len(found) == 1 {
		return found[0], false
	}
	found = keepMost(found, func(f *Function) int { return f.matches(ids, true) })
	if len(found) == 1 {
		return found[0], false
	}
	unknown := false
	for _, id := range ids {
		unknown = unknown || id == catalog.Unknown
	}
	if !unknown {
		return nil, true
	}
	found, resolved := byUnknownCategory(found, ids)
	if resolved && len(found) == 1 {
		return found[0], false
	}
	return bySameType(found, ids)
}

func first(list []*Function) *Function {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func (f *Function) accepts(ids []catalog.TypeID) bool {
	for i, id := range ids {
		if !canCast(id, f.argType(i), ImplicitCast) {
			return false
		}
	}
	return true
}

// matches counts the arguments that fit exactly or, with prefer, through a preferred type.
func (f *Function) matches(ids []catalog.TypeID, prefer bool) int {
	n := 0
	for i, id := range ids {
		if id == catalog.Unknown {
			continue
		}
		t := f.argType(i)
		if t == id || prefer && preferred(t) && category(t) == category(id) {
			n++
		}
	}
	return n
}

func keepMost(list []*Function, score func(*Function) int) []*Function {
	most := -1
	var kept []*Function
	for _, f := range list {
		switch s := score(f); {
		case s > most:
			most, kept = s, append(kept[:0], f)
		case s == most:
			kept = append(kept, f)
		}
	}
	return kept
}

// byUnknownCategory chooses a category for each argument of unknown type: string if any candidate
// takes strings, else the one that all agree on. It keeps the candidates of that category, and of
// its preferred type where some take that.
func byUnknownCategory(list []*Function, ids []catalog.TypeID) (kept []*Function, resolved bool) {
	wanted := make([]byte, len(ids))
	prefer := make([]bool, len(ids))
	for i, id := range ids {
		if id != catalog.Unknown {
			continue
		}
		conflict := false
		for _, f := range list {
			t := f.argType(i)
			switch c := category(t); {
			case wanted[i] == 0:
				wanted[i], prefer[i] = c, preferred(t)
			case c == wanted[i]:
				prefer[i] = prefer[i] || preferred(t)
			case c == 'S':
				wanted[i], prefer[i], conflict = c, preferred(t), false
			default:
				conflict = conflict || wanted[i] != 'S'
			}
		}
		if conflict {
			return list, false
		}
	}
	for _, f := range list {
		keep := true
		for i, id := range ids {
			t := f.argType(i)
			if id == catalog.Unknown && (category(t) != wanted[i] || prefer[i] && !preferred(t)) {
				keep = false
			}
		}
		if keep {
			kept = append(kept, f)
		}
	}
	if len(kept) == 0 {
		return list, true
	}
	return kept, true
}

// bySameType takes arguments of unknown type to have the type of the known ones, if those agree.
func bySameType(list []*Function, ids []catalog.TypeID) (best *Function, ambiguous bool) {
	known := catalog.Unknown
	for _, id := range ids {
		switch {
		case id == catalog.Unknown || id == known:
		case known == catalog.Unknown:
			known = id
		default:
			return nil, true
		}
	}
	if known == catalog.Unknown {
		return nil, true
	}
	same := make([]catalog.TypeID, len(ids))
	for i := range same {
		same[i] = known
	}
	for _, f := range list {
		if f.accepts(same) {
			if best != nil {
				return nil, true
			}
			best = f
		}
	}
	return best, best == nil
}

func operatorError(op string, args []Expr, ambiguous bool, pos int) error {
	text := op + " " + args[0].Type().Base().String()
	types, casts := "type", "an explicit type cast"
	if len(args) == 2 {
		text = args[0].Type().Base().String() + " " + op + " " + args[1].Type().Base().String()
		types, casts = "types", "explicit type casts"
	}
	if ambiguous {
		return sqlerr.New(sqlerr.AmbiguousFunction, "operator is not unique: %s", text).
			WithHint("Could not choose a best candidate operator. You might need to add explicit type casts.").At(pos)
	}
	return sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s", text).
		WithHint("No operator matches the given name and argument %s. You might need to add %s.", types, casts).At(pos)
}

func functionError(name string, args []Expr, ambiguous bool, pos int) error {
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = a.Type().Base().String()
	}
	text := name + "(" + strings.Join(names, ", ") + ")"
	if name == "generate_series" {
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s returns a set, which is not supported here", name).WithHint("Call it in FROM.").At(pos)
	}
	if ambiguous {
		return sqlerr.New(sqlerr.AmbiguousFunction, "function %s is not unique", text).
			WithHint("Could not choose a best candidate function. You might need to add explicit type casts.").At(pos)
	}
	hint := "No function matches the given name and argument types. You might need to add explicit type casts."
	if len(registered.functions[name]) == 0 {
		if near := nearestFunction(name); near != "" {
			hint += " Perhaps you meant the function \"" + near + "\"."
		}
	}
	return sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", text).WithHint("%s", hint).At(pos)
}
