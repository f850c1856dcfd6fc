package sql

import "github.com/weftdb/weft/internal/sqlerr"

// statement reads one statement, which starts at the current token.
func (p *parser) statement() Statement {
	p.depth = 0
	switch p.kind() {
	case kwSelect, kwWith, kwValues, kwTable, '(', kwInsert, kwUpdate, kwDelete, kwMerge:
		return p.preparable()
	case kwCreate:
		return p.create()
	case kwAlter:
		return p.alter()
	case kwDrop:
		return p.drop()
	case kwTruncate:
		return p.truncate()
	case kwCopy:
		return p.copy()
	case kwBegin, kwStart, kwCommit, kwEnd, kwRollback, kwAbort, kwSavepoint, kwRelease, kwLock:
		return p.transaction()
	case kwSet:
		return p.set()
	case kwShow:
		return p.show()
	case kwReset:
		return p.reset()
	case kwExplain:
		return p.explain()
	case kwPrepare, kwExecute, kwDeallocate:
		return p.prepared()
	case kwDeclare:
		return p.declareCursor()
	case kwFetch, kwMove:
		return p.fetch()
	case kwClose:
		return p.closeCursor()
	case kwAnalyze, kwAnalyse, kwVacuum:
		return p.maintenance()
	case kwRefresh:
		return p.refresh()
	case kwCheckpoint:
		start := p.start()
		p.next()
		return &Checkpoint{p.spanFrom(start)}
	case kwDiscard:
		return p.discard()
	}
	if t := p.tok(); t.val == "reindex" && t.kind.isWord() && !t.quoted {
		return p.reindex()
	}
	p.unknownStatement()
	return nil
}

// unknownStatement fails at a word that starts no statement, with a better message for those that
// PostgreSQL has and weft has not.
func (p *parser) unknownStatement() {
	t := p.tok()
	switch t.val {
	case "grant", "revoke", "comment", "call", "do", "listen", "notify", "unlisten", "cluster", "reassign",
		"security", "load", "import":
		if t.kind.isWord() && !t.quoted && p.peek(1).isWord() {
			p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "statement \"%s\" is not supported", p.src[t.start:t.end]).At(int(t.start)))
			return
		}
	}
	p.unexpected()
}

// truncate reads TRUNCATE.
func (p *parser) truncate() Statement {
	start := p.start()
	p.next()
	p.accept(kwTable)
	s := &Truncate{}
	for {
		only := p.accept(kwOnly)
		s.Tables, s.Only = append(s.Tables, p.objectName()), append(s.Only, only)
		if !only {
			p.accept('*')
		}
		if !p.accept(',') {
			break
		}
	}
	if p.accept2(kwRestart, kwIdentity) {
		s.RestartIdentity = true
	} else {
		p.accept2(kwContinue, kwIdentity)
	}
	s.Cascade = p.cascade()
	s.Span = p.spanFrom(start)
	return s
}

// refresh reads REFRESH MATERIALIZED VIEW.
func (p *parser) refresh() Statement {
	start := p.start()
	p.next()
	p.expect2(kwMaterialized, kwView)
	s := &RefreshView{Concurrently: p.accept(kwConcurrently)}
	s.Name = p.objectName()
	s.NoData = p.withNoData()
	s.Span = p.spanFrom(start)
	return s
}

// withNoData reads WITH [NO] DATA.
func (p *parser) withNoData() bool {
	if p.accept3(kwWith, kwNo, kwData) {
		return true
	}
	p.accept2(kwWith, kwData)
	return false
}

// maintenance reads ANALYZE and VACUUM.
func (p *parser) maintenance() Statement {
	start := p.start()
	vacuum := p.next().kind == kwVacuum
	var options []Option
	if p.kind() == '(' {
		options = p.options()
	} else {
		options = p.keywordOptions(vacuum)
	}
	var tables []MaintenanceTable
	if p.kind().isColID() {
		tables = append(tables, p.maintenanceTable())
		for p.accept(',') {
			tables = append(tables, p.maintenanceTable())
		}
	}
	if vacuum {
		return &Vacuum{p.spanFrom(start), options, tables}
	}
	return &Analyze{p.spanFrom(start), options, tables}
}

// keywordOptions reads the options of VACUUM FULL FREEZE VERBOSE ANALYZE, ANALYZE VERBOSE and
// EXPLAIN ANALYZE VERBOSE.
func (p *parser) keywordOptions(vacuum bool) []Option {
	var list []Option
	for {
		switch p.kind() {
		case kwVerbose:
		case kwFull, kwFreeze, kwAnalyze, kwAnalyse:
			if !vacuum {
				return list
			}
		default:
			return list
		}
		t := p.next()
		name := t.val
		if t.kind == kwAnalyse {
			name = "analyze"
		}
		list = append(list, Option{Span: Span{int(t.start), int(t.end)}, Name: name})
	}
}

func (p *parser) maintenanceTable() (t MaintenanceTable) {
	t.Name = p.objectName()
	t.Columns = p.optParenIdents()
	t.Span = p.spanFrom(t.Name.Start)
	return t
}

// explain reads EXPLAIN.
func (p *parser) explain() Statement {
	s := &Explain{}
	start := p.start()
	p.next()
	if p.kind() == '(' && !p.parensHoldQuery() {
		s.Options = p.options()
	} else {
		if t := p.tok(); t.kind == kwAnalyze || t.kind == kwAnalyse {
			p.next()
			s.Options = []Option{{Span: Span{int(t.start), int(t.end)}, Name: "analyze"}}
		}
		s.Options = append(s.Options, p.keywordOptions(false)...)
	}
	for i := range s.Options {
		if s.Options[i].Name == "analyse" {
			s.Options[i].Name = "analyze"
		}
	}
	s.Stmt = p.explainable()
	s.Span = p.spanFrom(start)
	return s
}

// explainable reads a statement that can be explained.
func (p *parser) explainable() Statement {
	switch p.kind() {
	case kwExecute:
		return p.prepared()
	case kwDeclare:
		return p.declareCursor()
	case kwCreate:
		s := p.create()
		if _, ok := s.(*CreateTableAs); !ok && p.err == nil {
			p.fail(sqlerr.New(sqlerr.SyntaxError, "EXPLAIN cannot explain this statement").At(s.SourceSpan().Start))
		}
		return s
	case kwRefresh:
		return p.refresh()
	}
	return p.preparable()
}

// prepared reads PREPARE, EXECUTE and DEALLOCATE.
func (p *parser) prepared() Statement {
	start := p.start()
	switch p.next().kind {
	case kwPrepare:
		if p.kind() == kwTransaction && p.peek(1) == tokString {
			p.unsupported(start, "PREPARE TRANSACTION")
		}
		s := &Prepare{Name: p.colID()}
		if p.accept('(') {
			s.Types = append(s.Types, p.typeName())
			for p.accept(',') {
				s.Types = append(s.Types, p.typeName())
			}
			p.expect(')')
		}
		p.expect(kwAs)
		s.Stmt = p.preparable()
		s.Span = p.spanFrom(start)
		return s
	case kwExecute:
		s := &Execute{Name: p.colID()}
		if p.accept('(') {
			s.Args = p.exprList()
			p.expect(')')
		}
		s.Span = p.spanFrom(start)
		return s
	}
	p.accept(kwPrepare)
	s := &Deallocate{}
	if !p.accept(kwAll) {
		s.Name = p.colID()
	}
	s.Span = p.spanFrom(start)
	return s
}

// declareCursor reads DECLARE name CURSOR FOR query.
func (p *parser) declareCursor() Statement {
	s := &DeclareCursor{}
	start := p.start()
	p.next()
	s.Name = p.colID()
	for p.err == nil && p.kind() != kwCursor {
		switch {
		case p.accept(kwBinary):
			s.Binary = true
		case p.accept(kwInsensitive):
			s.Insensitive = true
		case p.accept(kwAsensitive):
		case p.accept(kwScroll):
			s.Scroll = Yes
		case p.accept2(kwNo, kwScroll):
			s.Scroll = No
		default:
			p.unexpectedWanting("CURSOR")
		}
	}
	p.expect(kwCursor)
	if p.accept2(kwWith, kwHold) {
		s.Hold = true
	} else {
		p.accept2(kwWithout, kwHold)
	}
	p.expect(kwFor)
	s.Query = p.selectStmt()
	s.Span = p.spanFrom(start)
	return s
}

// fetch reads FETCH and MOVE.
func (p *parser) fetch() Statement {
	start := p.start()
	s := &Fetch{Move: p.next().kind == kwMove, Count: 1}
	switch k := p.kind(); k {
	case kwNext, kwPrior, kwFirst, kwLast, kwAbsolute, kwRelative, kwForward, kwBackward, kwAll:
		// Any of these may also be the cursor's name.
		if p.peek(1) != tokEOF || k == kwAll {
			p.next()
			p.fetchDirection(s, k)
		}
	case tokInteger, '-', '+':
		s.Count = p.signedInt()
	}
	if !p.accept(kwFrom) {
		p.accept(kwIn)
	}
	s.Cursor = p.colID()
	s.Span = p.spanFrom(start)
	return s
}

func (p *parser) fetchDirection(s *Fetch, k kind) {
	switch k {
	case kwPrior:
		s.Direction = FetchBackward
	case kwFirst:
		s.Direction = FetchAbsolute
	case kwLast:
		s.Direction, s.Count = FetchAbsolute, -1
	case kwAbsolute:
		s.Direction, s.Count = FetchAbsolute, p.signedInt()
	case kwRelative:
		s.Direction, s.Count = FetchRelative, p.signedInt()
	case kwAll:
		s.All = true
	case kwForward, kwBackward:
		if k == kwBackward {
			s.Direction = FetchBackward
		}
		if p.accept(kwAll) {
			s.All = true
		} else if n := p.kind(); n == tokInteger || n == '-' || n == '+' {
			s.Count = p.signedInt()
		}
	}
}

// closeCursor reads CLOSE.
func (p *parser) closeCursor() Statement {
	start := p.start()
	p.next()
	s := &CloseCursor{}
	if !p.accept(kwAll) {
		s.Name = p.colID()
	}
	s.Span = p.spanFrom(start)
	return s
}

// discard reads DISCARD.
func (p *parser) discard() Statement {
	start := p.start()
	p.next()
	s := &Discard{}
	switch {
	case p.accept(kwAll):
	case p.accept(kwPlans):
		s.Kind = DiscardPlans
	case p.accept(kwSequences):
		s.Kind = DiscardSequences
	case p.accept(kwTemp), p.accept(kwTemporary):
		s.Kind = DiscardTemp
	default:
		p.unexpectedWanting("ALL, PLANS, SEQUENCES or TEMP")
	}
	s.Span = p.spanFrom(start)
	return s
}
