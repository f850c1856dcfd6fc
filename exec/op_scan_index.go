package exec

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// indexSource reads the rows that ranges of an index name. It is one morsel: a range that is worth
// several workers is read faster without the index.
type indexSource struct {
	run    *run
	node   *planner.Scan
	ranges []storage.IndexRange
}

type indexScanner struct {
	source *indexSource
	w      *Worker
	reader *refReader
	refs   []storage.RowRef
	out    Pusher
}

// Morsels evaluates the ranges; there may be none.
func (s *indexSource) Morsels(*Worker) (int, error) {
	var err error
	s.ranges, err = s.run.indexRanges(s.node.Index)
	return min(len(s.ranges), 1), err
}

// indexRanges evaluates the ranges of an index scan. Those that compare with NULL are empty.
func (r *run) indexRanges(ix *planner.IndexScan) ([]storage.IndexRange, error) {
	env := r.env
	one := storage.IndexRange{NotNull: ix.NotNull, Reverse: ix.Reverse}
	for _, e := range ix.Equal {
		if e == nil { // IS NULL
			one.Prefix = append(one.Prefix, vector.Datum{Null: true})
			continue
		}
		d, err := expr.EvalConst(e, env)
		if err != nil || d.Null {
			return nil, err
		}
		one.Prefix = append(one.Prefix, d)
	}
	bound := func(b *planner.IndexBound) (value *vector.Datum, open, null bool, err error) {
		if b == nil {
			return nil, false, false, nil
		}
		d, err := expr.EvalConst(b.Value, env)
		return &d, b.Open, d.Null, err
	}
	var lowNull, highNull bool
	var err error
	if one.Low, one.LowOpen, lowNull, err = bound(ix.Low); err != nil || lowNull {
		return nil, err
	}
	if one.High, one.HighOpen, highNull, err = bound(ix.High); err != nil || highNull {
		return nil, err
	}
	if ix.In == nil {
		return []storage.IndexRange{one}, nil
	}
	var ranges []storage.IndexRange
	for _, e := range ix.In {
		d, err := expr.EvalConst(e, env)
		if err != nil {
			return nil, err
		}
		if d.Null {
			continue
		}
		prefix := append(one.Prefix[:len(one.Prefix):len(one.Prefix)], d)
		ranges = append(ranges, storage.IndexRange{Prefix: prefix, Reverse: ix.Reverse})
	}
	return ranges, nil
}

func (s *indexSource) Open(w *Worker, out Pusher) (Scanner, error) {
	reader, err := newRefReader(s.run, s.node, s.run.query.View)
	if err != nil {
		return nil, err
	}
	reader.counted(w, s.run.stats.of(s.node))
	return &indexScanner{source: s, w: w, reader: reader, out: out}, err
}

// firstRefs is how many references are read first: most look-ups find a few rows.
const firstRefs = 16

func (c *indexScanner) Scan(int) (err error) {
	s := c.source
	cursor, err := s.run.query.View.ScanIndex(s.node.Table, s.node.Index.Index, s.ranges...)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := cursor.Close(); err == nil {
			err = cerr
		}
	}()
	if s.node.Index.Only {
		if err := cursor.Read(s.node.Table, c.reader.cols); err != nil {
			return err
		}
	}
	if c.refs == nil {
		c.refs = make([]storage.RowRef, min(firstRefs, vector.BatchCap))
	}
	for {
		n, err := c.next(cursor)
		if err != nil || n < len(c.refs) {
			return err
		}
		if err := c.w.Check(); err != nil {
			return err
		}
		c.refs = make([]storage.RowRef, min(4*len(c.refs), vector.BatchCap))
	}
}

// next reads and pushes as many rows as refs has room for; fewer are the last ones.
func (c *indexScanner) next(cursor *storage.IndexCursor) (int, error) {
	index := c.source.node.Index
	if index.Only {
		b := &vector.Batch{}
		n, err := cursor.NextRows(b, c.refs)
		if err != nil || n == 0 {
			return 0, err
		}
		return n, c.reader.push(b, c.refs[:n], c.out)
	}
	n, err := cursor.Next(c.refs)
	if err != nil || n == 0 {
		return 0, err
	}
	if index.Ordered {
		return n, c.reader.readInOrder(c.refs[:n], c.out)
	}
	return n, c.reader.read(c.refs[:n], c.out)
}
