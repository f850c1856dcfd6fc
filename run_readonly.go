package weft

import (
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// readOnly reports whether the open transaction must not write.
func (s *Session) readOnly() bool { return s.txn != nil && s.txOptions.ReadOnly }

// refuseIfReadOnly fails for a statement that changes data in a transaction that must not.
func (r *running) refuseIfReadOnly() error {
	if _, vacuum := r.stmt.(*sql.Vacuum); vacuum && r.s.txn != nil || !r.s.currentTxOptions().ReadOnly {
		return nil // VACUUM has more to say about the transaction
	}
	return errReadOnly(r.stmt)
}

func errReadOnly(stmt sql.Statement) error {
	return sqlerr.New(sqlerr.ReadOnlyTransaction, "cannot execute %s in a read-only transaction", commandName(stmt)).At(stmt.SourceSpan().Start)
}

// objectNames are the kinds of objects as commands name them.
var objectNames = map[sql.ObjectKind]string{
	sql.TableObject: "TABLE", sql.IndexObject: "INDEX", sql.ViewObject: "VIEW",
	sql.MaterializedViewObject: "MATERIALIZED VIEW", sql.SchemaObject: "SCHEMA", sql.SequenceObject: "SEQUENCE",
}

// lockNames are the locking clauses, by strength.
var lockNames = [...]string{sql.ForKeyShare: "KEY SHARE", sql.ForShare: "SHARE", sql.ForNoKeyUpdate: "NO KEY UPDATE", sql.ForUpdate: "UPDATE"}

// commandName is what PostgreSQL calls a statement that may write.
func commandName(stmt sql.Statement) string {
	switch n := stmt.(type) {
	case *sql.Select:
		if lock := firstLock(n); lock != nil {
			return "SELECT FOR " + lockNames[lock.Strength]
		}
		return "SELECT"
	case *sql.Insert:
		return "INSERT"
	case *sql.Update:
		return "UPDATE"
	case *sql.Delete:
		return "DELETE"
	case *sql.Merge:
		return "MERGE"
	case *sql.Copy:
		return "COPY FROM"
	case *sql.Truncate:
		return "TRUNCATE TABLE"
	}
	return definitionName(stmt)
}

// definitionName is that of a statement about the catalog.
func definitionName(stmt sql.Statement) string {
	switch n := stmt.(type) {
	case *sql.CreateTable:
		return "CREATE TABLE"
	case *sql.CreateTableAs:
		return "CREATE TABLE AS"
	case *sql.CreateIndex:
		return "CREATE INDEX"
	case *sql.CreateView:
		return "CREATE VIEW"
	case *sql.CreateSchema:
		return "CREATE SCHEMA"
	case *sql.CreateSequence:
		return "CREATE SEQUENCE"
	case *sql.AlterSequence:
		return "ALTER SEQUENCE"
	case *sql.AlterTable:
		return "ALTER " + objectNames[n.Kind]
	case *sql.Drop:
		return "DROP " + objectNames[n.Kind]
	case *sql.Reindex:
		return "REINDEX"
	case *sql.Analyze:
		return "ANALYZE"
	case *sql.Vacuum:
		return "VACUUM"
	}
	return "this statement"
}

// firstLock returns the first locking clause of a query, nil if there is none.
func firstLock(q *sql.Select) (lock *sql.Locking) {
	sql.Inspect(q, func(n sql.Node) bool {
		if q, ok := n.(*sql.Select); ok && lock == nil && len(q.Locking) > 0 {
			lock = &q.Locking[0]
		}
		return lock == nil
	})
	return lock
}
