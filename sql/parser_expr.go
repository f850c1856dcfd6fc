package sql

import "github.com/weftdb/weft/internal/sqlerr"

// Binding levels of operators, loosest first, as in PostgreSQL's grammar.
const (
	precNone = iota
	precOr
	precAnd
	precNot
	precIs      // IS …, ISNULL, NOTNULL
	precCompare // < > = <= >= <>, not associative
	precLike    // BETWEEN, IN, LIKE, ILIKE, SIMILAR TO, not associative
	precOp      // any other operator
	precAdd
	precMul
	precPow
	precAt // AT TIME ZONE
	precCollate
	precUnary
	precPostfix // subscripts, field selection, ::
	precPrimary
)

// expr reads a full expression (a_expr in PostgreSQL's grammar).
func (p *parser) expr() Expr { return p.exprRest(p.operand(), precNone+1, false) }

// restrictedExpr reads an expression without the operators that start with keywords (b_expr), as
// needed where AND, NOT or COLLATE would be ambiguous.
func (p *parser) restrictedExpr() Expr { return p.exprRest(p.operand(), precNone+1, true) }

// exprAt reads an expression whose infix operators bind at least as tightly as minPrec.
func (p *parser) exprAt(minPrec int, restricted bool) Expr {
	return p.exprRest(p.operand(), minPrec, restricted)
}

// exprRest reads the infix and postfix operators that follow left and bind at least as tightly as
// minPrec.
func (p *parser) exprRest(left Expr, minPrec int, restricted bool) Expr {
	// nonAssoc is the level of the operator just applied when it may not be applied again without
	// parentheses.
	nonAssoc := precNone
	for links := 0; ; links++ {
		prec := p.infixPrec(restricted)
		if prec < minPrec {
			return left
		}
		if prec == nonAssoc {
			p.unexpected()
			return left
		}
		if prec > precAnd { // AND and OR make flat nodes
			p.link(links)
		}
		left, nonAssoc = p.infix(left, prec, restricted)
		if p.err != nil {
			return left
		}
	}
}

// infixPrec returns the level of the infix or postfix operator at the current token, or precNone.
func (p *parser) infixPrec(restricted bool) int {
	switch p.kind() {
	case '=', '<', '>', tokLessEquals, tokGreaterEquals, tokNotEquals:
		return precCompare
	case '+', '-':
		return precAdd
	case '*', '/', '%':
		return precMul
	case '^':
		return precPow
	case tokOp:
		return precOp
	case kwOperator:
		if p.peek(1) == '(' {
			return precOp
		}
	case kwIs:
		if !restricted || p.distinctFrom() {
			return precIs
		}
	case kwAt:
		if p.peek(1) == kwTime && p.peek(2) == kwZone {
			return precAt
		}
	}
	if restricted {
		return precNone
	}
	return p.keywordPrec()
}

// distinctFrom reports whether the current IS is followed by [NOT] DISTINCT FROM.
func (p *parser) distinctFrom() bool {
	return p.peek(1) == kwDistinct || p.peek(1) == kwNot && p.peek(2) == kwDistinct
}

// keywordPrec is infixPrec for the operators that a restricted expression lacks.
func (p *parser) keywordPrec() int {
	switch p.kind() {
	case kwAnd:
		return precAnd
	case kwOr:
		return precOr
	case kwIsnull, kwNotnull:
		return precIs
	case kwBetween, kwIn, kwLike, kwIlike, kwOverlaps:
		return precLike
	case kwSimilar: // otherwise SUBSTRING(a SIMILAR b …)
		if p.peek(1) == kwTo {
			return precLike
		}
	case kwNot:
		switch p.peek(1) {
		case kwBetween, kwIn, kwLike, kwIlike, kwSimilar:
			return precLike
		}
	case kwCollate:
		return precCollate
	}
	return precNone
}

// infix applies the operator at the current token to left. It returns the operator's level when
// the operator is not associative and ends in an operand.
func (p *parser) infix(left Expr, prec int, restricted bool) (e Expr, nonAssoc int) {
	switch p.kind() {
	case kwAnd:
		return p.logic(left, And, prec), precNone
	case kwOr:
		return p.logic(left, Or, prec), precNone
	case kwIs:
		return p.is(left, restricted)
	case kwIsnull, kwNotnull:
		not := p.next().kind == kwNotnull
		return &IsNull{p.spanOf(left), left, not}, precNone
	case kwNot, kwBetween, kwIn, kwLike, kwIlike, kwSimilar:
		return p.predicate(left)
	case kwOverlaps:
		return p.overlaps(left), precNone
	case kwCollate:
		p.next()
		name := p.objectName()
		return &Collate{p.spanOf(left), left, name}, precNone
	case kwAt:
		p.pos += 3
		zone := p.exprAt(precAt+1, restricted)
		return &AtTimeZone{p.spanOf(left), left, zone}, precNone
	}
	at := p.start()
	op := p.operatorName()
	if k := p.kind(); (k == kwAny || k == kwSome || k == kwAll) && p.peek(1) == '(' {
		return p.quantified(left, op, at), precNone
	}
	right := p.exprAt(prec+1, restricted)
	if prec == precCompare {
		nonAssoc = precCompare
	}
	return &Binary{p.spanOf(left), op, at, left, right}, nonAssoc
}

// spanOf returns the span from the start of left to the last token read.
func (p *parser) spanOf(left Expr) Span {
	if left == nil {
		return Span{}
	}
	return p.spanFrom(left.SourceSpan().Start)
}

// logic reads the right operand of AND or OR, extending left when it is a chain of the same
// operator.
func (p *parser) logic(left Expr, op BoolOp, prec int) Expr {
	p.next()
	right := p.exprAt(prec+1, false)
	if l, ok := left.(*Logic); ok && l.Op == op {
		l.Args = append(l.Args, right)
		l.Span = p.spanFrom(l.Start)
		return l
	}
	return &Logic{p.spanOf(left), op, []Expr{left, right}}
}

// operatorName reads an infix or prefix operator, also in the form OPERATOR(schema.op).
func (p *parser) operatorName() string {
	t := p.next()
	switch t.kind {
	case tokOp:
		return t.val
	case tokLessEquals:
		return "<="
	case tokGreaterEquals:
		return ">="
	case tokNotEquals:
		return "<>"
	case kwOperator:
		p.expect('(')
		if p.kind().isColID() {
			at := p.start()
			if schema := p.ident(); schema.Name != "pg_catalog" {
				p.unsupported(at, "an operator of another schema than pg_catalog")
			}
			p.expect('.')
		}
		switch k := p.kind(); k {
		case '+', '-', '*', '/', '%', '^', '<', '>', '=', tokOp, tokLessEquals, tokGreaterEquals, tokNotEquals:
		default:
			p.unexpected()
			return ""
		}
		op := p.operatorName()
		p.expect(')')
		return op
	case '+':
		return "+"
	case '-':
		return "-"
	case '*':
		return "*"
	case '/':
		return "/"
	case '%':
		return "%"
	case '^':
		return "^"
	case '<':
		return "<"
	case '>':
		return ">"
	}
	return "="
}

// is reads IS [NOT] NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM.
func (p *parser) is(left Expr, restricted bool) (Expr, int) {
	p.next()
	not := p.accept(kwNot)
	t := p.next()
	switch t.kind {
	case kwNull:
		return &IsNull{p.spanOf(left), left, not}, precNone
	case kwTrue:
		return &IsBool{p.spanOf(left), left, True, not}, precNone
	case kwFalse:
		return &IsBool{p.spanOf(left), left, False, not}, precNone
	case kwUnknown:
		return &IsBool{p.spanOf(left), left, Unknown, not}, precNone
	case kwDistinct:
		p.expect(kwFrom)
		right := p.exprAt(precIs+1, restricted)
		return &IsDistinct{p.spanOf(left), left, right, not}, precIs
	}
	if t.kind != tokEOF {
		p.pos--
	}
	p.unexpectedWanting("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM")
	return left, precNone
}

// predicate reads [NOT] BETWEEN, IN, LIKE, ILIKE or SIMILAR TO.
func (p *parser) predicate(left Expr) (Expr, int) {
	at := p.start()
	not := p.accept(kwNot)
	switch t := p.next(); t.kind {
	case kwBetween:
		symmetric := p.accept(kwSymmetric)
		if !symmetric {
			p.accept(kwAsymmetric)
		}
		low := p.restrictedExpr()
		p.expect(kwAnd)
		high := p.exprAt(precLike+1, false)
		return &Between{p.spanOf(left), left, low, high, not, symmetric}, precLike
	case kwIn:
		return p.in(left, not), precNone
	case kwLike:
		return p.like(left, PlainLike, not, at)
	case kwIlike:
		return p.like(left, ILike, not, at)
	}
	p.expect(kwTo)
	return p.like(left, SimilarTo, not, at)
}

// in reads the list or subquery of IN.
func (p *parser) in(left Expr, not bool) Expr {
	if !p.enter() {
		return left
	}
	defer p.leave()
	p.expect('(')
	query, first := p.parenContent()
	if query != nil && p.kind() == ')' {
		p.next()
		return &In{Span: p.spanOf(left), Expr: left, Query: query, Not: not}
	}
	if query != nil {
		first = p.queryOperand(query)
	}
	list := []Expr{first}
	for p.accept(',') {
		list = append(list, p.expr())
	}
	p.expect(')')
	return &In{Span: p.spanOf(left), Expr: left, List: list, Not: not}
}

// like reads the pattern and escape of a LIKE operator, or its ANY or ALL form.
func (p *parser) like(left Expr, like LikeKind, not bool, at int) (Expr, int) {
	if k := p.kind(); (k == kwAny || k == kwSome || k == kwAll) && p.peek(1) == '(' && like != SimilarTo {
		op := "like"
		if like == ILike {
			op = "ilike"
		}
		if not {
			op = "not " + op
		}
		return p.quantified(left, op, at), precNone
	}
	e := &Like{Kind: like, Expr: left, Not: not}
	e.Pattern = p.exprAt(precLike+1, false)
	if p.accept(kwEscape) {
		e.Escape = p.exprAt(precLike+1, false)
	}
	e.Span = p.spanOf(left)
	return e, precLike
}

// quantified reads ANY | SOME | ALL (query or array).
func (p *parser) quantified(left Expr, op string, at int) Expr {
	if !p.enter() {
		return left
	}
	defer p.leave()
	q := &Quantified{Op: op, OpPos: at, Left: left}
	q.All = p.next().kind == kwAll
	p.expect('(')
	query, e := p.parenContent()
	switch {
	case query == nil:
		q.Array = e
	case p.kind() == ')':
		q.Query = query
	default:
		q.Array = p.queryOperand(query)
	}
	p.expect(')')
	q.Span = p.spanOf(left)
	return q
}

// overlaps reads (a, b) OVERLAPS (c, d).
func (p *parser) overlaps(left Expr) Expr {
	at := p.start()
	p.next()
	right := p.exprAt(precLike+1, false)
	l, ok1 := left.(*Row)
	r, ok2 := right.(*Row)
	if p.err == nil && !(ok1 && ok2) {
		p.fail(sqlerr.New(sqlerr.SyntaxError, "syntax error at or near \"%s\"", p.src[at:at+len("overlaps")]).At(at).
			WithHint("OVERLAPS compares two pairs: (a, b) OVERLAPS (c, d)."))
	}
	if p.err != nil {
		return left
	}
	if len(l.Args) != 2 || len(r.Args) != 2 {
		p.fail(sqlerr.New(sqlerr.SyntaxError, "wrong number of parameters on OVERLAPS expression").At(at))
		return left
	}
	args := []Expr{l.Args[0], l.Args[1], r.Args[0], r.Args[1]}
	return &FuncCall{Span: p.spanOf(left), Name: ObjectName{Name: "overlaps"}, Args: args}
}
