package planner

import (
	"maps"
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// onConflict binds ON CONFLICT. Updates add to the foreign keys that insert has to look after.
func (b *binder) onConflict(n *sql.OnConflict, t *catalog.Table, alias string, insert *Insert) (*OnConflict, error) {
	arbiters, err := b.arbiters(n, t)
	if err != nil {
		return nil, err
	}
	out := &OnConflict{Arbiters: arbiters, Update: n.DoUpdate, Any: len(n.Target) == 0 && n.Constraint.Name == ""}
	if !n.DoUpdate {
		return out, nil
	}
	out.Excluded, out.Existing = b.rowColumns(t), b.rowColumns(t)
	s := &scope{rels: []*scopeRel{aliased(t, alias, out.Existing), relation("excluded", columnNames(t), out.Excluded)}}
	s.forbidAggregates("UPDATE")
	out.Set = make([]expr.Expr, len(t.Columns))
	for i, c := range out.Existing {
		out.Set[i] = c
	}
	seen := map[int]bool{}
	for i := range n.Set {
		if err := b.assignment(&n.Set[i], t, out.Set, seen, s); err != nil {
			return nil, err
		}
	}
	if out.Generated, err = b.generatedFrom(t, insert.RowCols, seen); err != nil {
		return nil, err
	}
	if err := b.updateReferencesToo(&insert.Keys, t, seen); err != nil {
		return nil, err
	}
	if n.Where != nil {
		if out.Where, err = b.condition(n.Where, s, "WHERE"); err != nil {
			return nil, err
		}
	}
	for i := range out.Set {
		if out.Set[i], err = b.computedOnce(out.Set[i], n, "ON CONFLICT DO UPDATE"); err != nil {
			return nil, err
		}
	}
	if out.Where != nil {
		out.Where, err = b.computedOnce(out.Where, n, "ON CONFLICT DO UPDATE")
	}
	return out, err
}

// arbiters finds the unique indexes whose keys make a row a duplicate: those on exactly the named
// columns and expressions, the named constraint's, or all when nothing is named.
func (b *binder) arbiters(n *sql.OnConflict, t *catalog.Table) ([]*catalog.Index, error) {
	var out []*catalog.Index
	if name := n.Constraint; name.Name != "" {
		for i := range t.Indexes {
			if x := &t.Indexes[i]; x.Name == name.Name && !x.Plain {
				return []*catalog.Index{x}, nil
			}
		}
		return nil, sqlerr.New(sqlerr.UndefinedObject, "constraint %q for table %q does not exist", name.Name, t.Name)
	}
	if len(n.Target) == 0 && n.DoUpdate {
		return nil, sqlerr.New(sqlerr.SyntaxError, "ON CONFLICT DO UPDATE requires inference specification or constraint name").
			At(n.Start).WithHint("For example, ON CONFLICT (column_name).")
	}
	if len(n.Target) == 0 {
		for i := range t.Indexes {
			if x := &t.Indexes[i]; x.Unique && x.State == catalog.IndexReady {
				out = append(out, x)
			}
		}
		return out, nil
	}
	target, err := b.conflictTarget(n, t)
	if err != nil {
		return nil, err
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if !x.Unique || x.State != catalog.IndexReady {
			continue
		}
		fits, err := b.infers(target, x, t)
		if err != nil {
			return nil, err
		}
		if fits {
			out = append(out, x)
		}
	}
	if len(out) == 0 {
		return nil, sqlerr.New(sqlerr.InvalidColumnReference, "there is no unique or exclusion constraint matching the ON CONFLICT specification")
	}
	return out, nil
}

// conflictTarget is what an index must be on to be inferred.
type conflictTarget struct {
	cols    []*expr.Col // as the table's Columns
	columns map[catalog.ColumnID]bool
	exprs   []expr.Expr
	where   []expr.Expr // conjuncts
}

// conflictTarget binds the columns, expressions and condition of ON CONFLICT.
func (b *binder) conflictTarget(n *sql.OnConflict, t *catalog.Table) (*conflictTarget, error) {
	out := &conflictTarget{cols: b.rowColumns(t), columns: map[catalog.ColumnID]bool{}}
	for i := range n.Target {
		e := &n.Target[i]
		if ref, ok := e.Expr.(*sql.ColumnRef); ok {
			pos := t.ColumnIndex(ref.Parts[len(ref.Parts)-1].Name)
			if pos < 0 {
				return nil, sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", ref.Parts[0].Name).At(ref.Start)
			}
			out.columns[t.Columns[pos].ID] = true
			continue
		}
		bound, err := b.indexExpression(e.Expr, t, out.cols)
		if err != nil {
			return nil, err
		}
		out.exprs = append(out.exprs, simplified(bound))
	}
	if n.TargetWhere != nil {
		cond, err := b.condition(n.TargetWhere, &scope{rels: []*scopeRel{relation(t.Name, columnNames(t), out.cols)},
			noAggregates: "aggregate functions are not allowed in ON CONFLICT", noSubqueries: "cannot use subquery in index predicate"}, "WHERE")
		if err != nil {
			return nil, err
		}
		out.where = expr.Conjuncts(simplified(cond))
	}
	return out, nil
}

// infers reports whether a unique index is on exactly what the target names, and holds all rows that
// the target's condition is about.
func (b *binder) infers(c *conflictTarget, x *catalog.Index, t *catalog.Table) (bool, error) {
	columns := map[catalog.ColumnID]bool{}
	for _, id := range x.Columns {
		if id != 0 {
			columns[id] = true
		}
	}
	if !maps.Equal(columns, c.columns) {
		return false, nil
	}
	if x.OnColumns() {
		return len(c.exprs) == 0, nil
	}
	bound, err := BindIndex(t, x)
	if err != nil {
		return false, err
	}
	with := map[expr.ColID]expr.Expr{}
	for i, col := range bound.Cols {
		with[col.ID] = c.cols[i]
	}
	for i := range bound.Exprs {
		bound.Exprs[i] = replaceCols(bound.Exprs[i], with)
	}
	if !containsAll(bound.Exprs, c.exprs) || !containsAll(c.exprs, bound.Exprs) {
		return false, nil
	}
	return bound.Where == nil || implied(expr.Conjuncts(replaceCols(bound.Where, with)), c.where), nil
}

// containsAll reports whether every expression of part is in list.
func containsAll(list, part []expr.Expr) bool {
	for _, e := range part {
		if !slices.ContainsFunc(list, func(x expr.Expr) bool { return expr.Equal(x, e) }) {
			return false
		}
	}
	return true
}
