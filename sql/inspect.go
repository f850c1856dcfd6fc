package sql

// Inspect calls visit for n and, where it returns true, for the nodes inside n in source order as
// far as the tree keeps it. Names, types, aliases and hints are not visited; subqueries are.
func Inspect(n Node, visit func(Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	v := visitor(visit)
	switch n := n.(type) {
	case Expr:
		v.inExpr(n)
	case Statement:
		v.inStatement(n)
	case SelectBody:
		v.inBody(n)
	case TableRef:
		v.inTable(n)
	}
}

// visitor visits the parts of a node.
type visitor func(Node) bool

func (v visitor) expr(e Expr) {
	if e != nil {
		Inspect(e, v)
	}
}

func (v visitor) exprs(list []Expr) {
	for _, e := range list {
		v.expr(e)
	}
}

func (v visitor) query(s *Select) {
	if s != nil {
		Inspect(s, v)
	}
}

func (v visitor) tables(list []TableRef) {
	for _, t := range list {
		Inspect(t, v)
	}
}

func (v visitor) targets(list []Target) {
	for _, t := range list {
		v.expr(t.Expr)
	}
}

func (v visitor) orderBy(list []OrderItem) {
	for _, o := range list {
		v.expr(o.Expr)
	}
}

func (v visitor) inExpr(e Expr) {
	switch e := e.(type) {
	case *FieldSelect:
		v.expr(e.Expr)
	case *Logic:
		v.exprs(e.Args)
	case *Not:
		v.expr(e.Expr)
	case *Unary:
		v.expr(e.Expr)
	case *Binary:
		v.expr(e.Left)
		v.expr(e.Right)
	case *IsNull:
		v.expr(e.Expr)
	case *IsBool:
		v.expr(e.Expr)
	case *IsDistinct:
		v.expr(e.Left)
		v.expr(e.Right)
	case *Between:
		v.expr(e.Expr)
		v.expr(e.Low)
		v.expr(e.High)
	case *In:
		v.expr(e.Expr)
		v.exprs(e.List)
		v.query(e.Query)
	case *Like:
		v.expr(e.Expr)
		v.expr(e.Pattern)
		v.expr(e.Escape)
	case *AtTimeZone:
		v.expr(e.Expr)
		v.expr(e.Zone)
	case *Collate:
		v.expr(e.Expr)
	case *Cast:
		v.expr(e.Expr)
	case *Exists:
		v.query(e.Query)
	case *ScalarSubquery:
		v.query(e.Query)
	case *Quantified:
		v.expr(e.Left)
		v.query(e.Query)
		v.expr(e.Array)
	default:
		v.inCompound(e)
	}
}

func (v visitor) inCompound(e Expr) {
	switch e := e.(type) {
	case *Case:
		v.expr(e.Operand)
		for _, w := range e.Whens {
			v.expr(w.Cond)
			v.expr(w.Result)
		}
		v.expr(e.Else)
	case *Row:
		v.exprs(e.Args)
	case *Array:
		v.exprs(e.Elems)
		v.query(e.Query)
	case *Subscript:
		v.expr(e.Expr)
		v.expr(e.Index)
		v.expr(e.Upper)
	case *FuncCall:
		v.exprs(e.Args)
		v.orderBy(e.OrderBy)
		v.expr(e.Filter)
		v.window(e.Over)
	case *NamedArg:
		v.expr(e.Value)
	case *Extract:
		v.expr(e.From)
	}
}

func (v visitor) window(w *WindowSpec) {
	if w == nil {
		return
	}
	v.exprs(w.PartitionBy)
	v.orderBy(w.OrderBy)
	if w.Frame != nil {
		v.expr(w.Frame.Start.Offset)
		v.expr(w.Frame.End.Offset)
	}
}

func (v visitor) inBody(b SelectBody) {
	switch b := b.(type) {
	case *SelectCore:
		v.exprs(b.DistinctOn)
		v.targets(b.Targets)
		v.tables(b.From)
		v.expr(b.Where)
		v.groupItems(b.GroupBy)
		v.expr(b.Having)
		for _, w := range b.Windows {
			v.window(w.Spec)
		}
	case *SetOp:
		Inspect(b.Left, v)
		Inspect(b.Right, v)
	case *Values:
		for _, row := range b.Rows {
			v.exprs(row)
		}
	}
}

func (v visitor) groupItems(items []GroupItem) {
	for _, g := range items {
		v.exprs(g.Exprs)
		v.groupItems(g.Items)
	}
}

func (v visitor) inTable(t TableRef) {
	switch t := t.(type) {
	case *SubqueryTable:
		v.query(t.Query)
	case *FuncTable:
		Inspect(t.Call, v)
	case *Join:
		Inspect(t.Left, v)
		Inspect(t.Right, v)
		v.expr(t.On)
	}
}

func (v visitor) with(w *With) {
	if w == nil {
		return
	}
	for _, c := range w.CTEs {
		Inspect(c.Query, v)
	}
}

func (v visitor) assignments(list []Assignment) {
	for _, a := range list {
		v.expr(a.Value)
	}
}

func (v visitor) inStatement(s Statement) {
	switch s := s.(type) {
	case *Select:
		v.with(s.With)
		Inspect(s.Body, v)
		v.orderBy(s.OrderBy)
		v.expr(s.Limit)
		v.expr(s.Offset)
	case *Insert:
		v.with(s.With)
		v.query(s.Query)
		if c := s.OnConflict; c != nil {
			v.indexElems(c.Target)
			v.expr(c.TargetWhere)
			v.assignments(c.Set)
			v.expr(c.Where)
		}
		v.targets(s.Returning)
	case *Update:
		v.with(s.With)
		Inspect(s.Table, v)
		v.assignments(s.Set)
		v.tables(s.From)
		v.expr(s.Where)
		v.targets(s.Returning)
	case *Delete:
		v.with(s.With)
		Inspect(s.Table, v)
		v.tables(s.Using)
		v.expr(s.Where)
		v.targets(s.Returning)
	case *Merge:
		v.merge(s)
	default:
		v.inOther(s)
	}
}

func (v visitor) merge(s *Merge) {
	v.with(s.With)
	Inspect(s.Target, v)
	Inspect(s.Source, v)
	v.expr(s.On)
	for _, w := range s.Whens {
		v.expr(w.Cond)
		v.assignments(w.Set)
		v.exprs(w.Values)
	}
}

func (v visitor) indexElems(list []IndexElem) {
	for _, e := range list {
		v.expr(e.Expr)
	}
}

// inOther visits the statements around queries, and the expressions of definitions.
func (v visitor) inOther(s Statement) {
	switch s := s.(type) {
	case *Explain:
		Inspect(s.Stmt, v)
	case *Prepare:
		Inspect(s.Stmt, v)
	case *Execute:
		v.exprs(s.Args)
	case *DeclareCursor:
		v.query(s.Query)
	case *Copy:
		if s.Query != nil {
			Inspect(s.Query, v)
		}
		v.expr(s.Where)
	case *CreateView:
		v.query(s.Query)
	case *CreateTableAs:
		v.query(s.Query)
	case *CreateIndex:
		v.indexElems(s.Elems)
		v.expr(s.Where)
	case *CreateTable:
		v.columns(s.Columns)
		v.constraints(s.Constraints)
	case *AlterTable:
		for _, a := range s.Actions {
			v.inAction(a)
		}
	}
}

func (v visitor) columns(list []ColumnDef) {
	for _, c := range list {
		v.expr(c.Default)
		v.expr(c.Generated)
		v.constraints(c.Constraints)
	}
}

func (v visitor) constraints(list []Constraint) {
	for _, c := range list {
		v.expr(c.Expr)
	}
}

func (v visitor) inAction(a AlterAction) {
	switch a := a.(type) {
	case *AddColumn:
		v.columns([]ColumnDef{a.Column})
	case *AddConstraint:
		v.expr(a.Constraint.Expr)
	case *AlterColumnType:
		v.expr(a.Using)
	case *AlterColumnDefault:
		v.expr(a.Default)
	}
}
