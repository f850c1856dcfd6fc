package sql

import "github.com/weftdb/weft/internal/sqlerr"

// createIndex reads what follows CREATE [UNIQUE] INDEX.
func (p *parser) createIndex(c createPrefix) Statement {
	s := &CreateIndex{Unique: c.unique}
	s.Concurrently = p.accept(kwConcurrently)
	s.IfNotExists = p.ifNotExists()
	if p.kind() != kwOn {
		s.Name = p.colID()
	} else if s.IfNotExists {
		p.unexpectedWanting("an index name")
	}
	p.expect(kwOn)
	s.Only = p.accept(kwOnly)
	s.Table = p.objectName()
	if p.accept(kwUsing) {
		s.Method = p.colID().Name
	}
	p.expect('(')
	s.Elems = p.indexElems()
	p.expect(')')
	if p.accept(kwInclude) {
		s.Include = p.parenIdents()
	}
	s.NullsNotDistinct = p.nullsNotDistinct()
	switch {
	case p.accept(kwLocal):
		s.Locality = "local"
	case p.accept(kwGlobal):
		s.Locality = "global"
	}
	if p.accept(kwWith) {
		s.Options = p.options()
	}
	if p.accept(kwTablespace) {
		s.Tablespace = p.colID()
	}
	if p.accept(kwWhere) {
		s.Where = p.expr()
	}
	s.Span = p.spanFrom(c.start)
	return s
}

// nullsNotDistinct reads NULLS [NOT] DISTINCT.
func (p *parser) nullsNotDistinct() bool {
	if p.accept3(kwNulls, kwNot, kwDistinct) {
		return true
	}
	p.accept2(kwNulls, kwDistinct)
	return false
}

// indexElems reads the columns and expressions of an index.
func (p *parser) indexElems() []IndexElem {
	list := []IndexElem{p.indexElem()}
	for p.accept(',') {
		list = append(list, p.indexElem())
	}
	return list
}

func (p *parser) indexElem() (e IndexElem) {
	start := p.start()
	e.Expr = p.keyExpr()
	e.Collation, e.OpClass = p.keyClasses()
	e.Desc, e.Nulls = p.sortDirection()
	e.Span = p.spanFrom(start)
	return e
}

// keyExpr reads a column, a function call or an expression in parentheses, as the keys of indexes
// and partitions are written.
func (p *parser) keyExpr() Expr {
	if p.accept('(') {
		e := p.expr()
		p.expect(')')
		return e
	}
	start := p.start()
	if p.kind().isColID() && p.peek(1) != '(' && !(p.peek(1) == '.' && p.peek(3) == '(') {
		name := p.ident()
		return &ColumnRef{name.Span, p.oneIdent(name)}
	}
	e := p.primaryCall()
	switch e.(type) {
	case *FuncCall, *Extract:
		return e
	}
	if p.err == nil {
		p.fail(sqlerr.New(sqlerr.SyntaxError, "an expression as a key must be in parentheses").At(start))
	}
	return e
}

// keyClasses reads [COLLATE name] [operator class].
func (p *parser) keyClasses() (collation, class *ObjectName) {
	if p.accept(kwCollate) {
		collation = p.objectNamePtr()
	}
	if k := p.kind(); k.isColID() && k != kwNulls {
		class = p.objectNamePtr()
	}
	return collation, class
}

// reindex reads REINDEX {INDEX | TABLE} name; the other forms are refused.
func (p *parser) reindex() Statement {
	start := p.start()
	p.next()
	s := &Reindex{}
	switch {
	case p.accept(kwIndex):
	case p.accept(kwTable):
		s.Table = true
	default:
		p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "only REINDEX INDEX and REINDEX TABLE are supported").At(p.start()))
		return nil
	}
	s.Concurrently = p.accept(kwConcurrently)
	s.Name = p.objectName()
	s.Span = p.spanFrom(start)
	return s
}
