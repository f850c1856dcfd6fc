package sql

import "github.com/weftdb/weft/internal/sqlerr"

// selectStmt reads a query with its WITH, ORDER BY, LIMIT and locking clauses.
func (p *parser) selectStmt() *Select {
	start := p.start()
	var with *With
	if p.kind() == kwWith {
		with = p.with()
	}
	return p.queryAfterWith(with, start)
}

// queryAfterWith reads a query whose WITH clause was read already.
func (p *parser) queryAfterWith(with *With, start int) *Select {
	if !p.enter() {
		return &Select{}
	}
	defer p.leave()
	return p.finishSelect(with, p.setOps(p.queryPrimary(), 1), start)
}

// selectRest reads what may follow the parenthesised query left: set operations and the clauses of
// the whole.
func (p *parser) selectRest(left *Select) *Select {
	return p.finishSelect(nil, p.setOps(operandBody(left), 1), left.Start)
}

// operandBody is a parenthesised query as an operand: without its wrapper when that says nothing.
func operandBody(s *Select) SelectBody {
	if s.With == nil && s.OrderBy == nil && s.Limit == nil && s.Offset == nil && s.Locking == nil && s.Body != nil {
		return s.Body
	}
	return s
}

// parenthesised gives the query that was opened by a parenthesis at start its full span.
func (p *parser) parenthesised(query *Select, start int) *Select {
	query.Span = p.spanFrom(start)
	return query
}

// parenQuery reads a query in parentheses.
func (p *parser) parenQuery() *Select {
	p.expect('(')
	query := p.selectStmt()
	p.expect(')')
	return query
}

// continuesQuery reports whether the token after a parenthesised query makes it the operand of a
// larger query.
func (p *parser) continuesQuery() bool {
	switch p.kind() {
	case kwUnion, kwIntersect, kwExcept, kwOrder, kwLimit, kwOffset, kwFetch, kwFor:
		return true
	case kwMinus:
		return p.minusFollows()
	}
	return false
}

// minusFollows reports whether MINUS, which is no reserved word, is a set operation here.
func (p *parser) minusFollows() bool {
	switch p.peek(1) {
	case kwSelect, kwAll, kwDistinct, kwTable, '(', kwValues:
		return true
	}
	return false
}

// setOps reads UNION, EXCEPT (level 1) and INTERSECT (level 2) operations after left.
func (p *parser) setOps(left SelectBody, minPrec int) SelectBody {
	for links := 0; ; links++ {
		op := SetOp{Left: left}
		prec := 1
		switch k := p.kind(); {
		case k == kwUnion:
		case k == kwExcept, k == kwMinus && p.minusFollows():
			op.Kind = Except
		case k == kwIntersect:
			op.Kind = Intersect
			prec = 2
		default:
			return left
		}
		if prec < minPrec {
			return left
		}
		p.link(links)
		p.next()
		op.All = p.accept(kwAll)
		if !op.All {
			p.accept(kwDistinct)
		}
		op.Right = p.setOps(p.queryPrimary(), prec+1)
		if p.err != nil {
			return left
		}
		op.Span = p.spanFrom(left.SourceSpan().Start)
		left = &op
	}
}

// queryPrimary reads SELECT, VALUES, TABLE or a query in parentheses.
func (p *parser) queryPrimary() SelectBody {
	switch p.kind() {
	case kwSelect:
		return p.selectCore()
	case kwValues:
		return p.values()
	case kwTable:
		start := p.start()
		p.next()
		only := p.accept(kwOnly)
		name := p.objectName()
		span := p.spanFrom(start)
		return &SelectCore{
			Span:    span,
			Targets: []Target{{Span: span, Expr: &Star{Span: span}}},
			From:    []TableRef{&TableName{Span: name.Span, Name: name, Only: only}},
		}
	case '(':
		start := p.start()
		return operandBody(p.parenthesised(p.parenQuery(), start))
	}
	p.unexpected()
	return &SelectCore{}
}

// finishSelect reads ORDER BY, LIMIT, OFFSET, FETCH and locking clauses and makes the Select.
func (p *parser) finishSelect(with *With, body SelectBody, start int) *Select {
	s, nested := body.(*Select)
	if !nested {
		s = &Select{Body: body}
	}
	if with != nil {
		if s.With != nil {
			p.fail(sqlerr.New(sqlerr.SyntaxError, "multiple WITH clauses not allowed").At(with.Start))
		}
		s.With = with
	}
	if p.kind() == kwOrder {
		if s.OrderBy != nil {
			p.fail(sqlerr.New(sqlerr.SyntaxError, "multiple ORDER BY clauses not allowed").At(p.start()))
		}
		s.OrderBy = p.orderBy()
	}
	for p.limitClause(s) {
	}
	s.Span = p.spanFrom(start)
	return s
}

// limitClause reads one of LIMIT, OFFSET, FETCH FIRST and FOR UPDATE.
func (p *parser) limitClause(s *Select) bool {
	at := p.start()
	switch p.kind() {
	case kwLimit:
		p.next()
		if s.Limit != nil {
			p.fail(sqlerr.New(sqlerr.SyntaxError, "multiple LIMIT clauses not allowed").At(at))
		}
		if !p.accept(kwAll) {
			s.Limit = p.expr()
		}
		if p.kind() == ',' && p.err == nil {
			p.fail(sqlerr.New(sqlerr.SyntaxError, "LIMIT #,# syntax is not supported").At(at).
				WithHint("Use separate LIMIT and OFFSET clauses."))
		}
	case kwOffset:
		p.next()
		if s.Offset != nil {
			p.fail(sqlerr.New(sqlerr.SyntaxError, "multiple OFFSET clauses not allowed").At(at))
		}
		s.Offset = p.expr()
		if !p.accept(kwRow) {
			p.accept(kwRows)
		}
	case kwFetch:
		if k := p.peek(1); k != kwFirst && k != kwNext {
			return false
		}
		p.pos += 2
		if s.Limit != nil {
			p.fail(sqlerr.New(sqlerr.SyntaxError, "multiple LIMIT clauses not allowed").At(at))
		}
		p.fetchFirst(s, at)
	case kwFor:
		s.Locking = append(s.Locking, p.locking()...)
	default:
		return false
	}
	return p.err == nil
}

// fetchFirst reads FETCH FIRST's count and ROWS ONLY or WITH TIES.
func (p *parser) fetchFirst(s *Select, at int) {
	if k := p.kind(); k == kwRow || k == kwRows {
		s.Limit = &IntLit{Span{at, at}, 1}
	} else {
		s.Limit = p.operand()
	}
	if !p.accept(kwRow) {
		p.expect(kwRows)
	}
	if p.accept2(kwWith, kwTies) {
		s.WithTies = true
		if s.OrderBy == nil && p.err == nil {
			p.fail(sqlerr.New(sqlerr.SyntaxError, "WITH TIES cannot be specified without ORDER BY clause").At(at))
		}
		return
	}
	p.expect(kwOnly)
}

// locking reads FOR UPDATE and the weaker clauses; FOR READ ONLY is none.
func (p *parser) locking() []Locking {
	start := p.start()
	p.next()
	var l Locking
	switch {
	case p.accept(kwUpdate):
		l.Strength = ForUpdate
	case p.accept(kwShare):
		l.Strength = ForShare
	case p.accept3(kwNo, kwKey, kwUpdate):
		l.Strength = ForNoKeyUpdate
	case p.accept2(kwKey, kwShare):
		l.Strength = ForKeyShare
	case p.accept2(kwRead, kwOnly):
		return nil
	default:
		p.unexpectedWanting("UPDATE, NO KEY UPDATE, SHARE or KEY SHARE")
		return nil
	}
	if p.accept(kwOf) {
		l.Of = p.objectNames()
	}
	switch {
	case p.accept(kwNowait):
		l.Wait = LockNoWait
	case p.accept2(kwSkip, kwLocked):
		l.Wait = LockSkip
	}
	l.Span = p.spanFrom(start)
	return []Locking{l}
}

// orderBy reads ORDER BY keys.
func (p *parser) orderBy() []OrderItem {
	p.expect2(kwOrder, kwBy)
	items := []OrderItem{p.orderItem()}
	for p.accept(',') {
		items = append(items, p.orderItem())
	}
	return items
}

func (p *parser) orderItem() (o OrderItem) {
	start := p.start()
	o.Expr = p.expr()
	if p.kind() == kwUsing {
		p.unsupported(p.start(), "ORDER BY … USING")
	}
	o.Desc, o.Nulls = p.sortDirection()
	o.Span = p.spanFrom(start)
	return o
}

// sortDirection reads [ASC | DESC] [NULLS FIRST | LAST].
func (p *parser) sortDirection() (desc bool, nulls NullsOrder) {
	if !p.accept(kwAsc) {
		desc = p.accept(kwDesc)
	}
	switch {
	case p.accept2(kwNulls, kwFirst):
		nulls = NullsFirst
	case p.accept2(kwNulls, kwLast):
		nulls = NullsLast
	}
	return desc, nulls
}

// with reads WITH [RECURSIVE] and its tables.
func (p *parser) with() *With {
	w := &With{}
	start := p.start()
	p.expect(kwWith)
	w.Recursive = p.accept(kwRecursive)
	for {
		w.CTEs = append(w.CTEs, p.cte())
		if !p.accept(',') {
			break
		}
	}
	w.Span = p.spanFrom(start)
	return w
}

func (p *parser) cte() (c CTE) {
	c.Name = p.colID()
	c.Columns = p.optParenIdents()
	p.expect(kwAs)
	switch {
	case p.accept(kwMaterialized):
		c.Materialized = Yes
	case p.accept2(kwNot, kwMaterialized):
		c.Materialized = No
	}
	p.expect('(')
	if p.enter() {
		c.Query = p.preparable()
		p.leave()
	}
	p.expect(')')
	if k := p.kind(); (k == kwSearch || k == kwCycle) && p.err == nil {
		p.unsupported(p.start(), "SEARCH or CYCLE of a recursive query")
	}
	c.Span = p.spanFrom(c.Name.Start)
	return c
}

// preparable reads a query or a statement that changes rows.
func (p *parser) preparable() Statement {
	start := p.start()
	var with *With
	if p.kind() == kwWith {
		with = p.with()
	}
	switch p.kind() {
	case kwInsert:
		return p.insert(with, start)
	case kwUpdate:
		return p.update(with, start)
	case kwDelete:
		return p.delete(with, start)
	case kwMerge:
		return p.merge(with, start)
	case kwSelect, kwValues, kwTable, '(':
		return p.queryAfterWith(with, start)
	}
	p.unexpected()
	return nil
}

// values reads VALUES rows.
func (p *parser) values() *Values {
	start := p.start()
	p.expect(kwValues)
	v := &Values{}
	for {
		at := p.start()
		p.expect('(')
		row := p.exprList()
		p.expect(')')
		if p.err == nil && len(v.Rows) > 0 && len(row) != len(v.Rows[0]) {
			p.fail(sqlerr.New(sqlerr.SyntaxError, "VALUES lists must all be the same length").At(at))
		}
		v.Rows = append(v.Rows, row)
		if !p.accept(',') {
			break
		}
	}
	v.Span = p.spanFrom(start)
	return v
}
