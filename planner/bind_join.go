package planner

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

var joinKinds = map[sql.JoinKind]JoinKind{sql.InnerJoin: InnerJoin, sql.LeftJoin: LeftJoin,
	sql.RightJoin: RightJoin, sql.FullJoin: FullJoin, sql.CrossJoin: InnerJoin}

func (b *binder) fromJoin(n *sql.Join, s *scope) (*fromItem, error) {
	left, err := b.fromRef(n.Left, s)
	if err != nil {
		return nil, err
	}
	// The right side may be LATERAL and see the left one.
	seen := &scope{parent: s.parent, ctes: s.ctes, noAggregates: s.noAggregates}
	seen.rels = append(append(seen.rels, s.rels...), left.rels...)
	seen.merged = append(append(seen.merged, s.merged...), left.merged...)
	if kind := joinKinds[n.Kind]; kind == RightJoin || kind == FullJoin {
		seen.bar(left)
	}
	right, err := b.fromRef(n.Right, seen)
	if err != nil {
		return nil, err
	}
	join := &Join{Kind: joinKinds[n.Kind], Left: left.plan, Right: right.plan}
	own := &scope{parent: s.parent, ctes: s.ctes, noAggregates: "aggregate functions are not allowed in JOIN conditions", unreachable: s.rels}
	for _, side := range []*fromItem{left, right} {
		if err := own.add(side, n); err != nil {
			return nil, err
		}
	}
	item := &fromItem{plan: join, rels: append(append([]*scopeRel(nil), left.rels...), right.rels...)}
	item.merged = append(append(item.merged, left.merged...), right.merged...)
	switch {
	case n.On != nil:
		if err := b.joinOn(n, join, item, own); err != nil {
			return nil, err
		}
	case n.Natural || n.Using != nil:
		if err := b.joinUsing(n, join, item, left, right); err != nil {
			return nil, err
		}
	}
	// Conditions of the join itself see its sides' columns as they are; whatever comes after may
	// find NULLs in them.
	left.rels, right.rels = item.rels[:len(left.rels)], item.rels[len(left.rels):]
	kind := joinKinds[n.Kind]
	if kind == RightJoin || kind == FullJoin {
		nullableRels(left.rels)
	}
	if kind == LeftJoin || kind == FullJoin {
		nullableRels(right.rels)
	}
	if kind != InnerJoin {
		nullableColumns(item.merged)
	}
	if n.Alias.Name.Name != "" {
		return b.aliasJoin(n, item)
	}
	return item, nil
}

// nullableRels lets the relations of a side that an outer join may fill with NULLs admit it.
func nullableRels(rels []*scopeRel) {
	for i, r := range rels {
		c := *r
		c.cols = append([]scopeCol(nil), r.cols...)
		nullableColumns(c.cols)
		rels[i] = &c
	}
}

func nullableColumns(cols []scopeCol) {
	for i := range cols {
		if col, ok := cols[i].expr.(*expr.Col); ok {
			cols[i].expr = nullable(col)
		}
	}
}

func (b *binder) joinOn(n *sql.Join, join *Join, item *fromItem, own *scope) error {
	cond, err := b.condition(n.On, own, "JOIN/ON")
	if err != nil {
		return err
	}
	if !hasSubquery(cond) {
		join.On = expr.Conjuncts(cond)
		return nil
	}
	switch join.Kind {
	case InnerJoin:
		item.plan, err = b.filter(join, cond)
	case LeftJoin:
		// The condition becomes a LATERAL filter of the side that may be left out.
		join.Right, err = b.filter(join.Right, cond)
	case RightJoin:
		kept := join.Right
		join.Right, err = b.filter(join.Left, cond)
		join.Kind, join.Left = LeftJoin, kept
	default:
		return b.unsupported(n.On, "a subquery in a FULL JOIN's condition")
	}
	return err
}

// joinUsing adds the equalities of USING or NATURAL and merges the columns' names.
func (b *binder) joinUsing(n *sql.Join, join *Join, item, left, right *fromItem) error {
	names := identNames(n.Using)
	if n.Natural {
		names = commonNames(left, right)
	}
	leftScope := &scope{rels: left.rels, merged: left.merged}
	rightScope := &scope{rels: right.rels, merged: right.merged}
	var merged []scopeCol
	for i, name := range names {
		pos := n.Start
		if i < len(n.Using) {
			pos = n.Using[i].Start
		}
		l, lcount := leftScope.lookup("", "", name)
		r, rcount := rightScope.lookup("", "", name)
		for side, count := range map[string]int{"left": lcount, "right": rcount} {
			if count == 0 {
				return sqlerr.New(sqlerr.UndefinedColumn, "column %q specified in USING clause does not exist in %s table", name, side).At(pos)
			}
			if count > 1 {
				return sqlerr.New(sqlerr.AmbiguousColumn, "common column name %q appears more than once in %s table", name, side).At(pos)
			}
		}
		eq, err := expr.ResolveBinary("=", l, r, pos)
		if err != nil {
			return err
		}
		join.On = append(join.On, eq)
		value := l
		switch join.Kind {
		case RightJoin:
			value = r
		case FullJoin:
			if value, err = b.coalesce([]expr.Expr{l, r}, pos); err != nil {
				return err
			}
		}
		merged = append(merged, scopeCol{name: name, expr: value})
		hideColumn(item, name)
	}
	item.merged = append(merged, item.merged...)
	return nil
}

// hideColumn makes the sides of a merged column reachable by qualified name only.
func hideColumn(item *fromItem, name string) {
	for i, r := range item.rels {
		c := *r
		c.cols = append([]scopeCol(nil), r.cols...)
		for j := range c.cols {
			if c.cols[j].name == name {
				c.cols[j].hidden = true
			}
		}
		item.rels[i] = &c
	}
	var rest []scopeCol
	for _, m := range item.merged {
		if m.name != name {
			rest = append(rest, m)
		}
	}
	item.merged = rest
}

func identNames(ids []sql.Ident) []string {
	names := make([]string, len(ids))
	for i := range ids {
		names[i] = ids[i].Name
	}
	return names
}

// commonNames lists the names both sides have, in the left side's order.
func commonNames(left, right *fromItem) []string {
	inRight := map[string]bool{}
	for _, c := range visibleCols(right) {
		inRight[c.name] = true
	}
	var names []string
	for _, c := range visibleCols(left) {
		if inRight[c.name] {
			names = append(names, c.name)
			inRight[c.name] = false
		}
	}
	return names
}

func visibleCols(item *fromItem) []scopeCol {
	cols := append([]scopeCol(nil), item.merged...)
	for _, r := range item.rels {
		for _, c := range r.cols {
			if !c.hidden {
				cols = append(cols, c)
			}
		}
	}
	return cols
}

// aliasJoin gives a parenthesised join one name that hides those of its parts.
func (b *binder) aliasJoin(n *sql.Join, item *fromItem) (*fromItem, error) {
	p := &Project{Input: item.plan}
	var names []string
	for _, c := range visibleCols(item) {
		col := b.column(c.name, c.expr.Type(), false)
		p.Items = append(p.Items, Item{Col: col, Expr: c.expr})
		names = append(names, c.name)
	}
	names, err := renamed(names, n.Alias.Columns, n.Alias.Name.Name)
	if err != nil {
		return nil, err
	}
	return &fromItem{plan: p, rels: []*scopeRel{relation(n.Alias.Name.Name, names, p.Cols())}}, nil
}
