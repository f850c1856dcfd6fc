package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// Definitions are kept as text. Where something gets another name, the texts that name it change with
// it: views get the new name of what they read with the old one as alias, so that all else in them
// stays as it is.

// Moved describes the relations that change when a relation gets another schema or name: itself, the
// views that read it, and the tables whose defaults draw from it.
func (d *DDL) Moved(r *catalog.Table, schema, name string) ([]*catalog.Table, error) {
	next := r.Clone()
	next.Schema, next.Name = schema, name
	if err := unqualifyTexts(next); err != nil {
		return nil, err
	}
	views, err := d.inViews(nil, r, func(n *sql.TableName, _ bool) {
		keepAlias(n, r)
		n.Name.Schema, n.Name.Name = schema, name
	})
	if err != nil {
		return nil, err
	}
	out := append([]*catalog.Table{next}, views...)
	if r.Kind == catalog.SequenceRelation {
		out = append(out, d.withSequence(r, sql.QuoteIdent(schema)+"."+sql.QuoteIdent(name))...)
	}
	return out, nil
}

// keepAlias gives a relation in FROM the name it has as alias, if it has none.
func keepAlias(n *sql.TableName, r *catalog.Table) {
	if n.Alias.Name.Name == "" {
		n.Alias.Name = sql.Ident{Span: n.Span, Name: r.Name}
	}
}

// keepNames gives a relation in FROM the names of its columns, as they are, as aliases.
func keepNames(n *sql.TableName, r *catalog.Table) {
	keepAlias(n, r)
	for i := len(n.Alias.Columns); i < len(r.Columns); i++ {
		n.Alias.Columns = append(n.Alias.Columns, sql.Ident{Span: n.Span, Name: r.Columns[i].Name})
	}
}

// keepNamesOf is the change of a view when a column of a relation is renamed.
func keepNamesOf(r *catalog.Table) func(n *sql.TableName, closed bool) {
	return func(n *sql.TableName, closed bool) {
		if !closed {
			keepNames(n, r)
		}
	}
}

// inViews describes the views that read a relation after a change of each place where it stands in
// FROM; closed views name all columns there. Views that the statement has changed already are in changed.
func (d *DDL) inViews(changed map[catalog.TableID]*catalog.Table, r *catalog.Table, change func(n *sql.TableName, closed bool)) ([]*catalog.Table, error) {
	var out []*catalog.Table
	for _, v := range d.Catalog.Relations() {
		if v.Kind != catalog.ViewRelation || !slices.Contains(v.View.Uses, r.ID) {
			continue
		}
		if newer := changed[v.ID]; newer != nil {
			v = newer
		}
		stmt, err := sql.ParseOne(v.View.Query)
		if err != nil {
			return nil, err
		}
		sql.Inspect(stmt, func(n sql.Node) bool {
			switch n := n.(type) {
			case *sql.TableName:
				if n.Name.Schema == r.Schema && n.Name.Name == r.Name {
					change(n, v.View.Closed)
				}
			case *sql.ColumnRef:
				if len(n.Parts) == 3 && n.Parts[0].Name == r.Schema && n.Parts[1].Name == r.Name {
					n.Parts = n.Parts[1:]
				}
			}
			return true
		})
		next, view := v.Clone(), *v.View
		view.Query = sql.Format(stmt)
		next.View = &view
		out = append(out, next)
	}
	return out, nil
}

// namesIn lists the names that a view has for a column of a relation that it reads.
func namesIn(query sql.Node, r *catalog.Table, column string) map[string]bool {
	names, pos := map[string]bool{}, r.ColumnIndex(column)
	sql.Inspect(query, func(n sql.Node) bool {
		if t, ok := n.(*sql.TableName); ok && t.Name.Schema == r.Schema && t.Name.Name == r.Name {
			if pos < len(t.Alias.Columns) && pos >= 0 {
				names[t.Alias.Columns[pos].Name] = true
			} else {
				names[column] = true
			}
		}
		return true
	})
	return names
}

// unqualifyTexts takes the table's name off the columns in the texts of its definition.
func unqualifyTexts(t *catalog.Table) error {
	texts := []*string{}
	for i := range t.Checks {
		texts = append(texts, &t.Checks[i].Expr)
	}
	for i := range t.Columns {
		if t.Columns[i].Generated != "" {
			texts = append(texts, &t.Columns[i].Generated)
		}
	}
	for i := range t.Indexes {
		t.Indexes[i].Exprs = slices.Clone(t.Indexes[i].Exprs)
		texts = append(texts, indexTexts(&t.Indexes[i])...)
	}
	for _, text := range texts {
		qualified := false
		e, err := sql.ParseExpr(*text)
		if err != nil {
			return err
		}
		sql.Inspect(e, func(n sql.Node) bool {
			if c, ok := n.(*sql.ColumnRef); ok {
				qualified = qualified || len(c.Parts) > 1
				c.Parts = c.Parts[len(c.Parts)-1:]
			}
			return true
		})
		if qualified { // else the text stays as it was written
			*text = sql.Format(e)
		}
	}
	return nil
}

// withSequence describes the tables with defaults that draw from a sequence after it has got another
// name.
func (d *DDL) withSequence(r *catalog.Table, name string) []*catalog.Table {
	var out []*catalog.Table
	for _, t := range d.Catalog.TableDefinitions() {
		next := t.Clone()
		for i := range next.Columns {
			e, literals := d.sequenceNames(next.Columns[i].Default, r)
			for _, l := range literals {
				l.Value = name
			}
			if len(literals) > 0 {
				next.Columns[i].Default = sql.Format(e)
			}
		}
		if slices.ContainsFunc(next.Columns, func(c catalog.Column) bool { return c.Default != t.Columns[t.ColumnByID(c.ID)].Default }) {
			out = append(out, next)
		}
	}
	return out
}

// ReservedSchema refuses names that schemas of users cannot have.
func ReservedSchema(name sql.Ident) error {
	if len(name.Name) >= 3 && name.Name[:3] == "pg_" {
		return sqlerr.New(sqlerr.ReservedName, "unacceptable schema name %q", name.Name).
			WithDetail("The prefix \"pg_\" is reserved for system schemas.")
	}
	return nil
}

// RenamedViewColumn describes a view with another name for one of its columns, and the views that read
// it.
func (d *DDL) RenamedViewColumn(v *catalog.Table, n *sql.RenameColumn) ([]*catalog.Table, error) {
	pos := v.ColumnIndex(n.Name.Name)
	switch {
	case pos < 0:
		return nil, sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", n.Name.Name)
	case v.ColumnIndex(n.NewName.Name) >= 0:
		return nil, sqlerr.New(sqlerr.DuplicateColumn, "column %q of relation %q already exists", n.NewName.Name, v.Name)
	}
	next := v.Clone()
	next.Columns[pos].Name = n.NewName.Name
	readers, err := d.inViews(nil, v, keepNamesOf(v))
	return append([]*catalog.Table{next}, readers...), err
}

// NameTaken reports whether a relation or an index of a schema has a name.
func (d *DDL) NameTaken(schema, name string) bool { return d.relationExists(schema, name) }
