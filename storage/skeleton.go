package storage

import (
	"context"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

var errNotBuilt = sqlerr.New(sqlerr.FeatureNotSupported, "storage: not built yet")

// Loader fills a table in bulk.
type Loader struct{}

// NewLoader starts a bulk load. An empty table is loaded into fresh stores and index key spaces
// that the commit switches in; other tables get batched inserts.
func (t *Txn) NewLoader(ctx context.Context, tbl *catalog.Table) (*Loader, error) {
	return nil, errNotBuilt
}

// Append adds a batch: one vector per column of tbl, in tbl.Columns order. It may be called
// concurrently; each number from 0 up is used exactly once, and rows are stored in number order.
// The batch is not kept.
func (l *Loader) Append(seq uint64, rows *vector.Batch) error { return errNotBuilt }

// Finish ends the load and returns the number of rows. They become visible with the transaction's
// commit.
func (l *Loader) Finish() (int64, error) { return 0, errNotBuilt }

// Abort gives up the load.
func (l *Loader) Abort() {}
