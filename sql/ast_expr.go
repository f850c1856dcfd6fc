package sql

// Literals. A minus sign before a number is part of the literal, as in PostgreSQL.
type (
	// IntLit is an integer that fits int64.
	IntLit struct {
		Span
		Value int64
	}
	// NumericLit is any other number, as written but without underscores: 1.50, 1e5, or an integer
	// beyond int64.
	NumericLit struct {
		Span
		Text string
	}
	// StringLit is a string constant of yet unknown type.
	StringLit struct {
		Span
		Value string
	}
	// BitLit is B'101' or X'1F' (Hex).
	BitLit struct {
		Span
		Hex  bool
		Bits string
	}
	// BoolLit is TRUE or FALSE.
	BoolLit struct {
		Span
		Value bool
	}
	// NullLit is NULL.
	NullLit struct{ Span }
	// TypedLit is DATE '2020-01-01', INTERVAL '3' MONTH, TIMESTAMP '…', or any type name before a
	// string.
	TypedLit struct {
		Span
		Type  TypeName
		Value string
	}
)

// Names and parameters.
type (
	// Param is $n; Number starts at 1.
	Param struct {
		Span
		Number int
	}
	// ColumnRef is a, t.a, s.t.a or db.s.t.a.
	ColumnRef struct {
		Span
		Parts []Ident
	}
	// Star is * or t.* or s.t.* in a target list, or in count(*)-like positions of RETURNING.
	Star struct {
		Span
		Table []Ident // nil for a bare *
	}
	// FieldSelect is (expr).field, or (expr).* when Star is set.
	FieldSelect struct {
		Span
		Expr  Expr
		Field Ident
		Star  bool
	}
	// Default is DEFAULT as a value of INSERT, UPDATE or MERGE.
	Default struct{ Span }
	// CurrentOf is WHERE CURRENT OF cursor.
	CurrentOf struct {
		Span
		Cursor Ident
	}
)

// BoolOp says whether a Logic node is AND or OR.
type BoolOp uint8

// The operators of Logic.
const (
	And BoolOp = iota
	Or
)

// Truth is the value tested by IS TRUE, IS FALSE, IS UNKNOWN.
type Truth uint8

// The truth values.
const (
	True Truth = iota
	False
	Unknown
)

// LikeKind says which pattern language a Like node uses.
type LikeKind uint8

// The pattern languages.
const (
	PlainLike LikeKind = iota
	ILike
	SimilarTo
)

// Operators and predicates.
type (
	// Logic is a AND b AND c, or the same with OR. Chains are flat: Args has two or more items and
	// the first is never a Logic of the same Op.
	Logic struct {
		Span
		Op   BoolOp
		Args []Expr
	}
	// Not is NOT expr.
	Not struct {
		Span
		Expr Expr
	}
	// Unary is a prefix operator: - + or a generic operator such as @ ~ |/.
	Unary struct {
		Span
		Op    string
		OpPos int
		Expr  Expr
	}
	// Binary is any infix operator: + - * / % ^ || = <> < <= > >= ~ ~* !~ !~* -> @> …
	// != is stored as <>. Named comparisons have nodes of their own.
	Binary struct {
		Span
		Op          string
		OpPos       int // where the operator stands, for error messages
		Left, Right Expr
	}
	// IsNull is expr IS [NOT] NULL (also ISNULL, NOTNULL).
	IsNull struct {
		Span
		Expr Expr
		Not  bool
	}
	// IsBool is expr IS [NOT] TRUE | FALSE | UNKNOWN.
	IsBool struct {
		Span
		Expr  Expr
		Value Truth
		Not   bool
	}
	// IsDistinct is left IS [NOT] DISTINCT FROM right.
	IsDistinct struct {
		Span
		Left, Right Expr
		Not         bool
	}
	// Between is expr [NOT] BETWEEN [SYMMETRIC] low AND high.
	Between struct {
		Span
		Expr, Low, High Expr
		Not, Symmetric  bool
	}
	// In is expr [NOT] IN (list) or expr [NOT] IN (subquery): exactly one of List and Query is set.
	In struct {
		Span
		Expr  Expr
		List  []Expr
		Query *Select
		Not   bool
	}
	// Like is expr [NOT] LIKE | ILIKE | SIMILAR TO pattern [ESCAPE escape].
	Like struct {
		Span
		Kind          LikeKind
		Expr, Pattern Expr
		Escape        Expr // nil when left out
		Not           bool
	}
	// AtTimeZone is expr AT TIME ZONE zone.
	AtTimeZone struct {
		Span
		Expr, Zone Expr
	}
	// Collate is expr COLLATE collation.
	Collate struct {
		Span
		Expr      Expr
		Collation ObjectName
	}
	// Cast is CAST(expr AS type) or expr::type.
	Cast struct {
		Span
		Expr Expr
		Type TypeName
	}
)

// Subqueries in expressions.
type (
	// Exists is EXISTS (query).
	Exists struct {
		Span
		Query *Select
	}
	// ScalarSubquery is (query) used as a value, or as the source of a multi-column assignment.
	ScalarSubquery struct {
		Span
		Query *Select
	}
	// Quantified is left op ANY (…) or left op ALL (…); exactly one of Query and Array is set. Op is
	// an operator or one of "like", "not like", "ilike", "not ilike".
	Quantified struct {
		Span
		Op    string
		OpPos int
		All   bool
		Left  Expr
		Query *Select
		Array Expr
	}
)

// Compound values.
type (
	// When is one WHEN … THEN … of Case.
	When struct {
		Span
		Cond, Result Expr
	}
	// Case is CASE [operand] WHEN … END; Operand and Else may be nil.
	Case struct {
		Span
		Operand Expr
		Whens   []When
		Else    Expr
	}
	// Row is ROW(a, b) or (a, b).
	Row struct {
		Span
		Args []Expr
	}
	// Array is ARRAY[a, b] or ARRAY(query). Nested brackets are nested Arrays.
	Array struct {
		Span
		Elems []Expr
		Query *Select
	}
	// Subscript is expr[index] or, with Slice, expr[lower:upper] where either bound may be nil.
	Subscript struct {
		Span
		Expr         Expr
		Index, Upper Expr
		Slice        bool
	}
)

// Function calls.
type (
	// FuncCall is a function, aggregate or window function call. Forms with a syntax of their own
	// come out as calls: COALESCE, NULLIF, GREATEST, LEAST, GROUPING, SUBSTRING(a FROM b FOR c),
	// OVERLAY, POSITION(a IN b) as position(b, a), TRIM as btrim, ltrim or rtrim,
	// (a, b) OVERLAPS (c, d) as overlaps(a, b, c, d). CURRENT_DATE, LOCALTIMESTAMP, CURRENT_USER …
	// are calls with Keyword set and no parentheses unless they have an argument.
	FuncCall struct {
		Span
		Name        ObjectName
		Args        []Expr // may contain *NamedArg
		Star        bool   // count(*)
		Distinct    bool
		Variadic    bool        // the last argument was marked VARIADIC
		OrderBy     []OrderItem // sum(a ORDER BY b), or of WITHIN GROUP
		WithinGroup bool
		Filter      Expr
		Over        *WindowSpec
		Keyword     bool
	}
	// NamedArg is name => value in a call.
	NamedArg struct {
		Span
		Name  Ident
		Value Expr
	}
	// Extract is EXTRACT(field FROM expr); Field is lower case.
	Extract struct {
		Span
		Field string
		From  Expr
	}
	// WindowSpec is what follows OVER, or a definition of the WINDOW clause. OVER w has Ref w and
	// Bare; OVER (w ORDER BY …) has Ref w.
	WindowSpec struct {
		Span
		Ref         Ident
		Bare        bool
		PartitionBy []Expr
		OrderBy     []OrderItem
		Frame       *Frame
	}
	// Frame is ROWS | RANGE | GROUPS BETWEEN start AND end [EXCLUDE …]. With no BETWEEN, End is
	// CURRENT ROW.
	Frame struct {
		Span
		Mode       FrameMode
		Start, End FrameBound
		Exclude    FrameExclude
	}
	// FrameBound is one end of a window frame; Offset only with the two Offset kinds.
	FrameBound struct {
		Kind   FrameBoundKind
		Offset Expr
	}
)

// FrameMode is the unit of a window frame.
type FrameMode uint8

// The frame modes.
const (
	FrameRows FrameMode = iota
	FrameRange
	FrameGroups
)

// FrameBoundKind is the kind of one end of a window frame, in frame order.
type FrameBoundKind uint8

// The frame ends.
const (
	UnboundedPreceding FrameBoundKind = iota
	OffsetPreceding
	CurrentRow
	OffsetFollowing
	UnboundedFollowing
)

// FrameExclude is the EXCLUDE clause of a window frame.
type FrameExclude uint8

// The exclusions; ExcludeNone is also EXCLUDE NO OTHERS.
const (
	ExcludeNone FrameExclude = iota
	ExcludeCurrentRow
	ExcludeGroup
	ExcludeTies
)

func (*IntLit) exprNode()         {}
func (*NumericLit) exprNode()     {}
func (*StringLit) exprNode()      {}
func (*BitLit) exprNode()         {}
func (*BoolLit) exprNode()        {}
func (*NullLit) exprNode()        {}
func (*TypedLit) exprNode()       {}
func (*Param) exprNode()          {}
func (*ColumnRef) exprNode()      {}
func (*Star) exprNode()           {}
func (*FieldSelect) exprNode()    {}
func (*Default) exprNode()        {}
func (*CurrentOf) exprNode()      {}
func (*Logic) exprNode()          {}
func (*Not) exprNode()            {}
func (*Unary) exprNode()          {}
func (*Binary) exprNode()         {}
func (*IsNull) exprNode()         {}
func (*IsBool) exprNode()         {}
func (*IsDistinct) exprNode()     {}
func (*Between) exprNode()        {}
func (*In) exprNode()             {}
func (*Like) exprNode()           {}
func (*AtTimeZone) exprNode()     {}
func (*Collate) exprNode()        {}
func (*Cast) exprNode()           {}
func (*Exists) exprNode()         {}
func (*ScalarSubquery) exprNode() {}
func (*Quantified) exprNode()     {}
func (*Case) exprNode()           {}
func (*Row) exprNode()            {}
func (*Array) exprNode()          {}
func (*Subscript) exprNode()      {}
func (*FuncCall) exprNode()       {}
func (*NamedArg) exprNode()       {}
func (*Extract) exprNode()        {}
