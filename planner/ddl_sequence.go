package planner

import (
	"math"
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

var serialTypes = map[string]string{"smallserial": "smallint", "serial2": "smallint", "serial": "integer",
	"serial4": "integer", "bigserial": "bigint", "serial8": "bigint"}

// CreateSequence describes the sequence of a CREATE SEQUENCE statement; nil when IF NOT EXISTS finds
// one.
func (d *DDL) CreateSequence(n *sql.CreateSequence) (*catalog.Table, error) {
	schema, exists, err := d.newName(n.Name, n.Temporary, n.IfNotExists)
	if err != nil || exists {
		return nil, err
	}
	r := d.newSequence(schema, n.Name.Name)
	q, err := d.sequenceOptions(r.Sequence, n.Options, true)
	if err != nil {
		return nil, err
	}
	r.Sequence = q
	return r, nil
}

func (d *DDL) newSequence(schema, name string) *catalog.Table {
	return &catalog.Table{ID: d.IDs.NewTableID(), Kind: catalog.SequenceRelation, Temp: isTempSchema(schema), Schema: schema, Name: name, SchemaVersion: 1,
		Stores: []catalog.StoreID{d.IDs.NewStoreID()}, Sequence: &catalog.Sequence{Type: catalog.Type{ID: catalog.Int8}}}
}

// FindSequence finds a sequence along the search path; nil if there is none of that name.
func (d *DDL) FindSequence(name sql.ObjectName) *catalog.Table {
	return FindSequence(d.Catalog, d.Settings.LookupPath(), name.Schema, name.Name)
}

// FindSequence finds a sequence of a catalog, with schema "" along the search path.
func FindSequence(s *catalog.Snapshot, path []string, schema, name string) *catalog.Table {
	if r := findRelation(s, path, schema, name); r != nil && r.Kind == catalog.SequenceRelation {
		return r
	}
	return nil
}

// SequenceName parses the argument of nextval and its like.
func SequenceName(text string) (sql.ObjectName, error) {
	e, err := sql.ParseExpr(text)
	ref, ok := e.(*sql.ColumnRef)
	if err != nil || !ok || len(ref.Parts) > 2 {
		return sql.ObjectName{}, sqlerr.New(sqlerr.InvalidName, "invalid name syntax")
	}
	name := sql.ObjectName{Name: ref.Parts[len(ref.Parts)-1].Name}
	if len(ref.Parts) == 2 {
		name.Schema = ref.Parts[0].Name
	}
	return name, nil
}

// MissingSequence is the error of a name in nextval and its like under which no sequence is found.
func MissingSequence(s *catalog.Snapshot, path []string, name sql.ObjectName) error {
	schema := namedSchema(path, name.Schema)
	switch r := findRelation(s, path, name.Schema, name.Name); {
	case r != nil:
		return sqlerr.New(sqlerr.WrongObjectType, "%q is not a sequence", r.Name)
	case schema != "" && !s.HasSchema(schema) && !isTempSchema(schema):
		return sqlerr.New(sqlerr.InvalidSchemaName, "schema %q does not exist", name.Schema)
	}
	return sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", name.Raw())
}

// sequencesExist refuses a default that draws from a relation that does not exist; what is no sequence
// is found out when a row draws from it, as in PostgreSQL. Sequences that the statement makes count.
func (d *DDL) sequencesExist(e sql.Expr) (err error) {
	path := d.Settings.LookupPath()
	sql.Inspect(e, func(n sql.Node) bool {
		call, ok := n.(*sql.FuncCall)
		if !ok || err != nil || len(call.Args) == 0 || !slices.Contains([]string{"nextval", "currval", "setval"}, call.Name.Name) {
			return err == nil
		}
		arg, ok := call.Args[0].(*sql.StringLit)
		if !ok {
			return true
		}
		var name sql.ObjectName
		if name, err = SequenceName(arg.Value); err == nil && !d.hasRelation(path, name) {
			err = MissingSequence(d.Catalog, path, name)
		}
		err = at(err, arg.Start)
		return true
	})
	return err
}

// hasRelation reports whether there is a relation of a name, or the statement makes such a sequence.
func (d *DDL) hasRelation(path []string, name sql.ObjectName) bool {
	if _, index := d.LookupIndex(name); index != nil || d.FindRelation(name) != nil {
		return true
	}
	return slices.ContainsFunc(d.Sequences, func(r *catalog.Table) bool {
		return r.Name == name.Name && (r.Schema == name.Schema || name.Schema == "" && slices.Contains(path, r.Schema))
	})
}

// AlterSequence describes a sequence after ALTER SEQUENCE. RESTART lets it begin anew: in a fresh
// store, so that it comes and goes with the transaction.
func (d *DDL) AlterSequence(r *catalog.Table, n *sql.AlterSequence) (*catalog.Table, error) {
	out := r.Clone()
	var err error
	if out.Sequence, err = d.sequenceOptions(r.Sequence, n.Options, false); err != nil {
		return nil, err
	}
	for i := range n.Options {
		o := &n.Options[i]
		if o.Name != "restart" {
			continue
		}
		out = d.Restarted(out)
		if !o.HasValue {
			continue
		}
		switch q := out.Sequence; {
		case o.Value < q.Min:
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "RESTART value (%d) cannot be less than MINVALUE (%d)", o.Value, q.Min)
		case o.Value > q.Max:
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "RESTART value (%d) cannot be greater than MAXVALUE (%d)", o.Value, q.Max)
		}
		out.Sequence.Begin = &o.Value
	}
	return out, nil
}

// sequenceOptions applies options to a sequence. A new one gets PostgreSQL's defaults.
func (d *DDL) sequenceOptions(old *catalog.Sequence, options []sql.SequenceOption, create bool) (*catalog.Sequence, error) {
	q := *old
	given := map[string]*sql.SequenceOption{}
	for i := range options {
		o := &options[i]
		if given[o.Name] != nil {
			return nil, sqlerr.New(sqlerr.SyntaxError, "conflicting or redundant options").At(o.Start)
		}
		given[o.Name] = o
	}
	if o := given["as"]; o != nil {
		t, err := BindType(o.Type)
		if err != nil {
			return nil, err
		}
		if !t.IsInteger() || t.ID == catalog.Oid {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "sequence type must be smallint, integer, or bigint")
		}
		q.Type = t
	}
	if o := given["increment"]; o != nil {
		q.Increment = o.Value
	} else if create {
		q.Increment = 1
	}
	if q.Increment == 0 {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "INCREMENT must not be zero")
	}
	if err := sequenceBounds(&q, given, create); err != nil {
		return nil, err
	}
	if o := given["start"]; o != nil {
		q.Start = o.Value
	} else if create {
		q.Start = q.Min
		if q.Increment < 0 {
			q.Start = q.Max
		}
	}
	switch {
	case q.Start < q.Min:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "START value (%d) cannot be less than MINVALUE (%d)", q.Start, q.Min)
	case q.Start > q.Max:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "START value (%d) cannot be greater than MAXVALUE (%d)", q.Start, q.Max)
	}
	if o := given["cycle"]; o != nil {
		q.Cycle = !o.No
	}
	if o := given["cache"]; o != nil && o.Value < 1 {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "CACHE (%d) must be greater than zero", o.Value)
	}
	return &q, d.setOwner(&q, given["owned by"])
}

// sequenceBounds sets MINVALUE and MAXVALUE.
func sequenceBounds(q *catalog.Sequence, given map[string]*sql.SequenceOption, create bool) error {
	low, high := integerBounds(q.Type)
	setMin, setMax := given["minvalue"], given["maxvalue"]
	switch {
	case setMin != nil && !setMin.No:
		q.Min = setMin.Value
	case setMin != nil || create || given["as"] != nil:
		if q.Min = 1; q.Increment < 0 {
			q.Min = low
		}
	}
	switch {
	case setMax != nil && !setMax.No:
		q.Max = setMax.Value
	case setMax != nil || create || given["as"] != nil:
		if q.Max = high; q.Increment < 0 {
			q.Max = -1
		}
	}
	switch {
	case q.Max > high || q.Max < low:
		return sqlerr.New(sqlerr.InvalidParameterValue, "MAXVALUE (%d) is out of range for sequence data type %s", q.Max, q.Type)
	case q.Min > high || q.Min < low:
		return sqlerr.New(sqlerr.InvalidParameterValue, "MINVALUE (%d) is out of range for sequence data type %s", q.Min, q.Type)
	case q.Min >= q.Max:
		return sqlerr.New(sqlerr.InvalidParameterValue, "MINVALUE (%d) must be less than MAXVALUE (%d)", q.Min, q.Max)
	}
	return nil
}

func integerBounds(t catalog.Type) (low, high int64) {
	switch t.ID {
	case catalog.Int2:
		return math.MinInt16, math.MaxInt16
	case catalog.Int4:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

func (d *DDL) setOwner(q *catalog.Sequence, o *sql.SequenceOption) error {
	if o == nil {
		return nil
	}
	q.OwnerTable, q.OwnerColumn = 0, 0
	if o.OwnedBy.Column == "" {
		return nil
	}
	t, err := d.LookupTable(o.OwnedBy.Table)
	if err != nil {
		return err
	}
	pos := t.ColumnIndex(o.OwnedBy.Column)
	if pos < 0 {
		return sqlerr.New(sqlerr.UndefinedColumn, "column %q of relation %q does not exist", o.OwnedBy.Column, t.Name).At(o.Start)
	}
	q.OwnerTable, q.OwnerColumn = t.ID, t.Columns[pos].ID
	return nil
}

var errIdentityType = sqlerr.New(sqlerr.InvalidParameterValue, "identity column type must be smallint, integer, or bigint")

// counted gives a serial or identity column its sequence.
func (d *DDL) counted(t *catalog.Table, c *catalog.Column, n *sql.ColumnDef) error {
	if n.NotNull == sql.No {
		return sqlerr.New(sqlerr.SyntaxError, "conflicting NULL/NOT NULL declarations for column %q of table %q", c.Name, t.Name).At(n.Start)
	}
	if n.Identity == nil {
		if n.Default != nil {
			return sqlerr.New(sqlerr.SyntaxError, "multiple default values specified for column %q of table %q", c.Name, t.Name).At(n.Start)
		}
		return d.ownedSequence(t, c, nil)
	}
	switch {
	case n.Default != nil:
		return sqlerr.New(sqlerr.SyntaxError, "both default and identity specified for column %q of table %q", c.Name, t.Name).At(n.Start)
	case !c.Type.IsInteger() || c.Type.ID == catalog.Oid:
		return errIdentityType
	}
	c.Identity = identityOf(n.Identity)
	return d.ownedSequence(t, c, n.Identity.Options)
}

// ownedSequence makes the sequence of a serial or identity column and the column's default.
func (d *DDL) ownedSequence(t *catalog.Table, c *catalog.Column, options []sql.SequenceOption) error {
	r := d.newSequence(t.Schema, madeName(t.Name, []string{c.Name}, "seq", d.relationTaken(t)))
	r.Sequence.Type = c.Type
	q, err := d.sequenceOptions(r.Sequence, options, true)
	if err != nil {
		return err
	}
	r.Sequence = q
	q.OwnerTable, q.OwnerColumn = t.ID, c.ID
	d.Sequences = append(d.Sequences, r)
	c.NotNull = true
	c.Default = "nextval(" + sql.QuoteString(sql.QuoteIdent(r.Schema)+"."+sql.QuoteIdent(r.Name)) + ")"
	return nil
}

// OwnedSequences lists the sequences of a table's columns, with column ≠ 0 of that one only.
func (d *DDL) OwnedSequences(table catalog.TableID, column catalog.ColumnID) []*catalog.Table {
	return slices.DeleteFunc(d.Catalog.Relations(), func(r *catalog.Table) bool {
		q := r.Sequence
		return q == nil || q.OwnerTable != table || column != 0 && q.OwnerColumn != column
	})
}

// Restarted describes a sequence that begins anew: its value lives in a fresh store.
func (d *DDL) Restarted(r *catalog.Table) *catalog.Table {
	c, q := r.Clone(), *r.Sequence
	q.Begin = nil
	c.Sequence, c.Stores = &q, []catalog.StoreID{d.IDs.NewStoreID()}
	return c
}

// SequenceUse is a column whose default draws from a sequence. Without describes its table without
// that default.
type SequenceUse struct {
	Table, Without *catalog.Table
	Column         string
}

// SequenceUses lists the columns whose defaults draw from a sequence.
func (d *DDL) SequenceUses(r *catalog.Table) []SequenceUse {
	var uses []SequenceUse
	for _, t := range d.Catalog.TableDefinitions() {
		for i := range t.Columns {
			if c := &t.Columns[i]; c.Default != "" && d.drawsFrom(c.Default, r) {
				without := t.Clone()
				without.Columns[i].Default, without.Columns[i].Identity = "", catalog.NoIdentity
				uses = append(uses, SequenceUse{Table: t, Without: without, Column: c.Name})
			}
		}
	}
	return uses
}

// drawsFrom reports whether an expression calls nextval for a sequence.
func (d *DDL) drawsFrom(text string, r *catalog.Table) bool {
	_, literals := d.sequenceNames(text, r)
	return len(literals) > 0
}

// sequenceNames parses an expression and lists the names of a sequence in its calls of nextval.
func (d *DDL) sequenceNames(text string, r *catalog.Table) (sql.Expr, []*sql.StringLit) {
	e, err := sql.ParseExpr(text)
	if err != nil {
		return nil, nil // what does not parse draws from nothing
	}
	var literals []*sql.StringLit
	sql.Inspect(e, func(n sql.Node) bool {
		call, ok := n.(*sql.FuncCall)
		if !ok || call.Name.Name != "nextval" || len(call.Args) != 1 {
			return true
		}
		arg, ok := call.Args[0].(*sql.StringLit)
		if !ok {
			return true
		}
		name, err := SequenceName(arg.Value)
		if err != nil {
			return true
		}
		if s := d.FindSequence(name); s != nil && s.ID == r.ID {
			literals = append(literals, arg)
		}
		return true
	})
	return e, literals
}
