package planner

import (
	"strconv"
	"strings"

	"github.com/weftdb/weft/expr"
)

// describe returns the printed form of a node. Projections are not printed: as in PostgreSQL, a
// target list belongs to the node below.
func (e *explainer) describe(n Node) *detail {
	d := &detail{node: n}
	switch n := n.(type) {
	case *Project:
		d = e.describe(n.Input)
		if e.options.Verbose {
			d.facts = withFact(d.facts, "Output", e.list(n.Cols()))
		}
		return d
	case *Scan:
		e.describeScan(n, d)
	case *Filter:
		d.name = "Filter"
		d.facts = append(d.facts, Fact{"Filter", e.conditions(n.Conds)})
	case *Join:
		e.describeJoin(n, d)
		return e.finish(n, d)
	case *Apply:
		d.name = "Nested Loop " + n.Kind.String() + "Apply"
		if len(n.On) > 0 {
			d.facts = append(d.facts, Fact{"Join Filter", e.conditions(n.On)})
		}
	case *Aggregate:
		d.name = "HashAggregate"
		if len(n.Groups) == 0 {
			d.name = "Aggregate"
		} else {
			d.facts = append(d.facts, Fact{"Group Key", e.items(n.Groups)})
		}
	case *Sort:
		d.name = "Sort"
		if n.Limit != nil {
			d.name = "Top-N Sort"
		}
		d.facts = append(d.facts, Fact{"Sort Key", e.sortKeys(n.Keys)})
		if n.Ties {
			d.facts = append(d.facts, Fact{"Limit", "with ties"})
		}
	case *Limit:
		d.name = "Limit"
	case *Append:
		d.name = "Append"
	case *Repeat:
		d.name = "Repeat"
	case *Values:
		d.name = "Values Scan"
		if len(n.Out) == 0 {
			d.name = "Result"
		}
	case *FuncScan:
		d.name = "Function Scan on " + n.Name
		if n.Alias != n.Name {
			d.name += " " + n.Alias
		}
	case *CTEScan:
		d.name = "CTE Scan on " + n.CTE.Name
		if n.Alias != n.CTE.Name {
			d.name += " " + n.Alias
		}
	case *Insert:
		d.name = "Insert on " + n.Table.Name
	case *Update:
		d.name = "Update on " + named(n.Table.Name, n.Alias)
	case *Delete:
		d.name = "Delete on " + named(n.Table.Name, n.Alias)
	}
	for _, kid := range n.Kids() {
		d.kids = append(d.kids, e.describe(kid))
	}
	return e.finish(n, d)
}

// finish adds what every node may have.
func (e *explainer) finish(n Node, d *detail) *detail {
	if e.options.Verbose {
		d.facts = withFact(d.facts, "Output", e.list(n.Cols()))
	}
	if e.options.Actual != nil {
		if a := e.options.Actual(n); a != nil {
			d.facts = append(d.facts, a.Facts...)
		}
	}
	return d
}

// withFact puts a fact first, unless it is there already: the outermost projection's wins.
func withFact(facts []Fact, key, value string) []Fact {
	if len(facts) > 0 && facts[0].Key == key {
		facts[0].Value = value
		return facts
	}
	return append([]Fact{{key, value}}, facts...)
}

func named(table, alias string) string {
	if alias == "" || alias == table {
		return table
	}
	return table + " " + alias
}

func (e *explainer) describeScan(n *Scan, d *detail) {
	switch n.Access {
	case AccessRows:
		d.name = "Seq Scan on "
	case AccessKey:
		d.name = "Index Scan using " + n.Table.PrimaryKey().Name + " on "
		var parts []string
		for i, id := range n.Table.PrimaryKey().Columns {
			parts = append(parts, "("+n.Table.Columns[n.Table.ColumnByID(id)].Name+" = "+e.print(n.Key[i])+")")
		}
		cond := strings.Join(parts, " AND ")
		if len(parts) > 1 {
			cond = "(" + cond + ")"
		}
		d.facts = append(d.facts, Fact{"Index Cond", cond})
	default:
		d.name = "Imcv Scan on "
	}
	table := n.Table.Name
	if e.options.Verbose {
		table = n.Table.Schema + "." + table
	}
	d.name += table
	if n.Alias != n.Table.Name {
		d.name += " " + n.Alias
	}
	if conds := n.printedFilter(); len(conds) > 0 {
		d.facts = append(d.facts, Fact{"Filter", e.conditions(conds)})
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
		d.facts = append(d.facts, Fact{"Fetched from Rows", strings.Join(late, ", ")})
	case n.WhyRows != "":
		d.facts = append(d.facts, Fact{"Row Scan Reason", n.WhyRows})
	}
}

// printedFilter is the filter without the conditions that a key look-up shows already.
func (n *Scan) printedFilter() []expr.Expr {
	if n.Access != AccessKey {
		return n.Filter
	}
	var rest []expr.Expr
	for _, cond := range n.Filter {
		isKey := false
		for _, id := range n.Table.PrimaryKey().Columns {
			isKey = isKey || n.equalTo(cond, id) != nil
		}
		if !isKey {
			rest = append(rest, cond)
		}
	}
	return rest
}

func (e *explainer) describeJoin(n *Join, d *detail) {
	hash := len(n.Keys) > 0
	if hash {
		d.name = "Hash " + n.Kind.String() + "Join"
	} else {
		d.name = "Nested Loop"
		if n.Kind != InnerJoin {
			d.name += " " + n.Kind.String() + "Join"
		}
	}
	var conds []expr.Expr
	for _, k := range n.Keys {
		if k.NullSafe {
			conds = append(conds, &expr.IsDistinct{Left: k.Left, Right: k.Right, Negated: true})
		} else {
			conds = append(conds, mustResolve(expr.ResolveBinary("=", k.Left, k.Right, 0)))
		}
	}
	if hash {
		d.facts = append(d.facts, Fact{"Hash Cond", e.conditions(conds)})
	}
	residual := append(append([]expr.Expr(nil), n.On...), n.Residual...)
	if len(residual) > 0 {
		d.facts = append(d.facts, Fact{"Join Filter", e.conditions(residual)})
	}
	left, right := e.describe(n.Left), e.describe(n.Right)
	if hash {
		right = &detail{name: "Hash", node: n.Right, kids: []*detail{right}}
	} else {
		right = &detail{name: "Materialize", node: n.Right, kids: []*detail{right}}
	}
	d.kids = []*detail{left, right}
}

func (e *explainer) list(cols []*expr.Col) string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		parts[i] = e.print(c)
	}
	return strings.Join(parts, ", ")
}

func (e *explainer) items(items []Item) string {
	parts := make([]string, len(items))
	for i, it := range items {
		parts[i] = e.print(it.Expr)
	}
	return strings.Join(parts, ", ")
}

func (e *explainer) sortKeys(keys []SortKey) string {
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
	return strings.Join(parts, ", ")
}

func formatCost(c Cost) string { return strconv.FormatFloat(float64(c), 'f', 2, 64) }
