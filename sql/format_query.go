package sql

import "fmt"

// query writes a query in parentheses.
func (f *formatter) query(s *Select) {
	f.w("(")
	f.selectStmt(s)
	f.w(")")
}

func (f *formatter) selectStmt(s *Select) {
	if s.With != nil {
		f.with(s.With)
		f.w(" ")
	}
	f.body(s.Body)
	if s.OrderBy != nil {
		f.w(" ")
		f.orderBy(s.OrderBy)
	}
	if s.Limit != nil && !s.WithTies {
		f.w(" LIMIT ")
		f.expr(s.Limit)
	}
	if s.Offset != nil {
		f.w(" OFFSET ")
		f.expr(s.Offset)
	}
	if s.WithTies {
		f.w(" FETCH FIRST ")
		f.inParens(s.Limit)
		f.w(" ROWS WITH TIES")
	}
	for _, l := range s.Locking {
		f.locking(l)
	}
}

func (f *formatter) locking(l Locking) {
	f.w(" FOR ", []string{"KEY SHARE", "SHARE", "NO KEY UPDATE", "UPDATE"}[l.Strength])
	if l.Of != nil {
		f.w(" OF ")
		list(f, l.Of, f.object)
	}
	f.w([]string{"", " NOWAIT", " SKIP LOCKED"}[l.Wait])
}

func (f *formatter) with(w *With) {
	f.w("WITH ")
	f.when(w.Recursive, "RECURSIVE ")
	list(f, w.CTEs, func(c CTE) {
		f.ident(c.Name)
		f.optColumns(c.Columns)
		f.w(" AS ", []string{"", "MATERIALIZED ", "NOT MATERIALIZED "}[c.Materialized], "(")
		f.statement(c.Query)
		f.w(")")
	})
}

// body writes the body of a query.
func (f *formatter) body(b SelectBody) {
	switch b := b.(type) {
	case *SelectCore:
		f.core(b)
	case *SetOp:
		f.setOp(b)
	case *Values:
		f.w("VALUES ")
		list(f, b.Rows, func(row []Expr) { parens(f, row, f.expr) })
	case *Select:
		f.selectStmt(b)
	default:
		panic(fmt.Sprintf("sql: Format of %T", b))
	}
}

func setOpPrec(k SetOpKind) int {
	if k == Intersect {
		return 2
	}
	return 1
}

func (f *formatter) setOp(o *SetOp) {
	prec := setOpPrec(o.Kind)
	f.setOperand(o.Left, prec)
	f.w([]string{" UNION ", " INTERSECT ", " EXCEPT "}[o.Kind])
	f.when(o.All, "ALL ")
	f.setOperand(o.Right, prec+1)
}

func (f *formatter) setOperand(b SelectBody, minPrec int) {
	wrap := false
	switch b := b.(type) {
	case *Select:
		wrap = true
	case *SetOp:
		wrap = setOpPrec(b.Kind) < minPrec
	}
	f.when(wrap, "(")
	f.body(b)
	f.when(wrap, ")")
}

func (f *formatter) core(c *SelectCore) {
	f.w("SELECT")
	f.hints(c.Hints)
	f.when(c.Distinct, " DISTINCT")
	if c.DistinctOn != nil {
		f.w(" ON ")
		parens(f, c.DistinctOn, f.expr)
	}
	if len(c.Targets) > 0 {
		f.w(" ")
		list(f, c.Targets, f.target)
	}
	if c.From != nil {
		f.w(" FROM ")
		list(f, c.From, f.tableRef)
	}
	f.clause(" WHERE ", c.Where)
	if c.GroupBy != nil {
		f.w(" GROUP BY ")
		f.when(c.GroupDistinct, "DISTINCT ")
		list(f, c.GroupBy, f.groupItem)
	}
	f.clause(" HAVING ", c.Having)
	if c.Windows != nil {
		f.w(" WINDOW ")
		list(f, c.Windows, func(d WindowDef) {
			f.ident(d.Name)
			f.w(" AS ")
			f.windowSpec(d.Spec)
		})
	}
}

// clause writes word and e unless e is nil.
func (f *formatter) clause(word string, e Expr) {
	if e != nil {
		f.w(word)
		f.expr(e)
	}
}

// hints writes a hint comment after a blank.
func (f *formatter) hints(hints []Hint) {
	if hints == nil {
		return
	}
	f.w(" /*+")
	for _, h := range hints {
		f.w(" ")
		f.when(h.No, "no ")
		f.w(h.Name)
		if h.Args == nil {
			continue
		}
		f.w("(")
		for i, a := range h.Args {
			f.when(i > 0, " ")
			f.hintArg(a)
		}
		f.w(")")
	}
	f.w(" */")
}

// hintArg quotes what would otherwise be folded or lose its own quotes.
func (f *formatter) hintArg(a string) {
	n := len(a)
	quoted := n >= 2 && (a[0] == '"' || a[0] == '\'') && a[n-1] == a[0]
	if n == 0 || quoted || lowered(a) != a {
		f.w(`"`, a, `"`)
		return
	}
	f.w(a)
}

func (f *formatter) target(t Target) {
	f.expr(t.Expr)
	if t.Alias.Name != "" {
		f.w(" AS ")
		f.ident(t.Alias)
	}
}

func (f *formatter) orderBy(items []OrderItem) {
	f.w("ORDER BY ")
	list(f, items, f.orderItem)
}

func (f *formatter) orderItem(o OrderItem) {
	f.expr(o.Expr)
	f.sortDirection(o.Desc, o.Nulls)
}

func (f *formatter) sortDirection(desc bool, nulls NullsOrder) {
	f.when(desc, " DESC")
	f.w([]string{"", " NULLS FIRST", " NULLS LAST"}[nulls])
}

func (f *formatter) groupItem(g GroupItem) {
	switch g.Kind {
	case GroupRollup:
		f.w("ROLLUP ")
		parens(f, g.Items, f.groupItem)
	case GroupCube:
		f.w("CUBE ")
		parens(f, g.Items, f.groupItem)
	case GroupSets:
		f.w("GROUPING SETS ")
		parens(f, g.Items, f.groupItem)
	default:
		if len(g.Exprs) == 1 {
			f.expr(g.Exprs[0])
			return
		}
		parens(f, g.Exprs, f.expr)
	}
}

// tableRef writes a FROM item.
func (f *formatter) tableRef(t TableRef) {
	switch t := t.(type) {
	case *TableName:
		f.tableName(t)
	case *SubqueryTable:
		f.when(t.Lateral, "LATERAL ")
		f.query(t.Query)
		f.alias(t.Alias)
	case *FuncTable:
		f.funcTable(t)
	case *Join:
		if t.Alias.Name.Name == "" {
			f.join(t)
			return
		}
		f.w("(")
		f.join(t)
		f.w(")")
		f.alias(t.Alias)
	default:
		panic(fmt.Sprintf("sql: Format of %T", t))
	}
}

func (f *formatter) tableName(t *TableName) {
	f.when(t.Only, "ONLY ")
	f.object(t.Name)
	if t.Partition.Name != "" {
		f.w(" PARTITION (")
		f.ident(t.Partition)
		f.w(")")
	}
	f.alias(t.Alias)
}

func (f *formatter) alias(a Alias) {
	if a.Name.Name != "" {
		f.w(" AS ")
		f.ident(a.Name)
		f.optColumns(a.Columns)
	}
}

func (f *formatter) funcTable(t *FuncTable) {
	f.when(t.Lateral, "LATERAL ")
	f.call(t.Call)
	f.when(t.Ordinality, " WITH ORDINALITY")
	f.alias(t.Alias)
	if t.ColDefs != nil {
		f.when(t.Alias.Name.Name == "", " AS")
		f.w(" ")
		parens(f, t.ColDefs, f.columnDef)
	}
}

func (f *formatter) join(j *Join) {
	f.tableRef(j.Left)
	f.when(j.Natural, " NATURAL")
	f.w([]string{" JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ", " CROSS JOIN "}[j.Kind])
	if r, ok := j.Right.(*Join); ok && r.Alias.Name.Name == "" {
		f.w("(")
		f.join(r)
		f.w(")")
	} else {
		f.tableRef(j.Right)
	}
	f.clause(" ON ", j.On)
	if j.Using != nil {
		f.w(" USING ")
		parens(f, j.Using, f.ident)
		if j.UsingAlias.Name != "" {
			f.w(" AS ")
			f.ident(j.UsingAlias)
		}
	}
}
