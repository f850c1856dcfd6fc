package storage

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// Loader fills a table in bulk.
//
// An empty table is loaded into fresh stores and index key spaces: pages and entries are written
// into files that Finish ingests, and the transaction's commit makes the fresh spaces the table's.
// Until then nobody sees them; after a crash they are removed at the next open. Tables that hold
// rows, and tables that others are writing, get normal inserts.
//
// Append may be called concurrently; everything else belongs to one goroutine, and Finish and Abort
// come after all calls of Append have returned. After an error only Abort is allowed.
type Loader struct {
	t   *Txn
	ctx context.Context
	tbl *catalog.Table // with its fresh key spaces, if fresh

	fresh   bool
	codec   *tableCodec
	name    string // prefix of temporary files
	rows    int64
	nodes   []nodeLoad
	indexes []*indexLoad

	// mu guards the turns: batches get their row ids in the order of their numbers, and are written
	// in that order once encoded.
	mu       sync.Mutex
	turn     *sync.Cond
	numbered uint64 // batches below have row ids
	written  uint64 // batches below are written
	err      error
	ended    bool
	unwatch  func() bool // ends the watch over ctx
}

// nodeLoad is the part of a load that goes to one store.
type nodeLoad struct {
	store catalog.StoreID
	next  uint64 // row ids below are taken
	files *sstFiles
	// edge holds the rows of the page that the batches written so far have left unfinished.
	edge     []*vector.Vector
	edgeRows int
	edgePage uint64
	entries  pageEntries // scratch for edge pages
}

// NewLoader starts a bulk load.
func (t *Txn) NewLoader(ctx context.Context, tbl *catalog.Table) (*Loader, error) {
	return t.NewLoaderOfSeveral(ctx, tbl, 1)
}

// NewLoaderOfSeveral starts a bulk load that shares memory with others at the same time.
func (t *Txn) NewLoaderOfSeveral(ctx context.Context, tbl *catalog.Table, loads int) (*Loader, error) {
	if err := t.checkWritable(); err != nil {
		return nil, err
	}
	l := &Loader{t: t, ctx: ctx, tbl: tbl}
	l.turn = sync.NewCond(&l.mu)
	// Whoever waits for a turn waits for other goroutines, which may be gone by then.
	l.unwatch = context.AfterFunc(ctx, func() { _ = l.fail(l.canceled()) })
	if err := l.chooseFresh(); err != nil {
		return nil, err
	}
	if l.fresh {
		l.useFreshSpaces()
		if t.serial != nil {
			if err := t.serial.writeTable(tbl.ID); err != nil {
				return nil, err
			}
		}
	}
	var err error
	if l.codec, err = t.e.codec(l.tbl); err != nil {
		return nil, err
	}
	if !l.fresh {
		return l, nil
	}
	l.name = t.e.fs.PathJoin(t.e.dirs.temp, fmt.Sprintf("load-%d", t.e.nextLoad.Add(1)))
	l.nodes = make([]nodeLoad, len(l.tbl.Stores))
	for i := range l.nodes {
		l.nodes[i] = nodeLoad{store: l.tbl.Stores[i], edge: make([]*vector.Vector, len(l.tbl.Columns)),
			files: &sstFiles{e: t.e, name: fmt.Sprintf("%s-n%d", l.name, i)}}
		for c := range l.tbl.Columns {
			l.nodes[i].edge[c] = vector.New(l.tbl.Columns[c].Type.Kind(), PageRows)
		}
	}
	for k := range l.codec.indexes {
		name := fmt.Sprintf("%s-i%d", l.name, k)
		l.indexes = append(l.indexes, &indexLoad{e: t.e, ix: &l.codec.indexes[k], name: name, loads: loads, files: &sstFiles{e: t.e, name: name}})
	}
	return l, nil
}

// chooseFresh decides whether the table can be loaded into fresh stores: it is empty, and nobody
// else writes it.
func (l *Loader) chooseFresh() error {
	l.t.mu.Lock()
	fixed := l.t.snap != nil // the transaction would not see what its snapshot does not have
	l.t.mu.Unlock()
	if fixed {
		return nil
	}
	if err := l.t.lockTable(l.ctx, l.tbl.ID, Exclusive, NoWait); err != nil {
		if sqlerr.CodeOf(err) == sqlerr.LockNotAvailable {
			return nil
		}
		return err
	}
	now, err := l.t.lockForWrite(l.ctx, l.tbl)
	if err != nil {
		return err
	}
	l.tbl = now // it may have got an index since the load was planned
	o := l.t.overlay
	o.mu.RLock()
	defer o.mu.RUnlock()
	for _, s := range l.tbl.Stores {
		if o.stores[s] != nil || o.spill.hasStore(s) || l.t.e.stores.get(s).rows.Load() != 0 {
			return nil
		}
	}
	for _, f := range l.t.loads { // loaded by this transaction already
		for _, s := range f.spaces.Stores {
			for _, have := range l.tbl.Stores {
				if s == have {
					return nil
				}
			}
		}
	}
	l.fresh = true
	return nil
}

func (l *Loader) useFreshSpaces() {
	l.tbl = l.tbl.Clone()
	for i := range l.tbl.Stores {
		l.tbl.Stores[i] = l.t.e.NewStoreID()
	}
	for i := range l.tbl.Indexes {
		l.tbl.Indexes[i].ID = l.t.e.NewIndexID()
	}
	l.tbl.Epoch++
}

// Append adds a batch: one vector per column of the table, in Columns order, any form, any
// selection. Each number from 0 up is used exactly once, and rows are stored in the order of the
// numbers. Append waits for the batches before its own, so a goroutine must append its numbers in
// ascending order, and take a number only when it has, or is about to have, that batch. The batch
// is not kept.
func (l *Loader) Append(seq uint64, rows *vector.Batch) error {
	if !l.fresh {
		return l.insert(seq, rows)
	}
	j := loadJobs.Get().(*loadJob)
	defer loadJobs.Put(j)
	if err := j.split(l, rows); err != nil {
		return l.fail(err)
	}
	if err := l.await(seq, &l.numbered); err != nil {
		return err
	}
	for n := range l.nodes {
		j.parts[n].first = l.nodes[n].next
		l.nodes[n].next += uint64(j.parts[n].rows)
	}
	l.numbered++
	l.turn.Broadcast()
	l.mu.Unlock()

	if err := j.encode(l); err != nil {
		return l.fail(err)
	}

	if err := l.await(seq, &l.written); err != nil {
		return err
	}
	full, err := j.write(l)
	l.rows += int64(j.total)
	l.written++
	l.turn.Broadcast()
	l.mu.Unlock()
	for _, f := range full { // before an error is returned: remove waits for them
		f.load.sortChunk(f.chunk)
	}
	if err != nil {
		return l.fail(err)
	}
	return nil
}

// await waits until it is batch seq's turn by a counter and leaves mu locked, or returns the load's
// error.
func (l *Loader) await(seq uint64, turn *uint64) error {
	l.mu.Lock()
	for *turn != seq && l.err == nil {
		l.turn.Wait()
	}
	if err := l.err; err != nil {
		l.mu.Unlock()
		return err
	}
	return nil
}

func (l *Loader) canceled() error {
	return sqlerr.New(sqlerr.QueryCanceled, "canceling bulk load: %w", context.Cause(l.ctx))
}

// fail ends the load with its first error.
func (l *Loader) fail(err error) error {
	var dup *duplicateKey
	if errors.As(err, &dup) {
		err = l.t.e.errDuplicate(l.tbl, dup.ix, dup.values)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
		l.turn.Broadcast()
	}
	return l.err
}

// insert is Append for tables that take normal inserts.
func (l *Loader) insert(seq uint64, rows *vector.Batch) error {
	if err := l.await(seq, &l.written); err != nil {
		return err
	}
	_, err := l.t.Insert(l.ctx, l.tbl, rows)
	l.rows += int64(rows.Live())
	l.written++
	l.turn.Broadcast()
	l.mu.Unlock()
	if err != nil {
		return l.fail(err)
	}
	return nil
}

// Finish ends the load and returns the number of rows. Further statements of the transaction see
// them; others when it has committed.
func (l *Loader) Finish() (int64, error) { return FinishLoads([]*Loader{l}, nil) }

// FinishLoads is Finish of several loads of one transaction, of different tables, in one step. above are the
// partitioned tables that their tables are parts of, which the transaction has locked like them: statements
// that were planned before are planned anew.
func FinishLoads(loads []*Loader, above []catalog.TableID) (rows int64, err error) {
	var fresh []*Loader
	for _, l := range loads {
		if e := l.end(); e != nil {
			if err == nil {
				err = e
			}
			continue
		}
		if rows += l.rows; l.fresh && l.rows > 0 {
			fresh = append(fresh, l)
		} else {
			l.removeFiles()
		}
	}
	if err == nil && len(fresh) > 0 {
		err = finishFresh(fresh, above)
	}
	for _, l := range fresh {
		if err != nil {
			err = l.fail(err)
			l.removeFiles()
		} else {
			l.t.e.metrics.loadedRows.Add(uint64(l.rows))
			l.t.mu.Lock()
			l.t.holdWhole(l.tbl) // to load it the table was locked
			l.t.mu.Unlock()
		}
	}
	if err != nil {
		return 0, err
	}
	return rows, nil
}

// end notes that no more rows come; what has failed gives up its files.
func (l *Loader) end() error {
	l.mu.Lock()
	err := l.err
	if err == nil && l.ended {
		err = sqlerr.New(sqlerr.InternalError, "bulk load has ended")
	}
	l.ended = true
	l.mu.Unlock()
	l.unwatch()
	if err != nil {
		l.removeFiles()
	}
	return err
}

// finishFresh makes the fresh stores of loads those of their tables.
func finishFresh(loads []*Loader, above []catalog.TableID) error {
	t := loads[0].t
	paths, err := closeAllFiles(loads)
	if err != nil {
		return err
	}
	var spaces keySpaces
	for _, l := range loads {
		of := spacesOf(l.tbl)
		spaces.Stores, spaces.Indexes = append(spaces.Stores, of.Stores...), append(spaces.Indexes, of.Indexes...)
	}
	f, err := t.noteLoad(spaces)
	if err != nil {
		return err
	}
	if err := t.e.ingest(loads[0].ctx, paths); err != nil {
		return err
	}
	next := t.Catalog()
	for _, l := range loads {
		for i := range l.nodes {
			n := &l.nodes[i]
			f.stores = append(f.stores, freshStore{id: n.store, rows: int64(n.next), next: n.next})
			s := t.e.stores.get(n.store)
			s.mu.Lock()
			s.next, s.reserved = n.next, n.next
			s.mu.Unlock()
			s.grow(int((n.next + GroupRows - 1) / GroupRows))
		}
		next = next.WithTable(l.tbl)
	}
	for _, id := range above {
		if table := next.Table(id); table != nil {
			touched := table.Clone()
			touched.Epoch++
			next = next.WithTable(touched)
		}
	}
	// Nobody else writes or locks rows: readers go on with the stores that they see.
	return t.setCatalog(loads[0].ctx, next, func(_, _ *catalog.Table) LockMode { return Exclusive })
}

// closeAllFiles closes the files of loads side by side: keys may still have to be sorted and merged.
func closeAllFiles(loads []*Loader) ([]string, error) {
	paths, errs := make([][]string, len(loads)), make([]error, len(loads))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(len(loads), runtime.GOMAXPROCS(0)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := int(next.Add(1)) - 1; i < len(loads); i = int(next.Add(1)) - 1 {
				if paths[i], errs[i] = loads[i].closeFiles(); errs[i] != nil {
					errs[i] = loads[i].fail(errs[i]) // it names a key that is there twice
					next.Store(int64(len(loads)))
				}
			}
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return slices.Concat(paths...), nil
}

// closeFiles writes what is left and returns the paths of all files.
func (l *Loader) closeFiles() (paths []string, err error) {
	for i := range l.nodes {
		n := &l.nodes[i]
		if err := n.flushEdge(l.codec); err != nil {
			return nil, err
		}
		if err := n.files.close(); err != nil {
			return nil, err
		}
		paths = append(paths, n.files.paths...)
	}
	for _, ix := range l.indexes {
		p, err := ix.finish(l.ctx)
		if err != nil {
			return nil, err
		}
		paths = append(paths, p...)
	}
	return paths, nil
}

// Fresh reports whether the rows go to fresh stores.
func (l *Loader) Fresh() bool { return l.fresh }

// Table returns the description the table has after the load.
func (l *Loader) Table() *catalog.Table { return l.tbl }

// Abort gives up the load. After Finish it does nothing.
func (l *Loader) Abort() {
	l.mu.Lock()
	ended := l.ended
	l.ended = true
	l.mu.Unlock()
	if ended {
		return
	}
	l.unwatch()
	_ = l.fail(sqlerr.New(sqlerr.QueryCanceled, "bulk load was given up"))
	l.removeFiles()
}

func (l *Loader) removeFiles() {
	for i := range l.nodes {
		l.nodes[i].files.remove()
	}
	for _, ix := range l.indexes {
		ix.remove()
	}
}
