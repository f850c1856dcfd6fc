package weft

import (
	"context"
	"sync"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// partitionLoad stores the rows of a load in the partitions of a table. Those of empty partitions go to fresh
// stores, as those of an empty table do, unless somebody else writes below the table; others are inserted.
type partitionLoad struct {
	ctx   context.Context
	txn   *storage.Txn
	table *catalog.Table
	rows  func(leaf *catalog.Table) bool // whether others have committed some

	mu     sync.Mutex
	leaves map[catalog.TableID]*leafLoad
	open   int // leaves with a loader
	tick   uint64
	tree   []catalog.TableID // the partitioned tables, once they are locked
	shared bool              // somebody else writes them
	count  int64
	views  bool // leaves with column views have fresh stores
}

// leafLoad is a partition that rows are stored in.
type leafLoad struct {
	table  *catalog.Table
	loader *storage.Loader // nil: rows are inserted
	next   uint64          // number of the loader's next batch
	users  int             // workers that are appending
	used   uint64          // when it got rows last
}

// openLeaves is how many partitions are loaded into fresh stores at the same time: each has files of its own
// and memory for its keys. When there are more, the one that has got no rows for the longest time is
// finished, for files tend to be in the order of their partitions; what comes for it later is inserted.
const openLeaves = 32

// insert stores rows of a leaf. Workers call it side by side.
func (p *partitionLoad) insert(table *catalog.Table, rows *vector.Batch) error {
	p.mu.Lock()
	leaf, err := p.leaf(table)
	if err != nil {
		p.mu.Unlock()
		return err
	}
	p.count += int64(rows.Live())
	if leaf.loader == nil {
		defer p.mu.Unlock()
		_, err := p.txn.Insert(p.ctx, leaf.table, rows)
		return err
	}
	number, loader := leaf.next, leaf.loader
	leaf.next++
	leaf.users++
	p.mu.Unlock()
	err = loader.Append(number, rows)
	p.mu.Lock()
	leaf.users--
	p.mu.Unlock()
	return err
}

// leaf returns where rows of a partition are stored.
func (p *partitionLoad) leaf(table *catalog.Table) (*leafLoad, error) {
	p.tick++
	leaf := p.leaves[table.ID]
	if leaf == nil {
		leaf = &leafLoad{table: table}
		if err := p.begin(leaf); err != nil {
			return nil, err
		}
		p.leaves[table.ID] = leaf
	}
	leaf.used = p.tick
	return leaf, nil
}

// begin starts a load of a leaf into fresh stores where that is possible.
func (p *partitionLoad) begin(leaf *leafLoad) error {
	if p.shared || p.rows(leaf.table) {
		return nil
	}
	if p.open == openLeaves {
		if done, err := p.finishIdle(); err != nil || !done {
			return err
		}
	}
	loader, err := p.txn.NewLoaderOfSeveral(p.ctx, leaf.table, openLeaves)
	if err != nil {
		return err
	}
	if loader.Fresh() {
		err = p.lockTree()
	}
	if err != nil || p.shared || !loader.Fresh() {
		loader.Abort()
		return err
	}
	leaf.loader = loader
	p.open++
	return nil
}

// lockTree keeps others from writing the table, those above it and those below, by whose descriptions they
// would write to the stores that leaves have now. Where it would have to wait, they are shared.
func (p *partitionLoad) lockTree() error {
	if p.tree != nil {
		return nil
	}
	c := p.txn.Catalog()
	tables := []*catalog.Table{p.table}
	tables = append(append(tables, c.Ancestors(p.table)...), c.Descendants(p.table.ID)...)
	for _, t := range tables {
		if t.Kind != catalog.PartitionedTable {
			continue
		}
		err := p.txn.LockTable(p.ctx, t.ID, storage.Exclusive, storage.NoWait)
		if sqlerr.CodeOf(err) == sqlerr.LockNotAvailable {
			p.shared = true
			return nil
		}
		if err != nil {
			return err
		}
		p.tree = append(p.tree, t.ID)
	}
	return nil
}

// finishIdle ends the load of the leaf that has waited longest for rows; false if all are getting some.
func (p *partitionLoad) finishIdle() (bool, error) {
	var idle *leafLoad
	for _, leaf := range p.leaves {
		if leaf.loader != nil && leaf.users == 0 && (idle == nil || leaf.used < idle.used) {
			idle = leaf
		}
	}
	if idle == nil {
		return false, nil
	}
	return true, p.finishLeaves(idle)
}

// finishLeaves makes what has been loaded the rows of its tables.
func (p *partitionLoad) finishLeaves(leaves ...*leafLoad) error {
	loaders := make([]*storage.Loader, len(leaves))
	for i, leaf := range leaves {
		loaders[i] = leaf.loader
		p.views = p.views || leaf.table.HasView
		leaf.table, leaf.loader = leaf.loader.Table(), nil
		p.open--
	}
	if _, err := storage.FinishLoads(loaders, p.tree); err != nil {
		return err
	}
	for _, leaf := range leaves {
		leaf.table = p.txn.Catalog().Table(leaf.table.ID)
	}
	return nil
}

func (p *partitionLoad) finish() (int64, error) {
	var loaded []*leafLoad
	for _, leaf := range p.leaves {
		if leaf.loader != nil {
			loaded = append(loaded, leaf)
		}
	}
	if len(loaded) == 0 {
		return p.count, nil
	}
	return p.count, p.finishLeaves(loaded...)
}

func (p *partitionLoad) abort() {
	for _, leaf := range p.leaves {
		if leaf.loader != nil {
			leaf.loader.Abort()
		}
	}
}

// leafBuffers keeps a worker's rows until there are enough for a batch of their leaf.
type leafBuffers struct {
	load   *partitionLoad
	leaves map[catalog.TableID]*leafBuffer
	bytes  int
}

type leafBuffer struct {
	table *catalog.Table
	rows  vector.Batch
	bytes int
}

// bufferBytes is how much a worker keeps at most.
const bufferBytes = 16 << 20

// add takes rows, which are copied.
func (b *leafBuffers) add(placed []exec.PlacedRows) error {
	for _, part := range placed {
		buf := b.leaves[part.Table.ID]
		if buf == nil {
			buf = &leafBuffer{table: part.Table}
			for i := range part.Table.Columns {
				buf.rows.Vecs = append(buf.rows.Vecs, vector.New(part.Table.Columns[i].Type.Kind(), 0))
			}
			b.leaves[part.Table.ID] = buf
		}
		if buf.rows.N+part.Rows.Live() > vector.BatchCap {
			if err := b.store(buf); err != nil {
				return err
			}
		}
		buf.append(part.Rows)
		bytes := 0
		for _, v := range buf.rows.Vecs {
			bytes += v.SizeBytes()
		}
		b.bytes, buf.bytes = b.bytes+bytes-buf.bytes, bytes
		if b.bytes > bufferBytes {
			if err := b.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *leafBuffer) append(rows *vector.Batch) {
	for i, v := range rows.Vecs {
		vector.AppendSel(b.rows.Vecs[i], v, rows.Sel)
	}
	b.rows.N += rows.Live()
}

func (b *leafBuffers) store(buf *leafBuffer) error {
	if buf.rows.N == 0 {
		return nil
	}
	if err := b.load.insert(buf.table, &buf.rows); err != nil {
		return err
	}
	for _, v := range buf.rows.Vecs {
		v.Reset(v.Kind, 0)
	}
	buf.rows.N = 0
	return nil
}

// flush stores all rows, and lets go of the memory.
func (b *leafBuffers) flush() error {
	for _, buf := range b.leaves {
		if err := b.store(buf); err != nil {
			return err
		}
	}
	clear(b.leaves)
	b.bytes = 0
	return nil
}

// abort gives up what has not been stored; what is inserted goes with the transaction.
func (l *copyLoad) abort() {
	if l.loader != nil {
		l.loader.Abort()
	}
	if l.inserts != nil {
		l.inserts.abort()
	}
}

// voidsViews reports whether column views have to be made of other stores than before.
func (l *copyLoad) voidsViews() bool {
	if l.inserts != nil {
		return l.inserts.views
	}
	return l.loader.Fresh() && l.table.HasView
}

// finish stores the rest and returns the number of rows.
func (l *copyLoad) finish() (int64, error) {
	if l.inserts != nil {
		return l.inserts.finish()
	}
	return l.loader.Finish()
}
