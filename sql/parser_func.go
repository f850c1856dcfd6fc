package sql

import "github.com/weftdb/weft/internal/sqlerr"

// funcCall reads the arguments and clauses of a call, the current token being its parenthesis. A
// string after the call makes it a typed literal: numeric(10,2) '1.5'.
func (p *parser) funcCall(name ObjectName) Expr {
	c := &FuncCall{Name: name}
	p.expect('(')
	switch {
	case p.accept('*'):
		c.Star = true
	case p.kind() != ')':
		p.funcArgs(c)
	}
	p.expect(')')
	if p.kind() == tokString {
		return p.literalOfCall(c)
	}
	p.funcClauses(c)
	return c
}

func (p *parser) funcArgs(c *FuncCall) {
	if p.accept(kwDistinct) {
		c.Distinct = true
	} else {
		p.accept(kwAll)
	}
	c.Args = make([]Expr, 0, 2)
	for {
		if p.accept(kwVariadic) {
			c.Variadic = true
		}
		c.Args = append(c.Args, p.funcArg())
		if c.Variadic || !p.accept(',') {
			break
		}
	}
	if p.kind() == kwOrder {
		c.OrderBy = p.orderBy()
	}
}

// funcArg reads an argument, perhaps with a name.
func (p *parser) funcArg() Expr {
	if k := p.peek(1); (k == tokEqualsGreater || k == tokColonEquals) && p.kind().isTypeFunc() {
		name := p.ident()
		p.next()
		value := p.expr()
		return &NamedArg{p.spanFrom(name.Start), name, value}
	}
	return p.expr()
}

// funcClauses reads WITHIN GROUP, FILTER and OVER.
func (p *parser) funcClauses(c *FuncCall) {
	if p.kind() == kwWithin && p.peek(1) == kwGroup {
		at := p.start()
		p.pos += 2
		switch {
		case c.OrderBy != nil:
			p.fail(sqlerr.New(sqlerr.SyntaxError, "cannot use multiple ORDER BY clauses with WITHIN GROUP").At(at))
		case c.Distinct:
			p.fail(sqlerr.New(sqlerr.SyntaxError, "cannot use DISTINCT with WITHIN GROUP").At(at))
		case c.Variadic:
			p.fail(sqlerr.New(sqlerr.SyntaxError, "cannot use VARIADIC with WITHIN GROUP").At(at))
		}
		p.expect('(')
		if p.kind() != kwOrder {
			p.unexpectedWanting("ORDER BY")
		}
		c.OrderBy = p.orderBy()
		c.WithinGroup = true
		p.expect(')')
	}
	if p.kind() == kwFilter && p.peek(1) == '(' {
		p.pos += 2
		p.expect(kwWhere)
		c.Filter = p.expr()
		p.expect(')')
	}
	if p.accept(kwOver) {
		c.Over = p.over()
	}
	c.Span = p.spanFrom(c.Name.Start)
}

// over reads what follows OVER: a window's name or definition.
func (p *parser) over() *WindowSpec {
	if p.kind() == '(' {
		return p.windowSpec()
	}
	name := p.colID()
	return &WindowSpec{Span: name.Span, Ref: name, Bare: true}
}

// windowSpec reads ([name] [PARTITION BY …] [ORDER BY …] [frame]).
func (p *parser) windowSpec() *WindowSpec {
	w := &WindowSpec{}
	start := p.start()
	p.expect('(')
	switch k := p.kind(); k {
	case kwPartition, kwRange, kwRows, kwGroups:
	default:
		if k.isColID() {
			w.Ref = p.ident()
		}
	}
	if p.accept(kwPartition) {
		p.expect(kwBy)
		w.PartitionBy = p.exprList()
	}
	if p.kind() == kwOrder {
		w.OrderBy = p.orderBy()
	}
	w.Frame = p.frame()
	p.expect(')')
	w.Span = p.spanFrom(start)
	return w
}

// frame reads ROWS | RANGE | GROUPS …, if present.
func (p *parser) frame() *Frame {
	f := &Frame{}
	switch p.kind() {
	case kwRows:
	case kwRange:
		f.Mode = FrameRange
	case kwGroups:
		f.Mode = FrameGroups
	default:
		return nil
	}
	start := p.start()
	p.next()
	if p.accept(kwBetween) {
		f.Start = p.frameBound()
		p.expect(kwAnd)
		f.End = p.frameBound()
	} else {
		f.Start = p.frameBound()
		f.End.Kind = CurrentRow
	}
	p.checkFrame(f, start)
	if p.accept(kwExclude) {
		switch {
		case p.accept2(kwCurrent, kwRow):
			f.Exclude = ExcludeCurrentRow
		case p.accept(kwGroup):
			f.Exclude = ExcludeGroup
		case p.accept(kwTies):
			f.Exclude = ExcludeTies
		case p.accept2(kwNo, kwOthers):
		default:
			p.unexpectedWanting("CURRENT ROW, GROUP, TIES or NO OTHERS")
		}
	}
	f.Span = p.spanFrom(start)
	return f
}

func (p *parser) frameBound() (b FrameBound) {
	switch {
	case p.accept2(kwCurrent, kwRow):
		b.Kind = CurrentRow
		return b
	case p.kind() == kwUnbounded && (p.peek(1) == kwPreceding || p.peek(1) == kwFollowing):
		p.next()
		b.Kind = UnboundedFollowing
		if p.next().kind == kwPreceding {
			b.Kind = UnboundedPreceding
		}
		return b
	}
	b.Offset = p.expr()
	switch {
	case p.accept(kwPreceding):
		b.Kind = OffsetPreceding
	case p.accept(kwFollowing):
		b.Kind = OffsetFollowing
	default:
		p.unexpectedWanting("PRECEDING or FOLLOWING")
	}
	return b
}

// checkFrame rejects frames whose end lies before their start.
func (p *parser) checkFrame(f *Frame, at int) {
	message := ""
	switch {
	case f.Start.Kind == UnboundedFollowing:
		message = "frame start cannot be UNBOUNDED FOLLOWING"
	case f.End.Kind == UnboundedPreceding:
		message = "frame end cannot be UNBOUNDED PRECEDING"
	case f.Start.Kind == CurrentRow && f.End.Kind == OffsetPreceding:
		message = "frame starting from current row cannot have preceding rows"
	case f.Start.Kind == OffsetFollowing && f.End.Kind == OffsetPreceding:
		message = "frame starting from following row cannot have preceding rows"
	case f.Start.Kind == OffsetFollowing && f.End.Kind == CurrentRow:
		message = "frame starting from following row cannot end with current row"
	default:
		return
	}
	p.fail(sqlerr.New("42P20", "%s", message).At(at))
}

// literalOfCall turns f(1, 2) before a string into a literal of type f(1, 2).
func (p *parser) literalOfCall(c *FuncCall) Expr {
	t := namedType(c.Name.Schema, c.Name.Name)
	t.Span = p.spanFrom(c.Name.Start)
	for _, a := range c.Args {
		n, ok := a.(*IntLit)
		if !ok || n.Value > 1<<31-1 || n.Value < -(1<<31) {
			p.unexpected()
			return nil
		}
		t.Mods = append(t.Mods, int(n.Value))
	}
	if c.Star || c.Distinct || c.Variadic || c.OrderBy != nil || t.Mods == nil {
		p.unexpected()
		return nil
	}
	p.checkMods(t, t.Start)
	value := p.next().val
	return &TypedLit{p.spanFrom(t.Start), t, value}
}
