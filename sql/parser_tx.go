package sql

import "strings"

// transaction reads the statements that control transactions.
func (p *parser) transaction() Statement {
	start := p.start()
	switch k := p.next().kind; k {
	case kwStart:
		p.expect(kwTransaction)
		modes := p.txModes(false)
		return &Begin{p.spanFrom(start), modes}
	case kwBegin:
		p.workOrTransaction()
		modes := p.txModes(false)
		return &Begin{p.spanFrom(start), modes}
	case kwCommit, kwEnd:
		if p.kind() == kwPrepared {
			p.unsupported(start, "COMMIT PREPARED")
		}
		p.workOrTransaction()
		chain := p.chainClause()
		return &Commit{p.spanFrom(start), chain}
	case kwSavepoint:
		name := p.colID()
		return &Savepoint{p.spanFrom(start), name}
	case kwRelease:
		if p.peek(1) != tokEOF {
			p.accept(kwSavepoint)
		}
		name := p.colID()
		return &Release{p.spanFrom(start), name}
	case kwLock:
		return p.lock(start)
	}
	return p.rollback(start)
}

// rollback reads what follows ROLLBACK or ABORT.
func (p *parser) rollback(start int) Statement {
	if p.kind() == kwPrepared {
		p.unsupported(start, "ROLLBACK PREPARED")
	}
	p.workOrTransaction()
	if p.accept(kwTo) {
		if p.peek(1) != tokEOF {
			p.accept(kwSavepoint)
		}
		name := p.colID()
		return &RollbackTo{p.spanFrom(start), name}
	}
	chain := p.chainClause()
	return &Rollback{p.spanFrom(start), chain}
}

func (p *parser) workOrTransaction() {
	if !p.accept(kwWork) {
		p.accept(kwTransaction)
	}
}

// chainClause reads AND [NO] CHAIN.
func (p *parser) chainClause() bool {
	if !p.accept(kwAnd) {
		return false
	}
	no := p.accept(kwNo)
	p.expect(kwChain)
	return !no
}

// txModes reads transaction modes, at least one when required.
func (p *parser) txModes(required bool) (m TxModes) {
	for n := 0; p.err == nil; n++ {
		comma := n > 0 && p.accept(',')
		switch {
		case p.accept2(kwIsolation, kwLevel):
			m.Isolation = p.isolation()
		case p.accept2(kwRead, kwOnly):
			m.ReadOnly = Yes
		case p.accept2(kwRead, kwWrite):
			m.ReadOnly = No
		case p.accept(kwDeferrable):
			m.Deferrable = Yes
		case p.accept2(kwNot, kwDeferrable):
			m.Deferrable = No
		default:
			if comma || n == 0 && required {
				p.unexpectedWanting("a transaction mode")
			}
			return m
		}
	}
	return m
}

func (p *parser) isolation() Isolation {
	switch {
	case p.accept(kwSerializable):
		return Serializable
	case p.accept2(kwRepeatable, kwRead):
		return RepeatableRead
	case p.accept2(kwRead, kwCommitted):
		return ReadCommitted
	case p.accept2(kwRead, kwUncommitted):
		return ReadUncommitted
	}
	p.unexpectedWanting("SERIALIZABLE, REPEATABLE READ, READ COMMITTED or READ UNCOMMITTED")
	return IsolationDefault
}

// lock reads what follows LOCK.
func (p *parser) lock(start int) Statement {
	p.accept(kwTable)
	s := &Lock{}
	for {
		only := p.accept(kwOnly)
		s.Tables = append(s.Tables, p.objectName())
		if !only {
			p.accept('*') // descendants too, as without it
		}
		if !p.accept(',') {
			break
		}
	}
	if p.accept(kwIn) {
		var words []string
		for p.kind() != kwMode && p.kind().isWord() && len(words) < 3 {
			words = append(words, p.next().val)
		}
		s.Mode = strings.Join(words, " ")
		switch s.Mode {
		case "access share", "row share", "row exclusive", "share update exclusive", "share", "share row exclusive",
			"exclusive", "access exclusive":
		default:
			p.unexpectedWanting("a lock mode")
		}
		p.expect(kwMode)
	}
	s.NoWait = p.accept(kwNowait)
	s.Span = p.spanFrom(start)
	return s
}
