package exec

import (
	"github.com/bits-and-blooms/bitset"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// scanSource reads a table. A morsel is one row group of one store. How a group is read is its
// readers' business: rows here, column units and hybrids in op_scan_columns.go.
type scanSource struct {
	run    *run
	node   *planner.Scan
	cols   []int // positions in Table.Columns
	cond   expr.Expr
	layout func(expr.ColID) int
	groups []groupID
	// filters come from joins further down the pipeline; they are complete when the scan starts.
	filters []*runtimeFilter
	// selections are what joins above have found to be of use of the data nodes.
	selections []*selection
	// within, where not nil, are the data nodes that are read of a leaf: those of the partitioned table.
	within *bitset.BitSet
	stats  *nodeStats
}

type groupID struct {
	store catalog.StoreID
	group int
}

// groupReader reads a scan's columns, one row group after another. It belongs to one worker.
type groupReader interface {
	// Open moves to the start of a group.
	Open(store catalog.StoreID, group int) error
	// Next makes b the next rows of the group: the scan's columns in order, then the row reference
	// if the scan yields it, with b.N and b.Sel set. The memory is the reader's until its next
	// call. False means the group is exhausted; batches may have no live row.
	Next(b *vector.Batch) (bool, error)
	// Rest yields, when all groups have been read, what the reader still holds of them.
	Rest(b *vector.Batch) (bool, error)
	// Close frees the reader.
	Close() error
}

func newScan(r *run, n *planner.Scan) *scanSource {
	s := &scanSource{run: r, node: n, cond: conjunction(n.Filter), layout: layout(n.Cols()), stats: r.stats.of(n)}
	for i := range n.Columns {
		s.cols = append(s.cols, n.Columns[i].Pos)
	}
	return s
}

// Morsels lists the groups of the stores on the data nodes that are left.
func (s *scanSource) Morsels(*Worker) (int, error) {
	s.groups = s.groups[:0]
	if err := s.run.query.View.ReadTable(s.node.Table); err != nil {
		return 0, err
	}
	nodes := s.dataNodes()
	s.reportNodes(nodes)
	for node, store := range s.node.Table.Stores {
		if nodes != nil && !nodes.Test(uint(node)) {
			continue
		}
		n, err := s.run.query.View.Groups(store)
		if err != nil {
			return 0, err
		}
		for g := range n {
			s.groups = append(s.groups, groupID{store, g})
		}
	}
	tallied(s.stats, factGroups, func(t *greatest) { t.n = max(t.n, int64(len(s.groups))) })
	return len(s.groups), nil
}

// Lines of EXPLAIN ANALYZE under a scan.
const (
	factGroups   = "Row Groups"
	factPruned   = "Row Groups Pruned"
	factUnits    = "Row Groups from Units"
	factByRows   = "Row Groups from Rows"
	factFromDisk = "Row Groups from Disk"
	factTouched  = "Changed Rows Merged"
	factFetched  = "Rows Fetched by Reference"
	factPaged    = "Rows Fetched by Page"
	factByFilter = "Rows Removed by Filter"
)

// scanner is a worker's part of a scan.
type scanner struct {
	source *scanSource
	w      *Worker
	reader groupReader
	filter expr.Filter // nil = none, or the reader applies it
	late   []*filterProbe
	batch  vector.Batch
	sel    vector.Sel
	sparse sparseRows
	out    Pusher

	byFilter int64 // rows removed, for EXPLAIN ANALYZE
}

func (s *scanSource) Open(w *Worker, out Pusher) (Scanner, error) {
	c := &scanner{source: s, w: w, out: out, sel: make(vector.Sel, 0, vector.BatchCap)}
	for _, f := range s.filters {
		p, err := f.probe()
		if err != nil {
			return nil, err
		}
		if p != nil {
			c.late = append(c.late, p)
			if s.stats != nil {
				w.onClose(func() error { return p.report(w) })
			}
		}
	}
	columns, err := s.newColumnReader()
	if err != nil {
		return nil, err
	}
	filtered := columns != nil
	if filtered {
		c.late = columns.lend(c.late)
		c.reader = columns.whole()
	} else {
		c.reader = &rowReader{source: s}
	}
	w.onClose(c.reader.Close)
	if s.stats != nil {
		w.onClose(c.report)
	}
	if s.cond != nil && !filtered {
		if c.filter, err = expr.CompileFilter(s.cond, s.layout, s.run.env); err != nil {
			return nil, err
		}
	}
	c.batch.Vecs = make([]*vector.Vector, len(s.node.Cols()))
	for i := range c.batch.Vecs {
		c.batch.Vecs[i] = &vector.Vector{}
	}
	c.sparse.init(s.node.Cols())
	return c, nil
}

func (c *scanner) Scan(morsel int) error {
	id := c.source.groups[morsel]
	if err := c.reader.Open(id.store, id.group); err != nil {
		return err
	}
	return c.pushAll(c.reader.Next)
}

// Flush pushes what was held back of all morsels.
func (c *scanner) Flush() error {
	if err := c.pushAll(c.reader.Rest); err != nil {
		return err
	}
	return c.sparse.flush(c.out)
}

func (c *scanner) pushAll(next func(*vector.Batch) (bool, error)) error {
	for {
		more, err := next(&c.batch)
		if err != nil || !more {
			return err
		}
		if err := c.w.Check(); err != nil {
			return err
		}
		if err := c.push(); err != nil {
			return err
		}
	}
}

// report adds the worker's counts to the node's.
func (c *scanner) report() error {
	if c.filter != nil {
		c.source.stats.count(factByFilter, c.byFilter)
	}
	return nil
}

// push filters the batch and passes on what remains.
func (c *scanner) push() error {
	b := &c.batch
	read := b.Live()
	if c.filter != nil && read > 0 {
		sel, err := c.filter.Select(b, b.Sel, c.sel)
		if err != nil {
			return err
		}
		c.sel = sel
		if len(sel) < b.N {
			b.Sel = sel
		}
	}
	c.byFilter += int64(read - b.Live())
	for _, f := range c.late {
		if b.Live() == 0 {
			break
		}
		b.Sel = f.narrow(b, c.sel[:cap(c.sel)])
	}
	if b.Live() == 0 {
		return nil
	}
	return c.sparse.push(b, c.out)
}

// rowReader reads groups from the row store.
type rowReader struct {
	source *scanSource
	cursor *storage.Cursor
}

func (r *rowReader) Open(store catalog.StoreID, group int) error {
	if r.cursor != nil {
		return r.cursor.Reset(store, group, nil)
	}
	s := r.source
	var err error
	r.cursor, err = s.run.query.View.ScanGroup(s.node.Table, store, group, s.cols, storage.ScanOptions{Refs: s.node.RowRef != nil})
	return err
}

func (r *rowReader) Next(b *vector.Batch) (bool, error) { return r.cursor.Next(b) }

func (r *rowReader) Rest(*vector.Batch) (bool, error) { return false, nil }

func (r *rowReader) Close() error {
	if r.cursor == nil {
		return nil
	}
	return r.cursor.Close()
}
