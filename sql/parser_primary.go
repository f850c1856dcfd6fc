package sql

import (
	"strconv"

	"github.com/weftdb/weft/internal/sqlerr"
)

// operand reads prefix operators and the operand they apply to.
func (p *parser) operand() Expr {
	if !p.enter() {
		return nil
	}
	e := p.prefixed()
	p.depth--
	return e
}

func (p *parser) prefixed() Expr {
	t := p.tok()
	switch t.kind {
	case '-', '+':
		p.next()
		operand := p.exprAt(precUnary+1, false)
		if t.kind == '-' {
			if lit := p.negated(operand, int(t.start)); lit != nil {
				return lit
			}
			return &Unary{p.spanFrom(int(t.start)), "-", int(t.start), operand}
		}
		return &Unary{p.spanFrom(int(t.start)), "+", int(t.start), operand}
	case kwNot:
		p.next()
		operand := p.exprAt(precNot+1, false)
		return &Not{p.spanFrom(int(t.start)), operand}
	case tokOp:
		return p.prefixOperator()
	case kwOperator:
		if p.peek(1) == '(' {
			return p.prefixOperator()
		}
	}
	return p.primary()
}

// prefixOperator reads a prefix operator other than a plain sign, and its operand.
func (p *parser) prefixOperator() Expr {
	start := p.start()
	op := p.operatorName()
	operand := p.exprAt(precOp+1, false)
	if op == "-" {
		if lit := p.negated(operand, start); lit != nil {
			return lit
		}
	}
	return &Unary{p.spanFrom(start), op, start, operand}
}

// negated folds a minus sign into a number, as PostgreSQL does, so that the smallest integers can
// be written. It returns nil when operand is no number.
func (p *parser) negated(operand Expr, start int) Expr {
	switch lit := operand.(type) {
	case *IntLit:
		if lit.Value == -1<<63 {
			return &NumericLit{p.spanFrom(start), "9223372036854775808"}
		}
		lit.Value = -lit.Value
		lit.Span = p.spanFrom(start)
		return lit
	case *NumericLit:
		if lit.Text[0] == '-' {
			lit.Text = lit.Text[1:]
		} else {
			lit.Text = "-" + lit.Text
		}
		lit.Span = p.spanFrom(start)
		if lit.Text == "-9223372036854775808" {
			return &IntLit{lit.Span, -1 << 63}
		}
		return lit
	}
	return nil
}

// primary reads an operand with its subscripts and casts.
func (p *parser) primary() Expr {
	t := p.tok()
	switch t.kind {
	case tokIdent:
		return p.postfix(p.nameExpr(), false)
	case tokInteger, tokNumeric:
		return p.postfix(p.number(), false)
	case tokString:
		p.next()
		return p.postfix(&StringLit{p.spanFrom(int(t.start)), t.val}, false)
	case tokParam:
		return p.postfix(p.param(), true)
	case '(':
		p.next()
		query, e := p.parenContent()
		return p.postfix(p.closeParen(query, e, int(t.start)), true)
	case tokBits, tokHexBits:
		p.next()
		return p.postfix(&BitLit{p.spanFrom(int(t.start)), t.kind == tokHexBits, t.val}, false)
	}
	if t.kind < firstKeyword {
		p.unexpected()
		return nil
	}
	return p.postfix(p.keywordExpr(), false)
}

// postfix reads the subscripts, field selections and casts that follow e. Fields can be selected
// only from parameters and parenthesised expressions, and from what was subscripted.
func (p *parser) postfix(e Expr, fields bool) Expr {
	for links := 0; ; links++ {
		switch p.kind() {
		case tokTypecast:
			p.next()
			t := p.typeName()
			e = &Cast{p.spanOf(e), e, t}
			fields = false
		case '[':
			e = p.subscript(e)
			fields = true
		case '.':
			if !fields {
				return e
			}
			p.next()
			if p.accept('*') {
				return &FieldSelect{Span: p.spanOf(e), Expr: e, Star: true}
			}
			field := p.colLabel()
			e = &FieldSelect{Span: p.spanOf(e), Expr: e, Field: field}
		default:
			return e
		}
		p.link(links)
		if p.err != nil {
			return e
		}
	}
}

// subscript reads [index] or [lower:upper].
func (p *parser) subscript(e Expr) Expr {
	p.expect('[')
	s := &Subscript{Expr: e}
	if p.kind() != ':' {
		s.Index = p.expr()
	}
	if p.accept(':') {
		s.Slice = true
		if p.kind() != ']' {
			s.Upper = p.expr()
		}
	}
	p.expect(']')
	s.Span = p.spanOf(e)
	return s
}

// number makes a literal of the current token.
func (p *parser) number() Expr {
	t := p.next()
	span := Span{int(t.start), int(t.end)}
	if t.kind == tokInteger {
		if n, err := strconv.ParseInt(t.val, integerBase(t.val), 64); err == nil {
			return &IntLit{span, n}
		}
		if radix(t.val) != 0 {
			p.fail(sqlerr.New(sqlerr.NumericValueOutOfRange, "value %q is out of range for type bigint", t.val).At(span.Start))
		}
	}
	return &NumericLit{span, t.val}
}

func (p *parser) param() Expr {
	t := p.tok()
	n, err := strconv.Atoi(t.val)
	if err != nil || n < 1 || n > 65535 {
		p.fail(sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $%s", t.val).At(int(t.start)).
			WithHint("Parameters are numbered from $1 to $65535."))
		return nil
	}
	p.next()
	return &Param{Span{int(t.start), int(t.end)}, n}
}

// nameExpr reads what starts with a plain name: a column, a function call, or a typed literal.
func (p *parser) nameExpr() Expr {
	switch p.peek(1) {
	case '(':
		if p.kind().isTypeFunc() {
			return p.funcCall(p.funcName(p.ident()))
		}
	case tokString:
		if p.kind().isTypeFunc() {
			t := p.typeName()
			value := p.next().val
			return &TypedLit{p.spanFrom(t.Start), t, value}
		}
	case '.':
		return p.dotted()
	}
	if !p.kind().isColID() {
		p.nameExpected()
		return nil
	}
	id := p.ident()
	return &ColumnRef{id.Span, p.oneIdent(id)}
}

// dotted reads a.b, a.b.c, a.*, or a function call or typed literal with a qualified name.
func (p *parser) dotted() Expr {
	if !p.kind().isColID() && !p.kind().isTypeFunc() {
		p.nameExpected()
		return nil
	}
	first := p.ident()
	p.next()
	if p.accept('*') {
		return &Star{p.spanFrom(first.Start), p.oneIdent(first)}
	}
	second := p.colLabel()
	switch p.kind() {
	case '(':
		return p.funcCall(ObjectName{p.spanFrom(first.Start), first.Name, second.Name})
	case tokString:
		if p.err == nil {
			p.pos -= 3
		}
		t := p.typeName()
		value := p.next().val
		return &TypedLit{p.spanFrom(t.Start), t, value}
	}
	parts := p.twoIdents(first, second)
	for p.kind() == '.' {
		p.next()
		if p.accept('*') {
			return &Star{p.spanFrom(first.Start), parts}
		}
		parts = append(parts, p.colLabel())
		if len(parts) == 3 && p.kind() == '(' {
			p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "cross-database references are not implemented: %q",
				parts[0].Name+"."+parts[1].Name+"."+parts[2].Name).At(first.Start))
		}
		if len(parts) > 4 {
			p.fail(sqlerr.New(sqlerr.SyntaxError, "improper qualified name (too many dotted names)").At(first.Start))
		}
	}
	return &ColumnRef{p.spanFrom(first.Start), parts}
}

// funcName turns a plain name into a function name.
func (p *parser) funcName(id Ident) ObjectName { return ObjectName{id.Span, "", id.Name} }

// keywordExpr reads an operand that starts with a keyword.
func (p *parser) keywordExpr() Expr {
	t := p.tok()
	start := int(t.start)
	switch t.kind {
	case kwNull:
		p.next()
		return &NullLit{p.spanFrom(start)}
	case kwTrue, kwFalse:
		p.next()
		return &BoolLit{p.spanFrom(start), t.kind == kwTrue}
	case kwDefault:
		p.next()
		return &Default{p.spanFrom(start)}
	case kwCase:
		return p.caseExpr()
	case kwCast:
		if p.peek(1) == '(' {
			return p.cast()
		}
	case kwExists:
		if p.peek(1) == '(' {
			p.next()
			query := p.parenQuery()
			return &Exists{p.spanFrom(start), query}
		}
	case kwArray:
		p.next()
		return p.array(start)
	case kwRow:
		if p.peek(1) == '(' {
			return p.row()
		}
	}
	if e := p.typedLiteral(); e != nil || p.err != nil {
		return e
	}
	if e := p.specialCall(); e != nil || p.err != nil {
		return e
	}
	return p.nameExpr()
}

// caseExpr reads CASE … END.
func (p *parser) caseExpr() Expr {
	start := p.start()
	p.next()
	c := &Case{}
	if p.kind() != kwWhen {
		c.Operand = p.expr()
	}
	c.Whens = make([]When, 0, 2)
	for p.kind() == kwWhen {
		at := p.start()
		p.next()
		cond := p.expr()
		p.expect(kwThen)
		result := p.expr()
		c.Whens = append(c.Whens, When{p.spanFrom(at), cond, result})
	}
	if len(c.Whens) == 0 {
		p.unexpectedWanting("WHEN")
	}
	if p.accept(kwElse) {
		c.Else = p.expr()
	}
	p.expect(kwEnd)
	c.Span = p.spanFrom(start)
	return c
}

// cast reads CAST(expr AS type).
func (p *parser) cast() Expr {
	start := p.start()
	p.pos += 2
	e := p.expr()
	p.expect(kwAs)
	t := p.typeName()
	p.expect(')')
	return &Cast{p.spanFrom(start), e, t}
}

// array reads what follows ARRAY: [elements] or (query).
func (p *parser) array(start int) Expr {
	if p.kind() == '(' {
		query := p.parenQuery()
		return &Array{Span: p.spanFrom(start), Query: query}
	}
	return p.arrayElems(start)
}

// arrayElems reads [a, b, …], where elements may be brackets again.
func (p *parser) arrayElems(start int) Expr {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	p.expect('[')
	a := &Array{}
	for p.kind() != ']' {
		if p.kind() == '[' {
			a.Elems = append(a.Elems, p.arrayElems(p.start()))
		} else {
			a.Elems = append(a.Elems, p.expr())
		}
		if !p.accept(',') {
			break
		}
		if p.kind() == ']' {
			p.unexpected()
		}
	}
	p.expect(']')
	a.Span = p.spanFrom(start)
	return a
}

// row reads ROW(a, b).
func (p *parser) row() Expr {
	start := p.start()
	p.pos += 2
	r := &Row{}
	if p.kind() != ')' {
		r.Args = p.exprList()
	}
	p.expect(')')
	r.Span = p.spanFrom(start)
	return r
}

// exprList reads a comma list of expressions.
func (p *parser) exprList() []Expr {
	list := make([]Expr, 1, 2)
	list[0] = p.expr()
	for p.accept(',') {
		list = append(list, p.expr())
	}
	return list
}
