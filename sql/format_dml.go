package sql

// withBefore writes a WITH clause and a blank.
func (f *formatter) withBefore(w *With) {
	if w != nil {
		f.with(w)
		f.w(" ")
	}
}

func (f *formatter) returning(targets []Target) {
	if targets != nil {
		f.w(" RETURNING ")
		list(f, targets, f.target)
	}
}

func (f *formatter) insert(s *Insert) {
	f.withBefore(s.With)
	f.w("INSERT")
	f.hints(s.Hints)
	f.w(" INTO ")
	f.object(s.Table)
	if s.Alias.Name != "" {
		f.w(" AS ")
		f.ident(s.Alias)
	}
	f.optColumns(s.Columns)
	f.overriding(s.Overriding)
	if s.DefaultValues {
		f.w(" DEFAULT VALUES")
	} else {
		f.w(" ")
		f.selectStmt(s.Query)
	}
	if s.OnConflict != nil {
		f.w(" ")
		f.onConflict(s.OnConflict)
	}
	f.returning(s.Returning)
}

func (f *formatter) overriding(o Overriding) {
	f.w([]string{"", " OVERRIDING USER VALUE", " OVERRIDING SYSTEM VALUE"}[o])
}

func (f *formatter) onConflict(c *OnConflict) {
	f.w("ON CONFLICT")
	if c.Target != nil {
		f.w(" ")
		parens(f, c.Target, f.indexElem)
		f.clause(" WHERE ", c.TargetWhere)
	}
	if c.Constraint.Name != "" {
		f.w(" ON CONSTRAINT ")
		f.ident(c.Constraint)
	}
	if !c.DoUpdate {
		f.w(" DO NOTHING")
		return
	}
	f.w(" DO UPDATE SET ")
	list(f, c.Set, f.assignment)
	f.clause(" WHERE ", c.Where)
}

func (f *formatter) assignment(a Assignment) {
	if a.Multi {
		parens(f, a.Columns, f.ident)
	} else {
		f.ident(a.Columns[0])
	}
	f.w(" = ")
	f.expr(a.Value)
}

func (f *formatter) update(s *Update) {
	f.withBefore(s.With)
	f.w("UPDATE")
	f.hints(s.Hints)
	f.w(" ")
	f.tableName(s.Table)
	f.w(" SET ")
	list(f, s.Set, f.assignment)
	if s.From != nil {
		f.w(" FROM ")
		list(f, s.From, f.tableRef)
	}
	f.clause(" WHERE ", s.Where)
	f.returning(s.Returning)
}

func (f *formatter) delete(s *Delete) {
	f.withBefore(s.With)
	f.w("DELETE")
	f.hints(s.Hints)
	f.w(" FROM ")
	f.tableName(s.Table)
	if s.Using != nil {
		f.w(" USING ")
		list(f, s.Using, f.tableRef)
	}
	f.clause(" WHERE ", s.Where)
	f.returning(s.Returning)
}

func (f *formatter) merge(s *Merge) {
	f.withBefore(s.With)
	f.w("MERGE")
	f.hints(s.Hints)
	f.w(" INTO ")
	f.tableName(s.Target)
	f.w(" USING ")
	f.tableRef(s.Source)
	f.w(" ON ")
	f.expr(s.On)
	for _, w := range s.Whens {
		f.mergeWhen(w)
	}
}

func (f *formatter) mergeWhen(w MergeWhen) {
	f.w(" WHEN ")
	f.when(!w.Matched, "NOT ")
	f.w("MATCHED")
	f.clause(" AND ", w.Cond)
	f.w(" THEN ")
	switch w.Action {
	case MergeDoNothing:
		f.w("DO NOTHING")
	case MergeDelete:
		f.w("DELETE")
	case MergeUpdate:
		f.w("UPDATE SET ")
		list(f, w.Set, f.assignment)
	case MergeInsert:
		f.w("INSERT")
		f.optColumns(w.Columns)
		f.overriding(w.Overriding)
		if w.Values == nil {
			f.w(" DEFAULT VALUES")
			return
		}
		f.w(" VALUES ")
		parens(f, w.Values, f.expr)
	}
}

func (f *formatter) copy(s *Copy) {
	f.w("COPY ")
	if s.Query != nil {
		f.w("(")
		f.statement(s.Query)
		f.w(")")
	} else {
		f.object(s.Table)
		f.optColumns(s.Columns)
	}
	f.w(map[bool]string{false: " TO ", true: " FROM "}[s.From])
	switch {
	case s.Stdio:
		f.w(map[bool]string{false: "STDOUT", true: "STDIN"}[s.From])
	default:
		f.when(s.Program, "PROGRAM ")
		f.str(s.File)
	}
	if s.Options != nil {
		f.w(" WITH ")
		f.options(s.Options, " ")
	}
	f.clause(" WHERE ", s.Where)
}
