package sql

import "github.com/weftdb/weft/internal/sqlerr"

// fromList reads the comma list of a FROM or USING clause.
func (p *parser) fromList() []TableRef {
	list := []TableRef{p.tableRef()}
	for p.accept(',') {
		list = append(list, p.tableRef())
	}
	return list
}

// tableRef reads a FROM item with the joins that follow it.
func (p *parser) tableRef() TableRef {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	return p.joins(p.tablePrimary())
}

// joins reads the joins that follow left. A join's right operand takes the joins that come before
// its ON or USING, as in a JOIN b JOIN c ON … ON ….
func (p *parser) joins(left TableRef) TableRef {
	for links := 0; p.err == nil; links++ {
		j := &Join{Left: left}
		if !p.joinKind(j) {
			return left
		}
		p.link(links)
		switch {
		case j.Kind == CrossJoin || j.Natural:
			j.Right = p.tablePrimary()
		default:
			j.Right = p.tableRefBeforeOn()
			p.joinCondition(j)
		}
		if left != nil {
			j.Span = p.spanFrom(left.SourceSpan().Start)
		}
		left = j
	}
	return left
}

// joinKind reads the words up to JOIN.
func (p *parser) joinKind(j *Join) bool {
	j.Natural = p.kind() == kwNatural
	if j.Natural {
		p.next()
	}
	switch p.kind() {
	case kwCross:
		j.Kind = CrossJoin
		p.next()
		p.expect(kwJoin)
		return !j.Natural || p.crossNatural()
	case kwJoin:
		p.next()
		return true
	case kwInner:
		p.next()
		p.expect(kwJoin)
		return true
	case kwLeft:
		j.Kind = LeftJoin
	case kwRight:
		j.Kind = RightJoin
	case kwFull:
		j.Kind = FullJoin
	default:
		if j.Natural {
			p.unexpectedWanting("JOIN")
		}
		return false
	}
	p.next()
	p.accept(kwOuter)
	p.expect(kwJoin)
	return true
}

func (p *parser) crossNatural() bool {
	p.pos = max(0, p.pos-2)
	p.unexpected()
	return false
}

// tableRefBeforeOn reads the right operand of a join that has a condition: with more joins only
// when their own conditions come first.
func (p *parser) tableRefBeforeOn() TableRef {
	right := p.tablePrimary()
	if k := p.kind(); k == kwOn || k == kwUsing {
		return right
	}
	if !p.enter() {
		return right
	}
	defer p.leave()
	return p.joins(right)
}

// joinCondition reads ON or USING.
func (p *parser) joinCondition(j *Join) {
	switch {
	case p.accept(kwOn):
		j.On = p.expr()
	case p.accept(kwUsing):
		j.Using = p.parenIdents()
		if p.accept(kwAs) {
			j.UsingAlias = p.colID()
		}
	default:
		p.unexpectedWanting("ON or USING")
	}
}

// tablePrimary reads one table, subquery, function or parenthesised join with its alias.
func (p *parser) tablePrimary() TableRef {
	start := p.start()
	lateral := p.accept(kwLateral)
	switch k := p.kind(); {
	case k == '(':
		return p.parenTable(start, lateral)
	case k == kwRows && p.peek(1) == kwFrom && p.peek(2) == '(':
		p.unsupported(start, "ROWS FROM")
		return nil
	case k == kwOnly:
		p.next()
		parens := p.accept('(')
		t := &TableName{Name: p.objectName(), Only: true}
		if parens {
			p.expect(')')
		}
		return p.finishTable(t, start)
	case k.isTypeFunc() && p.peek(1) == '(', p.qualifiedCallAhead(), p.keywordTable():
		return p.funcTable(start, lateral)
	case lateral:
		p.unexpectedWanting("a subquery or function")
		return nil
	}
	return p.finishTable(&TableName{Name: p.objectName()}, start)
}

// qualifiedCallAhead reports whether schema.function( follows.
func (p *parser) qualifiedCallAhead() bool {
	return p.kind().isColID() && p.peek(1) == '.' && p.peek(2).isWord() && p.peek(3) == '('
}

// keywordTable reports whether a function with a syntax of its own is used as a table.
func (p *parser) keywordTable() bool {
	switch p.kind() {
	case kwCurrentDate, kwCurrentCatalog, kwCurrentRole, kwCurrentUser, kwSessionUser, kwUser, kwCurrentTime,
		kwCurrentTimestamp, kwLocaltime, kwLocaltimestamp, kwCast:
		return true
	case kwCoalesce, kwGreatest, kwLeast, kwNullif, kwExtract, kwSubstring, kwPosition, kwOverlay, kwTrim, kwCollation:
		return p.peek(1) == '('
	}
	return false
}

// finishTable reads what may follow a table's name.
func (p *parser) finishTable(t *TableName, start int) TableRef {
	p.accept('*')
	if p.accept2(kwPartition, '(') {
		t.Partition = p.colID()
		p.expect(')')
	}
	t.Alias = p.alias(true)
	if p.kind() == kwTablesample {
		p.unsupported(p.start(), "TABLESAMPLE")
	}
	t.Span = p.spanFrom(start)
	return t
}

// funcTable reads a function call as a table.
func (p *parser) funcTable(start int, lateral bool) TableRef {
	at := p.start()
	e := p.primaryCall()
	call, ok := e.(*FuncCall)
	if !ok {
		if p.err == nil {
			p.unsupported(at, "this expression in FROM")
		}
		return nil
	}
	f := &FuncTable{Lateral: lateral, Call: call}
	f.Ordinality = p.accept2(kwWith, kwOrdinality)
	if p.kind() == kwAs && p.peek(1) == '(' {
		p.next()
		f.ColDefs = p.columnTypes()
	} else {
		f.Alias = p.alias(false)
		if f.Alias.Name.Name != "" && p.kind() == '(' {
			if k := p.peek(2); k == ',' || k == ')' {
				f.Alias.Columns = p.parenIdents()
			} else {
				f.ColDefs = p.columnTypes()
			}
		}
	}
	f.Span = p.spanFrom(start)
	return f
}

// primaryCall reads a call without what may follow an operand of an expression.
func (p *parser) primaryCall() Expr {
	if p.kind() == tokIdent {
		return p.nameExpr()
	}
	return p.keywordExpr()
}

// columnTypes reads (name type, …).
func (p *parser) columnTypes() []ColumnDef {
	p.expect('(')
	var defs []ColumnDef
	for {
		name := p.colID()
		t := p.typeName()
		c := ColumnDef{Name: name, Type: t}
		if p.accept(kwCollate) {
			c.Collation = p.objectNamePtr()
		}
		c.Span = p.spanFrom(name.Start)
		defs = append(defs, c)
		if !p.accept(',') {
			break
		}
	}
	p.expect(')')
	return defs
}

// alias reads [AS] name and, when withColumns is set, (columns).
func (p *parser) alias(withColumns bool) (a Alias) {
	switch {
	case p.accept(kwAs):
		a.Name = p.colID()
	case p.kind() == tokIdent || p.kind() >= firstKeyword && p.kind().isColID() && p.bareAlias():
		a.Name = p.ident()
	default:
		return a
	}
	if withColumns {
		a.Columns = p.optParenIdents()
	}
	return a
}

// bareAlias reports whether the current keyword, which may name a table, is an alias here and not
// the start of what follows.
func (p *parser) bareAlias() bool {
	switch p.kind() {
	case kwSet: // UPDATE t SET
		return false
	case kwMinus:
		return !p.minusFollows()
	}
	return true
}

// parenTable reads what follows an opening parenthesis in FROM: a query or a join.
func (p *parser) parenTable(start int, lateral bool) TableRef {
	query, table := p.parenTableContent()
	if query != nil {
		return p.subqueryTable(query, start, lateral)
	}
	if lateral {
		p.unexpected()
	}
	return table
}

// parenTableContent reads a parenthesised query or table from its opening parenthesis to the
// closing one. As in parenContent, leading parentheses leave open which of the two comes.
func (p *parser) parenTableContent() (query *Select, table TableRef) {
	if !p.enter() {
		return nil, nil
	}
	defer p.leave()
	start := p.start()
	p.expect('(')
	switch {
	case p.startsQuery():
		query = p.selectStmt()
	case p.kind() == '(':
		inner := p.start()
		query, table = p.parenTableContent()
		switch {
		case query == nil:
			table = p.joins(table)
		case p.continuesQuery():
			query = p.selectRest(query)
		case p.kind() != ')':
			table = p.joins(p.subqueryTable(query, inner, false))
			query = nil
		}
	default:
		table = p.tableRef()
	}
	p.expect(')')
	if query != nil {
		return p.parenthesised(query, start), nil
	}
	if j, ok := table.(*Join); ok && j.Alias.Name.Name == "" {
		j.Span = p.spanFrom(start)
		j.Alias = p.alias(true)
		j.Span = p.spanFrom(start)
		return nil, j
	}
	if p.err == nil {
		p.fail(sqlerr.New(sqlerr.SyntaxError, "syntax error at or near \")\"").At(int(p.toks[p.pos-1].start)).
			WithHint("Only a join or a subquery can stand in parentheses."))
	}
	return nil, table
}

// subqueryTable reads the alias of a subquery in FROM.
func (p *parser) subqueryTable(query *Select, start int, lateral bool) TableRef {
	s := &SubqueryTable{Lateral: lateral, Query: query}
	s.Alias = p.alias(true)
	s.Span = p.spanFrom(start)
	return s
}
