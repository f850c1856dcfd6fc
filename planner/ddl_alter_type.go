package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/internal/sqlname"
	"github.com/weftdb/weft/sql"
)

// alterType gives a column another type. The rows are rewritten, even where there are none that
// anybody sees: what is left of older ones has the old form. Only a type whose values are stored in
// the same way and include the old one's is a change of the description alone.
func (a *alter) alterType(n *sql.AlterColumnType) error {
	c, err := a.column(n.Column)
	if err != nil {
		return err
	}
	old := a.old.Columns[a.old.ColumnByID(c.ID)]
	typ, err := BindType(n.Type)
	if err != nil {
		return err
	}
	if err := checkCollation(n.Collation, typ); err != nil {
		return err
	}
	if c.Type != old.Type {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type of column %q twice", c.Name)
	}
	if err := a.typeAllowed(c, n); err != nil {
		return err
	}
	r := a.rewriting
	if r == nil {
		r = a.newRewriting()
	}
	value, err := r.converted(a.old, &old, typ, n)
	if err != nil {
		return err
	}
	if err := a.defaultTo(c, typ); err != nil {
		return err
	}
	if err := a.identityTo(c, typ); err != nil {
		return err
	}
	c.Type = typ
	a.out.ViewChanged = a.out.ViewChanged || c.Covered
	if n.Using == nil && includes(typ, old.Type) {
		a.retyped = true
		return nil
	}
	a.rewriting = r
	r.values[c.ID] = nil
	if c.Generated == "" {
		r.values[c.ID] = func(*rewriting) (expr.Expr, error) { return value, nil }
	}
	a.converts = append(a.converts, c.ID)
	return nil
}

// typeAllowed refuses to change the type of a column that others depend on.
func (a *alter) typeAllowed(c *catalog.Column, n *sql.AlterColumnType) error {
	users, err := generatedUsers(a.t, c.Name)
	if err != nil {
		return err
	}
	switch {
	case len(users) > 0:
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type of a column used by a generated column").
			WithDetail("Column %q is used by generated column %q.", c.Name, users[0].Name)
	case c.Generated != "" && n.Using != nil:
		return sqlerr.New(sqlerr.InvalidColumnDefinition, "cannot specify USING when altering type of generated column").
			WithDetail("Column %q is a generated column.", c.Name)
	}
	if v := a.d.DependentViews(a.t.ID, c.Name); len(v) > 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type of a column used by a view or rule").
			WithDetail("rule _RETURN on %s depends on column %q", a.d.Describe(v[0]), c.Name)
	}
	return nil
}

// converted is what USING says, or the column itself, as the new type.
func (r *rewriting) converted(t *catalog.Table, old *catalog.Column, typ catalog.Type, n *sql.AlterColumnType) (expr.Expr, error) {
	cols := r.scan.Cols()[:len(r.scan.Columns)]
	var value expr.Expr = cols[t.ColumnByID(old.ID)]
	pos := 0
	if n.Using != nil {
		s := &scope{rels: []*scopeRel{relation(t.Name, columnNames(t), cols)}, noAggregates: "aggregate functions are not allowed in transform expressions",
			noSubqueries: "cannot use subquery in transform expression"}
		var err error
		if value, err = r.b.expr(n.Using, s); err != nil {
			return nil, err
		}
		pos = n.Using.SourceSpan().Start
	}
	out, err := r.b.coerce(value, typ, expr.AssignmentCast, pos)
	if code := sqlerr.CodeOf(err); code != sqlerr.DatatypeMismatch && code != sqlerr.CannotCoerce {
		return out, err
	}
	if n.Using != nil {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "result of USING clause for column %q cannot be cast automatically to type %s", old.Name, typ.Base()).
			WithHint("You might need to add an explicit cast.")
	}
	failed := sqlerr.New(sqlerr.DatatypeMismatch, "column %q cannot be cast automatically to type %s", old.Name, typ.Base())
	if old.Generated != "" {
		return nil, failed
	}
	return nil, failed.WithHint("You might need to specify \"USING %s::%s\".", sqlname.Quote(old.Name), typ)
}

// defaultTo makes sure that a column's default or generation expression fits a new type. A bare literal
// is a value of the old one.
func (a *alter) defaultTo(c *catalog.Column, typ catalog.Type) error {
	text, what := c.Default, "default"
	if c.Generated != "" {
		text, what = c.Generated, "generation expression"
	}
	if text == "" || c.Identity != catalog.NoIdentity {
		return nil
	}
	e, err := sql.ParseExpr(text)
	if err != nil {
		return err
	}
	if c.Generated == "" {
		var bound expr.Expr
		if bound, _, err = a.d.bindDefault(c, e); err != nil {
			return err
		}
		if bound.Type().ID == catalog.Unknown {
			c.Default = "(" + text + ")::" + c.Type.String()
			if e, err = sql.ParseExpr(c.Default); err != nil {
				return err
			}
		}
		as := *c
		as.Type = typ
		_, _, err = a.d.bindDefault(&as, e)
	} else {
		with := a.t.Clone()
		with.Columns[with.ColumnByID(c.ID)].Type = typ
		err = a.d.checkGenerated(with, c.Name, e)
	}
	if sqlerr.CodeOf(err) == sqlerr.DatatypeMismatch {
		return sqlerr.New(sqlerr.DatatypeMismatch, "%s for column %q cannot be cast automatically to type %s", what, c.Name, typ.Base())
	}
	return err
}

// identityTo lets the sequence of an identity column have the column's new type.
func (a *alter) identityTo(c *catalog.Column, typ catalog.Type) error {
	if c.Identity == catalog.NoIdentity {
		return nil
	}
	if !typ.IsInteger() {
		return errIdentityType
	}
	for _, r := range a.d.OwnedSequences(a.t.ID, c.ID) {
		next := r.Clone()
		var err error
		if next.Sequence, err = a.d.sequenceOptions(r.Sequence, []sql.SequenceOption{{Name: "as", Type: sql.TypeName{Name: typ.String()}}}, false); err != nil {
			return err
		}
		a.d.Sequences = append(a.d.Sequences, next)
	}
	return nil
}

// recheck notes the constraints that the new values of a column have to be checked against, when all
// columns have their new types. Indexes are all built anew.
func (a *alter) recheck(id catalog.ColumnID) error {
	pos := a.t.ColumnByID(id)
	c := &a.t.Columns[pos]
	if c.NotNull && !slices.Contains(a.out.NotNull, id) {
		a.out.NotNull = append(a.out.NotNull, id)
	}
	for _, check := range a.t.Checks {
		uses, err := mentions(check.Expr, c.Name)
		if err != nil {
			return err
		}
		if uses && !check.NotValid && !slices.Contains(a.out.Checks, check) {
			a.out.Checks = append(a.out.Checks, check)
		}
	}
	b := a.d.definitionBinder()
	if _, err := b.checks(a.t, b.rowColumns(a.t)); err != nil {
		return unplaced(err)
	}
	if err := b.retypeIndexes(a.t); err != nil {
		return unplaced(err)
	}
	for i := range a.t.ForeignKeys {
		key := &a.t.ForeignKeys[i]
		parent := a.d.Catalog.Table(key.RefTable)
		if key.RefTable == a.t.ID {
			parent = a.t
		}
		if !slices.Contains(key.Columns, c.ID) && !(parent == a.t && slices.Contains(key.RefColumns, c.ID)) {
			continue
		}
		if err := comparableKey(a.t, parent, key); err != nil {
			return err
		}
		if !key.NotValid && !slices.Contains(a.out.ForeignKeys, key.Name) {
			a.out.ForeignKeys = append(a.out.ForeignKeys, key.Name)
		}
	}
	for _, ref := range a.d.Catalog.References(a.t.ID) {
		if ref.Child.ID == a.t.ID || !slices.Contains(ref.Key.RefColumns, c.ID) {
			continue
		}
		if err := comparableKey(ref.Child, a.t, ref.Key); err != nil {
			return err
		}
		if !ref.Key.NotValid && !slices.Contains(a.out.Referencing, ref) {
			a.out.Referencing = append(a.out.Referencing, ref)
		}
	}
	return nil
}

// includes reports whether each value of a type is one of another as it is stored.
func includes(wide, narrow catalog.Type) bool {
	if wide == narrow {
		return true
	}
	atLeast := wide.Prec == 0 || narrow.Prec > 0 && wide.Prec >= narrow.Prec
	switch narrow.ID {
	case catalog.Varchar, catalog.Text:
		return wide.ID == catalog.Text || wide.ID == catalog.Varchar && (wide.Prec == 0 || narrow.ID == catalog.Varchar && atLeast)
	case catalog.Numeric:
		return wide.ID == catalog.Numeric && wide.Prec >= narrow.Prec && narrow.Prec > 0 && wide.Scale == narrow.Scale && wide.Kind() == narrow.Kind()
	case catalog.Timestamp, catalog.TimestampTZ, catalog.Interval:
		return wide.ID == narrow.ID && atLeast
	}
	return false
}

// checkCollation refuses a COLLATE clause of a column that names another collation than there is.
func checkCollation(name *sql.ObjectName, typ catalog.Type) error {
	switch {
	case name == nil:
		return nil
	case name.Name != "C" && name.Name != "POSIX" && name.Name != "default":
		return sqlerr.New(sqlerr.UndefinedObject, "collation %q for encoding \"UTF8\" does not exist", name.Name).WithHint("Only the C collation exists.")
	case !typ.IsString():
		return sqlerr.New(sqlerr.DatatypeMismatch, "collations are not supported by type %s", typ.Base())
	}
	return nil
}
