package expr

import (
	"strconv"
	"strings"

	"github.com/weftdb/weft/catalog"
)

// String prints an expression as PostgreSQL's EXPLAIN does.
func String(e Expr) string {
	var p printer
	p.expr(e, false)
	return p.String()
}

type printer struct{ strings.Builder }

// expr prints a node, in parentheses of its own where PostgreSQL gives it some. Implicit casts show
// only as operands and arguments.
func (p *printer) expr(e Expr, showImplicit bool) {
	switch e := e.(type) {
	case *Col:
		p.WriteString(e.Name)
	case *Const:
		p.constant(e)
	case *Param:
		p.WriteString("$" + strconv.Itoa(e.Index))
	case *Call:
		p.call(e)
	case *Cast:
		p.cast(e, showImplicit)
	case *BoolOp:
		word := " AND "
		if e.Or {
			word = " OR "
		}
		p.list("(", e.Args, word, ")", false)
	case *Not:
		p.list("(NOT ", []Expr{e.Arg}, "", ")", false)
	case *IsNull:
		p.list("(", []Expr{e.Arg}, "", pick(e.Negated, " IS NOT NULL)", " IS NULL)"), true)
	case *IsDistinct:
		p.distinct(e)
	case *InList:
		p.in(e)
	case *Case:
		p.caseExpr(e)
	case *Coalesce:
		p.list("COALESCE(", e.Args, ", ", ")", true)
	default:
		p.WriteString("?")
	}
}

func pick(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

func (p *printer) list(open string, list []Expr, sep, end string, showImplicit bool) {
	p.WriteString(open)
	for i, e := range list {
		if i > 0 {
			p.WriteString(sep)
		}
		p.expr(e, showImplicit)
	}
	p.WriteString(end)
}

// quotedNames are functions whose names are keywords that PostgreSQL quotes.
var quotedNames = map[string]bool{"substring": true, "position": true, "overlay": true, "left": true, "right": true,
	"char": true, "interval": true, "numeric": true, "time": true, "timestamp": true}

// specialNames are functions that print with a syntax of their own.
var specialNames = map[string]string{
	"current_date": "CURRENT_DATE", "current_timestamp": "CURRENT_TIMESTAMP", "localtimestamp": "LOCALTIMESTAMP",
	"current_user": "CURRENT_USER", "session_user": "SESSION_USER", "user": "USER", "current_catalog": "CURRENT_CATALOG",
	"current_schema": "CURRENT_SCHEMA",
}

func (p *printer) call(e *Call) {
	name := e.Fn.Name
	switch {
	case e.Fn.Operator && len(e.Args) == 1:
		p.WriteString("(" + name + " ")
		p.operand(e, 0)
		p.WriteString(")")
	case e.Fn.Operator:
		p.WriteString("(")
		p.operand(e, 0)
		p.WriteString(" " + name + " ")
		p.operand(e, 1)
		p.WriteString(")")
	case name == "extract":
		p.extract(e)
	case name == "timezone" && len(e.Args) == 2:
		p.list("(", []Expr{e.Args[1], e.Args[0]}, " AT TIME ZONE ", ")", true)
	case len(e.Args) == 0 && specialNames[name] != "":
		p.WriteString(specialNames[name])
	case name == "nullif" || name == "greatest" || name == "least":
		p.list(strings.ToUpper(name)+"(", e.Args, ", ", ")", true)
	default:
		if quotedNames[name] {
			name = `"` + name + `"`
		}
		p.list(name+"(", e.Args, ", ", ")", true)
	}
}

// operand prints an operator's operand. PostgreSQL has operators between different integer, float
// and date types, where weft casts: those casts stay hidden.
func (p *printer) operand(e *Call, i int) {
	arg := e.Args[i]
	if c, ok := arg.(*Cast); ok && c.Implicit && mixedOperator(c.Arg.Type().ID, c.Typ.ID) {
		arg = c.Arg
	}
	p.expr(arg, true)
}

func mixedOperator(from, to catalog.TypeID) bool {
	f, t := catalog.Type{ID: from}, catalog.Type{ID: to}
	return f.IsInteger() && t.IsInteger() || from == catalog.Float4 && to == catalog.Float8 ||
		category(from) == 'D' && category(to) == 'D'
}

func (p *printer) extract(e *Call) {
	field := "?"
	if c, ok := e.Args[0].(*Const); ok {
		field = c.Value.S
	}
	p.list("EXTRACT("+field+" FROM ", e.Args[1:], "", ")", true)
}

func (p *printer) cast(e *Cast, showImplicit bool) {
	if e.Implicit && !showImplicit || e.Implicit && e.Typ.ID == e.Arg.Type().ID {
		p.expr(e.Arg, showImplicit)
		return
	}
	t := e.Typ
	if e.Implicit && t.ID == catalog.Numeric {
		t = t.Base() // derived modifiers are weft's own
	}
	if c, ok := e.Arg.(*Const); ok && c.Typ.ID == catalog.Text && !c.Value.Null {
		p.WriteString(quoteConstant(c.Value.S) + "::" + labelType(t))
		return
	}
	p.list("(", []Expr{e.Arg}, "", ")::"+labelType(t), false)
}

// labelType is the name of a type after ::.
func labelType(t catalog.Type) string {
	if t == (catalog.Type{ID: catalog.Char}) {
		return "bpchar"
	}
	return t.String()
}

func (p *printer) distinct(e *IsDistinct) {
	if c, ok := e.Right.(*Const); ok && c.Typ.ID == catalog.Bool && !c.Value.Null {
		word := pick(e.Negated, " IS ", " IS NOT ") + pick(c.Value.I != 0, "TRUE)", "FALSE)")
		p.list("(", []Expr{e.Left}, "", word, false)
		return
	}
	open, end := "(", ")"
	if e.Negated {
		open, end = "(NOT (", "))"
	}
	p.list(open, []Expr{e.Left, e.Right}, " IS DISTINCT FROM ", end, true)
}

func (p *printer) in(e *InList) {
	for _, item := range e.List {
		if _, ok := item.(*Const); !ok {
			p.inByOne(e)
			return
		}
	}
	arg, typ := e.Arg, e.Arg.Type().Base()
	if typ.ID == catalog.Varchar { // which has no operators of its own
		typ = textType
		arg = &Cast{Arg: arg, Typ: typ}
	}
	p.WriteString("(")
	p.expr(arg, true)
	if len(e.List) == 1 {
		p.WriteString(pick(e.Negated, " <> ", " = "))
		p.expr(e.List[0], true)
		p.WriteString(")")
		return
	}
	p.WriteString(pick(e.Negated, " <> ALL (", " = ANY ("))
	items := make([]string, len(e.List))
	for i, item := range e.List {
		items[i] = arrayItem(item.(*Const))
	}
	p.WriteString(quoteConstant("{"+strings.Join(items, ",")+"}") + "::" + labelType(typ) + "[]))")
}

// inByOne prints a list with expressions as comparisons one by one.
func (p *printer) inByOne(e *InList) {
	list := &BoolOp{Or: !e.Negated}
	for _, item := range e.List {
		c, err := ResolveBinary(pick(e.Negated, "<>", "="), e.Arg, item, -1)
		if err != nil {
			continue
		}
		list.Args = append(list.Args, c)
	}
	if len(list.Args) == 1 {
		p.expr(list.Args[0], false)
		return
	}
	p.expr(list, false)
}

// arrayItem prints a value inside an array literal.
func arrayItem(c *Const) string {
	if c.Value.Null {
		return "NULL"
	}
	s := FormatDatum(c.Typ, c.Value, nil)
	if s != "" && !strings.EqualFold(s, "null") && !strings.ContainsAny(s, " \t\n\v\f\r{},\"\\") {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func (p *printer) caseExpr(e *Case) {
	p.WriteString("CASE")
	for _, w := range e.Whens {
		p.WriteString(" WHEN ")
		p.expr(w.Cond, false)
		p.WriteString(" THEN ")
		p.expr(w.Result, true)
	}
	p.WriteString(" ELSE ")
	if e.Else != nil {
		p.expr(e.Else, true)
	} else {
		p.constant(nullOf(e.Typ))
	}
	p.WriteString(" END")
}

func (p *printer) constant(e *Const) {
	label := labelType(e.Typ.Base())
	if e.Value.Null {
		if e.Typ.ID == catalog.Unknown {
			p.WriteString("NULL")
			return
		}
		p.WriteString("NULL::" + label)
		return
	}
	s := FormatDatum(e.Typ, e.Value, nil)
	switch {
	case e.Typ.ID == catalog.Bool:
		p.WriteString(pick(e.Value.I != 0, "true", "false"))
		return
	case e.Typ.IsInteger():
		// As the literals they were: weft may have given them the type of the other operand.
		small := e.Value.I == int64(int32(e.Value.I))
		if s[0] != '-' && small {
			p.WriteString(s)
			return
		}
		label = pick(small, "integer", "bigint")
	case e.Typ.ID == catalog.Numeric && s[0] >= '0' && s[0] <= '9' && strings.ContainsAny(s, "eE."):
		p.WriteString(s)
		return
	case e.Typ.ID == catalog.Unknown:
		p.WriteString(quoteConstant(s))
		return
	}
	p.WriteString(quoteConstant(s) + "::" + label)
}

// quoteConstant quotes a string constant.
func quoteConstant(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// quoteLiteral is PostgreSQL's quote_literal, which is safe under any setting.
func quoteLiteral(s string) string {
	quoted := quoteConstant(s)
	if strings.Contains(s, `\`) {
		return "E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

// String prints an aggregate call.
func (a *AggCall) String() string {
	var p printer
	switch {
	case len(a.Args) == 0:
		p.WriteString(a.Fn.Name + "(*)")
	case a.Distinct:
		p.list(a.Fn.Name+"(DISTINCT ", a.Args, ", ", ")", true)
	default:
		p.list(a.Fn.Name+"(", a.Args, ", ", ")", true)
	}
	if a.Filter != nil {
		p.list(" FILTER (WHERE ", []Expr{a.Filter}, "", ")", false)
	}
	return p.String()
}
