package planner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/internal/sqlname"
	"github.com/weftdb/weft/sql"
)

// CreateIndex describes a new index: the table as it is now and the index, which the caller builds
// and adds to the table. Both are nil when IF NOT EXISTS finds one.
func (d *DDL) CreateIndex(n *sql.CreateIndex) (*catalog.Table, *catalog.Index, error) {
	if r := d.FindRelation(n.Table); r != nil && !r.IsTable() {
		return nil, nil, sqlerr.New(sqlerr.WrongObjectType, "cannot create index on relation %q", r.Name).
			WithDetail("This operation is not supported for %ss.", r.Kind)
	}
	t, err := d.LookupTable(n.Table)
	if err != nil {
		return nil, nil, err
	}
	if t.Kind == catalog.PartitionedTable && (n.Only || n.Concurrently) {
		return nil, nil, indexOfPartitioned(t, n)
	}
	if err := unsupportedIndex(n); err != nil {
		return nil, nil, err
	}
	index := &catalog.Index{ID: d.IDs.NewIndexID(), Name: n.Name.Name, Unique: n.Unique, NullsNotDistinct: n.Unique && n.NullsNotDistinct, Plain: true}
	k := &indexKeys{b: d.definitionBinder(), t: t, index: index}
	for i := range n.Elems {
		if err := k.add(&n.Elems[i]); err != nil {
			return nil, nil, err
		}
	}
	if err := k.include(n.Include); err != nil {
		return nil, nil, err
	}
	k.endOrder()
	if err := uniqueOnPartitioned(t, index); err != nil {
		return nil, nil, err
	}
	if n.Where != nil {
		if _, err := k.b.indexCondition(n.Where, t, k.b.rowColumns(t)); err != nil {
			return nil, nil, err
		}
		index.Where = indexText(n.Where)
	}
	if index.Name == "" {
		index.Name = madeName(t.Name, k.names, "idx", d.relationTaken(t))
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
	switch {
	case n.Method != "" && n.Method != "btree" && n.Method != "ubtree":
		return sqlerr.New(sqlerr.UndefinedObject, "access method %q does not exist", n.Method).At(n.Start).WithHint("Indexes are ordered: use btree.")
	case len(n.Options) > 0:
		return sqlerr.New(sqlerr.FeatureNotSupported, "WITH is not supported yet").At(n.Options[0].Start)
	}
	return nil
}

// indexKeys puts the key of a new index together.
type indexKeys struct {
	b          *binder
	t          *catalog.Table
	index      *catalog.Index
	names      []string // of columns and expressions, for the index's own name
	nullsFirst []bool
}

// add resolves one element of CREATE INDEX.
func (k *indexKeys) add(e *sql.IndexElem) error {
	var typ catalog.Type
	if ref, ok := e.Expr.(*sql.ColumnRef); ok && len(ref.Parts) == 1 {
		c, err := k.column(ref.Parts[0])
		if err != nil {
			return err
		}
		typ = c.Type
		k.index.Columns = append(k.index.Columns, c.ID)
		k.name(c.Name)
	} else {
		bound, err := k.b.indexExpression(e.Expr, k.t, k.b.rowColumns(k.t))
		if err != nil {
			return err
		}
		typ = bound.Type()
		k.index.Columns = append(k.index.Columns, 0)
		k.index.Exprs = append(k.index.Exprs, catalog.IndexExpr{Expr: keyExpressionText(e.Expr), Type: typ})
		k.name(keyExpressionName(e.Expr))
	}
	if e.Collation != nil && !typ.IsString() {
		return sqlerr.New(sqlerr.DatatypeMismatch, "collations are not supported by type %s", typ.Base())
	}
	if e.Collation != nil && e.Collation.Name != "C" && e.Collation.Name != "default" {
		return sqlerr.New(sqlerr.UndefinedObject, "collation %q does not exist", e.Collation.Name).At(e.Start).WithHint("Only the C collation exists.")
	}
	if e.OpClass != nil {
		return k.b.unsupported(e.Expr, "an operator class")
	}
	k.index.Desc = append(k.index.Desc, e.Desc)
	k.nullsFirst = append(k.nullsFirst, e.Nulls == sql.NullsFirst || e.Nulls != sql.NullsLast && e.Desc)
	return nil
}

// column finds a column that CREATE INDEX names.
func (k *indexKeys) column(id sql.Ident) (*catalog.Column, error) {
	pos, err := k.b.tableColumn(k.t, id)
	if err != nil {
		if near, ok := err.(*sqlerr.Error); ok { // CREATE INDEX says less
			near.Message, near.Position = sqlerr.Text("column %q does not exist", id.Name), 0
		}
		return nil, err
	}
	return &k.t.Columns[pos], nil
}

// name adds a part of the index's name, with a number where it has occurred before.
func (k *indexKeys) name(part string) {
	name := part
	for i := 1; slices.Contains(k.names, name); i++ {
		number := strconv.Itoa(i)
		name = sqlname.Clip(part, sqlname.MaxBytes-len(number)) + number
	}
	k.names = append(k.names, name)
}

// include adds the columns of INCLUDE.
func (k *indexKeys) include(ids []sql.Ident) error {
	for _, id := range ids {
		c, err := k.column(id)
		if err != nil {
			return err
		}
		k.index.Include = append(k.index.Include, c.ID)
		k.name(c.Name)
	}
	return nil
}

// endOrder leaves out what is as by default, as older versions wrote indexes.
func (k *indexKeys) endOrder() {
	if !slices.Equal(k.nullsFirst, k.index.Desc) {
		k.index.NullsFirst = k.nullsFirst
	}
	if !slices.Contains(k.index.Desc, true) {
		k.index.Desc = nil
	}
}

// withoutColumn removes the indexes that a dropped column was part of, in whatever way.
func withoutColumn(indexes []catalog.Index, c *catalog.Column) ([]catalog.Index, error) {
	var failed error
	indexes = slices.DeleteFunc(indexes, func(x catalog.Index) bool {
		uses := x.Uses(c.ID)
		for _, text := range indexTexts(&x) {
			mentioned, err := mentions(*text, c.Name)
			if err != nil {
				failed = err
			}
			uses = uses || mentioned
		}
		return uses
	})
	return indexes, failed
}

// renameInIndexes renames a column in the expressions and conditions of indexes.
func renameInIndexes(indexes []catalog.Index, from, to string) error {
	for i := range indexes {
		x := &indexes[i]
		x.Exprs = slices.Clone(x.Exprs)
		for _, text := range indexTexts(x) {
			renamed, err := renameIn(*text, from, to)
			if err != nil {
				return err
			}
			if text != &x.Where && strings.HasPrefix(*text, "(") {
				renamed = "(" + renamed + ")"
			}
			*text = renamed
		}
	}
	return nil
}

// indexTexts are the expressions in an index.
func indexTexts(x *catalog.Index) []*string {
	var texts []*string
	for i := range x.Exprs {
		texts = append(texts, &x.Exprs[i].Expr)
	}
	if x.Where != "" {
		texts = append(texts, &x.Where)
	}
	return texts
}

// relationExists reports whether a table or index has the name.
func (d *DDL) relationExists(schema, name string) bool {
	if d.Catalog.Lookup(schema, name) != nil {
		return true
	}
	t, _ := d.findIndex(schema, name)
	return t != nil
}

// relationTaken tells which names a new index or sequence of a table cannot have: those of relations in
// its schema, as they will be after the statement.
func (d *DDL) relationTaken(t *catalog.Table) func(name string) bool {
	return func(name string) bool {
		if name == t.Name || d.Catalog.Lookup(t.Schema, name) != nil ||
			slices.ContainsFunc(t.Indexes, func(x catalog.Index) bool { return x.Name == name }) ||
			slices.ContainsFunc(d.Sequences, func(s *catalog.Table) bool { return s.Schema == t.Schema && s.Name == name }) {
			return true
		}
		other, _ := d.findIndex(t.Schema, name)
		return other != nil && other.ID != t.ID // t's own are those that it has now
	}
}

func either(a, b func(name string) bool) func(name string) bool {
	return func(name string) bool { return a(name) || b(name) }
}

// madeName is the name of a constraint, index or sequence that has been given none: of table, columns
// and a label, which is numbered where the name is taken.
func madeName(table string, columns []string, label string, taken func(string) bool) string {
	column := strings.Join(columns, "_")
	name := sqlname.Made(table, column, label)
	for i := 1; taken(name); i++ {
		name = sqlname.Made(table, column, fmt.Sprint(label, i))
	}
	return name
}

func (d *DDL) findIndex(schema, name string) (*catalog.Table, *catalog.Index) {
	for t := range d.Catalog.TablesIn(schema) {
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
		return nil, sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop %s because constraint %s on %s requires it", d.describeIndex(t, index), index.Name, d.Describe(t)).
			WithHint("You can drop constraint %s on %s instead.", index.Name, d.Describe(t))
	}
	if parent := d.Catalog.Table(t.Parent); parent != nil && index.Parent != 0 {
		for i := range parent.Indexes {
			if x := &parent.Indexes[i]; x.ID == index.Parent {
				return nil, sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop %s because %s requires it", d.describeIndex(t, index), d.describeIndex(parent, x)).
					WithHint("You can drop %s instead.", d.describeIndex(parent, x))
			}
		}
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

// WithIndexState describes a table with one of its indexes in another state.
func (d *DDL) WithIndexState(t *catalog.Table, id catalog.IndexID, state catalog.IndexState) *catalog.Table {
	c := t.Clone()
	for i := range c.Indexes {
		if c.Indexes[i].ID == id {
			c.Indexes[i].State = state
		}
	}
	return c
}
