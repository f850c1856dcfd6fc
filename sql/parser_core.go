package sql

import "github.com/weftdb/weft/internal/sqlerr"

// selectCore reads SELECT up to WINDOW.
func (p *parser) selectCore() *SelectCore {
	c := &SelectCore{}
	start := p.start()
	p.expect(kwSelect)
	c.Hints = p.hintList()
	if p.accept(kwDistinct) {
		c.Distinct = true
		if p.accept(kwOn) {
			p.expect('(')
			c.DistinctOn = p.exprList()
			p.expect(')')
		}
	} else {
		p.accept(kwAll)
	}
	if p.startsTarget() || c.Distinct {
		c.Targets = p.targets()
	}
	if p.kind() == kwInto {
		p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "SELECT INTO is not supported").At(p.start()).
			WithHint("Use CREATE TABLE … AS SELECT."))
	}
	if p.accept(kwFrom) {
		c.From = p.fromList()
	}
	if p.accept(kwWhere) {
		c.Where = p.expr()
	}
	if p.accept2(kwGroup, kwBy) {
		if c.GroupDistinct = p.accept(kwDistinct); !c.GroupDistinct {
			p.accept(kwAll)
		}
		c.GroupBy = p.groupItems()
	}
	if p.accept(kwHaving) {
		c.Having = p.expr()
	}
	if p.accept(kwWindow) {
		c.Windows = p.windowDefs()
	}
	c.Span = p.spanFrom(start)
	return c
}

// startsTarget reports whether a target list begins; it may be empty.
func (p *parser) startsTarget() bool {
	switch k := p.kind(); k {
	case tokEOF, ')', kwFrom, kwWhere, kwGroup, kwHaving, kwWindow, kwUnion, kwIntersect, kwExcept, kwOrder, kwLimit,
		kwOffset, kwFetch, kwFor, kwInto, kwWith, kwOn, kwReturning:
		return false
	default:
		return true
	}
}

// targets reads a target list or RETURNING list.
func (p *parser) targets() []Target {
	first := p.target()
	if p.kind() != ',' {
		return []Target{first}
	}
	list := append(make([]Target, 0, 6), first)
	for p.accept(',') {
		list = append(list, p.target())
	}
	return list
}

func (p *parser) target() (t Target) {
	start := p.start()
	if p.kind() == '*' {
		p.next()
		t.Expr = &Star{Span: p.spanFrom(start)}
		t.Span = p.spanFrom(start)
		return t
	}
	t.Expr = p.expr()
	if p.accept(kwAs) {
		t.Alias = p.colLabel()
	} else if k := p.kind(); k == tokIdent || k >= firstKeyword && p.bareLabel(k) {
		t.Alias = p.ident()
	}
	t.Span = p.spanFrom(start)
	return t
}

// bareLabel reports whether the keyword may name a column without AS here.
func (p *parser) bareLabel(k kind) bool {
	if k == kwMinus && p.minusFollows() {
		return false
	}
	return !keywordTable[k-firstKeyword].needsAs
}

// groupItems reads the items of GROUP BY.
func (p *parser) groupItems() []GroupItem {
	items := []GroupItem{p.groupItem()}
	for p.accept(',') {
		items = append(items, p.groupItem())
	}
	return items
}

func (p *parser) groupItem() (g GroupItem) {
	start := p.start()
	switch k := p.kind(); {
	case k == kwRollup && p.peek(1) == '(':
		g.Kind = GroupRollup
		p.next()
		g.Items = p.nestedGroupItems()
	case k == kwCube && p.peek(1) == '(':
		g.Kind = GroupCube
		p.next()
		g.Items = p.nestedGroupItems()
	case k == kwGrouping && p.peek(1) == kwSets:
		g.Kind = GroupSets
		p.pos += 2
		g.Items = p.nestedGroupItems()
	case k == '(' && p.peek(1) == ')':
		p.pos += 2
	default:
		e := p.expr()
		if row, ok := e.(*Row); ok && k == '(' {
			g.Exprs = row.Args
		} else {
			g.Exprs = []Expr{e}
		}
	}
	g.Span = p.spanFrom(start)
	return g
}

func (p *parser) nestedGroupItems() []GroupItem {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	p.expect('(')
	items := p.groupItems()
	p.expect(')')
	return items
}

// windowDefs reads the definitions of a WINDOW clause.
func (p *parser) windowDefs() []WindowDef {
	var defs []WindowDef
	for {
		name := p.colID()
		p.expect(kwAs)
		spec := p.windowSpec()
		defs = append(defs, WindowDef{p.spanFrom(name.Start), name, spec})
		if !p.accept(',') {
			return defs
		}
	}
}
