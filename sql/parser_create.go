package sql

import "github.com/weftdb/weft/internal/sqlerr"

// createPrefix holds the words between CREATE and the kind of object.
type createPrefix struct {
	start       int
	orReplace   bool
	persistence Persistence
	unique      bool
}

// create reads CREATE.
func (p *parser) create() Statement {
	c := createPrefix{start: p.start()}
	p.next()
	c.orReplace = p.accept2(kwOr, kwReplace)
	if k := p.kind(); k == kwGlobal || k == kwLocal {
		if n := p.peek(1); n == kwTemp || n == kwTemporary {
			p.next()
		}
	}
	switch {
	case p.accept(kwTemp), p.accept(kwTemporary):
		c.persistence = Temporary
	case p.accept(kwUnlogged):
		c.persistence = Unlogged
	}
	c.unique = p.accept(kwUnique)
	switch k := p.kind(); {
	case c.unique:
		p.expect(kwIndex)
		return p.createIndex(c)
	case k == kwView && c.persistence != Unlogged, k == kwRecursive && p.peek(1) == kwView:
		return p.createView(c)
	case c.orReplace:
	case p.accept(kwTable):
		return p.createTable(c)
	case c.persistence != Unlogged && p.accept(kwSequence):
		return p.createSequence(c)
	case c.persistence != Permanent:
	case p.accept(kwIndex):
		return p.createIndex(c)
	case p.accept2(kwMaterialized, kwView):
		return p.createMaterializedView(c)
	case p.accept(kwSchema):
		return p.createSchema(c)
	}
	p.unknownObject(c.start)
	return nil
}

// unknownObject fails at a kind of object that weft has not, with a better message for those
// PostgreSQL has.
func (p *parser) unknownObject(start int) {
	t := p.tok()
	switch t.val {
	case "function", "procedure", "trigger", "type", "domain", "extension", "database", "role", "user", "group", "rule",
		"policy", "operator", "aggregate", "cast", "collation", "conversion", "event", "foreign", "language",
		"publication", "server", "statistics", "subscription", "tablespace", "text", "transform", "access":
		if t.kind.isWord() && !t.quoted {
			p.unsupported(start, "this kind of object (\""+t.val+"\")")
			return
		}
	}
	p.unexpected()
}

// createTable reads what follows CREATE TABLE.
func (p *parser) createTable(c createPrefix) Statement {
	s := &CreateTable{Persistence: c.persistence}
	s.IfNotExists = p.ifNotExists()
	s.Name = p.objectName()
	switch {
	case p.accept2(kwPartition, kwOf):
		s.PartitionOf = p.objectNamePtr()
		if p.kind() == '(' {
			p.tableElements(s, true)
		}
		s.Bound = p.forValues()
	case p.kind() == '(' && !p.columnNamesOnly():
		p.tableElements(s, false)
	default:
		return p.createTableAs(s, c)
	}
	p.tableClauses(s)
	if p.kind() == kwAs {
		return p.createTableAs(s, c)
	}
	s.Span = p.spanFrom(c.start)
	return s
}

// columnNamesOnly reports whether the parenthesis opens a list of names without types, as of
// CREATE TABLE … AS.
func (p *parser) columnNamesOnly() bool {
	k := p.peek(2)
	return p.peek(1).isColID() && (k == ',' || k == ')')
}

// createTableAs reads the rest of CREATE TABLE name … AS query, taking over what was read into t.
func (p *parser) createTableAs(t *CreateTable, c createPrefix) Statement {
	s := &CreateTableAs{Name: t.Name, Persistence: t.Persistence, IfNotExists: t.IfNotExists}
	if t.Columns != nil || t.Constraints != nil || t.PartitionOf != nil || t.Likes != nil {
		p.unexpected()
		return t
	}
	s.Columns = p.optParenIdents()
	if p.kind() != kwAs {
		p.tableClauses(t)
	}
	if p.kind() != kwAs && s.Columns == nil {
		p.unexpectedWanting("a column list or AS")
	}
	p.expect(kwAs)
	if p.err == nil && (t.PartitionBy != nil || t.Inherits != nil) {
		p.unsupported(p.start(), "CREATE TABLE … AS with PARTITION BY or INHERITS")
	}
	s.Options, s.OnCommit, s.Tablespace = t.Options, t.OnCommit, t.Tablespace
	s.DistributeBy, s.ColView = t.DistributeBy, t.ColView
	p.tableQuery(s, c.start)
	return s
}

// tableQuery reads the query of CREATE TABLE AS and CREATE MATERIALIZED VIEW.
func (p *parser) tableQuery(s *CreateTableAs, start int) {
	if p.kind() == kwExecute {
		p.unsupported(p.start(), "CREATE TABLE … AS EXECUTE")
	}
	s.Query = p.selectStmt()
	s.NoData = p.withNoData()
	s.Span = p.spanFrom(start)
}

// createMaterializedView reads what follows CREATE MATERIALIZED VIEW.
func (p *parser) createMaterializedView(c createPrefix) Statement {
	s := &CreateTableAs{Materialized: true}
	s.IfNotExists = p.ifNotExists()
	s.Name = p.objectName()
	s.Columns = p.optParenIdents()
	t := &CreateTable{Name: s.Name}
	p.tableClauses(t)
	s.Options, s.Tablespace, s.ColView = t.Options, t.Tablespace, t.ColView
	p.expect(kwAs)
	p.tableQuery(s, c.start)
	return s
}

// tableElements reads the parenthesised columns and constraints. Columns of a partition have no
// types.
func (p *parser) tableElements(s *CreateTable, partition bool) {
	p.expect('(')
	if !partition && p.accept(')') {
		s.Columns = []ColumnDef{}
		return
	}
	for {
		switch k := p.kind(); {
		case k == kwLike && !partition:
			s.Likes = append(s.Likes, p.likeTable())
		case p.startsConstraint():
			s.Constraints = append(s.Constraints, p.tableConstraint())
		default:
			s.Columns = append(s.Columns, p.columnDef(!partition))
		}
		if !p.accept(',') {
			break
		}
	}
	p.expect(')')
}

// likeTable reads LIKE table with its options.
func (p *parser) likeTable() (l LikeTable) {
	start := p.start()
	p.next()
	l.Table = p.objectName()
	for {
		prefix := ""
		switch {
		case p.accept(kwIncluding):
		case p.accept(kwExcluding):
			prefix = "-"
		default:
			l.Span = p.spanFrom(start)
			return l
		}
		l.Options = append(l.Options, prefix+p.colLabel().Name)
	}
}

// tableClauses reads what may follow the columns of a table, in any order.
func (p *parser) tableClauses(s *CreateTable) {
	for p.err == nil {
		switch k := p.kind(); {
		case k == kwPartition && p.peek(1) == kwBy && s.PartitionBy == nil:
			s.PartitionBy = p.partitionBy()
		case k == kwWith && p.peek(1) == '(':
			p.next()
			s.Options = append(s.Options, p.options()...)
		case p.accept2(kwWithout, kwOids):
		case p.accept2(kwOn, kwCommit):
			s.OnCommit = p.onCommit()
		case p.accept(kwTablespace):
			s.Tablespace = p.colID()
		case k == kwInherits && p.peek(1) == '(':
			p.pos += 2
			s.Inherits = p.objectNames()
			p.expect(')')
		case k == kwDistribute && s.DistributeBy == nil:
			s.DistributeBy = p.distributeBy()
		case k == kwColview, k == kwNocolview:
			p.setColView(&s.ColView, "table", Ident{Name: s.Name.Name})
		case k == kwUsing:
			p.next()
			if at := p.start(); p.colID().Name != "heap" && p.err == nil {
				p.unsupported(at, "a table access method other than heap")
			}
		default:
			return
		}
	}
}

func (p *parser) onCommit() OnCommit {
	switch {
	case p.accept(kwDrop):
		return OnCommitDrop
	case p.accept2(kwDelete, kwRows):
		return OnCommitDeleteRows
	}
	p.expect2(kwPreserve, kwRows)
	return OnCommitPreserveRows
}

// distributeBy reads DISTRIBUTE BY HASH (columns) and the like.
func (p *parser) distributeBy() *DistributeBy {
	d := &DistributeBy{}
	start := p.start()
	p.expect2(kwDistribute, kwBy)
	d.Method = p.colID().Name
	d.Columns = p.optParenIdents()
	switch d.Method {
	case "hash", "modulo", "range", "list":
		if d.Columns == nil {
			p.unexpectedWanting("a column list")
		}
	case "replication", "roundrobin":
	default:
		if p.err == nil {
			p.fail(sqlerr.New(sqlerr.SyntaxError, "unrecognized distribution \"%s\"", d.Method).At(start).
				WithHint("Use DISTRIBUTE BY HASH (columns) or REPLICATION."))
		}
	}
	d.Span = p.spanFrom(start)
	return d
}

// createView reads CREATE [OR REPLACE] [TEMP] [RECURSIVE] VIEW.
func (p *parser) createView(c createPrefix) Statement {
	s := &CreateView{OrReplace: c.orReplace, Temporary: c.persistence == Temporary}
	s.Recursive = p.accept(kwRecursive)
	p.expect(kwView)
	s.Name = p.objectName()
	s.Columns = p.optParenIdents()
	if p.accept(kwWith) {
		s.Options = p.options()
	}
	p.expect(kwAs)
	s.Query = p.selectStmt()
	if p.accept(kwWith) {
		s.CheckOption = "cascaded"
		if p.accept(kwLocal) {
			s.CheckOption = "local"
		} else {
			p.accept(kwCascaded)
		}
		p.expect2(kwCheck, kwOption)
	}
	s.Span = p.spanFrom(c.start)
	return s
}

// createSchema reads what follows CREATE SCHEMA.
func (p *parser) createSchema(c createPrefix) Statement {
	s := &CreateSchema{IfNotExists: p.ifNotExists()}
	if p.kind() != kwAuthorization {
		s.Name = p.colID()
	}
	if p.accept(kwAuthorization) {
		s.Owner = p.colLabel()
	}
	if s.Name.Name == "" {
		s.Name = s.Owner
	}
	s.Span = p.spanFrom(c.start)
	return s
}
