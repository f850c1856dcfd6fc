package sql

// NullsOrder is NULLS FIRST or NULLS LAST of a sort key.
type NullsOrder uint8

// The null orders; NullsDefault is last for ascending and first for descending keys.
const (
	NullsDefault NullsOrder = iota
	NullsFirst
	NullsLast
)

// SetOpKind is UNION, INTERSECT or EXCEPT.
type SetOpKind uint8

// The set operations; MINUS is a synonym of EXCEPT.
const (
	Union SetOpKind = iota
	Intersect
	Except
)

// JoinKind is the kind of a join.
type JoinKind uint8

// The join kinds.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	RightJoin
	FullJoin
	CrossJoin
)

// GroupKind is the kind of a GROUP BY item.
type GroupKind uint8

// The grouping items.
const (
	GroupExprs  GroupKind = iota // a, or (a, b) as one unit, or () when Exprs is empty
	GroupRollup                  // ROLLUP (items)
	GroupCube                    // CUBE (items)
	GroupSets                    // GROUPING SETS (items)
)

// LockStrength is the strength of a locking clause.
type LockStrength uint8

// The lock strengths, weakest first.
const (
	ForKeyShare LockStrength = iota
	ForShare
	ForNoKeyUpdate
	ForUpdate
)

// LockWait says what a locking clause does about rows locked by others.
type LockWait uint8

// The waiting policies.
const (
	LockBlock LockWait = iota
	LockNoWait
	LockSkip
)

// Queries.
type (
	// Select is a complete query: SELECT, VALUES, TABLE t or set operations over them, with the
	// clauses that apply to the whole.
	Select struct {
		Span
		With     *With
		Body     SelectBody
		OrderBy  []OrderItem
		Limit    Expr // nil: none, also for LIMIT ALL; from LIMIT or FETCH FIRST
		Offset   Expr
		WithTies bool // FETCH FIRST … WITH TIES
		Locking  []Locking
	}
	// SelectCore is SELECT … FROM … WHERE … GROUP BY … HAVING … WINDOW.
	SelectCore struct {
		Span
		Hints         []Hint
		Distinct      bool
		DistinctOn    []Expr // DISTINCT ON (…); Distinct is then set too
		Targets       []Target
		From          []TableRef // comma list
		Where         Expr
		GroupDistinct bool // GROUP BY DISTINCT
		GroupBy       []GroupItem
		Having        Expr
		Windows       []WindowDef
	}
	// SetOp combines two bodies. Chains of the same level nest to the left.
	SetOp struct {
		Span
		Kind        SetOpKind
		All         bool
		Left, Right SelectBody
	}
	// Values is VALUES (…), (…). Every row has the same length.
	Values struct {
		Span
		Rows [][]Expr
	}
	// With is WITH [RECURSIVE] name AS (…), ….
	With struct {
		Span
		Recursive bool
		CTEs      []CTE
	}
	// CTE is one table of WITH. Query is a *Select, *Insert, *Update, *Delete or *Merge.
	CTE struct {
		Span
		Name         Ident
		Columns      []Ident
		Materialized Tristate // No is NOT MATERIALIZED
		Query        Statement
	}
	// Target is one item of a target list or RETURNING. A * is an Expr of type *Star.
	Target struct {
		Span
		Expr  Expr
		Alias Ident
	}
	// OrderItem is one sort key.
	OrderItem struct {
		Span
		Expr  Expr
		Desc  bool
		Nulls NullsOrder
	}
	// GroupItem is one item of GROUP BY.
	GroupItem struct {
		Span
		Kind  GroupKind
		Exprs []Expr      // of GroupExprs
		Items []GroupItem // of the other kinds
	}
	// WindowDef is name AS (…) of the WINDOW clause.
	WindowDef struct {
		Span
		Name Ident
		Spec *WindowSpec
	}
	// Locking is FOR UPDATE [OF tables] [NOWAIT | SKIP LOCKED] and its weaker forms.
	Locking struct {
		Span
		Strength LockStrength
		Of       []ObjectName
		Wait     LockWait
	}
)

// FROM items.
type (
	// TableName is a table, view or CTE by name, with an optional partition as in
	// t PARTITION (p).
	TableName struct {
		Span
		Name      ObjectName
		Only      bool
		Partition Ident
		Alias     Alias
	}
	// SubqueryTable is [LATERAL] (query) [AS] alias. Alias may be empty.
	SubqueryTable struct {
		Span
		Lateral bool
		Query   *Select
		Alias   Alias
	}
	// FuncTable is [LATERAL] f(args) [WITH ORDINALITY] [AS] alias (columns). ColDefs holds the
	// columns of AS alias (a int, b text) instead of Alias.Columns. Call is a *FuncCall.
	FuncTable struct {
		Span
		Lateral    bool
		Call       *FuncCall
		Ordinality bool
		Alias      Alias
		ColDefs    []ColumnDef
	}
	// Join is left JOIN right. One of Natural, On and Using is given unless Kind is CrossJoin.
	Join struct {
		Span
		Kind        JoinKind
		Natural     bool
		Left, Right TableRef
		On          Expr
		Using       []Ident
		UsingAlias  Ident // USING (…) AS alias
		Alias       Alias // of a parenthesised join
	}
)

func (*Select) stmtNode()           {}
func (*Select) selectBodyNode()     {}
func (*SelectCore) selectBodyNode() {}
func (*SetOp) selectBodyNode()      {}
func (*Values) selectBodyNode()     {}

func (*TableName) tableRefNode()     {}
func (*SubqueryTable) tableRefNode() {}
func (*FuncTable) tableRefNode()     {}
func (*Join) tableRefNode()          {}
