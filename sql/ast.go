package sql

// Span is the part of the source text a node was parsed from, as 0-based byte offsets: the text is
// source[Start:End]. Nodes made by code have the zero Span.
type Span struct{ Start, End int }

// SourceSpan returns the span; by embedding, every node has this method.
func (s Span) SourceSpan() Span { return s }

// Node is any part of a syntax tree.
type Node interface{ SourceSpan() Span }

// Statement is one SQL statement. Its span covers the statement without the semicolon.
type Statement interface {
	Node
	stmtNode()
}

// Expr is a value expression.
type Expr interface {
	Node
	exprNode()
}

// TableRef is an item of a FROM clause: *TableName, *SubqueryTable, *FuncTable or *Join.
type TableRef interface {
	Node
	tableRefNode()
}

// SelectBody is what ORDER BY and LIMIT apply to: *SelectCore, *SetOp, *Values, or *Select for a
// parenthesised operand with its own WITH, ORDER BY, LIMIT or locking clause.
type SelectBody interface {
	Node
	selectBodyNode()
}

// AlterAction is one action of ALTER TABLE.
type AlterAction interface {
	Node
	alterActionNode()
}

// Ident is a name, folded to lower case unless it was quoted. Name is empty where an optional name
// was left out.
type Ident struct {
	Span
	Name string
}

// ObjectName is the name of a table, index, function or other schema object. Schema is empty when
// the name was not qualified.
type ObjectName struct {
	Span
	Schema, Name string
}

// String returns the name as SQL text, quoted where needed.
func (o ObjectName) String() string { return Format(o) }

// Raw returns the name as messages print it between quotes: without quotes of its own.
func (o ObjectName) Raw() string {
	if o.Schema == "" {
		return o.Name
	}
	return o.Schema + "." + o.Name
}

// Alias is the alias of a FROM item; Name.Name is empty when there is none.
type Alias struct {
	Name    Ident
	Columns []Ident
}

// Tristate is a clause that may be absent, affirmed or negated.
type Tristate uint8

// The states of a clause.
const (
	Unset Tristate = iota
	Yes
	No
)

// TypeName is a type as written. Name is canonical and lower case:
//
//	boolean smallint integer bigint real "double precision" numeric char varchar text bytea
//	date time timetz timestamp timestamptz interval bit varbit uuid name …
//
// with synonyms resolved (int4, bool, decimal, float(n), character varying, timestamp with time
// zone …). nvarchar2, varchar2 and number keep their names; serial types too. Plain char has
// Mods [1]; bpchar has none. The quoted type "char" has the Name `"char"`. Other names are kept
// for the binder to reject.
type TypeName struct {
	Span
	Schema    string
	Name      string
	Mods      []int  // (10,2): precision, scale or length
	Fields    string // interval only: "", "month", "day to second" …
	ArrayDims int    // int[][] has 2
}

// Hint is one optimizer hint of a /*+ … */ comment that follows SELECT, INSERT, UPDATE, DELETE or
// MERGE: `no imcvscan(t)` is {No: true, Name: "imcvscan", Args: ["t"]}. A malformed hint comment
// is ignored, as hints are.
type Hint struct {
	Span
	No   bool
	Name string
	Args []string
}

// Option is a name with an optional value: storage parameters, COPY, EXPLAIN and VACUUM options.
// Names are lower case. The value is text whatever its form was (csv, 'csv', 10, true).
type Option struct {
	Span
	Name     string
	HasValue bool
	Value    string
	Columns  []Ident // a parenthesised list, such as FORCE_QUOTE (a, b)
	Star     bool    // *, as in FORCE_QUOTE *
}
