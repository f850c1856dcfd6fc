package sql

// parenContent reads what follows an opening parenthesis, up to its closing one: a query or an
// expression. Leading parentheses leave open which of the two comes, as in ((SELECT 1) + 1) and
// ((SELECT 1) UNION SELECT 2), so queries in parentheses are read as such first. When query is
// not nil, the caller decides by the next token whether it is the whole content or the first
// operand of an expression.
func (p *parser) parenContent() (query *Select, e Expr) {
	if p.startsQuery() {
		return p.selectStmt(), nil
	}
	if p.kind() != '(' || !p.parensHoldQuery() {
		return nil, p.expr()
	}
	if !p.enter() {
		return nil, nil
	}
	defer p.leave()
	start := p.start()
	p.next()
	query, e = p.parenContent()
	if query != nil && p.kind() == ')' {
		p.next()
		query = p.parenthesised(query, start)
		if !p.continuesQuery() {
			return query, nil
		}
		return p.selectRest(query), nil
	}
	e = p.closeParen(query, e, start)
	return nil, p.exprRest(p.postfix(e, true), precNone+1, false)
}

// closeParen reads the rest of a parenthesised expression whose first operand is query or e: one
// value, or a row when commas follow.
func (p *parser) closeParen(query *Select, e Expr, start int) Expr {
	if query != nil {
		if p.accept(')') {
			return &ScalarSubquery{p.spanFrom(start), query}
		}
		e = p.queryOperand(query)
	}
	if p.kind() != ',' {
		p.expect(')')
		return e
	}
	args := []Expr{e}
	for p.accept(',') {
		args = append(args, p.expr())
	}
	p.expect(')')
	return &Row{p.spanFrom(start), args}
}

// queryOperand reads an expression whose first operand is a query in parentheses.
func (p *parser) queryOperand(query *Select) Expr {
	return p.exprRest(p.postfix(&ScalarSubquery{query.Span, query}, true), precNone+1, false)
}

// startsQuery reports whether the current token starts a query without parentheses.
func (p *parser) startsQuery() bool {
	switch p.kind() {
	case kwSelect, kwWith, kwTable:
		return true
	case kwValues:
		return p.peek(1) == '('
	}
	return false
}

// parensHoldQuery reports whether a query follows the opening parentheses at the current token.
func (p *parser) parensHoldQuery() bool {
	n := 0
	for n <= maxDepth && p.peek(n) == '(' {
		n++
	}
	switch p.peek(n) {
	case kwSelect, kwWith, kwTable:
		return true
	case kwValues:
		return p.peek(n+1) == '('
	}
	return false
}
