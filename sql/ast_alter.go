package sql

// ColViewMode is the form of a COLVIEW action.
type ColViewMode uint8

// The COLVIEW forms.
const (
	ColViewAll    ColViewMode = iota // COLVIEW
	ColViewOnly                      // COLVIEW (list), NOCOLVIEW COLVIEW (list): exactly the list
	ColViewExcept                    // COLVIEW NOCOLVIEW (list)
	ColViewNone                      // NOCOLVIEW
	ColViewAuto                      // COLVIEW AUTO
)

// ALTER. RENAME of columns and constraints, RENAME TO and SET SCHEMA stand alone in their statement.
type (
	// AlterTable is ALTER TABLE | INDEX | VIEW | SEQUENCE | SCHEMA name actions.
	AlterTable struct {
		Span
		Kind     ObjectKind
		IfExists bool
		Only     bool
		Name     ObjectName
		Actions  []AlterAction
	}
	// AddColumn is ADD [COLUMN] [IF NOT EXISTS] column.
	AddColumn struct {
		Span
		IfNotExists bool
		Column      ColumnDef
	}
	// DropColumn is DROP [COLUMN] [IF EXISTS] name [CASCADE].
	DropColumn struct {
		Span
		IfExists bool
		Name     Ident
		Cascade  bool
	}
	// RenameColumn is RENAME [COLUMN] name TO new.
	RenameColumn struct {
		Span
		Name, NewName Ident
	}
	// RenameConstraint is RENAME CONSTRAINT name TO new.
	RenameConstraint struct {
		Span
		Name, NewName Ident
	}
	// RenamePartition is RENAME PARTITION name TO new.
	RenamePartition struct {
		Span
		Name, NewName Ident
	}
	// RenameTo is RENAME TO new.
	RenameTo struct {
		Span
		NewName Ident
	}
	// SetSchema is SET SCHEMA name.
	SetSchema struct {
		Span
		Schema Ident
	}
	// OwnerTo is OWNER TO role.
	OwnerTo struct {
		Span
		Owner Ident
	}
	// AlterColumnType is ALTER [COLUMN] name [SET DATA] TYPE type [COLLATE …] [USING expr].
	AlterColumnType struct {
		Span
		Column    Ident
		Type      TypeName
		Collation *ObjectName
		Using     Expr
	}
	// AlterColumnDefault is ALTER [COLUMN] name SET DEFAULT expr or, with a nil Default, DROP
	// DEFAULT.
	AlterColumnDefault struct {
		Span
		Column  Ident
		Default Expr
	}
	// AlterColumnNotNull is ALTER [COLUMN] name SET | DROP NOT NULL.
	AlterColumnNotNull struct {
		Span
		Column  Ident
		NotNull bool
	}
	// AlterColumnStatistics is ALTER [COLUMN] name SET STATISTICS n.
	AlterColumnStatistics struct {
		Span
		Column Ident
		Target int64
	}
	// AddIdentity is ALTER [COLUMN] name ADD GENERATED … AS IDENTITY.
	AddIdentity struct {
		Span
		Column   Ident
		Identity *Identity
	}
	// SetIdentity is ALTER [COLUMN] name SET GENERATED …, SET sequence_option and RESTART in any number.
	// Generated is nil when only the sequence changes.
	SetIdentity struct {
		Span
		Column    Ident
		Generated *Identity
		Options   []SequenceOption
	}
	// DropIdentity is ALTER [COLUMN] name DROP IDENTITY, or DROP EXPRESSION with Expression set.
	DropIdentity struct {
		Span
		Column     Ident
		Expression bool
		IfExists   bool
	}
	// AddConstraint is ADD table_constraint.
	AddConstraint struct {
		Span
		Constraint Constraint
	}
	// DropConstraint is DROP CONSTRAINT [IF EXISTS] name [CASCADE].
	DropConstraint struct {
		Span
		IfExists bool
		Name     Ident
		Cascade  bool
	}
	// ValidateConstraint is VALIDATE CONSTRAINT name.
	ValidateConstraint struct {
		Span
		Name Ident
	}
	// SetOptions is SET (options), or RESET (names) with Reset set.
	SetOptions struct {
		Span
		Reset   bool
		Options []Option
	}
	// ColView is COLVIEW in its forms, for the table or, with Partition set, MODIFY PARTITION p.
	ColView struct {
		Span
		Partition Ident
		Mode      ColViewMode
		Columns   []Ident // of ColViewOnly and ColViewExcept
	}
	// AttachPartition is ATTACH PARTITION table bound.
	AttachPartition struct {
		Span
		Table ObjectName
		Bound *PartitionBound
	}
	// DetachPartition is DETACH PARTITION table [CONCURRENTLY | FINALIZE].
	DetachPartition struct {
		Span
		Table        ObjectName
		Concurrently bool
		Finalize     bool
	}
	// AddPartition is ADD PARTITION name VALUES ….
	AddPartition struct {
		Span
		Partition PartitionDef
	}
	// DropPartition is DROP PARTITION name.
	DropPartition struct {
		Span
		Name Ident
	}
	// TruncatePartition is TRUNCATE PARTITION name.
	TruncatePartition struct {
		Span
		Name Ident
	}
)

func (*AddColumn) alterActionNode()             {}
func (*DropColumn) alterActionNode()            {}
func (*RenameColumn) alterActionNode()          {}
func (*RenameConstraint) alterActionNode()      {}
func (*RenamePartition) alterActionNode()       {}
func (*RenameTo) alterActionNode()              {}
func (*SetSchema) alterActionNode()             {}
func (*OwnerTo) alterActionNode()               {}
func (*AlterColumnType) alterActionNode()       {}
func (*AlterColumnDefault) alterActionNode()    {}
func (*AlterColumnNotNull) alterActionNode()    {}
func (*AlterColumnStatistics) alterActionNode() {}
func (*AddIdentity) alterActionNode()           {}
func (*SetIdentity) alterActionNode()           {}
func (*DropIdentity) alterActionNode()          {}
func (*AddConstraint) alterActionNode()         {}
func (*DropConstraint) alterActionNode()        {}
func (*ValidateConstraint) alterActionNode()    {}
func (*SetOptions) alterActionNode()            {}
func (*ColView) alterActionNode()               {}
func (*AttachPartition) alterActionNode()       {}
func (*DetachPartition) alterActionNode()       {}
func (*AddPartition) alterActionNode()          {}
func (*DropPartition) alterActionNode()         {}
func (*TruncatePartition) alterActionNode()     {}
