package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// merging is a MERGE while it is bound.
type merging struct {
	b      *binder
	node   *sql.Merge
	out    *Merge
	scan   *Scan
	source *fromItem
	// matched sees both sides; unmatched sees the source only.
	matched, unmatched *scope
	assigned           map[int]bool // columns that some UPDATE sets or makes change
}

// merge binds MERGE.
func (b *binder) merge(n *sql.Merge) (Node, error) {
	s, err := b.with(n.With, nil)
	if err != nil {
		return nil, err
	}
	m := &merging{b: b, node: n, assigned: map[int]bool{}}
	if err := m.sides(s); err != nil {
		return nil, err
	}
	for i := range n.Whens[:len(n.Whens)-1] {
		w := &n.Whens[i]
		if w.Cond == nil && slices.ContainsFunc(n.Whens[i+1:], func(o sql.MergeWhen) bool { return o.Matched == w.Matched }) {
			return nil, sqlerr.New(sqlerr.SyntaxError, "unreachable WHEN clause specified after unconditional WHEN clause")
		}
	}
	m.matched.noAggregates = "aggregate functions are not allowed in JOIN conditions"
	on, err := b.condition(n.On, m.matched, "JOIN/ON")
	if err != nil {
		return nil, err
	}
	m.out.On = expr.Conjuncts(on)
	for i := range n.Whens {
		if err := m.when(&n.Whens[i]); err != nil {
			return nil, err
		}
	}
	if m.out.Generated, err = b.generated(m.out.Table, m.out.RowCols); err != nil {
		return nil, err
	}
	if m.out.Checks, err = b.checks(m.out.Table, m.out.RowCols); err != nil {
		return nil, err
	}
	if err := m.references(); err != nil {
		return nil, err
	}
	return m.join()
}

// sides binds the table and the source.
func (m *merging) sides(s *scope) error {
	b, name := m.b, m.node.Target
	if r := findRelation(b.snapshot, b.path, name.Name.Schema, name.Name.Name); r != nil && r.Kind == catalog.ViewRelation {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot execute MERGE on relation %q", r.Name).
			WithDetail("This operation is not supported for views.")
	}
	t, err := b.lookupTable(name.Name)
	if err != nil {
		return err
	}
	b.use(t, Writes)
	alias := t.Name
	if name.Alias.Name.Name != "" {
		alias = name.Alias.Name.Name
	}
	m.scan = b.scan(t, alias)
	m.scan.only(name)
	b.markLocked(m.scan)
	into, err := b.changed(t)
	if err != nil {
		return err
	}
	m.out = &Merge{Table: t, Into: into, Alias: alias, RowCols: b.rowColumns(t)}
	from := &scope{parent: s}
	allow := from.forbidAggregates("FROM clause of their own query level")
	m.source, err = b.fromRef(m.node.Source, from)
	allow()
	if err != nil {
		return err
	}
	target := aliased(t, alias, m.scan.Cols()[:len(m.scan.Columns)])
	if slices.ContainsFunc(m.source.rels, func(r *scopeRel) bool { return r.name == alias }) {
		return sqlerr.New(sqlerr.DuplicateAlias, "name %q specified more than once", alias).
			WithDetail("The name is used both as MERGE target table and data source.")
	}
	m.unmatched = &scope{parent: s, rels: m.source.rels, merged: m.source.merged, unreachable: []*scopeRel{target}}
	m.matched = &scope{parent: s, rels: append([]*scopeRel{target}, m.source.rels...), merged: m.source.merged}
	b.applyHints(m.node.Hints, &Join{Kind: InnerJoin, Left: m.source.plan, Right: m.scan})
	return nil
}

// when binds a WHEN clause.
func (m *merging) when(w *sql.MergeWhen) (err error) {
	b, t, s := m.b, m.out.Table, m.unmatched
	if w.Matched {
		s = m.matched
	}
	out := MergeWhen{Matched: w.Matched, Action: w.Action}
	if w.Cond != nil {
		s.noAggregates = "aggregate functions are not allowed in MERGE WHEN conditions"
		if out.Cond, err = b.condition(w.Cond, s, "WHEN"); err != nil {
			return err
		}
	}
	row := make([]expr.Expr, len(t.Columns))
	for i := range row {
		row[i] = m.scan.Columns[i].Col
	}
	switch w.Action {
	case sql.MergeInsert:
		out.Values, err = m.insert(w)
	case sql.MergeDelete:
		if len(b.snapshot.ReferencesTo(t)) > 0 {
			out.Values = append(slices.Clone(row), row...)
		}
	case sql.MergeUpdate:
		s.noAggregates = "aggregate functions are not allowed in UPDATE"
		seen, fresh := map[int]bool{}, slices.Clone(row)
		for i := range w.Set {
			if err := b.assignment(&w.Set[i], t, fresh, seen, s); err != nil {
				return err
			}
		}
		if out.Generated, err = b.generatedFrom(t, m.out.RowCols, seen); err != nil {
			return err
		}
		for pos := range seen {
			m.assigned[pos] = true
		}
		out.Values = append(fresh, row...)
	}
	m.out.Whens = append(m.out.Whens, out)
	return err
}

// insert binds the row of an INSERT.
func (m *merging) insert(w *sql.MergeWhen) ([]expr.Expr, error) {
	b, t := m.b, m.out.Table
	row := make([]expr.Expr, len(t.Columns))
	if w.Values != nil {
		targets, err := b.insertTargets(w.Columns, t)
		if err != nil {
			return nil, err
		}
		if targets, err = insertWidth(w.Columns, targets, len(w.Values), &sql.Values{Span: w.Span, Rows: [][]sql.Expr{w.Values}}); err != nil {
			return nil, err
		}
		m.unmatched.noAggregates = "aggregate functions are not allowed in VALUES"
		for i, pos := range targets {
			if row[pos], err = b.insertValue(w.Values[i], w.Overriding, t, pos, m.unmatched); err != nil {
				return nil, err
			}
		}
	}
	for pos := range row {
		if row[pos] == nil {
			var err error
			if row[pos], err = b.defaultOf(t, pos); err != nil {
				return nil, err
			}
		}
	}
	return row, nil
}

// references finds the foreign keys that the clauses concern.
func (m *merging) references() (err error) {
	t, keys := m.out.Table, &m.out.Keys
	does := func(a sql.MergeAction) bool {
		return slices.ContainsFunc(m.out.Whens, func(w MergeWhen) bool { return w.Action == a })
	}
	if does(sql.MergeInsert) {
		if *keys, err = m.b.insertReferences(t); err != nil {
			return err
		}
	}
	if !does(sql.MergeUpdate) && !does(sql.MergeDelete) {
		return nil
	}
	if err := m.b.updateReferencesToo(keys, t, m.assigned); err != nil {
		return err
	}
	if does(sql.MergeDelete) {
		all, err := m.b.deleteReferences(t)
		if err != nil {
			return err
		}
		(*keys).Referencing = all.Referencing
	}
	for i := range (*keys).Old {
		(*keys).Old[i] += len(t.Columns)
	}
	return nil
}

// join puts the sides together. Subqueries become columns of the source: what they yield must not
// depend on the table's row, which may change while it is waited for.
func (m *merging) join() (Node, error) {
	b, out := m.b, m.out
	var err error
	source := m.source.plan
	lift := func(list []expr.Expr) {
		for _, e := range list {
			if err == nil && e != nil && m.dependsOnTarget(e) {
				err = b.unsupported(m.node, "a subquery of MERGE that depends on the target's row")
			}
		}
		if err == nil {
			source, list, err = b.attachTo(source, list)
		}
	}
	lift(out.On)
	for i := range out.Whens {
		cond := []expr.Expr{out.Whens[i].Cond}
		lift(cond)
		lift(out.Whens[i].Values)
		out.Whens[i].Cond = cond[0]
	}
	if err != nil {
		return nil, err
	}
	join := &Join{Kind: InnerJoin, Left: source, Right: m.scan, On: out.On}
	if out.Inserts() {
		join.Kind = LeftJoin
	}
	used := colSet{m.scan.RowRef.ID: true}
	for _, e := range out.On {
		used.addExpr(e)
	}
	for i := range out.Whens {
		used = used.with(out.Whens[i].Cond)
		used = used.with(out.Whens[i].Values...)
	}
	p := &Project{Input: join}
	for _, c := range join.Cols() {
		if used[c.ID] && c.ID != m.scan.RowRef.ID {
			p.Items = append(p.Items, Item{Col: c, Expr: c})
		}
	}
	ref := nullable(m.scan.RowRef)
	p.Items = append(p.Items, Item{Col: ref, Expr: ref})
	out.Input, out.Target = p, make([]*expr.Col, len(out.Table.Columns))
	for i := range out.Target {
		if c := m.scan.Columns[i].Col; used[c.ID] {
			out.Target[i] = c
		}
	}
	return out, nil
}

// dependsOnTarget reports whether a subquery in e uses a column of the table's row.
func (m *merging) dependsOnTarget(e expr.Expr) bool {
	target := setOf(m.scan.Cols())
	return expr.Contains(e, func(e expr.Expr) bool {
		ref, ok := e.(*subqueryRef)
		return ok && (target.meets(freeColumns(ref.plan)) || target.meets(columnSet(ref.on...)))
	})
}

// attachTo is attach that replaces the expressions in place; some may be nil.
func (b *binder) attachTo(plan Node, list []expr.Expr) (Node, []expr.Expr, error) {
	for i, e := range list {
		if e == nil {
			continue
		}
		next, out, err := b.attach(plan, []expr.Expr{e})
		if err != nil {
			return nil, nil, err
		}
		plan, list[i] = next, out[0]
	}
	return plan, list, nil
}
