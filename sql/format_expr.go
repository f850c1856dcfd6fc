package sql

import (
	"fmt"
	"strings"
)

// precedence returns how tightly the outermost part of e binds.
func precedence(e Expr) int {
	switch e := e.(type) {
	case *Logic:
		if e.Op == Or {
			return precOr
		}
		return precAnd
	case *Not:
		return precNot
	case *IsNull, *IsBool, *IsDistinct:
		return precIs
	case *Between, *In, *Like:
		return precLike
	case *Binary:
		return operatorPrec(e.Op)
	case *Quantified:
		return operatorPrec(e.Op)
	case *AtTimeZone:
		return precAt
	case *Collate:
		return precCollate
	case *Unary:
		if e.Op == "-" || e.Op == "+" {
			return precUnary
		}
		return precOp
	case *IntLit:
		if e.Value < 0 {
			return precUnary
		}
	case *NumericLit:
		if strings.HasPrefix(e.Text, "-") {
			return precUnary
		}
	case *Cast:
		return precPostfix
	}
	return precPrimary
}

// operatorPrec returns the level of an infix operator.
func operatorPrec(op string) int {
	switch op {
	case "=", "<", ">", "<=", ">=", "<>":
		return precCompare
	case "like", "not like", "ilike", "not ilike":
		return precLike
	case "+", "-":
		return precAdd
	case "*", "/", "%":
		return precMul
	case "^":
		return precPow
	}
	return precOp
}

// operand writes e, in parentheses unless it binds at least as tightly as minPrec.
func (f *formatter) operand(e Expr, minPrec int) {
	if precedence(e) < minPrec {
		f.inParens(e)
		return
	}
	f.expr(e)
}

func (f *formatter) inParens(e Expr) {
	f.w("(")
	f.expr(e)
	f.w(")")
}

// restricted writes e for a place that takes a restricted expression.
func (f *formatter) restricted(e Expr) {
	if !isRestricted(e) {
		f.inParens(e)
		return
	}
	f.expr(e)
}

// isRestricted reports whether e is written without keyword operators outside parentheses.
func isRestricted(e Expr) bool {
	switch e := e.(type) {
	case *Binary:
		return operatorPrec(e.Op) >= precOp && isRestricted(e.Left) && isRestricted(e.Right)
	case *Unary:
		return isRestricted(e.Expr)
	case *Cast:
		return isRestricted(e.Expr)
	}
	return precedence(e) >= precUnary
}

// expr writes any expression.
func (f *formatter) expr(e Expr) {
	switch e := e.(type) {
	case *IntLit:
		f.int(e.Value)
	case *NumericLit:
		f.w(e.Text)
	case *StringLit:
		f.str(e.Value)
	case *BitLit:
		f.w(map[bool]string{false: "B'", true: "X'"}[e.Hex], e.Bits, "'")
	case *BoolLit:
		f.w(map[bool]string{false: "FALSE", true: "TRUE"}[e.Value])
	case *NullLit:
		f.w("NULL")
	case *TypedLit:
		f.typedLit(e)
	case *Param:
		f.w("$")
		f.int(int64(e.Number))
	case *ColumnRef:
		f.dotted(e.Parts)
	case *Star:
		f.dotted(e.Table)
		f.when(e.Table != nil, ".")
		f.w("*")
	case *Default:
		f.w("DEFAULT")
	case *CurrentOf:
		f.w("CURRENT OF ")
		f.ident(e.Cursor)
	default:
		f.operatorExpr(e)
	}
}

func (f *formatter) dotted(parts []Ident) {
	for i, p := range parts {
		f.when(i > 0, ".")
		f.ident(p)
	}
}

func (f *formatter) typedLit(e *TypedLit) {
	t := e.Type
	if t.ArrayDims > 0 {
		f.str(e.Value)
		f.w("::")
		f.typeName(t)
		return
	}
	if t.Name == "interval" && t.Schema == "" && t.Fields != "" {
		f.w("interval ")
		f.str(e.Value)
		f.w(" ", t.Fields)
		f.typeMods(t.Mods)
		return
	}
	f.typeName(t)
	f.w(" ")
	f.str(e.Value)
}

// operatorExpr writes operators and predicates.
func (f *formatter) operatorExpr(e Expr) {
	switch e := e.(type) {
	case *Logic:
		f.logic(e)
	case *Not:
		f.w("NOT ")
		f.operand(e.Expr, precNot)
	case *Unary:
		f.unary(e)
	case *Binary:
		prec := operatorPrec(e.Op)
		left := prec
		if prec == precCompare {
			left++
		}
		f.operand(e.Left, left)
		f.w(" ", e.Op, " ")
		f.operand(e.Right, prec+1)
	case *IsNull:
		f.operand(e.Expr, precIs+1)
		f.w(" IS ")
		f.when(e.Not, "NOT ")
		f.w("NULL")
	case *IsBool:
		f.operand(e.Expr, precIs+1)
		f.w(" IS ")
		f.when(e.Not, "NOT ")
		f.w([]string{"TRUE", "FALSE", "UNKNOWN"}[e.Value])
	case *IsDistinct:
		f.operand(e.Left, precIs+1)
		f.w(" IS ")
		f.when(e.Not, "NOT ")
		f.w("DISTINCT FROM ")
		f.operand(e.Right, precIs+1)
	case *Between:
		f.operand(e.Expr, precLike+1)
		f.when(e.Not, " NOT")
		f.w(" BETWEEN ")
		f.when(e.Symmetric, "SYMMETRIC ")
		f.restricted(e.Low)
		f.w(" AND ")
		f.operand(e.High, precLike+1)
	case *In:
		f.in(e)
	case *Like:
		f.like(e)
	case *AtTimeZone:
		f.operand(e.Expr, precAt)
		f.w(" AT TIME ZONE ")
		f.operand(e.Zone, precAt+1)
	case *Collate:
		f.operand(e.Expr, precCollate)
		f.w(" COLLATE ")
		f.object(e.Collation)
	case *Cast:
		f.operand(e.Expr, precPostfix)
		f.w("::")
		f.typeName(e.Type)
	default:
		f.compoundExpr(e)
	}
}

func (f *formatter) logic(e *Logic) {
	prec, word := precAnd, " AND "
	if e.Op == Or {
		prec, word = precOr, " OR "
	}
	for i, a := range e.Args {
		f.when(i > 0, word)
		f.operand(a, prec+1)
	}
}

// unary writes a prefix operator, apart from an operand that starts with an operator character.
func (f *formatter) unary(e *Unary) {
	minPrec := precUnary + 1
	if e.Op != "-" && e.Op != "+" {
		minPrec = precOp + 1
	}
	if operatorPrec(e.Op) != precOp && minPrec == precOp+1 {
		f.w("OPERATOR(", e.Op, ") ") // not a prefix operator of the grammar
	} else {
		f.w(e.Op)
	}
	at := len(f.buf)
	f.operand(e.Expr, minPrec)
	if at < len(f.buf) && charClass[f.buf[at]]&operator != 0 {
		rest := string(f.buf[at:])
		f.buf = append(append(f.buf[:at], ' '), rest...)
	}
}

func (f *formatter) in(e *In) {
	f.operand(e.Expr, precLike+1)
	f.when(e.Not, " NOT")
	f.w(" IN ")
	if e.Query != nil {
		f.query(e.Query)
		return
	}
	parens(f, e.List, f.expr)
}

func (f *formatter) like(e *Like) {
	f.operand(e.Expr, precLike+1)
	f.when(e.Not, " NOT")
	f.w([]string{" LIKE ", " ILIKE ", " SIMILAR TO "}[e.Kind])
	f.operand(e.Pattern, precLike+1)
	if e.Escape != nil {
		f.w(" ESCAPE ")
		f.operand(e.Escape, precLike+1)
	}
}

// compoundExpr writes subqueries, compound values and calls.
func (f *formatter) compoundExpr(e Expr) {
	switch e := e.(type) {
	case *Exists:
		f.w("EXISTS ")
		f.query(e.Query)
	case *ScalarSubquery:
		f.query(e.Query)
	case *Quantified:
		f.quantified(e)
	case *Case:
		f.caseExpr(e)
	case *Row:
		f.w("ROW")
		parens(f, e.Args, f.expr)
	case *Array:
		f.w("ARRAY")
		if e.Query != nil {
			f.query(e.Query)
			return
		}
		f.w("[")
		list(f, e.Elems, f.expr)
		f.w("]")
	case *Subscript:
		f.subscript(e)
	case *FieldSelect:
		f.fieldSelect(e)
	case *FuncCall:
		f.call(e)
	case *NamedArg:
		f.ident(e.Name)
		f.w(" => ")
		f.expr(e.Value)
	case *Extract:
		f.w("EXTRACT(")
		if plainWord(e.Field) {
			f.w(e.Field)
		} else {
			f.str(e.Field)
		}
		f.w(" FROM ")
		f.expr(e.From)
		f.w(")")
	default:
		panic(fmt.Sprintf("sql: Format of %T", e))
	}
}

func (f *formatter) quantified(e *Quantified) {
	prec := operatorPrec(e.Op)
	if prec == precCompare || prec == precLike {
		prec++
	}
	f.operand(e.Left, prec)
	f.w(" ", strings.ToUpper(e.Op), map[bool]string{false: " ANY ", true: " ALL "}[e.All])
	if e.Query != nil {
		f.query(e.Query)
		return
	}
	f.inParens(e.Array)
}

func (f *formatter) caseExpr(e *Case) {
	f.w("CASE")
	if e.Operand != nil {
		f.w(" ")
		f.expr(e.Operand)
	}
	for _, w := range e.Whens {
		f.w(" WHEN ")
		f.expr(w.Cond)
		f.w(" THEN ")
		f.expr(w.Result)
	}
	if e.Else != nil {
		f.w(" ELSE ")
		f.expr(e.Else)
	}
	f.w(" END")
}

func (f *formatter) subscript(e *Subscript) {
	f.operand(e.Expr, precPrimary)
	f.w("[")
	if e.Index != nil {
		f.expr(e.Index)
	}
	if e.Slice {
		f.w(":")
		if e.Upper != nil {
			f.expr(e.Upper)
		}
	}
	f.w("]")
}

func (f *formatter) fieldSelect(e *FieldSelect) {
	switch base := e.Expr.(type) {
	case *Param, *Subscript:
		f.expr(base)
	case *FieldSelect:
		f.expr(base)
	default:
		f.inParens(base)
	}
	f.w(".")
	if e.Star {
		f.w("*")
		return
	}
	f.ident(e.Field)
}
