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
	ctx   context.Context
	txn   *storage.Txn
	table *catalog.Table
	load  *BulkLoad // nil: not many rows so far, or never

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
	case b.load != nil:
		return b.load.Push(rows)
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
	b.load = NewBulkLoad(b.txn, b.table, loader)
	for _, rows := range b.waiting {
		if err := b.load.Push(rows); err != nil {
			return err
		}
	}
	b.waiting = nil
	return nil
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
	if b.load == nil {
		return false, b.insertWaiting()
	}
	return true, b.load.Finish()
}

// Abort gives a load up that has not finished.
func (b *BulkInsert) Abort() {
	if b.load != nil {
		b.load.loader.Abort()
	}
}

// BulkLoad is a Result that hands batches to a loader, one after the other, and gathers the statistics of the table.
type BulkLoad struct {
	txn    *storage.Txn
	table  *catalog.Table
	loader *storage.Loader
	stats  *catalog.Collector
	number uint64 // of the loader's next batch
}

// NewBulkLoad returns a BulkLoad by a loader of a table's rows, which the caller aborts after an error.
func NewBulkLoad(txn *storage.Txn, table *catalog.Table, loader *storage.Loader) *BulkLoad {
	return &BulkLoad{txn: txn, table: table, loader: loader, stats: catalog.NewCollector(table.Columns, 1)}
}

// Push implements Result.
func (l *BulkLoad) Push(rows *vector.Batch) error {
	l.stats.Add(rows)
	l.number++
	return l.loader.Append(l.number-1, rows)
}

// Finish ends the load.
func (l *BulkLoad) Finish() error {
	if _, err := l.loader.Finish(); err != nil {
		return err
	}
	return l.txn.SetStats(l.table.ID, l.stats.Stats())
}
