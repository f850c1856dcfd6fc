package planner

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// fromItem is a bound FROM item: its plan and what can be named in it.
type fromItem struct {
	plan   Node
	rels   []*scopeRel
	merged []scopeCol
}

// from binds a comma list of FROM items into s and returns their plan. Items may refer to earlier
// ones when they are LATERAL; the correlation is resolved later, with all others.
func (b *binder) from(items []sql.TableRef, s *scope) (Node, error) {
	allow := s.forbidAggregates("FROM clause of their own query level")
	defer allow()
	var plan Node
	for _, ref := range items {
		item, err := b.fromRef(ref, s)
		if err != nil {
			return nil, err
		}
		if err := s.add(item, ref); err != nil {
			return nil, err
		}
		if plan == nil {
			plan = item.plan
		} else {
			plan = &Join{Kind: InnerJoin, Left: plan, Right: item.plan}
		}
	}
	if plan == nil {
		plan = oneRow()
	}
	return plan, nil
}

// oneRow is the input of a SELECT without FROM.
func oneRow() Node { return &Values{Rows: [][]expr.Expr{{}}} }

// add makes a FROM item's names visible.
func (s *scope) add(item *fromItem, at sql.Node) error {
	for _, r := range item.rels {
		for _, have := range s.rels {
			if have.name == r.name && r.name != "" && have.schema == r.schema {
				return sqlerr.New(sqlerr.DuplicateAlias, "table name %q specified more than once", r.name).At(at.SourceSpan().Start)
			}
		}
		s.rels = append(s.rels, r)
	}
	s.merged = append(s.merged, item.merged...)
	return nil
}

func (b *binder) fromRef(ref sql.TableRef, s *scope) (*fromItem, error) {
	switch ref := ref.(type) {
	case *sql.TableName:
		return b.fromTable(ref, s)
	case *sql.SubqueryTable:
		return b.fromSubquery(ref, s)
	case *sql.FuncTable:
		return b.fromFunction(ref, s)
	case *sql.Join:
		return b.fromJoin(ref, s)
	}
	panic("planner: unknown FROM item")
}

// relation names the columns of a plan.
func relation(name string, names []string, cols []*expr.Col) *scopeRel {
	r := &scopeRel{name: name}
	for i := range cols {
		r.cols = append(r.cols, scopeCol{name: names[i], expr: cols[i]})
	}
	return r
}

// aliased is a table under its alias, or its own name.
func aliased(t *catalog.Table, alias string, cols []*expr.Col) *scopeRel {
	r := relation(alias, columnNames(t), cols)
	r.table = t.Name
	return r
}

func (b *binder) fromTable(n *sql.TableName, s *scope) (*fromItem, error) {
	name := n.Name.Name
	if n.Alias.Name.Name != "" {
		name = n.Alias.Name.Name
	}
	if n.Partition.Name != "" {
		return nil, b.unsupported(n, "PARTITION in FROM")
	}
	if n.Name.Schema == "" {
		if c := s.findCTE(n.Name.Name); c != nil {
			return b.fromCTE(c, n, name)
		}
	}
	if v := findRelation(b.snapshot, b.path, n.Name.Schema, n.Name.Name); v != nil && v.Kind == catalog.ViewRelation {
		b.useInView(v, n)
		b.use(v, Reads)
		return b.fromView(v, n, name)
	}
	t, err := b.lookupTable(n.Name)
	if err != nil {
		if item, ok, failed := b.fromSystemView(n, name); ok {
			return item, failed
		}
		return nil, err
	}
	b.useInView(t, n)
	b.use(t, Reads)
	scan := b.scan(t, name)
	scan.only(n)
	names, err := renamed(columnNames(t), n.Alias.Columns, name)
	if err != nil {
		return nil, err
	}
	rel := relation(name, names, b.visible(n, scan.Cols()))
	rel.table = t.Name
	if n.Alias.Name.Name == "" {
		rel.schema = t.Schema
	}
	return &fromItem{plan: scan, rels: []*scopeRel{rel}}, nil
}

// fromSystemView binds a relation that a function of the system computes. A table of its name hides it.
func (b *binder) fromSystemView(n *sql.TableName, alias string) (_ *fromItem, ok bool, err error) {
	if b.world == nil || n.Name.Schema != "" && n.Name.Schema != "pg_catalog" {
		return nil, false, nil
	}
	columns, ok := b.world.SystemView(n.Name.Name)
	if !ok {
		return nil, false, nil
	}
	scan := &FuncScan{Name: n.Name.Name, Alias: alias, Pos: n.Name.Start}
	var names []string
	for _, c := range columns {
		scan.Out = append(scan.Out, b.column(c.Name, c.Type, false))
		names = append(names, c.Name)
	}
	if names, err = renamed(names, n.Alias.Columns, alias); err != nil {
		return nil, true, err
	}
	return &fromItem{plan: scan, rels: []*scopeRel{relation(alias, names, scan.Out)}}, true, nil
}

// scan reads all columns of a table; unused ones are pruned later.
func (b *binder) scan(t *catalog.Table, alias string) *Scan {
	scan := &Scan{Table: t, Alias: alias, Parts: b.partScan(t), Nodes: b.nodeScan(t)}
	for i := range t.Columns {
		c := &t.Columns[i]
		scan.Columns = append(scan.Columns, ScanCol{Pos: i, Col: b.column(c.Name, c.Type, c.NotNull)})
	}
	return scan
}

func columnNames(t *catalog.Table) []string {
	names := make([]string, len(t.Columns))
	for i := range t.Columns {
		names[i] = t.Columns[i].Name
	}
	return names
}

func (b *binder) fromCTE(c *boundCTE, n *sql.TableName, name string) (*fromItem, error) {
	names, err := renamed(c.names, n.Alias.Columns, name)
	if err != nil {
		return nil, err
	}
	scan := &CTEScan{CTE: c.cte, Alias: name}
	for _, col := range c.cte.Plan.Cols() {
		scan.Out = append(scan.Out, b.columnLike(col))
	}
	var plan Node = scan
	if len(freeColumns(c.cte.Plan)) > 0 {
		plan = b.inlined(scan) // it depends on a query around this one: it is not computed once
	}
	return &fromItem{plan: plan, rels: []*scopeRel{relation(name, names, scan.Out)}}, nil
}

func (b *binder) fromSubquery(n *sql.SubqueryTable, s *scope) (*fromItem, error) {
	outer := s
	if !n.Lateral {
		outer = s.withoutRels()
	}
	q, err := b.query(n.Query, outer)
	if err != nil {
		return nil, err
	}
	q = b.settle(q)
	names, err := renamed(q.names, n.Alias.Columns, n.Alias.Name.Name)
	if err != nil {
		return nil, err
	}
	plan, cols := distinctCols(b, q.plan)
	return &fromItem{plan: plan, rels: []*scopeRel{relation(n.Alias.Name.Name, names, cols)}}, nil
}

// distinctCols makes sure that no column id appears twice among a plan's outputs.
func distinctCols(b *binder, plan Node) (Node, []*expr.Col) {
	cols := plan.Cols()
	seen := map[expr.ColID]bool{}
	twice := false
	for _, c := range cols {
		twice = twice || seen[c.ID]
		seen[c.ID] = true
	}
	if !twice {
		return plan, cols
	}
	p := &Project{Input: plan}
	for _, c := range cols {
		p.Items = append(p.Items, Item{Col: b.columnLike(c), Expr: c})
	}
	return p, p.Cols()
}

// withoutRels is the scope as a non-lateral subquery in FROM sees it: CTEs and outer queries, but
// not the FROM clause it stands in.
func (s *scope) withoutRels() *scope {
	return &scope{parent: s.parent, ctes: s.ctes, unreachable: s.rels}
}

func (b *binder) fromFunction(n *sql.FuncTable, s *scope) (*fromItem, error) {
	if n.Ordinality || len(n.ColDefs) > 0 {
		return nil, b.unsupported(n, "WITH ORDINALITY or a column definition list")
	}
	name := n.Call.Name.Name
	alias := name
	if n.Alias.Name.Name != "" {
		alias = n.Alias.Name.Name
	}
	allow := s.forbidAggregates("functions in FROM")
	defer allow()
	scan := &FuncScan{Name: name, Alias: alias, Pos: n.Call.Start}
	for _, a := range n.Call.Args {
		e, err := b.expr(a, s)
		if err != nil {
			return nil, err
		}
		if hasSubquery(e) {
			return nil, b.unsupported(a, "a subquery as argument of a function in FROM")
		}
		scan.Args = append(scan.Args, e)
	}
	columns, err := b.tableFunction(n, scan)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range columns {
		scan.Out = append(scan.Out, b.column(c.Name, c.Type, false))
		names = append(names, c.Name)
	}
	// A function with one column lends its alias to the column, as in PostgreSQL.
	if len(columns) == 1 && n.Alias.Name.Name != "" {
		names[0] = n.Alias.Name.Name
	}
	if names, err = renamed(names, n.Alias.Columns, alias); err != nil {
		return nil, err
	}
	return &fromItem{plan: scan, rels: []*scopeRel{relation(alias, names, scan.Out)}}, nil
}

// tableFunction checks a set-returning function's arguments and returns its columns.
func (b *binder) tableFunction(n *sql.FuncTable, scan *FuncScan) ([]ResultColumn, error) {
	pos := n.Call.Start
	if scan.Name == "generate_series" {
		return b.generateSeries(n, scan)
	}
	if b.world != nil {
		if columns, args, ok := b.world.TableFunction(scan.Name); ok {
			if len(scan.Args) > len(args) {
				return nil, sqlerr.New(sqlerr.UndefinedFunction, "function %s takes at most %d arguments", scan.Name, len(args)).At(pos)
			}
			for i := range scan.Args {
				e, err := b.coerce(scan.Args[i], args[i], expr.ImplicitCast, pos)
				if err != nil {
					return nil, err
				}
				scan.Args[i] = e
			}
			return columns, nil
		}
	}
	// Any scalar function in FROM is a relation of one row.
	return nil, sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist or returns no set", scan.Name).At(pos).
		WithHint("generate_series and the gs_ functions can stand in FROM.")
}

func (b *binder) generateSeries(n *sql.FuncTable, scan *FuncScan) ([]ResultColumn, error) {
	pos := n.Call.Start
	if len(scan.Args) < 2 || len(scan.Args) > 3 {
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "function generate_series takes 2 or 3 arguments, not %d", len(scan.Args)).At(pos)
	}
	common, err := expr.CommonType(scan.Args[:2], "generate_series")
	if err != nil {
		return nil, err
	}
	step := common
	switch {
	case common.ID == catalog.Date:
		common = catalog.Type{ID: catalog.Timestamp}
		step = catalog.Type{ID: catalog.Interval}
	case common.ID == catalog.Timestamp || common.ID == catalog.TimestampTZ:
		step = catalog.Type{ID: catalog.Interval}
	case common.ID == catalog.Int2 || common.ID == catalog.Unknown:
		common = catalog.Type{ID: catalog.Int4}
		step = common
	case common.ID == catalog.Numeric:
		common = catalog.Type{ID: catalog.Numeric}
		step = common
	}
	if len(scan.Args) == 3 {
		if scan.Args[2].Type().ID == catalog.Int8 && common.ID == catalog.Int4 {
			common, step = catalog.Type{ID: catalog.Int8}, catalog.Type{ID: catalog.Int8}
		}
	} else if step.ID == catalog.Interval {
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "function generate_series(%s, %s) does not exist", common, common).At(pos).
			WithHint("Add the step as an interval.")
	}
	for i := range scan.Args {
		to := common
		if i == 2 {
			to = step
		}
		if scan.Args[i], err = b.coerce(scan.Args[i], to, expr.ImplicitCast, pos); err != nil {
			return nil, err
		}
	}
	return []ResultColumn{{Name: "generate_series", Type: common}}, nil
}
