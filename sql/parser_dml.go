package sql

import "github.com/weftdb/weft/internal/sqlerr"

// insert reads INSERT after its WITH clause.
func (p *parser) insert(with *With, start int) Statement {
	s := &Insert{With: with}
	p.next()
	s.Hints = p.hintList()
	p.expect(kwInto)
	s.Table = p.objectName()
	if p.accept(kwAs) {
		s.Alias = p.colID()
	}
	if p.kind() == '(' && !p.parensHoldQuery() {
		s.Columns = p.parenIdents()
	}
	s.Overriding = p.overriding()
	switch {
	case p.accept2(kwDefault, kwValues):
		s.DefaultValues = true
		if s.Columns != nil && p.err == nil {
			p.fail(syntaxError(p.src, &p.toks[p.pos-2]).WithHint("DEFAULT VALUES takes no column list."))
		}
	case p.startsQuery() || p.kind() == '(' || p.kind() == kwValues:
		s.Query = p.selectStmt()
	default:
		p.unexpectedWanting("VALUES, SELECT or DEFAULT VALUES")
	}
	if p.kind() == kwOn {
		s.OnConflict = p.onConflict()
	}
	s.Returning = p.returning()
	s.Span = p.spanFrom(start)
	return s
}

// overriding reads OVERRIDING USER | SYSTEM VALUE.
func (p *parser) overriding() Overriding {
	if !p.accept(kwOverriding) {
		return OverridingNone
	}
	o := OverridingSystem
	if p.accept(kwUser) {
		o = OverridingUser
	} else {
		p.expect(kwSystem)
	}
	p.expect(kwValue)
	return o
}

func (p *parser) returning() []Target {
	if !p.accept(kwReturning) {
		return nil
	}
	return p.targets()
}

// onConflict reads ON CONFLICT.
func (p *parser) onConflict() *OnConflict {
	c := &OnConflict{}
	start := p.start()
	p.expect2(kwOn, kwConflict)
	switch {
	case p.kind() == '(':
		p.next()
		c.Target = p.indexElems()
		p.expect(')')
		if p.accept(kwWhere) {
			c.TargetWhere = p.expr()
		}
	case p.accept2(kwOn, kwConstraint):
		c.Constraint = p.colID()
	}
	p.expect(kwDo)
	if p.accept(kwNothing) {
		c.Span = p.spanFrom(start)
		return c
	}
	p.expect2(kwUpdate, kwSet)
	c.DoUpdate = true
	c.Set = p.assignments()
	if p.accept(kwWhere) {
		c.Where = p.expr()
	}
	c.Span = p.spanFrom(start)
	if c.Target == nil && c.Constraint.Name == "" && p.err == nil {
		p.fail(sqlerr.New(sqlerr.SyntaxError, "ON CONFLICT DO UPDATE requires inference specification or constraint name").
			At(start).WithHint("For example, ON CONFLICT (column_name)."))
	}
	return c
}

// assignments reads the list of SET.
func (p *parser) assignments() []Assignment {
	list := []Assignment{p.assignment()}
	for p.accept(',') {
		list = append(list, p.assignment())
	}
	return list
}

func (p *parser) assignment() (a Assignment) {
	start := p.start()
	if p.kind() == '(' {
		a.Multi = true
		a.Columns = p.parenIdents()
	} else {
		a.Columns = p.oneIdent(p.colID())
		if k := p.kind(); (k == '.' || k == '[') && p.err == nil {
			p.unsupported(p.start(), "assigning to a field or element of a column")
		}
	}
	p.expect('=')
	at := p.start()
	a.Value = p.expr()
	a.Span = p.spanFrom(start)
	if !a.Multi || p.err != nil {
		return a
	}
	switch v := a.Value.(type) {
	case *ScalarSubquery:
	case *Row:
		if len(v.Args) != len(a.Columns) {
			p.fail(sqlerr.New(sqlerr.SyntaxError, "number of columns does not match number of values").At(at))
		}
	default:
		if len(a.Columns) == 1 {
			a.Value = &Row{v.SourceSpan(), []Expr{v}}
			return a
		}
		p.fail(sqlerr.New(sqlerr.FeatureNotSupported,
			"source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression").At(at))
	}
	return a
}

// dmlTable reads the target of UPDATE, DELETE and MERGE.
func (p *parser) dmlTable() *TableName {
	start := p.start()
	t := &TableName{}
	t.Only = p.accept(kwOnly)
	parens := t.Only && p.accept('(')
	t.Name = p.objectName()
	if parens {
		p.expect(')')
	}
	p.accept('*')
	if p.accept2(kwPartition, '(') {
		t.Partition = p.colID()
		p.expect(')')
	}
	t.Alias = p.alias(false)
	t.Span = p.spanFrom(start)
	return t
}

// where reads an optional WHERE, which may be CURRENT OF cursor.
func (p *parser) where() Expr {
	if !p.accept(kwWhere) {
		return nil
	}
	start := p.start()
	if p.kind() == kwCurrent && p.peek(1) == kwOf {
		p.pos += 2
		cursor := p.colID()
		return &CurrentOf{p.spanFrom(start), cursor}
	}
	return p.expr()
}

// update reads UPDATE after its WITH clause.
func (p *parser) update(with *With, start int) Statement {
	s := &Update{With: with}
	p.next()
	s.Hints = p.hintList()
	s.Table = p.dmlTable()
	p.expect(kwSet)
	s.Set = p.assignments()
	if p.accept(kwFrom) {
		s.From = p.fromList()
	}
	s.Where = p.where()
	s.Returning = p.returning()
	s.Span = p.spanFrom(start)
	return s
}

// delete reads DELETE after its WITH clause.
func (p *parser) delete(with *With, start int) Statement {
	s := &Delete{With: with}
	p.next()
	s.Hints = p.hintList()
	p.expect(kwFrom)
	s.Table = p.dmlTable()
	if p.accept(kwUsing) {
		s.Using = p.fromList()
	}
	s.Where = p.where()
	s.Returning = p.returning()
	s.Span = p.spanFrom(start)
	return s
}

// merge reads MERGE after its WITH clause.
func (p *parser) merge(with *With, start int) Statement {
	s := &Merge{With: with}
	p.next()
	s.Hints = p.hintList()
	p.expect(kwInto)
	s.Target = p.dmlTable()
	p.expect(kwUsing)
	s.Source = p.tableRef()
	p.expect(kwOn)
	s.On = p.expr()
	for p.kind() == kwWhen {
		s.Whens = append(s.Whens, p.mergeWhen())
	}
	if len(s.Whens) == 0 {
		p.unexpected()
	}
	s.Span = p.spanFrom(start)
	return s
}

func (p *parser) mergeWhen() (w MergeWhen) {
	start := p.start()
	p.next()
	w.Matched = !p.accept(kwNot)
	p.expect(kwMatched)
	if p.accept(kwAnd) {
		w.Cond = p.expr()
	}
	p.expect(kwThen)
	switch {
	case p.accept2(kwDo, kwNothing):
	case w.Matched && p.accept(kwDelete):
		w.Action = MergeDelete
	case w.Matched && p.accept2(kwUpdate, kwSet):
		w.Action = MergeUpdate
		w.Set = p.assignments()
	case !w.Matched && p.accept(kwInsert):
		w.Action = MergeInsert
		p.mergeInsert(&w)
	default:
		p.unexpected()
	}
	w.Span = p.spanFrom(start)
	return w
}

func (p *parser) mergeInsert(w *MergeWhen) {
	w.Columns = p.optParenIdents()
	w.Overriding = p.overriding()
	if p.accept2(kwDefault, kwValues) {
		return
	}
	p.expect(kwValues)
	p.expect('(')
	w.Values = p.exprList()
	p.expect(')')
}

// copy reads COPY.
func (p *parser) copy() Statement {
	s := &Copy{}
	start := p.start()
	p.next()
	if p.kind() == '(' {
		p.next()
		s.Query = p.preparable()
		p.expect(')')
	} else {
		p.accept(kwBinary)
		s.Table = p.objectName()
		s.Columns = p.optParenIdents()
	}
	if s.From = p.accept(kwFrom); !s.From {
		p.expect(kwTo)
	} else if s.Query != nil && p.err == nil {
		p.fail(syntaxError(p.src, &p.toks[p.pos-1]).WithHint("A query can only be copied TO a file."))
	}
	s.Program = p.accept(kwProgram)
	switch {
	case !s.Program && s.From && p.accept(kwStdin), !s.Program && !s.From && p.accept(kwStdout):
		s.Stdio = true
	case p.kind() == tokString:
		s.File = p.next().val
	default:
		p.unexpectedWanting("a file name, STDIN or STDOUT")
	}
	p.accept(kwWith)
	if p.kind() == '(' {
		s.Options = p.options()
	} else {
		s.Options = p.oldCopyOptions()
	}
	if p.kind() == kwWhere {
		if !s.From {
			p.fail(sqlerr.New(sqlerr.SyntaxError, "WHERE clause not allowed with COPY TO").At(p.start()))
		}
		p.accept(kwWhere)
		s.Where = p.expr()
	}
	s.Span = p.spanFrom(start)
	return s
}

// oldCopyOptions reads the options of COPY as they were written before version 9: CSV HEADER
// DELIMITER AS ','.
func (p *parser) oldCopyOptions() []Option {
	var list []Option
	for p.err == nil {
		start := p.start()
		o := Option{HasValue: true}
		switch {
		case p.accept(kwBinary):
			o.Name, o.Value = "format", "binary"
		case p.accept(kwCsv):
			o.Name, o.Value = "format", "csv"
		case p.accept(kwFreeze):
			o.Name, o.Value = "freeze", "true"
		case p.accept(kwHeader):
			o.Name, o.Value = "header", "true"
		case p.accept(kwDelimiter):
			o.Name, o.Value = "delimiter", p.asString()
		case p.accept(kwNull):
			o.Name, o.Value = "null", p.asString()
		case p.accept(kwQuote):
			o.Name, o.Value = "quote", p.asString()
		case p.accept(kwEscape):
			o.Name, o.Value = "escape", p.asString()
		case p.accept(kwEncoding):
			o.Name, o.Value = "encoding", p.stringLit()
		case p.accept(kwForce):
			p.forceOption(&o)
		default:
			return list
		}
		o.Span = p.spanFrom(start)
		list = append(list, o)
	}
	return list
}

// asString reads [AS] 'string'.
func (p *parser) asString() string {
	p.accept(kwAs)
	return p.stringLit()
}

// forceOption reads QUOTE, NOT NULL or NULL after FORCE.
func (p *parser) forceOption(o *Option) {
	o.HasValue = false
	switch {
	case p.accept(kwQuote):
		o.Name = "force_quote"
	case p.accept2(kwNot, kwNull):
		o.Name = "force_not_null"
	default:
		p.expect(kwNull)
		o.Name = "force_null"
	}
	if o.Star = p.accept('*'); !o.Star {
		o.Columns = p.identList()
	}
}
