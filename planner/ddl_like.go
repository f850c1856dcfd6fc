package planner

import (
	"slices"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// likeParts are what LIKE can copy besides columns with their types and NOT NULL; the last four have
// no meaning here.
var likeParts = []string{"defaults", "constraints", "identity", "generated", "indexes", "storage", "comments", "statistics", "compression"}

// likeOptions reads the options of a LIKE clause.
func likeOptions(n *sql.LikeTable) (map[string]bool, error) {
	included := map[string]bool{}
	for _, o := range n.Options {
		name, include := strings.TrimPrefix(o, "-"), !strings.HasPrefix(o, "-")
		switch {
		case name == "all":
			for _, part := range likeParts {
				included[part] = include
			}
		case slices.Contains(likeParts, name):
			included[name] = include
		default:
			return nil, sqlerr.New(sqlerr.SyntaxError, "syntax error at or near %q", name).At(n.Start)
		}
	}
	return included, nil
}

// addLike appends the columns of another relation to a description under construction. What is about
// several of them, constraints and indexes, comes when all are there: later does it.
func (d *DDL) addLike(t *catalog.Table, n *sql.LikeTable, table sql.Tristate) (later func() error, err error) {
	r := d.FindRelation(n.Table)
	if r == nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", n.Table.Raw()).At(n.Table.Start)
	}
	if r.Kind == catalog.SequenceRelation {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "relation %q is invalid in LIKE clause", r.Name).At(n.Table.Start).
			WithDetail("This operation is not supported for sequences.")
	}
	included, err := likeOptions(n)
	if err != nil {
		return nil, err
	}
	ids := map[catalog.ColumnID]catalog.ColumnID{}
	for i := range r.Columns {
		from := &r.Columns[i]
		if t.ColumnIndex(from.Name) >= 0 {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column %q specified more than once", from.Name)
		}
		c := catalog.Column{ID: t.NextColumn, Name: from.Name, Type: from.Type, NotNull: from.NotNull, AddedIn: t.SchemaVersion, Covered: table == sql.Yes}
		ids[from.ID] = c.ID
		switch {
		case from.Generated != "":
			if included["generated"] {
				c.Generated = from.Generated
			}
		case from.Identity != catalog.NoIdentity:
			if included["identity"] {
				if err := d.likeIdentity(t, &c, r, from); err != nil {
					return nil, err
				}
			}
		case included["defaults"]:
			c.Default = from.Default
		}
		t.NextColumn++
		t.Columns = append(t.Columns, c)
	}
	return func() error {
		if included["constraints"] {
			for _, check := range r.Checks {
				if hasConstraint(t, check.Name) {
					return duplicateConstraint(t, sql.Ident{Name: check.Name})
				}
				check.NotValid, check.Inherited = false, false
				t.Checks = append(t.Checks, check)
			}
		}
		if included["indexes"] {
			for i := range r.Indexes {
				if err := d.likeIndex(t, r, &r.Indexes[i], ids); err != nil {
					return err
				}
			}
		}
		return unqualifyTexts(t)
	}, nil
}

// likeIdentity gives an identity column a sequence like that of another one.
func (d *DDL) likeIdentity(t *catalog.Table, c *catalog.Column, r *catalog.Table, from *catalog.Column) error {
	c.Identity = from.Identity
	if err := d.ownedSequence(t, c, nil); err != nil {
		return err
	}
	for _, s := range d.OwnedSequences(r.ID, from.ID) {
		q := *s.Sequence
		q.Begin, q.OwnerTable, q.OwnerColumn = nil, t.ID, c.ID
		d.Sequences[len(d.Sequences)-1].Sequence = &q
	}
	return nil
}

// likeIndex copies an index or the constraint that it is, under a name of its own.
func (d *DDL) likeIndex(t, r *catalog.Table, from *catalog.Index, ids map[catalog.ColumnID]catalog.ColumnID) error {
	x := *from
	x.Parent = 0
	x.ID, x.State, x.Columns, x.Include, x.Exprs = d.IDs.NewIndexID(), catalog.IndexReady, nil, nil, slices.Clone(from.Exprs)
	var names []string
	for i, id := range from.Columns {
		if part := from.ExprAt(i); part != nil {
			e, err := sql.ParseExpr(part.Expr)
			if err != nil {
				return err
			}
			x.Columns, names = append(x.Columns, 0), append(names, keyExpressionName(e))
			continue
		}
		x.Columns = append(x.Columns, ids[id])
		names = append(names, r.Columns[r.ColumnByID(id)].Name)
	}
	for _, id := range from.Include {
		x.Include = append(x.Include, ids[id])
		names = append(names, r.Columns[r.ColumnByID(id)].Name)
	}
	label, taken := "key", either(d.relationTaken(t), d.constraintTaken(t))
	switch {
	case x.Primary && t.PrimaryKey() != nil:
		return sqlerr.New(sqlerr.InvalidTableDefinition, "multiple primary keys for table %q are not allowed", t.Name)
	case x.Primary:
		names, label = nil, "pkey"
	case x.Plain:
		label, taken = "idx", d.relationTaken(t)
	}
	x.Name = madeName(t.Name, names, label, taken)
	t.Indexes = append(t.Indexes, x)
	return nil
}
