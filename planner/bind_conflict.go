package planner

import (
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
	out := &OnConflict{Arbiters: arbiters, Update: n.DoUpdate}
	if !n.DoUpdate {
		return out, nil
	}
	out.Excluded, out.Existing = b.rowColumns(t), b.rowColumns(t)
	s := &scope{rels: []*scopeRel{relation(alias, columnNames(t), out.Existing), relation("excluded", columnNames(t), out.Excluded)}}
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
// columns, the named constraint's, or all when nothing is named.
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
	named := map[catalog.ColumnID]bool{}
	for i := range n.Target {
		ref, ok := n.Target[i].Expr.(*sql.ColumnRef)
		if !ok || n.TargetWhere != nil {
			return nil, b.unsupported(n.Target[i].Expr, "an expression or a condition as conflict target")
		}
		pos := t.ColumnIndex(ref.Parts[len(ref.Parts)-1].Name)
		if pos < 0 {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", ref.Parts[0].Name).At(ref.Start)
		}
		named[t.Columns[pos].ID] = true
	}
	for i := range t.Indexes {
		if x := &t.Indexes[i]; x.Unique && (len(named) == 0 || onExactly(x, named)) {
			out = append(out, x)
		}
	}
	if len(named) > 0 && len(out) == 0 {
		return nil, sqlerr.New(sqlerr.InvalidColumnReference, "there is no unique or exclusion constraint matching the ON CONFLICT specification")
	}
	return out, nil
}

func onExactly(x *catalog.Index, columns map[catalog.ColumnID]bool) bool {
	for _, id := range x.Columns {
		if !columns[id] {
			return false
		}
	}
	return len(x.Columns) == len(columns)
}
