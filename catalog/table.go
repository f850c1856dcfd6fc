package catalog

import "slices"

// ColumnID is a column's number in its table: 1 for the first, never used twice (PostgreSQL's
// attnum).
type ColumnID int16

// TableID names a table for ever; it is never used twice.
type TableID uint32

// StoreID names one store: the rows of one leaf partition on one data node. 24 bits.
type StoreID uint32

// IndexID names an index's key space.
type IndexID uint32

// Column describes one column.
type Column struct {
	ID      ColumnID
	Name    string
	Type    Type
	NotNull bool
	Default string `json:",omitempty"` // expression text, "" = none
	// Generated is the text of the expression over the table's other columns that computes a
	// GENERATED ALWAYS AS … STORED column; "" = the column is an ordinary one.
	Generated string `json:",omitempty"`
	// Missing is the value of rows written before the column was added: the SQL text of a
	// literal, "" = NULL.
	Missing string `json:",omitempty"`
	// AddedIn is the schema version that added the column; rows of older versions lack it.
	AddedIn  uint32
	Covered  bool     // column view: the column has column units
	Identity Identity `json:",omitempty"`
}

// Identity tells whether a column is GENERATED … AS IDENTITY: its Default then draws from its
// sequence.
type Identity uint8

// The kinds of identity columns.
const (
	NoIdentity Identity = iota
	IdentityByDefault
	IdentityAlways
)

// Check is a CHECK constraint.
type Check struct {
	Name string
	Expr string // expression text over the table's columns
	// NotValid tells that rows from before the constraint have not been checked.
	NotValid bool `json:",omitempty"`
	// Inherited tells that the constraint is its parent's.
	Inherited bool `json:",omitempty"`
}

// RelationKind tells what a Table describes.
type RelationKind uint8

// The kinds share one space of names.
const (
	OrdinaryTable RelationKind = iota
	SequenceRelation
	ViewRelation
	// PartitionedTable is a table whose rows are in its partitions: it has no stores.
	PartitionedTable
)

// String names the kind as messages do.
func (k RelationKind) String() string {
	return [...]string{"table", "sequence", "view", "table"}[k]
}

// Sequence is what CREATE SEQUENCE says. The current value is no part of the catalog: it lives under
// the relation's store and does not follow transactions.
type Sequence struct {
	Type             Type
	Start, Increment int64
	Min, Max         int64
	Cycle            bool
	Begin            *int64   `json:",omitempty"` // where RESTART WITH lets it begin, nil = Start
	OwnerTable       TableID  `json:",omitempty"` // 0 = nobody's
	OwnerColumn      ColumnID `json:",omitempty"`
}

// View is what CREATE VIEW says. The query's text stands on its own: tables have schemas, and no *
// is left. Uses are the relations it reads.
type View struct {
	Query string
	Uses  []TableID
	// Closed tells that the query names the columns of each relation behind it: columns that the
	// relation gets later are none of the view's. Older views are not closed.
	Closed bool `json:",omitempty"`
}

// CommitAction is what becomes of a temporary table when a transaction commits.
type CommitAction uint8

// The actions.
const (
	PreserveRowsOnCommit CommitAction = iota
	DeleteRowsOnCommit
	DropOnCommit
)

// Table is an immutable description of a table or another relation.
type Table struct {
	ID            TableID
	Kind          RelationKind `json:",omitempty"`
	Sequence      *Sequence    `json:",omitempty"` // of a SequenceRelation
	View          *View        `json:",omitempty"` // of a ViewRelation
	Schema        string
	Name          string
	Columns       []Column // live columns in order; dropped ones leave the slice, their ids stay used
	Dropped       []Column `json:",omitempty"` // still present in old rows
	NextColumn    ColumnID
	SchemaVersion uint32       // of rows written now
	Indexes       []Index      `json:",omitempty"`
	Checks        []Check      `json:",omitempty"`
	ForeignKeys   []ForeignKey `json:",omitempty"`
	DistributeBy  []ColumnID
	Stores        []StoreID // one per data node
	// Epoch changes with every change that voids column units under construction.
	Epoch uint64
	// HasView tells that a column view exists; Columns[i].Covered tells of which columns.
	HasView bool
	// Temp relations belong to one session, by whose number their schema is named; the schema is no
	// entry of the catalog. Those that a session could not drop at its end go when the database is
	// opened.
	Temp     bool         `json:",omitempty"`
	OnCommit CommitAction `json:",omitempty"` // of temporary tables
	// Partitioning is set of a PartitionedTable. Its epoch changes when anything below it does.
	Partitioning *Partitioning `json:",omitempty"`
	// Parent is the table that this one is a partition of, 0 = none; Bound tells of which rows.
	// Columns belong to those of the same name in the parent.
	Parent TableID         `json:",omitempty"`
	Bound  *PartitionBound `json:",omitempty"`
}

// HasCheck reports whether the table has a CHECK constraint of that name.
func (t *Table) HasCheck(name string) bool {
	return slices.ContainsFunc(t.Checks, func(c Check) bool { return c.Name == name })
}

// ColumnIndex returns the position of the named column in Columns, −1 if there is none.
func (t *Table) ColumnIndex(name string) int {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// ColumnByID returns the position of a column in Columns, −1 if there is none.
func (t *Table) ColumnByID(id ColumnID) int {
	for i := range t.Columns {
		if t.Columns[i].ID == id {
			return i
		}
	}
	return -1
}

// PrimaryKey returns the primary key's index, nil if there is none.
func (t *Table) PrimaryKey() *Index {
	for i := range t.Indexes {
		if t.Indexes[i].Primary {
			return &t.Indexes[i]
		}
	}
	return nil
}

// CoveredColumns lists the ids of the columns in the column view, ascending.
func (t *Table) CoveredColumns() []ColumnID {
	var ids []ColumnID
	for i := range t.Columns {
		if t.Columns[i].Covered {
			ids = append(ids, t.Columns[i].ID)
		}
	}
	return ids
}

// Clone returns a copy whose slices may be changed.
func (t *Table) Clone() *Table {
	c := *t
	c.Columns = append([]Column(nil), t.Columns...)
	c.Dropped = append([]Column(nil), t.Dropped...)
	c.Indexes = append([]Index(nil), t.Indexes...)
	c.Checks = append([]Check(nil), t.Checks...)
	c.ForeignKeys = append([]ForeignKey(nil), t.ForeignKeys...)
	c.Stores = append([]StoreID(nil), t.Stores...)
	c.DistributeBy = append([]ColumnID(nil), t.DistributeBy...)
	return &c
}
