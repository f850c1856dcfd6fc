package sql

import "github.com/weftdb/weft/internal/sqlerr"

// alter reads ALTER.
func (p *parser) alter() Statement {
	start := p.start()
	p.next()
	s := &AlterTable{}
	switch k := p.kind(); {
	case p.accept(kwTable):
	case p.accept(kwIndex):
		s.Kind = IndexObject
	case p.accept(kwView):
		s.Kind = ViewObject
	case p.accept2(kwMaterialized, kwView):
		s.Kind = MaterializedViewObject
	case p.accept(kwSequence):
		s.Kind = SequenceObject
	case p.accept(kwSchema):
		s.Kind = SchemaObject
	case k == kwSystem:
		p.unsupported(start, "ALTER SYSTEM")
		return nil
	default:
		p.unknownObject(start)
		return nil
	}
	s.IfExists = p.ifExists()
	s.Only = s.Kind == TableObject && p.accept(kwOnly)
	s.Name = p.objectName()
	if s.Kind == TableObject {
		p.accept('*')
	}
	if s.Kind == SequenceObject {
		if options := p.sequenceOptions(); options != nil {
			return &AlterSequence{p.spanFrom(start), s.IfExists, s.Name, options}
		}
	}
	p.alterActions(s)
	s.Span = p.spanFrom(start)
	return s
}

// alterActions reads the actions of a statement: one that stands alone, or a list.
func (p *parser) alterActions(s *AlterTable) {
	if a := p.loneAction(); a != nil || p.err != nil {
		s.Actions = []AlterAction{a}
		return
	}
	for {
		s.Actions = append(s.Actions, p.alterAction())
		if !p.accept(',') {
			return
		}
	}
}

// loneAction reads RENAME and SET SCHEMA, which cannot be combined with other actions.
func (p *parser) loneAction() AlterAction {
	start := p.start()
	switch {
	case p.accept2(kwSet, kwSchema):
		schema := p.colID()
		return &SetSchema{p.spanFrom(start), schema}
	case p.accept(kwRename):
	default:
		return nil
	}
	switch {
	case p.accept(kwTo):
		name := p.colID()
		return &RenameTo{p.spanFrom(start), name}
	case p.accept(kwConstraint):
		old, name := p.renamed()
		return &RenameConstraint{p.spanFrom(start), old, name}
	case p.kind() == kwPartition && p.peek(1) != kwTo:
		p.next()
		old, name := p.renamed()
		return &RenamePartition{p.spanFrom(start), old, name}
	}
	p.accept(kwColumn)
	old, name := p.renamed()
	return &RenameColumn{p.spanFrom(start), old, name}
}

func (p *parser) renamed() (old, name Ident) {
	old = p.colID()
	p.expect(kwTo)
	return old, p.colID()
}

// alterAction reads one action of the list.
func (p *parser) alterAction() AlterAction {
	start := p.start()
	switch p.kind() {
	case kwAdd:
		p.next()
		return p.addAction(start)
	case kwDrop:
		p.next()
		return p.dropAction(start)
	case kwAlter:
		p.next()
		p.accept(kwColumn)
		return p.alterColumn(start)
	case kwColview, kwNocolview:
		return p.colView(Ident{}, start)
	case kwModify:
		p.next()
		p.expect(kwPartition)
		part := p.colID()
		if a := p.imcStored(part, start); a != nil {
			return a
		}
		if k := p.kind(); k != kwColview && k != kwNocolview {
			p.unexpectedWanting("COLVIEW or NOCOLVIEW")
		}
		return p.colView(part, start)
	case kwAttach, kwDetach, kwTruncate:
		return p.partitionAction(start)
	case kwValidate:
		p.next()
		p.expect(kwConstraint)
		name := p.colID()
		return &ValidateConstraint{p.spanFrom(start), name}
	case kwOwner:
		p.next()
		p.expect(kwTo)
		owner := p.colLabel()
		return &OwnerTo{p.spanFrom(start), owner}
	case kwSet, kwReset:
		if p.peek(1) == '(' {
			reset := p.next().kind == kwReset
			options := p.options()
			return &SetOptions{p.spanFrom(start), reset, options}
		}
	}
	if a := p.imcStored(Ident{}, start); a != nil {
		return a
	}
	p.unexpected()
	return nil
}

// addAction reads what follows ADD.
func (p *parser) addAction(start int) AlterAction {
	if p.startsConstraint() {
		c := p.tableConstraint()
		return &AddConstraint{p.spanFrom(start), c}
	}
	// PARTITION name VALUES is a partition; PARTITION type is a column of that name.
	if k := p.peek(2); p.kind() == kwPartition && (k == kwValues || k == kwFor || k == kwDefault) {
		d := p.partitionDef()
		return &AddPartition{p.spanFrom(start), d}
	}
	p.accept(kwColumn)
	a := &AddColumn{IfNotExists: p.ifNotExists()}
	a.Column = p.columnDef(true)
	a.Span = p.spanFrom(start)
	return a
}

// dropAction reads what follows DROP.
func (p *parser) dropAction(start int) AlterAction {
	if p.accept(kwConstraint) {
		a := &DropConstraint{IfExists: p.ifExists()}
		a.Name = p.colID()
		a.Cascade = p.cascade()
		a.Span = p.spanFrom(start)
		return a
	}
	if p.kind() == kwPartition && p.peek(1).isColID() && p.peek(1) != kwCascade && p.peek(1) != kwRestrict {
		p.next()
		name := p.colID()
		return &DropPartition{p.spanFrom(start), name}
	}
	p.accept(kwColumn)
	a := &DropColumn{IfExists: p.ifExists()}
	a.Name = p.colID()
	a.Cascade = p.cascade()
	a.Span = p.spanFrom(start)
	return a
}

// alterColumn reads what follows ALTER [COLUMN].
func (p *parser) alterColumn(start int) AlterAction {
	col := p.colID()
	switch {
	case p.accept2(kwSet, kwDefault):
		e := p.expr()
		return &AlterColumnDefault{p.spanFrom(start), col, e}
	case p.accept2(kwDrop, kwDefault):
		return &AlterColumnDefault{Span: p.spanFrom(start), Column: col}
	case p.accept3(kwSet, kwNot, kwNull):
		return &AlterColumnNotNull{p.spanFrom(start), col, true}
	case p.accept3(kwDrop, kwNot, kwNull):
		return &AlterColumnNotNull{p.spanFrom(start), col, false}
	case p.accept3(kwSet, kwData, kwType), p.accept(kwType):
		return p.alterColumnType(col, start)
	case p.accept2(kwSet, kwStatistics):
		n := p.signedInt()
		return &AlterColumnStatistics{p.spanFrom(start), col, n}
	case p.accept2(kwDrop, kwIdentity):
		exists := p.ifExists()
		return &DropIdentity{p.spanFrom(start), col, false, exists}
	case p.accept2(kwDrop, kwExpression):
		exists := p.ifExists()
		return &DropIdentity{p.spanFrom(start), col, true, exists}
	case p.kind() == kwSet || p.kind() == kwRestart:
		return p.setIdentity(col, start)
	case p.kind() == kwAdd:
		p.next()
		at := p.start()
		p.expect(kwGenerated)
		always := p.alwaysOrByDefault()
		p.expect(kwAs)
		id := p.identity(always, at)
		return &AddIdentity{p.spanFrom(start), col, id}
	}
	p.unexpectedWanting("TYPE, SET or DROP")
	return nil
}

// alwaysOrByDefault reads ALWAYS or BY DEFAULT.
func (p *parser) alwaysOrByDefault() bool {
	always := p.accept(kwAlways)
	if !always {
		p.expect2(kwBy, kwDefault)
	}
	return always
}

// setIdentity reads changes of an identity column.
func (p *parser) setIdentity(col Ident, start int) AlterAction {
	a := &SetIdentity{Column: col}
	for p.err == nil {
		at := p.start()
		set := p.accept(kwSet)
		if set && p.accept(kwGenerated) {
			if a.Generated != nil {
				p.fail(sqlerr.New(sqlerr.SyntaxError, "conflicting or redundant options").At(at))
			}
			a.Generated = &Identity{Always: p.alwaysOrByDefault()}
			a.Generated.Span = p.spanFrom(at)
			continue
		}
		if !set && p.kind() != kwRestart {
			break
		}
		o, ok := p.sequenceOption()
		if !ok {
			p.unexpectedWanting("GENERATED or an option of a sequence")
			break
		}
		o.Span = p.spanFrom(at)
		a.Options = append(a.Options, o)
	}
	a.Span = p.spanFrom(start)
	return a
}

func (p *parser) alterColumnType(col Ident, start int) AlterAction {
	a := &AlterColumnType{Column: col, Type: p.typeName()}
	if p.accept(kwCollate) {
		a.Collation = p.objectNamePtr()
	}
	if p.accept(kwUsing) {
		a.Using = p.expr()
	}
	a.Span = p.spanFrom(start)
	return a
}

// colView reads COLVIEW and NOCOLVIEW in their forms, of the table or of a partition.
func (p *parser) colView(partition Ident, start int) AlterAction {
	a := &ColView{Partition: partition}
	list := partition.Name == ""
	if p.next().kind == kwColview {
		switch {
		case list && p.kind() == '(':
			a.Mode = ColViewOnly
			a.Columns = p.parenIdents()
		case list && p.accept(kwAuto):
			a.Mode = ColViewAuto
		case list && p.accept(kwNocolview):
			a.Mode = ColViewExcept
			a.Columns = p.parenIdents()
		}
	} else {
		a.Mode = ColViewNone
		if list && p.accept(kwColview) {
			a.Mode = ColViewOnly
			a.Columns = p.parenIdents()
		}
	}
	a.Span = p.spanFrom(start)
	return a
}

// imcStored reads openGauss's words for COLVIEW and NOCOLVIEW: IMCSTORED [(list)], UNIMCSTORED. They are no
// keywords; nil where neither follows.
func (p *parser) imcStored(partition Ident, start int) AlterAction {
	a := &ColView{Partition: partition}
	switch {
	case p.acceptWord("unimcstored"):
		a.Mode = ColViewNone
	case p.acceptWord("imcstored"):
		if partition.Name == "" && p.kind() == '(' {
			a.Mode = ColViewOnly
			a.Columns = p.parenIdents()
		}
	default:
		return nil
	}
	a.Span = p.spanFrom(start)
	return a
}

// partitionAction reads ATTACH, DETACH and TRUNCATE PARTITION.
func (p *parser) partitionAction(start int) AlterAction {
	k := p.next().kind
	p.expect(kwPartition)
	switch k {
	case kwAttach:
		a := &AttachPartition{Table: p.objectName()}
		a.Bound = p.forValues()
		a.Span = p.spanFrom(start)
		return a
	case kwTruncate:
		name := p.colID()
		return &TruncatePartition{p.spanFrom(start), name}
	}
	a := &DetachPartition{Table: p.objectName()}
	if a.Concurrently = p.accept(kwConcurrently); !a.Concurrently {
		a.Finalize = p.accept(kwFinalize)
	}
	a.Span = p.spanFrom(start)
	return a
}

// drop reads DROP.
func (p *parser) drop() Statement {
	s := &Drop{}
	start := p.start()
	p.next()
	switch {
	case p.accept(kwTable):
	case p.accept(kwIndex):
		s.Kind = IndexObject
		s.Concurrently = p.accept(kwConcurrently)
	case p.accept(kwView):
		s.Kind = ViewObject
	case p.accept2(kwMaterialized, kwView):
		s.Kind = MaterializedViewObject
	case p.accept(kwSchema):
		s.Kind = SchemaObject
	case p.accept(kwSequence):
		s.Kind = SequenceObject
	default:
		p.unknownObject(start)
		return nil
	}
	s.IfExists = p.ifExists()
	s.Names = p.objectNames()
	s.Cascade = p.cascade()
	s.Span = p.spanFrom(start)
	return s
}
