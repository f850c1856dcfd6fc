package sql

// call writes a function call.
func (f *formatter) call(e *FuncCall) {
	if e.Keyword {
		f.w(e.Name.Name)
		if len(e.Args) > 0 {
			parens(f, e.Args, f.expr)
		}
		return
	}
	if e.Name.Schema == "" && e.Name.Name == "position" && len(e.Args) == 2 && plainCall(e) {
		f.w("POSITION(")
		f.restricted(e.Args[1])
		f.w(" IN ")
		f.restricted(e.Args[0])
		f.w(")")
		return
	}
	if e.Name.Schema == "" && callWord(e) {
		f.w(e.Name.Name)
	} else {
		f.object(e.Name)
	}
	f.args(e)
	f.callClauses(e)
}

// plainCall reports whether a call has nothing but arguments without names.
func plainCall(e *FuncCall) bool {
	for _, a := range e.Args {
		if _, named := a.(*NamedArg); named {
			return false
		}
	}
	return len(e.Args) > 0 && !e.Distinct && !e.Variadic && e.OrderBy == nil && e.Filter == nil && e.Over == nil
}

// callWord reports whether the call's name is a keyword that can be written without quotes.
func callWord(e *FuncCall) bool {
	switch e.Name.Name {
	case "coalesce", "greatest", "least", "grouping", "substring", "overlay":
		return plainCall(e)
	case "nullif":
		return plainCall(e) && len(e.Args) == 2
	case "left", "right":
		return true
	}
	return false
}

// args writes the parenthesised arguments of a call.
func (f *formatter) args(e *FuncCall) {
	f.w("(")
	f.when(e.Star, "*")
	f.when(e.Distinct, "DISTINCT ")
	for i, a := range e.Args {
		f.when(i > 0, ", ")
		f.when(e.Variadic && i == len(e.Args)-1, "VARIADIC ")
		f.expr(a)
	}
	if e.OrderBy != nil && !e.WithinGroup {
		f.w(" ")
		f.orderBy(e.OrderBy)
	}
	f.w(")")
}

// callClauses writes WITHIN GROUP, FILTER and OVER.
func (f *formatter) callClauses(e *FuncCall) {
	if e.WithinGroup {
		f.w(" WITHIN GROUP (")
		f.orderBy(e.OrderBy)
		f.w(")")
	}
	if e.Filter != nil {
		f.w(" FILTER (WHERE ")
		f.expr(e.Filter)
		f.w(")")
	}
	if e.Over != nil {
		f.w(" OVER ")
		f.windowSpec(e.Over)
	}
}

func (f *formatter) windowSpec(w *WindowSpec) {
	if w.Bare {
		f.ident(w.Ref)
		return
	}
	f.w("(")
	sep := ""
	if w.Ref.Name != "" {
		f.ident(w.Ref)
		sep = " "
	}
	if w.PartitionBy != nil {
		f.w(sep, "PARTITION BY ")
		list(f, w.PartitionBy, f.expr)
		sep = " "
	}
	if w.OrderBy != nil {
		f.w(sep)
		f.orderBy(w.OrderBy)
		sep = " "
	}
	if w.Frame != nil {
		f.w(sep)
		f.frame(w.Frame)
	}
	f.w(")")
}

func (f *formatter) frame(fr *Frame) {
	f.w([]string{"ROWS", "RANGE", "GROUPS"}[fr.Mode], " BETWEEN ")
	f.frameBound(fr.Start)
	f.w(" AND ")
	f.frameBound(fr.End)
	f.w([]string{"", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"}[fr.Exclude])
}

func (f *formatter) frameBound(b FrameBound) {
	if b.Offset != nil {
		f.expr(b.Offset)
	}
	f.w([]string{"UNBOUNDED PRECEDING", " PRECEDING", "CURRENT ROW", " FOLLOWING", "UNBOUNDED FOLLOWING"}[b.Kind])
}
