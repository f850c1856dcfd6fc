package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// CreateIndex describes a new index: the table as it is now and the index, which the caller builds
// and adds to the table. Both are nil when IF NOT EXISTS finds one.
func (d *DDL) CreateIndex(n *sql.CreateIndex) (*catalog.Table, *catalog.Index, error) {
	t, err := d.LookupTable(n.Table)
	if err != nil {
		return nil, nil, err
	}
	if err := unsupportedIndex(n); err != nil {
		return nil, nil, err
	}
	index := &catalog.Index{ID: d.IDs.NewIndexID(), Name: n.Name.Name, Unique: n.Unique, Plain: true}
	var names []string
	b := newBinder(d.Input)
	for i := range n.Elems {
		c, desc, err := b.indexColumn(t, &n.Elems[i])
		if err != nil {
			return nil, nil, err
		}
		index.Columns, index.Desc = append(index.Columns, c.ID), append(index.Desc, desc)
		names = append(names, c.Name)
	}
	if !slices.Contains(index.Desc, true) {
		index.Desc = nil
	}
	if index.Name == "" {
		taken := func(name string) bool { return d.relationExists(t.Schema, name) }
		index.Name = freeName(t.Name+"_"+strings.Join(names, "_")+"_idx", taken)
	} else if d.relationExists(t.Schema, index.Name) {
		if n.IfNotExists {
			d.Notices = append(d.Notices, `relation "`+index.Name+`" already exists, skipping`)
			return nil, nil, nil
		}
		return nil, nil, sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", index.Name)
	}
	return t, index, nil
}

func unsupportedIndex(n *sql.CreateIndex) error {
	refuse := func(what string, at sql.Span) error {
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not supported yet", what).At(at.Start)
	}
	switch {
	case n.Concurrently:
		return refuse("CREATE INDEX CONCURRENTLY", n.Span)
	case n.Method != "" && n.Method != "btree" && n.Method != "ubtree":
		return sqlerr.New(sqlerr.UndefinedObject, "access method %q does not exist", n.Method).At(n.Start).WithHint("Indexes are ordered: use btree.")
	case len(n.Include) > 0:
		return refuse("INCLUDE", n.Include[0].Span)
	case n.NullsNotDistinct:
		return refuse("NULLS NOT DISTINCT", n.Span)
	case n.Where != nil:
		return refuse("a partial index", n.Where.SourceSpan())
	case len(n.Options) > 0:
		return refuse("WITH", n.Options[0].Span)
	}
	return nil
}

// indexColumn resolves one element of CREATE INDEX.
func (b *binder) indexColumn(t *catalog.Table, e *sql.IndexElem) (c *catalog.Column, desc bool, err error) {
	ref, ok := e.Expr.(*sql.ColumnRef)
	if !ok {
		return nil, false, b.unsupported(e.Expr, "an index on an expression")
	}
	if e.Collation != nil && e.Collation.Name != "C" && e.Collation.Name != "default" {
		return nil, false, sqlerr.New(sqlerr.UndefinedObject, "collation %q does not exist", e.Collation.Name).At(e.Start).WithHint("Only the C collation exists.")
	}
	if e.OpClass != nil {
		return nil, false, b.unsupported(e.Expr, "an operator class")
	}
	if e.Nulls == sql.NullsFirst && !e.Desc || e.Nulls == sql.NullsLast && e.Desc {
		return nil, false, b.unsupported(e.Expr, "NULLS FIRST of an ascending or NULLS LAST of a descending index column")
	}
	pos, err := b.tableColumn(t, ref.Parts[0])
	if err != nil {
		if near, ok := err.(*sqlerr.Error); ok { // CREATE INDEX leaves the table out of the message
			near.Message = fmt.Sprintf("column %q does not exist", ref.Parts[0].Name)
		}
		return nil, false, err
	}
	return &t.Columns[pos], e.Desc, nil
}

// relationExists reports whether a table or index has the name.
func (d *DDL) relationExists(schema, name string) bool {
	if d.Catalog.Lookup(schema, name) != nil {
		return true
	}
	t, _ := d.findIndex(schema, name)
	return t != nil
}

// freeName returns name, or the first of name1, name2, … that is not taken.
func freeName(name string, taken func(string) bool) string {
	free := name
	for i := 1; taken(free); i++ {
		free = fmt.Sprint(name, i)
	}
	return free
}

func (d *DDL) findIndex(schema, name string) (*catalog.Table, *catalog.Index) {
	for _, t := range d.Catalog.Tables() {
		if t.Schema != schema {
			continue
		}
		for i := range t.Indexes {
			if t.Indexes[i].Name == name {
				return t, &t.Indexes[i]
			}
		}
	}
	return nil, nil
}

// LookupIndex finds an index by name along the search path; nil if there is none.
func (d *DDL) LookupIndex(name sql.ObjectName) (*catalog.Table, *catalog.Index) {
	path := newBinder(d.Input).path
	if name.Schema != "" {
		path = []string{namedSchema(path, name.Schema)}
	}
	for _, schema := range path {
		if t, index := d.findIndex(schema, name.Name); t != nil {
			return t, index
		}
	}
	return nil, nil
}

// WithoutIndex describes a table without one of its indexes, which must be no constraint.
func (d *DDL) WithoutIndex(t *catalog.Table, index *catalog.Index) (*catalog.Table, error) {
	if !index.Plain {
		return nil, sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop index %s because constraint %s on table %s requires it", index.Name, index.Name, t.Name).
			WithHint("You can drop constraint %s on table %s instead.", index.Name, t.Name)
	}
	c := t.Clone()
	for _, ref := range d.IndexDependents(t, index) {
		if ref.Child.ID == t.ID { // the others are for the caller
			c = WithoutForeignKey(c, ref.Key.Name)
		}
	}
	c.Indexes = slices.DeleteFunc(c.Indexes, func(x catalog.Index) bool { return x.ID == index.ID })
	return c, nil
}

// WithIndex describes a table with one more index.
func (d *DDL) WithIndex(t *catalog.Table, index *catalog.Index) *catalog.Table {
	c := t.Clone()
	c.Indexes = append(c.Indexes, *index)
	return c
}
