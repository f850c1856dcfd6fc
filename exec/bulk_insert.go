package exec

import (
	"context"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// BulkInsert stores what an INSERT into a table without rows yields: a few rows as others are, many by a bulk load
// into fresh stores, which costs a fraction and gathers statistics on the way. The first rows wait until it is known
// which. It belongs to one statement; one goroutine at a time uses it.
type BulkInsert struct {
	ctx    context.Context
	txn    *storage.Txn
	table  *catalog.Table
	stats  *catalog.Collector
	loader *storage.Loader // nil: not many rows so far, or never
	number uint64          // of the loader's next batch

	waiting      []*vector.Batch
	waitingRows  int
	waitingBytes int
	single       bool // rows are inserted as others are
}

// From so many rows or bytes on, a load costs less than inserting: making, closing and ingesting its files takes about
// as long as inserting 2,000 rows, and the table's plans and column views are made anew.
const (
	bulkRows  = 16 << 10
	bulkBytes = 8 << 20
)

// batchOverheadBytes is about what a batch takes beside its values.
const batchOverheadBytes = 1 << 10

// NewBulkInsert returns a BulkInsert of rows of a table by a transaction's statement, whose context is ctx.
func NewBulkInsert(ctx context.Context, txn *storage.Txn, table *catalog.Table) *BulkInsert {
	return &BulkInsert{ctx: ctx, txn: txn, table: table}
}

// add stores the rows of a batch, which is not kept.
func (b *BulkInsert) add(rows *vector.Batch) error {
	switch {
	case b.loader != nil:
		return b.load(rows)
	case b.single:
		return b.insert(rows)
	}
	own := ownedBatch(rows)
	b.waiting = append(b.waiting, own)
	b.waitingRows += own.N
	b.waitingBytes += batchOverheadBytes
	for _, v := range own.Vecs {
		b.waitingBytes += v.SizeBytes()
	}
	if b.waitingRows < bulkRows && b.waitingBytes < bulkBytes {
		return nil
	}
	loader, err := b.txn.NewLoader(b.ctx, b.table)
	if err != nil {
		return err
	}
	if !loader.Fresh() { // somebody writes the table
		loader.Abort()
		return b.insertWaiting()
	}
	b.loader, b.stats = loader, catalog.NewCollector(b.table.Columns, 1)
	for _, rows := range b.waiting {
		if err := b.load(rows); err != nil {
			return err
		}
	}
	b.waiting = nil
	return nil
}

func (b *BulkInsert) load(rows *vector.Batch) error {
	b.stats.Add(rows)
	b.number++
	return b.loader.Append(b.number-1, rows)
}

func (b *BulkInsert) insert(rows *vector.Batch) error {
	_, err := b.txn.Insert(b.ctx, b.table, rows)
	return err
}

// insertWaiting turns to inserting.
func (b *BulkInsert) insertWaiting() error {
	b.single = true
	for _, rows := range b.waiting {
		if err := b.insert(rows); err != nil {
			return err
		}
	}
	b.waiting = nil
	return nil
}

// Finish stores what is left when the statement has run to its end, and reports whether the rows went to fresh stores,
// of which column views have to be made.
func (b *BulkInsert) Finish() (fresh bool, err error) {
	if b.loader == nil {
		return false, b.insertWaiting()
	}
	if _, err := b.loader.Finish(); err != nil {
		return false, err
	}
	return true, b.txn.SetStats(b.table.ID, b.stats.Stats())
}

// Abort gives a load up that has not finished.
func (b *BulkInsert) Abort() {
	if b.loader != nil {
		b.loader.Abort()
	}
}
