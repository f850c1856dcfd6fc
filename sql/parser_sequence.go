package sql

// createSequence reads what follows CREATE SEQUENCE.
func (p *parser) createSequence(c createPrefix) Statement {
	s := &CreateSequence{Temporary: c.persistence == Temporary, IfNotExists: p.ifNotExists()}
	s.Name = p.objectName()
	s.Options = p.sequenceOptions()
	s.Span = p.spanFrom(c.start)
	return s
}

// sequenceOptions reads the options of a sequence up to something else.
func (p *parser) sequenceOptions() []SequenceOption {
	var list []SequenceOption
	for p.err == nil {
		start := p.start()
		o, ok := p.sequenceOption()
		if !ok {
			break
		}
		o.Span = p.spanFrom(start)
		list = append(list, o)
	}
	return list
}

func (p *parser) sequenceOption() (o SequenceOption, ok bool) {
	o.No = p.kind() == kwNo
	if o.No {
		p.next()
		switch k := p.kind(); k {
		case kwMinvalue, kwMaxvalue, kwCycle:
			o.Name = p.next().val
			return o, true
		}
		p.unexpectedWanting("MINVALUE, MAXVALUE or CYCLE")
		return o, false
	}
	switch k := p.kind(); k {
	case kwAs:
		p.next()
		o.Name = "as"
		o.Type = p.typeName()
		return o, true
	case kwIncrement, kwStart, kwRestart, kwMinvalue, kwMaxvalue, kwCache:
		o.Name = p.next().val
		_ = k == kwIncrement && p.accept(kwBy) || (k == kwStart || k == kwRestart) && p.accept(kwWith)
		if n := p.kind(); k != kwRestart || n == tokInteger || n == '-' || n == '+' {
			o.HasValue = true
			o.Value = p.signedInt()
		}
		return o, true
	case kwCycle:
		p.next()
		o.Name = "cycle"
		return o, true
	case kwOwned:
		p.next()
		p.expect(kwBy)
		o.Name = "owned by"
		if !p.accept(kwNone) {
			o.OwnedBy = p.columnName()
		}
		return o, true
	}
	return o, false
}

// columnName reads table.column or schema.table.column.
func (p *parser) columnName() (c ColumnName) {
	start := p.start()
	first := p.colID()
	p.expect('.')
	second := p.colLabel()
	c.Table = ObjectName{first.Span, "", first.Name}
	c.Column = second.Name
	if p.accept('.') {
		c.Table = ObjectName{p.spanFrom(start), first.Name, second.Name}
		c.Column = p.colLabel().Name
	}
	return c
}
