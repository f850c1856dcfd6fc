package sql

import (
	"fmt"
	"strings"
)

// statement writes any statement.
func (f *formatter) statement(s Statement) {
	switch s := s.(type) {
	case *Select:
		f.selectStmt(s)
	case *Insert:
		f.insert(s)
	case *Update:
		f.update(s)
	case *Delete:
		f.delete(s)
	case *Merge:
		f.merge(s)
	case *Truncate:
		f.w("TRUNCATE TABLE ")
		for i, name := range s.Tables {
			f.when(i > 0, ", ")
			f.when(s.Only[i], "ONLY ")
			f.object(name)
		}
		f.when(s.RestartIdentity, " RESTART IDENTITY")
		f.when(s.Cascade, " CASCADE")
	case *Copy:
		f.copy(s)
	case *Explain:
		f.w("EXPLAIN ")
		if s.Options != nil {
			f.options(s.Options, " ")
			f.w(" ")
		}
		f.statement(s.Stmt)
	case *Analyze:
		f.maintenance("ANALYZE", s.Options, s.Tables)
	case *Vacuum:
		f.maintenance("VACUUM", s.Options, s.Tables)
	case *Reindex:
		f.w("REINDEX ")
		if s.Table {
			f.w("TABLE ")
		} else {
			f.w("INDEX ")
		}
		f.when(s.Concurrently, "CONCURRENTLY ")
		f.object(s.Name)
	case *Checkpoint:
		f.w("CHECKPOINT")
	case *Discard:
		f.w("DISCARD ", []string{"ALL", "PLANS", "SEQUENCES", "TEMP"}[s.Kind])
	default:
		f.definition(s)
	}
}

// definition writes the statements that define objects.
func (f *formatter) definition(s Statement) {
	switch s := s.(type) {
	case *CreateTable:
		f.createTable(s)
	case *CreateTableAs:
		f.createTableAs(s)
	case *CreateIndex:
		f.createIndex(s)
	case *CreateView:
		f.createView(s)
	case *RefreshView:
		f.w("REFRESH MATERIALIZED VIEW ")
		f.when(s.Concurrently, "CONCURRENTLY ")
		f.object(s.Name)
		f.when(s.NoData, " WITH NO DATA")
	case *CreateSchema:
		f.w("CREATE SCHEMA ")
		f.when(s.IfNotExists, "IF NOT EXISTS ")
		f.ident(s.Name)
		if s.Owner.Name != "" {
			f.w(" AUTHORIZATION ")
			f.ident(s.Owner)
		}
	case *CreateSequence:
		f.w("CREATE ")
		f.when(s.Temporary, "TEMPORARY ")
		f.w("SEQUENCE ")
		f.when(s.IfNotExists, "IF NOT EXISTS ")
		f.object(s.Name)
		f.sequenceOptions(" ", s.Options)
	case *AlterSequence:
		f.w("ALTER SEQUENCE ")
		f.when(s.IfExists, "IF EXISTS ")
		f.object(s.Name)
		f.sequenceOptions(" ", s.Options)
	case *AlterTable:
		f.alterTable(s)
	case *Drop:
		f.w("DROP ", objectWords[s.Kind], " ")
		f.when(s.Concurrently, "CONCURRENTLY ")
		f.when(s.IfExists, "IF EXISTS ")
		list(f, s.Names, f.object)
		f.when(s.Cascade, " CASCADE")
	default:
		f.session(s)
	}
}

// objectWords are the words for ObjectKind.
var objectWords = []string{"TABLE", "INDEX", "VIEW", "MATERIALIZED VIEW", "SCHEMA", "SEQUENCE"}

// session writes transactions, settings, prepared statements and cursors.
func (f *formatter) session(s Statement) {
	switch s := s.(type) {
	case *Begin:
		f.w("BEGIN")
		f.txModes(s.Modes)
	case *Commit:
		f.w("COMMIT")
		f.when(s.Chain, " AND CHAIN")
	case *Rollback:
		f.w("ROLLBACK")
		f.when(s.Chain, " AND CHAIN")
	case *Savepoint:
		f.w("SAVEPOINT ")
		f.ident(s.Name)
	case *Release:
		f.w("RELEASE SAVEPOINT ")
		f.ident(s.Name)
	case *RollbackTo:
		f.w("ROLLBACK TO SAVEPOINT ")
		f.ident(s.Name)
	case *SetTransaction:
		f.w(map[bool]string{false: "SET TRANSACTION", true: "SET SESSION CHARACTERISTICS AS TRANSACTION"}[s.Session])
		f.txModes(s.Modes)
	case *SetConstraints:
		f.w("SET CONSTRAINTS ")
		f.when(s.Names == nil, "ALL")
		list(f, s.Names, f.object)
		f.w(map[bool]string{false: " IMMEDIATE", true: " DEFERRED"}[s.Deferred])
	case *Lock:
		f.w("LOCK TABLE ")
		list(f, s.Tables, f.object)
		f.when(s.Mode != "", " IN "+strings.ToUpper(s.Mode)+" MODE")
		f.when(s.NoWait, " NOWAIT")
	case *Set:
		f.set(s)
	case *Show:
		f.w("SHOW ")
		f.settingName(s.Name)
	case *Reset:
		f.w("RESET ")
		f.settingName(s.Name)
	default:
		f.preparedStmt(s)
	}
}

func (f *formatter) preparedStmt(s Statement) {
	switch s := s.(type) {
	case *Prepare:
		f.w("PREPARE ")
		f.ident(s.Name)
		if s.Types != nil {
			f.w(" ")
			parens(f, s.Types, f.typeName)
		}
		f.w(" AS ")
		f.statement(s.Stmt)
	case *Execute:
		f.w("EXECUTE ")
		f.ident(s.Name)
		if s.Args != nil {
			f.w(" ")
			parens(f, s.Args, f.expr)
		}
	case *Deallocate:
		f.w("DEALLOCATE ")
		f.identOrAll(s.Name)
	case *CloseCursor:
		f.w("CLOSE ")
		f.identOrAll(s.Name)
	case *DeclareCursor:
		f.w("DECLARE ")
		f.ident(s.Name)
		f.when(s.Binary, " BINARY")
		f.when(s.Insensitive, " INSENSITIVE")
		f.w([]string{"", " SCROLL", " NO SCROLL"}[s.Scroll], " CURSOR ")
		f.when(s.Hold, "WITH HOLD ")
		f.w("FOR ")
		f.selectStmt(s.Query)
	case *Fetch:
		f.w(map[bool]string{false: "FETCH ", true: "MOVE "}[s.Move])
		f.w([]string{"FORWARD ", "BACKWARD ", "ABSOLUTE ", "RELATIVE "}[s.Direction])
		if s.All {
			f.w("ALL")
		} else {
			f.int(s.Count)
		}
		f.w(" FROM ")
		f.ident(s.Cursor)
	default:
		panic(fmt.Sprintf("sql: Format of %T", s))
	}
}

func (f *formatter) identOrAll(id Ident) {
	if id.Name == "" {
		f.w("ALL")
		return
	}
	f.ident(id)
}

func (f *formatter) txModes(m TxModes) {
	sep := " "
	mode := func(cond bool, text string) {
		if cond {
			f.w(sep, text)
			sep = ", "
		}
	}
	mode(m.Isolation != IsolationDefault, "ISOLATION LEVEL "+
		[]string{"", "READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}[m.Isolation])
	mode(m.ReadOnly == Yes, "READ ONLY")
	mode(m.ReadOnly == No, "READ WRITE")
	mode(m.Deferrable == Yes, "DEFERRABLE")
	mode(m.Deferrable == No, "NOT DEFERRABLE")
}

func (f *formatter) set(s *Set) {
	f.w("SET ")
	f.when(s.Local, "LOCAL ")
	f.settingName(s.Name)
	f.w(" = ")
	if s.Default {
		f.w("DEFAULT")
		return
	}
	list(f, s.Values, f.value)
}

// settingName writes the name of a setting; an empty one is ALL.
func (f *formatter) settingName(name string) {
	if name == "" {
		f.w("ALL")
		return
	}
	for i, part := range strings.Split(name, ".") {
		f.when(i > 0, ".")
		f.name(part)
	}
}

func (f *formatter) maintenance(word string, options []Option, tables []MaintenanceTable) {
	f.w(word)
	if options != nil {
		f.w(" ")
		f.options(options, " ")
	}
	f.when(tables != nil, " ")
	list(f, tables, func(t MaintenanceTable) {
		f.object(t.Name)
		f.optColumns(t.Columns)
	})
}
