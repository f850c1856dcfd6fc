package weft

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
)

// Exists reports whether dir holds a database, which Open would otherwise create.
func Exists(dir string) bool { return storage.Exists(dir) }

// NextStatement finds the end of the first statement in text: the offset behind its semicolon.
// complete is false when the text ends inside a statement, string or comment.
func NextStatement(text string) (end int, complete bool) { return sql.NextStatement(text) }

// Catalog returns the tables as the session sees them.
func (s *Session) Catalog() *catalog.Snapshot {
	if s.txn != nil {
		return s.txn.Catalog()
	}
	return s.db.engine.Catalog()
}

// TypeName returns the column's type as PostgreSQL prints it.
func (c Column) TypeName() string { return c.Type.String() }

// IsNumber reports whether the column holds numbers.
func (c Column) IsNumber() bool { return c.Type.IsNumber() || c.Type.ID == catalog.Oid }
