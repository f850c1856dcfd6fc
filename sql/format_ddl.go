package sql

import "strings"

func (f *formatter) persistence(p Persistence) {
	f.w([]string{"", "TEMPORARY ", "UNLOGGED "}[p])
}

func (f *formatter) createTable(s *CreateTable) {
	f.w("CREATE ")
	f.persistence(s.Persistence)
	f.w("TABLE ")
	f.when(s.IfNotExists, "IF NOT EXISTS ")
	f.object(s.Name)
	if s.PartitionOf != nil {
		f.w(" PARTITION OF ")
		f.object(*s.PartitionOf)
	}
	if s.PartitionOf == nil || len(s.Columns)+len(s.Constraints) > 0 {
		f.w(" ")
		f.tableElements(s)
	}
	if s.Bound != nil {
		f.w(" ")
		f.bound(s.Bound, false)
	}
	if s.Inherits != nil {
		f.w(" INHERITS ")
		parens(f, s.Inherits, f.object)
	}
	if s.PartitionBy != nil {
		f.w(" ")
		f.partitionBy(s.PartitionBy)
	}
	f.tableClauses(s.Options, s.OnCommit, s.Tablespace, s.DistributeBy, s.ColView)
}

func (f *formatter) tableElements(s *CreateTable) {
	f.w("(")
	list(f, s.Columns, f.columnDef)
	f.when(len(s.Columns) > 0 && len(s.Constraints) > 0, ", ")
	list(f, s.Constraints, f.constraint)
	f.when(len(s.Columns)+len(s.Constraints) > 0 && len(s.Likes) > 0, ", ")
	list(f, s.Likes, func(l LikeTable) {
		f.w("LIKE ")
		f.object(l.Table)
		for _, o := range l.Options {
			if name, excluding := strings.CutPrefix(o, "-"); excluding {
				f.w(" EXCLUDING ")
				f.label(name)
			} else {
				f.w(" INCLUDING ")
				f.label(o)
			}
		}
	})
	f.w(")")
}

// tableClauses writes the clauses that CREATE TABLE and CREATE TABLE AS share.
func (f *formatter) tableClauses(options []Option, commit OnCommit, space Ident, d *DistributeBy, view Tristate) {
	if options != nil {
		f.w(" WITH ")
		f.options(options, " = ")
	}
	f.w([]string{"", " ON COMMIT PRESERVE ROWS", " ON COMMIT DELETE ROWS", " ON COMMIT DROP"}[commit])
	f.tablespace(space)
	if d != nil {
		f.w(" ")
		f.distributeBy(d)
	}
	f.colViewWord(view)
}

func (f *formatter) tablespace(name Ident) {
	if name.Name != "" {
		f.w(" TABLESPACE ")
		f.ident(name)
	}
}

func (f *formatter) colViewWord(v Tristate) {
	f.w([]string{"", " COLVIEW", " NOCOLVIEW"}[v])
}

func (f *formatter) distributeBy(d *DistributeBy) {
	f.w("DISTRIBUTE BY ", strings.ToUpper(d.Method))
	f.optColumns(d.Columns)
}

func (f *formatter) createTableAs(s *CreateTableAs) {
	f.w("CREATE ")
	f.persistence(s.Persistence)
	f.w(map[bool]string{false: "TABLE ", true: "MATERIALIZED VIEW "}[s.Materialized])
	f.when(s.IfNotExists, "IF NOT EXISTS ")
	f.object(s.Name)
	f.optColumns(s.Columns)
	f.tableClauses(s.Options, s.OnCommit, s.Tablespace, s.DistributeBy, s.ColView)
	f.w(" AS ")
	f.selectStmt(s.Query)
	f.when(s.NoData, " WITH NO DATA")
}

func (f *formatter) columnDef(c ColumnDef) {
	f.ident(c.Name)
	if c.Type.Name != "" {
		f.w(" ")
		f.typeName(c.Type)
	}
	if c.Collation != nil {
		f.w(" COLLATE ")
		f.object(*c.Collation)
	}
	f.colViewWord(c.ColView)
	if c.Default != nil {
		f.w(" DEFAULT ")
		f.restricted(c.Default)
	}
	if c.Generated != nil {
		f.w(" GENERATED ALWAYS AS ")
		f.inParens(c.Generated)
		f.w(" STORED")
	}
	if c.Identity != nil {
		f.w(" ")
		f.identity(c.Identity)
	}
	f.w([]string{"", " NOT NULL", " NULL"}[c.NotNull])
	for _, con := range c.Constraints {
		f.w(" ")
		f.constraint(con)
	}
}

func (f *formatter) identity(id *Identity) {
	f.w("GENERATED ", map[bool]string{false: "BY DEFAULT", true: "ALWAYS"}[id.Always], " AS IDENTITY")
	if id.Options != nil {
		f.w(" (")
		f.sequenceOptions("", id.Options)
		f.w(")")
	}
}

// sequenceOptions writes options separated by blanks, the first one after lead.
func (f *formatter) sequenceOptions(lead string, options []SequenceOption) {
	for _, o := range options {
		f.w(lead)
		lead = " "
		f.when(o.No, "NO ")
		f.w(strings.ToUpper(o.Name))
		switch {
		case o.Name == "as":
			f.w(" ")
			f.typeName(o.Type)
		case o.Name == "owned by" && o.OwnedBy.Column == "":
			f.w(" NONE")
		case o.Name == "owned by":
			f.w(" ")
			f.object(o.OwnedBy.Table)
			f.w(".")
			f.name(o.OwnedBy.Column)
		case o.HasValue:
			f.w(" ")
			f.int(o.Value)
		}
	}
}

// constraint writes a table constraint, or a column constraint, which has no columns of its own.
func (f *formatter) constraint(c Constraint) {
	if c.Name.Name != "" {
		f.w("CONSTRAINT ")
		f.ident(c.Name)
		f.w(" ")
	}
	switch c.Kind {
	case CheckConstraint:
		f.w("CHECK ")
		f.inParens(c.Expr)
		f.when(c.NoInherit, " NO INHERIT")
	case PrimaryKey:
		f.w("PRIMARY KEY")
		f.uniqueBody(c)
	case Unique:
		f.w("UNIQUE")
		f.when(c.NullsNotDistinct, " NULLS NOT DISTINCT")
		f.uniqueBody(c)
	case ForeignKey:
		f.foreignKey(c)
	}
	f.w([]string{"", " DEFERRABLE", " NOT DEFERRABLE"}[c.Deferrable])
	f.when(c.InitiallyDeferred, " INITIALLY DEFERRED")
	f.when(c.NotValid, " NOT VALID")
}

func (f *formatter) uniqueBody(c Constraint) {
	if c.UsingIndex.Name != "" {
		f.w(" USING INDEX ")
		f.ident(c.UsingIndex)
	}
	f.optColumns(c.Columns)
	if c.Include != nil {
		f.w(" INCLUDE")
		f.optColumns(c.Include)
	}
	if c.Options != nil {
		f.w(" WITH ")
		f.options(c.Options, " = ")
	}
}

func (f *formatter) foreignKey(c Constraint) {
	if c.Columns != nil {
		f.w("FOREIGN KEY")
		f.optColumns(c.Columns)
		f.w(" ")
	}
	f.w("REFERENCES ")
	f.object(c.RefTable)
	f.optColumns(c.RefColumns)
	f.when(c.MatchFull, " MATCH FULL")
	actions := []string{"", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT"}
	f.when(c.OnDelete != RefNoAction, " ON DELETE "+actions[c.OnDelete])
	f.optColumns(c.SetColumns)
	f.when(c.OnUpdate != RefNoAction, " ON UPDATE "+actions[c.OnUpdate])
}

func (f *formatter) partitionBy(b *PartitionBy) {
	f.w("PARTITION BY ", []string{"RANGE ", "LIST ", "HASH "}[b.Method])
	parens(f, b.Keys, f.partitionKey)
	if b.Partitions != nil {
		f.w(" ")
		parens(f, b.Partitions, f.partitionDef)
	}
}

func (f *formatter) partitionKey(k PartitionKey) {
	f.keyExpr(k.Expr)
	f.keyClasses(k.Collation, k.OpClass)
}

func (f *formatter) partitionDef(d PartitionDef) {
	f.w("PARTITION ")
	f.ident(d.Name)
	if d.Bound != nil {
		f.w(" ")
		f.bound(d.Bound, true)
	}
}

// bound writes a partition bound; inline lists have forms of their own.
func (f *formatter) bound(b *PartitionBound, inline bool) {
	switch b.Kind {
	case BoundDefault:
		f.w(map[bool]string{false: "DEFAULT", true: "VALUES (DEFAULT)"}[inline])
	case BoundRange:
		f.w("FOR VALUES FROM ")
		parens(f, b.From, f.limit)
		f.w(" TO ")
		parens(f, b.To, f.limit)
	case BoundList:
		f.w(map[bool]string{false: "FOR VALUES IN ", true: "VALUES "}[inline])
		parens(f, b.In, f.expr)
	case BoundHash:
		f.w("FOR VALUES WITH (MODULUS ")
		f.int(int64(b.Modulus))
		f.w(", REMAINDER ")
		f.int(int64(b.Remainder))
		f.w(")")
	case BoundLessThan:
		f.w("VALUES LESS THAN ")
		parens(f, b.To, f.limit)
	}
}

func (f *formatter) limit(l PartitionLimit) {
	switch l.Kind {
	case MinValue:
		f.w("MINVALUE")
	case MaxValue:
		f.w("MAXVALUE")
	default:
		f.expr(l.Expr)
	}
}

// keyExpr writes a key of an index or partition: a column, or anything else in parentheses.
func (f *formatter) keyExpr(e Expr) {
	if c, ok := e.(*ColumnRef); ok && len(c.Parts) == 1 {
		f.ident(c.Parts[0])
		return
	}
	f.inParens(e)
}

func (f *formatter) keyClasses(collation, class *ObjectName) {
	if collation != nil {
		f.w(" COLLATE ")
		f.object(*collation)
	}
	if class != nil {
		f.w(" ")
		f.object(*class)
	}
}

func (f *formatter) indexElem(e IndexElem) {
	f.keyExpr(e.Expr)
	f.keyClasses(e.Collation, e.OpClass)
	f.sortDirection(e.Desc, e.Nulls)
}

func (f *formatter) createIndex(s *CreateIndex) {
	f.w("CREATE ")
	f.when(s.Unique, "UNIQUE ")
	f.w("INDEX ")
	f.when(s.Concurrently, "CONCURRENTLY ")
	f.when(s.IfNotExists, "IF NOT EXISTS ")
	if s.Name.Name != "" {
		f.ident(s.Name)
		f.w(" ")
	}
	f.w("ON ")
	f.when(s.Only, "ONLY ")
	f.object(s.Table)
	if s.Method != "" {
		f.w(" USING ")
		f.name(s.Method)
	}
	f.w(" ")
	parens(f, s.Elems, f.indexElem)
	if s.Include != nil {
		f.w(" INCLUDE")
		f.optColumns(s.Include)
	}
	f.when(s.NullsNotDistinct, " NULLS NOT DISTINCT")
	f.when(s.Locality != "", " "+strings.ToUpper(s.Locality))
	if s.Options != nil {
		f.w(" WITH ")
		f.options(s.Options, " = ")
	}
	f.tablespace(s.Tablespace)
	f.clause(" WHERE ", s.Where)
}

func (f *formatter) createView(s *CreateView) {
	f.w("CREATE ")
	f.when(s.OrReplace, "OR REPLACE ")
	f.when(s.Temporary, "TEMPORARY ")
	f.when(s.Recursive, "RECURSIVE ")
	f.w("VIEW ")
	f.object(s.Name)
	f.optColumns(s.Columns)
	if s.Options != nil {
		f.w(" WITH ")
		f.options(s.Options, " = ")
	}
	f.w(" AS ")
	f.selectStmt(s.Query)
	f.when(s.CheckOption != "", " WITH "+strings.ToUpper(s.CheckOption)+" CHECK OPTION")
}
