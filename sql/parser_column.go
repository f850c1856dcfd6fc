package sql

import "github.com/weftdb/weft/internal/sqlerr"

// columnDef reads a column with its type, unless it is one of a partition, and its constraints.
func (p *parser) columnDef(typed bool) ColumnDef {
	c := ColumnDef{Name: p.colID()}
	if typed {
		c.Type = p.typeName()
	} else {
		p.accept2(kwWith, kwOptions)
	}
	for p.columnClause(&c) {
	}
	c.Span = p.spanFrom(c.Name.Start)
	return c
}

// columnClause reads one clause of a column definition.
func (p *parser) columnClause(c *ColumnDef) bool {
	start := p.start()
	var name Ident
	if p.kind() == kwConstraint {
		p.next()
		name = p.colID()
	}
	k := p.kind()
	switch {
	case p.accept2(kwNot, kwNull):
		p.setNotNull(c, Yes, start)
	case p.accept(kwNull):
		p.setNotNull(c, No, start)
	case p.accept(kwDefault):
		if c.Default != nil {
			p.fail(sqlerr.New(sqlerr.SyntaxError, "multiple default values specified for column \"%s\"", c.Name.Name).At(start))
		}
		c.Default = p.restrictedExpr()
	case p.accept(kwCollate):
		c.Collation = p.objectNamePtr()
	case k == kwColview, k == kwNocolview:
		p.setColView(&c.ColView, "column", c.Name)
	case k == kwGenerated:
		p.generated(c)
	case k == kwPrimary, k == kwUnique, k == kwCheck, k == kwReferences:
		con := p.constraintBody(false)
		con.Name = name
		con.Span = p.spanFrom(start)
		c.Constraints = append(c.Constraints, con)
	case p.constraintTiming(c):
	default:
		if name.Name != "" {
			p.unexpected()
		}
		return false
	}
	return p.err == nil
}

// setNotNull notes NULL or NOT NULL.
func (p *parser) setNotNull(c *ColumnDef, v Tristate, at int) {
	if c.NotNull != Unset && c.NotNull != v {
		p.fail(sqlerr.New(sqlerr.SyntaxError, "conflicting NULL/NOT NULL declarations for column \"%s\"", c.Name.Name).At(at))
	}
	c.NotNull = v
}

// setColView reads COLVIEW or NOCOLVIEW of a column or a table.
func (p *parser) setColView(v *Tristate, object string, name Ident) {
	t := p.next()
	value := No
	if t.kind == kwColview {
		value = Yes
	}
	if *v != Unset && *v != value && p.err == nil {
		p.fail(sqlerr.New(sqlerr.SyntaxError, "conflicting COLVIEW/NOCOLVIEW declarations for %s \"%s\"", object, name.Name).At(int(t.start)).
			WithHint("To leave a column out of a table's column view, write NOCOLVIEW behind its type."))
	}
	*v = value
}

// constraintTiming reads DEFERRABLE and INITIALLY … after a column constraint.
func (p *parser) constraintTiming(c *ColumnDef) bool {
	k := p.kind()
	if k != kwDeferrable && k != kwInitially && !(k == kwNot && p.peek(1) == kwDeferrable) {
		return false
	}
	if len(c.Constraints) == 0 {
		p.unexpected()
		return true
	}
	con := &c.Constraints[len(c.Constraints)-1]
	at := p.pos
	p.constraintAttributes(con, false)
	if p.pos == at {
		p.next()
		p.unexpectedWanting("DEFERRED or IMMEDIATE")
	}
	con.Span = p.spanFrom(con.Start)
	return true
}

// generated reads GENERATED … AS (expr) STORED or AS IDENTITY.
func (p *parser) generated(c *ColumnDef) {
	start := p.start()
	p.next()
	kind := p.start()
	always := p.accept(kwAlways)
	if !always {
		p.expect2(kwBy, kwDefault)
	}
	p.expect(kwAs)
	if p.kind() == kwIdentity {
		c.Identity = p.identity(always, start)
		return
	}
	if !always && p.kind() == '(' && p.err == nil {
		p.fail(sqlerr.New(sqlerr.SyntaxError, "for a generated column, GENERATED ALWAYS must be specified").At(kind))
		return
	}
	p.expect('(')
	c.Generated = p.expr()
	p.expect(')')
	p.expect(kwStored)
	c.GeneratedAs.Span = p.spanFrom(start)
}

// identity reads IDENTITY with its sequence options.
func (p *parser) identity(always bool, start int) *Identity {
	p.expect(kwIdentity)
	id := &Identity{Always: always}
	if p.accept('(') {
		id.Options = p.sequenceOptions()
		p.expect(')')
	}
	id.Span = p.spanFrom(start)
	return id
}

// startsConstraint reports whether a table constraint begins.
func (p *parser) startsConstraint() bool {
	switch p.kind() {
	case kwConstraint, kwPrimary, kwUnique, kwCheck, kwForeign:
		return true
	case kwExclude:
		return p.peek(1) == '(' || p.peek(1) == kwUsing
	}
	return false
}

// tableConstraint reads a constraint of a table.
func (p *parser) tableConstraint() Constraint {
	start := p.start()
	var name Ident
	if p.accept(kwConstraint) {
		name = p.colID()
	}
	c := p.constraintBody(true)
	c.Name = name
	p.constraintAttributes(&c, true)
	c.Span = p.spanFrom(start)
	return c
}

// constraintBody reads a constraint after its name. Only table constraints name their columns.
func (p *parser) constraintBody(table bool) (c Constraint) {
	switch t := p.next(); t.kind {
	case kwCheck:
		p.expect('(')
		c.Expr = p.expr()
		p.expect(')')
		c.NoInherit = p.accept2(kwNo, kwInherit)
	case kwPrimary, kwUnique:
		c.Kind = Unique
		if t.kind == kwPrimary {
			p.expect(kwKey)
			c.Kind = PrimaryKey
		} else {
			c.NullsNotDistinct = p.nullsNotDistinct()
		}
		p.uniqueBody(&c, table)
	case kwForeign:
		p.expect(kwKey)
		c.Columns = p.parenIdents()
		p.expect(kwReferences)
		p.references(&c)
	case kwReferences:
		p.references(&c)
	case kwExclude:
		p.unsupported(int(t.start), "an exclusion constraint")
	default:
		if t.kind != tokEOF {
			p.pos--
		}
		p.unexpected()
	}
	return c
}

// uniqueBody reads the columns and index clauses of PRIMARY KEY and UNIQUE.
func (p *parser) uniqueBody(c *Constraint, table bool) {
	if table && p.accept2(kwUsing, kwIndex) {
		c.UsingIndex = p.colID()
		return
	}
	if table {
		c.Columns = p.parenIdents()
		if p.accept(kwInclude) {
			c.Include = p.parenIdents()
		}
	}
	if p.kind() == kwWith && p.peek(1) == '(' {
		p.next()
		c.Options = p.options()
	}
	if p.accept3(kwUsing, kwIndex, kwTablespace) {
		p.colID()
	}
}

// references reads the table and actions of a foreign key after REFERENCES.
func (p *parser) references(c *Constraint) {
	c.Kind = ForeignKey
	c.RefTable = p.objectName()
	c.RefColumns = p.optParenIdents()
	if p.kind() == kwMatch {
		at := p.start()
		p.next()
		switch {
		case p.accept(kwFull):
			c.MatchFull = true
		case p.accept(kwPartial):
			p.unsupported(at, "MATCH PARTIAL")
		default:
			p.expect(kwSimple)
		}
	}
	for {
		switch {
		case p.accept2(kwOn, kwDelete):
			c.OnDelete = p.refAction()
			c.SetColumns = p.setColumns(c.OnDelete)
		case p.accept2(kwOn, kwUpdate):
			c.OnUpdate = p.refAction()
			if at := p.start(); len(p.setColumns(c.OnUpdate)) > 0 {
				p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "a column list with %s is only supported for ON DELETE actions", setActions[c.OnUpdate]).At(at))
			}
		default:
			return
		}
	}
}

// setActions are the actions that may name columns.
var setActions = map[RefAction]string{RefSetNull: "SET NULL", RefSetDefault: "SET DEFAULT"}

func (p *parser) setColumns(a RefAction) []Ident {
	if setActions[a] == "" {
		return nil
	}
	return p.optParenIdents()
}

func (p *parser) refAction() RefAction {
	switch {
	case p.accept2(kwNo, kwAction):
		return RefNoAction
	case p.accept(kwRestrict):
		return RefRestrict
	case p.accept(kwCascade):
		return RefCascade
	case p.accept2(kwSet, kwNull):
		return RefSetNull
	case p.accept2(kwSet, kwDefault):
		return RefSetDefault
	}
	p.unexpectedWanting("NO ACTION, RESTRICT, CASCADE, SET NULL or SET DEFAULT")
	return RefNoAction
}

// constraintAttributes reads DEFERRABLE, INITIALLY and, for table constraints, NOT VALID.
func (p *parser) constraintAttributes(c *Constraint, table bool) {
	for {
		switch {
		case p.accept(kwDeferrable):
			c.Deferrable = Yes
		case p.accept2(kwNot, kwDeferrable):
			c.Deferrable = No
		case p.accept2(kwInitially, kwDeferred):
			c.InitiallyDeferred = true
			if c.Deferrable == Unset {
				c.Deferrable = Yes
			}
		case p.accept2(kwInitially, kwImmediate):
		case table && p.accept2(kwNot, kwValid):
			c.NotValid = true
		case table && p.accept2(kwNo, kwInherit):
			c.NoInherit = true
		default:
			if c.InitiallyDeferred && c.Deferrable == No && p.err == nil {
				p.fail(sqlerr.New(sqlerr.SyntaxError, "constraint declared INITIALLY DEFERRED must be DEFERRABLE").At(p.start()))
			}
			return
		}
	}
}
