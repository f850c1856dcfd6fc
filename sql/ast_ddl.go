package sql

// Persistence is TEMP or UNLOGGED of CREATE TABLE.
type Persistence uint8

// The persistences.
const (
	Permanent Persistence = iota
	Temporary
	Unlogged
)

// OnCommit is the ON COMMIT clause of temporary tables.
type OnCommit uint8

// The ON COMMIT clauses.
const (
	OnCommitUnset OnCommit = iota
	OnCommitPreserveRows
	OnCommitDeleteRows
	OnCommitDrop
)

// Tables.
type (
	// CreateTable is CREATE TABLE name (columns, constraints) …, or with PartitionOf set
	// CREATE TABLE name PARTITION OF parent bound.
	CreateTable struct {
		Span
		Name         ObjectName
		Persistence  Persistence
		IfNotExists  bool
		Columns      []ColumnDef
		Constraints  []Constraint
		Likes        []LikeTable
		Inherits     []ObjectName
		PartitionOf  *ObjectName
		Bound        *PartitionBound // of PartitionOf
		PartitionBy  *PartitionBy
		Options      []Option
		OnCommit     OnCommit
		Tablespace   Ident
		DistributeBy *DistributeBy
		ColView      Tristate // COLVIEW or NOCOLVIEW of the table
	}
	// CreateTableAs is CREATE TABLE name (columns) AS query [WITH NO DATA], and
	// CREATE MATERIALIZED VIEW with Materialized set.
	CreateTableAs struct {
		Span
		Name         ObjectName
		Persistence  Persistence
		Materialized bool
		IfNotExists  bool
		Columns      []Ident
		Options      []Option
		OnCommit     OnCommit
		Tablespace   Ident
		DistributeBy *DistributeBy
		ColView      Tristate
		Query        *Select
		NoData       bool
	}
	// ColumnDef is a column of CREATE TABLE or ADD COLUMN. In a partition or a column list of
	// PARTITION OF, Type.Name is empty.
	ColumnDef struct {
		Span
		Name        Ident
		Type        TypeName
		Collation   *ObjectName
		ColView     Tristate
		NotNull     Tristate // No is an explicit NULL
		Default     Expr
		Generated   Expr           // GENERATED ALWAYS AS (expr) STORED
		GeneratedAs struct{ Span } // that clause
		Identity    *Identity
		Constraints []Constraint // PRIMARY KEY, UNIQUE, CHECK, REFERENCES; Columns is nil
	}
	// Identity is GENERATED ALWAYS | BY DEFAULT AS IDENTITY (sequence options).
	Identity struct {
		Span
		Always  bool
		Options []SequenceOption
	}
	// Constraint is a table or column constraint.
	Constraint struct {
		Span
		Name              Ident
		Kind              ConstraintKind
		Columns           []Ident
		Include           []Ident // of PRIMARY KEY and UNIQUE
		NullsNotDistinct  bool
		UsingIndex        Ident // ADD CONSTRAINT … USING INDEX name
		Options           []Option
		Expr              Expr // of CHECK
		NoInherit         bool
		RefTable          ObjectName // of FOREIGN KEY
		RefColumns        []Ident
		MatchFull         bool
		OnUpdate          RefAction
		OnDelete          RefAction
		SetColumns        []Ident // of ON DELETE SET NULL and SET DEFAULT; nil = all
		Deferrable        Tristate
		InitiallyDeferred bool
		NotValid          bool
	}
	// LikeTable is LIKE table INCLUDING … EXCLUDING …. An option is lower case; a leading "-" marks
	// EXCLUDING.
	LikeTable struct {
		Span
		Table   ObjectName
		Options []string
	}
	// DistributeBy is DISTRIBUTE BY HASH (columns) | REPLICATION …; Method is lower case.
	DistributeBy struct {
		Span
		Method  string
		Columns []Ident
	}
	// PartitionBy is PARTITION BY RANGE | LIST | HASH (keys), with the inline list of partitions
	// (PARTITION p VALUES LESS THAN (…), …) when one was given.
	PartitionBy struct {
		Span
		Method     PartitionMethod
		Keys       []PartitionKey
		Partitions []PartitionDef
	}
	// PartitionKey is a column (a *ColumnRef) or expression of PARTITION BY.
	PartitionKey struct {
		Span
		Expr      Expr
		Collation *ObjectName
		OpClass   *ObjectName
	}
	// PartitionDef is one partition of an inline list. Bound is nil for hash partitions.
	PartitionDef struct {
		Span
		Name  Ident
		Bound *PartitionBound
	}
	// PartitionBound says which rows belong to a partition. In From, To and LessThan, a nil Expr in
	// a PartitionLimit is MINVALUE or MAXVALUE.
	PartitionBound struct {
		Span
		Kind      BoundKind
		From, To  []PartitionLimit // BoundRange; To alone for BoundLessThan
		In        []Expr           // BoundList
		Modulus   int              // BoundHash
		Remainder int
	}
	// PartitionLimit is one value of a range bound.
	PartitionLimit struct {
		Span
		Kind LimitKind
		Expr Expr // of LimitValue
	}
)

// ConstraintKind is the kind of a constraint.
type ConstraintKind uint8

// The constraint kinds.
const (
	CheckConstraint ConstraintKind = iota
	PrimaryKey
	Unique
	ForeignKey
)

// RefAction is what a foreign key does when the referenced row changes.
type RefAction uint8

// The actions.
const (
	RefNoAction RefAction = iota
	RefRestrict
	RefCascade
	RefSetNull
	RefSetDefault
)

// PartitionMethod is how a table is partitioned.
type PartitionMethod uint8

// The partition methods.
const (
	PartitionRange PartitionMethod = iota
	PartitionList
	PartitionHash
)

// BoundKind is the form of a partition bound.
type BoundKind uint8

// The bound forms.
const (
	BoundDefault  BoundKind = iota // DEFAULT, VALUES (DEFAULT)
	BoundRange                     // FOR VALUES FROM (…) TO (…)
	BoundList                      // FOR VALUES IN (…), VALUES (…)
	BoundHash                      // FOR VALUES WITH (MODULUS m, REMAINDER r)
	BoundLessThan                  // VALUES LESS THAN (…): from the bound of the partition before
)

// LimitKind tells values from the ends of a range.
type LimitKind uint8

// The limits.
const (
	LimitValue LimitKind = iota
	MinValue
	MaxValue
)

// Other objects.
type (
	// CreateIndex is CREATE INDEX.
	CreateIndex struct {
		Span
		Unique           bool
		Concurrently     bool
		IfNotExists      bool
		Name             Ident // empty: the engine picks one
		Table            ObjectName
		Only             bool
		Method           string // "" when left out
		Elems            []IndexElem
		Include          []Ident
		NullsNotDistinct bool
		Options          []Option
		Tablespace       Ident
		Where            Expr
		Locality         string // "", "local" or "global"
	}
	// IndexElem is an index column (a *ColumnRef of one part) or expression.
	IndexElem struct {
		Span
		Expr      Expr
		Collation *ObjectName
		OpClass   *ObjectName
		Desc      bool
		Nulls     NullsOrder
	}
	// CreateView is CREATE [OR REPLACE] VIEW.
	CreateView struct {
		Span
		OrReplace   bool
		Temporary   bool
		Recursive   bool
		Name        ObjectName
		Columns     []Ident
		Options     []Option
		Query       *Select
		CheckOption string // "", "local" or "cascaded"
	}
	// RefreshView is REFRESH MATERIALIZED VIEW.
	RefreshView struct {
		Span
		Concurrently bool
		Name         ObjectName
		NoData       bool
	}
	// CreateSchema is CREATE SCHEMA.
	CreateSchema struct {
		Span
		IfNotExists bool
		Name        Ident
		Owner       Ident
	}
	// CreateSequence is CREATE SEQUENCE.
	CreateSequence struct {
		Span
		Temporary   bool
		IfNotExists bool
		Name        ObjectName
		Options     []SequenceOption
	}
	// AlterSequence is ALTER SEQUENCE with options; its other forms are AlterTable.
	AlterSequence struct {
		Span
		IfExists bool
		Name     ObjectName
		Options  []SequenceOption
	}
	// SequenceOption is one option of a sequence: Name is one of as, increment, minvalue, maxvalue,
	// start, restart, cache, cycle, owned by. No is NO MINVALUE, NO CYCLE and the like.
	SequenceOption struct {
		Span
		Name     string
		No       bool
		HasValue bool
		Value    int64
		Type     TypeName   // of as
		OwnedBy  ColumnName // of owned by; an empty Column is OWNED BY NONE
	}
	// ColumnName is table.column.
	ColumnName struct {
		Table  ObjectName
		Column string
	}
	// Drop is DROP TABLE | INDEX | VIEW | MATERIALIZED VIEW | SCHEMA | SEQUENCE.
	Drop struct {
		Span
		Kind         ObjectKind
		Concurrently bool
		IfExists     bool
		Names        []ObjectName
		Cascade      bool
	}
)

// ObjectKind is a kind of schema object.
type ObjectKind uint8

// The object kinds.
const (
	TableObject ObjectKind = iota
	IndexObject
	ViewObject
	MaterializedViewObject
	SchemaObject
	SequenceObject
)

func (*CreateTable) stmtNode()    {}
func (*CreateTableAs) stmtNode()  {}
func (*CreateIndex) stmtNode()    {}
func (*CreateView) stmtNode()     {}
func (*RefreshView) stmtNode()    {}
func (*CreateSchema) stmtNode()   {}
func (*CreateSequence) stmtNode() {}
func (*AlterSequence) stmtNode()  {}
func (*AlterTable) stmtNode()     {}
func (*Drop) stmtNode()           {}
