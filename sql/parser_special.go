package sql

// specialCall reads the functions with a syntax of their own. It returns nil when the current
// keyword starts none.
func (p *parser) specialCall() Expr {
	t := p.tok()
	switch t.kind {
	case kwCurrentDate, kwCurrentCatalog, kwCurrentRole, kwCurrentUser, kwSessionUser, kwUser:
		return p.keywordCall(false)
	case kwCurrentTime, kwCurrentTimestamp, kwLocaltime, kwLocaltimestamp:
		return p.keywordCall(true)
	case kwCurrentSchema:
		if p.peek(1) != '(' {
			return p.keywordCall(false)
		}
	case kwCollation:
		if p.peek(1) == kwFor && p.peek(2) == '(' {
			return p.simpleCall(2, "pg_collation_for")
		}
	}
	if p.peek(1) != '(' {
		return nil
	}
	switch t.kind {
	case kwCoalesce, kwGreatest, kwLeast, kwNullif, kwGrouping:
		return p.simpleCall(1, t.val)
	case kwExtract:
		return p.extract()
	case kwSubstring:
		return p.substring()
	case kwPosition:
		return p.position()
	case kwOverlay:
		return p.overlay()
	case kwTrim:
		return p.trim()
	}
	return nil
}

// keywordCall reads CURRENT_DATE and the like, with a precision where one is allowed.
func (p *parser) keywordCall(precision bool) Expr {
	t := p.next()
	span := Span{int(t.start), int(t.end)}
	c := &FuncCall{Name: ObjectName{span, "", t.val}, Keyword: true}
	if precision && p.kind() == '(' && p.peek(1) == tokInteger {
		p.next()
		c.Args = []Expr{p.number()}
		p.expect(')')
	}
	c.Span = p.spanFrom(span.Start)
	return c
}

// simpleCall reads a parenthesised argument list after a keyword of skip tokens.
func (p *parser) simpleCall(skip int, name string) Expr {
	start := p.start()
	p.pos += skip
	c := &FuncCall{Name: ObjectName{p.spanFrom(start), "", name}}
	p.expect('(')
	c.Args = p.exprList()
	if name == "nullif" && len(c.Args) != 2 || name == "pg_collation_for" && len(c.Args) != 1 {
		p.unexpected()
	}
	p.expect(')')
	c.Span = p.spanFrom(start)
	return c
}

// specialName reads the keyword of a special call and the parenthesis after it.
func (p *parser) specialName(c *FuncCall, name string) {
	t := p.next()
	p.next()
	c.Name = ObjectName{Span{int(t.start), int(t.end)}, "", name}
}

// extract reads EXTRACT(field FROM expr).
func (p *parser) extract() Expr {
	start := p.start()
	p.pos += 2
	e := &Extract{}
	switch t := p.tok(); {
	case t.kind == tokString || t.kind.isWord():
		p.next()
		e.Field = lowered(t.val)
	default:
		p.unexpectedWanting("a field name")
	}
	p.expect(kwFrom)
	e.From = p.expr()
	p.expect(')')
	e.Span = p.spanFrom(start)
	return e
}

// substring reads SUBSTRING with FROM and FOR in either order, SIMILAR, or plain arguments.
func (p *parser) substring() Expr {
	c := &FuncCall{}
	p.specialName(c, "substring")
	if p.kind() != ')' {
		p.substringArgs(c)
	}
	p.expect(')')
	c.Span = p.spanFrom(c.Name.Start)
	return c
}

func (p *parser) substringArgs(c *FuncCall) {
	c.Args = append(make([]Expr, 0, 3), p.funcArg())
	switch {
	case p.kind() == ',':
		for p.accept(',') {
			c.Args = append(c.Args, p.funcArg())
		}
	case p.accept(kwFrom):
		c.Args = append(c.Args, p.expr())
		if p.accept(kwFor) {
			c.Args = append(c.Args, p.expr())
		}
	case p.kind() == kwFor:
		at := p.start()
		p.next()
		length := p.expr()
		var from Expr = &IntLit{Span{at, at}, 1}
		if p.accept(kwFrom) {
			from = p.expr()
		}
		c.Args = append(c.Args, from, length)
	case p.accept(kwSimilar):
		c.Args = append(c.Args, p.expr())
		p.expect(kwEscape)
		c.Args = append(c.Args, p.expr())
	}
}

// position reads POSITION(sub IN string) as position(string, sub).
func (p *parser) position() Expr {
	c := &FuncCall{}
	p.specialName(c, "position")
	sub := p.restrictedExpr()
	p.expect(kwIn)
	c.Args = []Expr{p.restrictedExpr(), sub}
	p.expect(')')
	c.Span = p.spanFrom(c.Name.Start)
	return c
}

// overlay reads OVERLAY(string PLACING new FROM start [FOR count]), or plain arguments.
func (p *parser) overlay() Expr {
	c := &FuncCall{}
	p.specialName(c, "overlay")
	if p.kind() != ')' {
		c.Args = append(make([]Expr, 0, 4), p.funcArg())
		if p.accept(kwPlacing) {
			c.Args = append(c.Args, p.expr())
			p.expect(kwFrom)
			c.Args = append(c.Args, p.expr())
			if p.accept(kwFor) {
				c.Args = append(c.Args, p.expr())
			}
		}
		for p.accept(',') {
			c.Args = append(c.Args, p.funcArg())
		}
	}
	p.expect(')')
	c.Span = p.spanFrom(c.Name.Start)
	return c
}

// trim reads TRIM([LEADING | TRAILING | BOTH] [chars] [FROM] string) as ltrim, rtrim or btrim.
func (p *parser) trim() Expr {
	c := &FuncCall{}
	p.specialName(c, "btrim")
	switch {
	case p.accept(kwLeading):
		c.Name.Name = "ltrim"
	case p.accept(kwTrailing):
		c.Name.Name = "rtrim"
	default:
		p.accept(kwBoth)
	}
	if p.accept(kwFrom) {
		c.Args = p.exprList()
	} else {
		first := p.expr()
		if p.accept(kwFrom) {
			c.Args = append(p.exprList(), first)
		} else {
			c.Args = []Expr{first}
			for p.accept(',') {
				c.Args = append(c.Args, p.expr())
			}
		}
	}
	p.expect(')')
	c.Span = p.spanFrom(c.Name.Start)
	return c
}
