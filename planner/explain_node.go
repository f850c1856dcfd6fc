package planner

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
)

// describe returns the printed form of a node. Projections are not printed: as in PostgreSQL, a
// target list belongs to the node below, and so does the time it takes.
func (e *explainer) describe(n Node) *detail {
	d := &detail{node: n}
	switch n := n.(type) {
	case *Project:
		d = e.describe(n.Input)
		d.measured = n
		e.addOutput(d, n)
		return d
	case *Scan:
		e.describeScan(n, d)
	case *Filter:
		d.is("Filter", "Filter")
		d.facts = append(d.facts, Fact{Key: "Filter", Value: e.conditions(n.Conds)})
	case *Join:
		e.describeJoin(n, d)
		return e.finish(n, d)
	case *Apply:
		switch {
		case n.ByIndex && n.Kind == InnerJoin:
			d.is("Nested Loop", "Nested Loop", joinType(n.Kind))
		case n.ByIndex:
			d.is("Nested Loop", "Nested Loop "+n.Kind.String()+"Join", joinType(n.Kind))
		default:
			d.is("Nested Loop Apply", "Nested Loop "+n.Kind.String()+"Apply", joinType(n.Kind))
		}
		if len(n.On) > 0 {
			d.facts = append(d.facts, Fact{Key: "Join Filter", Value: e.conditions(n.On)})
		}
	case *Aggregate:
		e.describeAggregate(n, d)
	case *Sort:
		d.is("Sort", "Sort")
		if n.Limit != nil {
			d.is("Top-N Sort", "Top-N Sort")
		}
		d.facts = append(d.facts, Fact{Key: "Sort Key", Value: e.sortKeys(n.Keys)})
		if n.Ties {
			d.facts = append(d.facts, Fact{Key: "Limit", Value: "with ties"})
		}
	case *Limit:
		d.is("Limit", "Limit")
	case *LockRows:
		d.is("LockRows", "LockRows")
	case *Append:
		d.is("Append", "Append", Fact{Key: "Subplans Removed", Value: int64(0)})
	case *Repeat:
		d.is("Repeat", "Repeat")
	case *LateFetch:
		e.describeLateFetch(n, d)
	case *Values:
		d.is("Values Scan", "Values Scan", Fact{Key: "Alias", Value: "*VALUES*"})
		if len(n.Out) == 0 {
			d.is("Result", "Result")
		}
	case *FuncScan:
		d.is("Function Scan", "Function Scan on "+named(n.Name, e.names[n]), Fact{Key: "Function Name", Value: n.Name}, Fact{Key: "Alias", Value: e.names[n]})
	case *CTEScan:
		d.is("CTE Scan", "CTE Scan on "+named(n.CTE.Name, e.names[n]), Fact{Key: "CTE Name", Value: n.CTE.Name}, Fact{Key: "Alias", Value: e.names[n]})
	case *Insert:
		e.describeWrite("Insert", n.Table, "", d)
		if c := n.Conflict; c != nil {
			e.describeConflict(c, d)
		}
	case *Update:
		e.describeWrite("Update", n.Table, n.Alias, d)
	case *Delete:
		e.describeWrite("Delete", n.Table, n.Alias, d)
	case *Merge:
		e.describeWrite("Merge", n.Table, n.Alias, d)
	}
	for _, kid := range n.Kids() {
		d.kids = append(d.kids, e.describe(kid))
	}
	return e.finish(n, d)
}

// finish adds what every node may have.
func (e *explainer) finish(n Node, d *detail) *detail {
	e.addOutput(d, n)
	if e.options.Actual == nil {
		return d
	}
	a := e.options.Actual(n)
	if a == nil {
		return d
	}
	join, _ := n.(*Join)
	for _, f := range a.Facts {
		switch {
		case f.Verbose && !e.options.Verbose:
			continue
		case join != nil && f.Key == memoryFact:
			f = e.measureMemory(join, f)
		case join != nil && join.selectorSays(f):
			continue // printed with the selector
		}
		d.measure(f)
	}
	return d
}

// selectorSays reports whether a fact is of one of the join's selectors.
func (n *Join) selectorSays(f Fact) bool {
	return slices.ContainsFunc(n.Selectors, func(ps *PartSelector) bool { return strings.HasPrefix(f.Key, SelectorFact(ps.ID)) })
}

func (e *explainer) describeConflict(c *OnConflict, d *detail) {
	resolution := "NOTHING"
	if c.Update {
		resolution = "UPDATE"
	}
	d.facts = append(d.facts, Fact{Key: "Conflict Resolution", Value: resolution})
	if !c.Any { // else all unique indexes are
		var names []string
		for _, x := range c.Arbiters {
			names = append(names, x.Name)
		}
		d.facts = append(d.facts, Fact{Key: "Conflict Arbiter Indexes", Value: names})
	}
	if c.Where != nil {
		d.facts = append(d.facts, Fact{Key: "Conflict Filter", Value: e.print(c.Where)})
	}
}

// addOutput puts a node's columns first under VERBOSE; those of a projection above it replace them.
func (e *explainer) addOutput(d *detail, n Node) {
	cols := n.Cols()
	if !e.options.Verbose || len(cols) == 0 {
		return
	}
	if len(d.facts) == 0 || d.facts[0].Key != "Output" {
		d.facts = append([]Fact{{Key: "Output"}}, d.facts...)
	}
	d.facts[0].Value = e.list(cols)
}

func (e *explainer) describeAggregate(n *Aggregate, d *detail) {
	if len(n.Groups) == 0 {
		d.is("Aggregate", "Aggregate", Fact{Key: "Strategy", Value: "Plain"}, Fact{Key: "Partial Mode", Value: "Simple"})
		return
	}
	d.is("Aggregate", "HashAggregate", Fact{Key: "Strategy", Value: "Hashed"}, Fact{Key: "Partial Mode", Value: "Simple"})
	d.facts = append(d.facts, Fact{Key: "Group Key", Value: e.items(n.Groups)})
}

func (e *explainer) describeWrite(operation string, t *catalog.Table, alias string, d *detail) {
	members := append([]Fact{{Key: "Operation", Value: operation}}, e.relation(t, alias)...)
	d.is("ModifyTable", operation+" on "+named(t.Name, alias), members...)
}

// relation names a table in JSON.
func (e *explainer) relation(t *catalog.Table, alias string) []Fact {
	facts := []Fact{{Key: "Relation Name", Value: t.Name}}
	if e.options.Verbose {
		facts = append(facts, Fact{Key: "Schema", Value: t.Schema})
	}
	if alias == "" {
		alias = t.Name
	}
	return append(facts, Fact{Key: "Alias", Value: alias})
}

// joinType names the kind of a join in JSON.
func joinType(kind JoinKind) Fact {
	name := strings.TrimSpace(kind.String())
	if name == "" {
		name = "Inner"
	}
	return Fact{Key: "Join Type", Value: name}
}

func named(table, alias string) string {
	if alias == "" || alias == table {
		return table
	}
	return table + " " + alias
}

func (e *explainer) describeScan(n *Scan, d *detail) {
	table := n.Table.Name
	if e.options.Verbose {
		table = n.Table.Schema + "." + table
	}
	name := e.names[n]
	if name != n.Table.Name {
		table += " " + name
	}
	relation := e.relation(n.Table, name)
	defer func() {
		e.describeNodes(n, d) // its line stands behind that of partitions
		e.describeParts(n, d)
	}()
	switch n.Access {
	case AccessRows:
		d.is("Seq Scan", "Seq Scan on "+table, relation...)
	case AccessKey:
		index := n.Table.PrimaryKey().Name
		members := []Fact{{Key: "Scan Direction", Value: "Forward"}, {Key: "Index Name", Value: index}}
		d.is("Index Scan", "Index Scan using "+index+" on "+table, append(members, relation...)...)
		d.facts = append(d.facts, Fact{Key: "Index Cond", Value: e.keyConditions(n)})
	case AccessIndex:
		index, direction, using := n.Index.Index.Name, "Forward", "Index Scan using "
		nodeType := "Index Scan"
		if n.Index.Only {
			nodeType, using = "Index Only Scan", "Index Only Scan using "
		}
		if n.Index.Reverse {
			direction, using = "Backward", nodeType+" Backward using "
		}
		members := []Fact{{Key: "Scan Direction", Value: direction}, {Key: "Index Name", Value: index}}
		d.is(nodeType, using+index+" on "+table, append(members, relation...)...)
		if len(n.Index.Conds) > 0 {
			d.facts = append(d.facts, Fact{Key: "Index Cond", Value: e.indexConditions(n, n.Index.Conds)})
		}
	case AccessBitmap:
		d.is("Bitmap Heap Scan", "Bitmap Heap Scan on "+table, relation...)
		d.facts = append(d.facts, Fact{Key: "Recheck Cond", Value: e.conditions(n.Bitmap.Conds)})
		d.kids = append(d.kids, e.describeBitmap(n, n.Bitmap))
	default:
		d.is("Imcv Scan", "Imcv Scan on "+table, relation...)
	}
	if conds := n.printedFilter(); len(conds) > 0 {
		d.facts = append(d.facts, Fact{Key: "Filter", Value: e.conditions(conds)})
	}
	if !e.options.Verbose {
		return
	}
	switch {
	case n.Access == AccessHybrid:
		var late []string
		for _, c := range n.Columns {
			if !n.Table.Columns[c.Pos].Covered {
				late = append(late, c.Col.Name)
			}
		}
		d.facts = append(d.facts, Fact{Key: "Fetched from Rows", Value: late})
	case n.WhyRows != "":
		d.facts = append(d.facts, Fact{Key: "Row Scan Reason", Value: n.WhyRows})
	}
}

func (e *explainer) describeLateFetch(n *LateFetch, d *detail) {
	table := n.Table.Name
	if e.options.Verbose {
		table = n.Table.Schema + "." + table
	}
	name := e.names[n]
	if name != n.Table.Name {
		table += " " + name
	}
	d.is("Late Fetch", "Late Fetch on "+table, e.relation(n.Table, name)...)
	if e.options.Verbose {
		var names []string
		for _, c := range n.Columns {
			names = append(names, c.Col.Name)
		}
		d.facts = append(d.facts, Fact{Key: "Fetched from Rows", Value: names})
	}
}

// describeBitmap describes how a set of rows is put together.
func (e *explainer) describeBitmap(n *Scan, s *BitmapScan) *detail {
	d := &detail{}
	switch {
	case s.Index != nil:
		index := s.Index.Index.Name
		d.is("Bitmap Index Scan", "Bitmap Index Scan on "+index, Fact{Key: "Index Name", Value: index})
		if len(s.Index.Conds) > 0 {
			d.facts = append(d.facts, Fact{Key: "Index Cond", Value: e.indexConditions(n, s.Index.Conds)})
		}
	case s.Or:
		d.is("BitmapOr", "BitmapOr")
	default:
		d.is("BitmapAnd", "BitmapAnd")
	}
	for _, kid := range s.Kids {
		d.kids = append(d.kids, e.describeBitmap(n, kid))
	}
	return d
}

// indexConditions prints what an index is searched by, the indexed side of comparisons first.
func (e *explainer) indexConditions(n *Scan, conds []expr.Expr) string {
	own := func(x expr.Expr) bool {
		read := columnSet(x)
		return slices.ContainsFunc(n.Columns, func(c ScanCol) bool { return read[c.Col.ID] })
	}
	turned := make([]expr.Expr, len(conds))
	for i, cond := range conds {
		turned[i] = cond
		call, ok := cond.(*expr.Call)
		if !ok || len(call.Args) != 2 || expr.SwappedOperator(call.Fn.Name) == "" || own(call.Args[0]) || !own(call.Args[1]) {
			continue
		}
		if t, err := expr.ResolveBinary(expr.SwappedOperator(call.Fn.Name), call.Args[1], call.Args[0], call.Pos); err == nil {
			turned[i] = t
		}
	}
	return e.conditions(turned)
}

// keyConditions are what a key look-up compares.
func (e *explainer) keyConditions(n *Scan) string {
	var parts []string
	for i, id := range n.Table.PrimaryKey().Columns {
		parts = append(parts, "("+n.Table.Columns[n.Table.ColumnByID(id)].Name+" = "+e.print(n.Key[i])+")")
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "(" + strings.Join(parts, " AND ") + ")"
}

// printedFilter is the filter without the conditions that an index look-up shows already.
func (n *Scan) printedFilter() []expr.Expr {
	var shown []expr.Expr
	switch n.Access {
	case AccessIndex:
		shown = joined(n.Index.Conds, n.Index.Where)
	case AccessBitmap:
		shown = n.Bitmap.Conds
	case AccessKey:
		for _, id := range n.Table.PrimaryKey().Columns {
			if column := n.columnOf(id); column != nil {
				if cond, _ := n.equalityOn(column); cond != nil {
					shown = append(shown, cond)
				}
			}
		}
	}
	var rest []expr.Expr
	for _, cond := range n.Filter {
		if !impliedOne(cond, shown) {
			rest = append(rest, cond)
		}
	}
	return rest
}

func (e *explainer) describeJoin(n *Join, d *detail) {
	unique := Fact{Key: "Inner Unique", Value: n.RightUnique}
	hash := len(n.Keys) > 0 && n.Merge == nil
	switch {
	case n.Merge != nil:
		d.is("Merge Join", "Merge "+n.Kind.String()+"Join", joinType(n.Kind), unique)
	case hash:
		d.is("Hash Join", "Hash "+n.Kind.String()+"Join", joinType(n.Kind), unique)
	case n.Kind == InnerJoin:
		d.is("Nested Loop", "Nested Loop", joinType(n.Kind), unique)
	default:
		d.is("Nested Loop", "Nested Loop "+n.Kind.String()+"Join", joinType(n.Kind), unique)
	}
	var conds []expr.Expr
	for _, k := range n.Keys {
		if k.NullSafe {
			conds = append(conds, &expr.IsDistinct{Left: k.Left, Right: k.Right, Negated: true})
		} else {
			conds = append(conds, mustResolve(expr.ResolveBinary("=", k.Left, k.Right, 0)))
		}
	}
	switch {
	case n.Merge != nil:
		d.facts = append(d.facts, Fact{Key: "Merge Cond", Value: e.conditions(conds)})
	case hash:
		d.facts = append(d.facts, Fact{Key: "Hash Cond", Value: e.conditions(conds)})
		d.facts = append(d.facts, e.describeBuild(n))
	}
	residual := append(append([]expr.Expr(nil), n.On...), n.Residual...)
	if len(residual) > 0 {
		d.facts = append(d.facts, Fact{Key: "Join Filter", Value: e.conditions(residual)})
	}
	d.facts = append(d.facts, e.describeFilters(n)...)
	if n.Merge != nil {
		d.kids = []*detail{e.describe(n.Left), e.describe(n.Right)}
		return
	}
	right := &detail{name: "Materialize", node: n.Right, kids: []*detail{e.selectors(n, e.describe(n.Right))}}
	if hash {
		right.name = "Hash"
	}
	right.nodeType = right.name
	d.kids = []*detail{e.describe(n.Left), right}
}

func (e *explainer) printed(list []expr.Expr) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = e.print(x)
	}
	return out
}

func (e *explainer) list(cols []*expr.Col) []string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		parts[i] = e.print(c)
	}
	return parts
}

func (e *explainer) items(items []Item) []string {
	parts := make([]string, len(items))
	for i, it := range items {
		parts[i] = e.print(it.Expr)
	}
	return parts
}

func (e *explainer) sortKeys(keys []SortKey) []string {
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = e.print(k.Expr)
		if k.Desc {
			parts[i] += " DESC"
		}
		if k.NullsFirst != k.Desc {
			if k.NullsFirst {
				parts[i] += " NULLS FIRST"
			} else {
				parts[i] += " NULLS LAST"
			}
		}
	}
	return parts
}

func formatCost(c Cost) string { return strconv.FormatFloat(float64(c), 'f', 2, 64) }
