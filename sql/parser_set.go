package sql

// set reads SET in all its forms.
func (p *parser) set() Statement {
	start := p.start()
	p.next()
	if p.kind() == kwConstraints && p.peek(1) != kwTo && p.peek(1) != '=' {
		p.next()
		return p.setConstraints(start)
	}
	if p.kind() == kwTransaction && p.peek(1) != kwTo && p.peek(1) != '=' {
		p.next()
		modes := p.txModes(true)
		return &SetTransaction{Span: p.spanFrom(start), Modes: modes}
	}
	if p.kind() == kwSession && p.peek(1) == kwCharacteristics {
		p.pos += 2
		p.expect2(kwAs, kwTransaction)
		modes := p.txModes(true)
		return &SetTransaction{p.spanFrom(start), true, modes}
	}
	s := &Set{}
	if k := p.peek(1); k != kwTo && k != '=' && k != '.' {
		if s.Local = p.accept(kwLocal); !s.Local && p.kind() == kwSession && p.peek(1) != kwAuthorization {
			p.next()
		}
	}
	if !p.specialSetting(s) {
		s.Name = p.settingName()
		if !p.accept(kwTo) {
			p.expect('=')
		}
		p.settingValues(s)
	}
	s.Span = p.spanFrom(start)
	return s
}

// settingName reads the name of a setting, which may contain dots.
func (p *parser) settingName() string {
	name := p.colID().Name
	for p.accept('.') {
		name += "." + p.colID().Name
	}
	return name
}

// specialSetting reads the settings with a syntax of their own.
func (p *parser) specialSetting(s *Set) bool {
	switch k := p.kind(); {
	case p.accept2(kwTime, kwZone):
		s.Name = "timezone"
		switch {
		case p.accept(kwLocal):
			s.Default = true
		case p.kind() == kwInterval:
			p.next()
			value := p.stringLit()
			t := TypeName{Name: "interval"}
			p.intervalFields(&t)
			s.Values = []string{"INTERVAL '" + value + "'"}
		default:
			p.settingValues(s)
		}
	case k == kwNames && (p.peek(1) == tokString || p.peek(1) == kwDefault || p.peek(1) == tokEOF):
		p.next()
		s.Name = "client_encoding"
		if p.kind() == tokEOF {
			s.Default = true
			return true
		}
		p.settingValues(s)
	case k == kwSchema && p.peek(1) == tokString:
		p.next()
		s.Name = "search_path"
		p.settingValues(s)
	case k == kwRole && p.peek(1) != kwTo && p.peek(1) != '=':
		p.next()
		s.Name = "role"
		p.settingValues(s)
	case p.accept2(kwSession, kwAuthorization):
		s.Name = "session_authorization"
		p.settingValues(s)
	default:
		return false
	}
	return true
}

// settingValues reads a comma list of values, or DEFAULT.
func (p *parser) settingValues(s *Set) {
	if p.accept(kwDefault) {
		s.Default = true
		return
	}
	for {
		s.Values = append(s.Values, p.settingValue())
		if !p.accept(',') {
			return
		}
	}
}

// settingValue reads a value: a string, a number, or a word that is not reserved. ON, TRUE and
// FALSE are values as in PostgreSQL; COLUMN is one here, for htap_router_mode.
func (p *parser) settingValue() string {
	switch k := p.kind(); {
	case k == tokString, k.isColID(), k == kwOn, k == kwTrue, k == kwFalse, k == kwColumn:
		return p.next().val
	case k.isTypeFunc() && k >= firstKeyword:
		return p.next().val
	case k == '+', k == '-', k == tokInteger, k == tokNumeric:
		return p.numberText()
	}
	p.unexpectedWanting("a value: a word, a number, or a string in single quotes, as reserved words must be")
	return ""
}

// setConstraints reads what follows SET CONSTRAINTS.
func (p *parser) setConstraints(start int) Statement {
	s := &SetConstraints{}
	if !p.accept(kwAll) {
		s.Names = p.objectNames()
	}
	if s.Deferred = p.accept(kwDeferred); !s.Deferred {
		p.expect(kwImmediate)
	}
	s.Span = p.spanFrom(start)
	return s
}

// show reads SHOW.
func (p *parser) show() Statement {
	start := p.start()
	p.next()
	name := p.shownName()
	return &Show{p.spanFrom(start), name}
}

// reset reads RESET.
func (p *parser) reset() Statement {
	start := p.start()
	p.next()
	name := p.shownName()
	return &Reset{p.spanFrom(start), name}
}

// shownName reads the name of a setting for SHOW and RESET; ALL is "".
func (p *parser) shownName() string {
	switch {
	case p.accept(kwAll):
		return ""
	case p.accept2(kwTime, kwZone):
		return "timezone"
	case p.accept3(kwTransaction, kwIsolation, kwLevel):
		return "transaction_isolation"
	case p.accept2(kwSession, kwAuthorization):
		return "session_authorization"
	}
	return p.settingName()
}
