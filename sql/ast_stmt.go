package sql

// Statements that change rows.
type (
	// Insert is INSERT INTO table (columns) source. Exactly one of Query and DefaultValues is given;
	// VALUES is a Query whose Body is *Values and whose rows may hold *Default.
	Insert struct {
		Span
		With          *With
		Hints         []Hint
		Table         ObjectName
		Alias         Ident
		Columns       []Ident // nil: all columns
		Overriding    Overriding
		Query         *Select
		DefaultValues bool
		OnConflict    *OnConflict
		Returning     []Target
	}
	// OnConflict is ON CONFLICT [target] DO NOTHING | DO UPDATE SET … WHERE. ON DUPLICATE KEY UPDATE
	// is not part of the grammar.
	OnConflict struct {
		Span
		Target      []IndexElem // inferred index columns
		TargetWhere Expr
		Constraint  Ident // ON CONSTRAINT name
		DoUpdate    bool
		Set         []Assignment
		Where       Expr
	}
	// Assignment is column = value, or (a, b) = value with Multi set, where Value is a *Row, or a
	// *ScalarSubquery of that many columns.
	Assignment struct {
		Span
		Columns []Ident
		Multi   bool
		Value   Expr // may be *Default, also inside a *Row
	}
	// Update is UPDATE table SET … FROM … WHERE … RETURNING.
	Update struct {
		Span
		With      *With
		Hints     []Hint
		Table     *TableName
		Set       []Assignment
		From      []TableRef
		Where     Expr // may be *CurrentOf
		Returning []Target
	}
	// Delete is DELETE FROM table USING … WHERE … RETURNING.
	Delete struct {
		Span
		With      *With
		Hints     []Hint
		Table     *TableName
		Using     []TableRef
		Where     Expr // may be *CurrentOf
		Returning []Target
	}
	// Merge is MERGE INTO target USING source ON cond WHEN ….
	Merge struct {
		Span
		With   *With
		Hints  []Hint
		Target *TableName
		Source TableRef
		On     Expr
		Whens  []MergeWhen
	}
	// MergeWhen is one WHEN [NOT] MATCHED [AND cond] THEN action.
	MergeWhen struct {
		Span
		Matched    bool
		Cond       Expr
		Action     MergeAction
		Set        []Assignment // MergeUpdate
		Columns    []Ident      // MergeInsert
		Overriding Overriding
		Values     []Expr // MergeInsert; nil: DEFAULT VALUES
	}
	// Truncate is TRUNCATE TABLE names.
	Truncate struct {
		Span
		Tables          []ObjectName
		Only            []bool // by table
		RestartIdentity bool
		Cascade         bool
	}
	// Copy is COPY table (columns) | (query) FROM | TO file.
	Copy struct {
		Span
		Table   ObjectName // empty when Query is set
		Columns []Ident
		Query   Statement
		From    bool
		Stdio   bool   // STDIN or STDOUT
		Program bool   // File is a command
		File    string // unless Stdio
		Options []Option
		Where   Expr // COPY FROM … WHERE
	}
)

// Overriding is the OVERRIDING clause of INSERT.
type Overriding uint8

// The overriding clauses.
const (
	OverridingNone Overriding = iota
	OverridingUser
	OverridingSystem
)

// MergeAction is what a MERGE branch does.
type MergeAction uint8

// The merge actions.
const (
	MergeDoNothing MergeAction = iota
	MergeUpdate
	MergeDelete
	MergeInsert
)

// Isolation is the isolation level of a transaction.
type Isolation uint8

// The isolation levels; IsolationDefault when none was given.
const (
	IsolationDefault Isolation = iota
	ReadUncommitted
	ReadCommitted
	RepeatableRead
	Serializable
)

// TxModes are the modes of BEGIN and SET TRANSACTION.
type TxModes struct {
	Isolation  Isolation
	ReadOnly   Tristate // No is READ WRITE
	Deferrable Tristate
}

// Transactions.
type (
	// Begin is BEGIN or START TRANSACTION.
	Begin struct {
		Span
		Modes TxModes
	}
	// Commit is COMMIT or END [AND CHAIN].
	Commit struct {
		Span
		Chain bool
	}
	// Rollback is ROLLBACK or ABORT [AND CHAIN].
	Rollback struct {
		Span
		Chain bool
	}
	// Savepoint is SAVEPOINT name.
	Savepoint struct {
		Span
		Name Ident
	}
	// Release is RELEASE [SAVEPOINT] name.
	Release struct {
		Span
		Name Ident
	}
	// RollbackTo is ROLLBACK TO [SAVEPOINT] name.
	RollbackTo struct {
		Span
		Name Ident
	}
	// SetTransaction is SET TRANSACTION modes, or SET SESSION CHARACTERISTICS AS TRANSACTION with
	// Session set.
	SetTransaction struct {
		Span
		Session bool
		Modes   TxModes
	}
	// SetConstraints is SET CONSTRAINTS ALL | names DEFERRED | IMMEDIATE; no names mean ALL.
	SetConstraints struct {
		Span
		Names    []ObjectName
		Deferred bool
	}
	// Lock is LOCK TABLE names IN mode MODE [NOWAIT]; Mode is lower case, "" when left out.
	Lock struct {
		Span
		Tables []ObjectName
		Mode   string
		NoWait bool
	}
)

// Settings.
type (
	// Set is SET [SESSION | LOCAL] name = values. Special forms are spelled as settings: TIME ZONE is
	// timezone, NAMES client_encoding, SCHEMA search_path, ROLE role, SESSION AUTHORIZATION
	// session_authorization.
	Set struct {
		Span
		Local   bool
		Name    string // lower case; may contain a dot
		Values  []string
		Default bool // = DEFAULT; Values is nil
	}
	// Show is SHOW name or, with an empty Name, SHOW ALL.
	Show struct {
		Span
		Name string
	}
	// Reset is RESET name or, with an empty Name, RESET ALL.
	Reset struct {
		Span
		Name string
	}
)

// Prepared statements and cursors.
type (
	// Prepare is PREPARE name (types) AS statement.
	Prepare struct {
		Span
		Name  Ident
		Types []TypeName
		Stmt  Statement
	}
	// Execute is EXECUTE name (args).
	Execute struct {
		Span
		Name Ident
		Args []Expr
	}
	// Deallocate is DEALLOCATE name or, with an empty Name, DEALLOCATE ALL.
	Deallocate struct {
		Span
		Name Ident
	}
	// DeclareCursor is DECLARE name CURSOR FOR query.
	DeclareCursor struct {
		Span
		Name        Ident
		Binary      bool
		Insensitive bool // INSENSITIVE; every cursor is
		Scroll      Tristate
		Hold        bool
		Query       *Select
	}
	// Fetch is FETCH or MOVE. Count is the number of rows, or the position for absolute and relative;
	// All is FORWARD ALL, BACKWARD ALL or ALL.
	Fetch struct {
		Span
		Move      bool
		Direction FetchDirection
		Count     int64
		All       bool
		Cursor    Ident
	}
	// CloseCursor is CLOSE name or, with an empty Name, CLOSE ALL.
	CloseCursor struct {
		Span
		Name Ident
	}
)

// FetchDirection is the direction of FETCH. NEXT, FIRST and the like are reduced to these:
// FETCH NEXT is Forward 1, PRIOR Backward 1, FIRST Absolute 1, LAST Absolute -1.
type FetchDirection uint8

// The fetch directions.
const (
	FetchForward FetchDirection = iota
	FetchBackward
	FetchAbsolute
	FetchRelative
)

// DiscardKind is what DISCARD throws away.
type DiscardKind uint8

// The things to discard.
const (
	DiscardAll DiscardKind = iota
	DiscardPlans
	DiscardSequences
	DiscardTemp
)

// Maintenance.
type (
	// Explain is EXPLAIN (options) statement; the old keywords are turned into options without a
	// value: EXPLAIN ANALYZE VERBOSE has options analyze and verbose.
	Explain struct {
		Span
		Options []Option
		Stmt    Statement
	}
	// Analyze is ANALYZE (options) tables; no tables mean all.
	Analyze struct {
		Span
		Options []Option
		Tables  []MaintenanceTable
	}
	// Vacuum is VACUUM (options) tables; no tables mean all.
	Vacuum struct {
		Span
		Options []Option
		Tables  []MaintenanceTable
	}
	// Reindex is REINDEX INDEX or, with Table, REINDEX TABLE.
	Reindex struct {
		Span
		Table        bool
		Concurrently bool
		Name         ObjectName
	}
	// MaintenanceTable is table (columns) of ANALYZE and VACUUM.
	MaintenanceTable struct {
		Span
		Name    ObjectName
		Columns []Ident
	}
	// Checkpoint is CHECKPOINT.
	Checkpoint struct{ Span }
	// Discard is DISCARD ALL | PLANS | SEQUENCES | TEMP.
	Discard struct {
		Span
		Kind DiscardKind
	}
)

func (*Insert) stmtNode()         {}
func (*Update) stmtNode()         {}
func (*Delete) stmtNode()         {}
func (*Merge) stmtNode()          {}
func (*Truncate) stmtNode()       {}
func (*Copy) stmtNode()           {}
func (*Begin) stmtNode()          {}
func (*Commit) stmtNode()         {}
func (*Rollback) stmtNode()       {}
func (*Savepoint) stmtNode()      {}
func (*Release) stmtNode()        {}
func (*RollbackTo) stmtNode()     {}
func (*SetTransaction) stmtNode() {}
func (*SetConstraints) stmtNode() {}
func (*Lock) stmtNode()           {}
func (*Set) stmtNode()            {}
func (*Show) stmtNode()           {}
func (*Reset) stmtNode()          {}
func (*Prepare) stmtNode()        {}
func (*Execute) stmtNode()        {}
func (*Deallocate) stmtNode()     {}
func (*DeclareCursor) stmtNode()  {}
func (*Fetch) stmtNode()          {}
func (*CloseCursor) stmtNode()    {}
func (*Explain) stmtNode()        {}
func (*Analyze) stmtNode()        {}
func (*Vacuum) stmtNode()         {}
func (*Checkpoint) stmtNode()     {}
func (*Reindex) stmtNode()        {}
func (*Discard) stmtNode()        {}
