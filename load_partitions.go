package weft

import (
	"context"
	"sync"

	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/storage"
)

// partitionLoad inserts the rows of a load into the partitions of a table, batch by batch: each batch is
// spread over them by the worker that has read it.
type partitionLoad struct {
	mu    sync.Mutex
	txn   *storage.Txn
	count int64
}

func (p *partitionLoad) insert(ctx context.Context, placed []exec.PlacedRows) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, part := range placed {
		if _, err := p.txn.Insert(ctx, part.Table, part.Rows); err != nil {
			return err
		}
		p.count += int64(part.Rows.Live())
	}
	return nil
}

// abort gives up what has not been stored; what is inserted goes with the transaction.
func (l *copyLoad) abort() {
	if l.loader != nil {
		l.loader.Abort()
	}
}

// finish stores the rest and returns the number of rows.
func (l *copyLoad) finish() (int64, error) {
	if l.inserts != nil {
		return l.inserts.count, nil
	}
	return l.loader.Finish()
}
