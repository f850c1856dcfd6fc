package exec

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
)

// builder turns a tree of plan nodes into pipelines. Building down from the root it returns, for
// each node, the open streams that together yield the node's rows; an operator above is added to
// each of them, and a breaker closes them with its sink and opens a new stream from its result.
type builder struct {
	run *run
	// selections are those of joins whose build side is built, by selector.
	selections map[int]*selection
	// grouped are the joins whose rows are grouped by the keys of their partitions.
	grouped map[*planner.Join]*wiseAggregate
}

// stream is a pipeline without its sink yet.
type stream struct {
	source Source
	ops    []Operator
	after  []*Pipeline
	serial bool
	// waits must have been read before: streams that end in the same sink.
	waits    []*stream
	pipeline *Pipeline // once closed
	round    *round    // nil = it runs once
	// scan is the source where a filter on the columns in from may be applied to it: column i of
	// the stream is column from[i] of the scan, −1 = another value.
	scan *scanSource
	from []int
}

// add appends an operator that changes which columns there are.
func (s *stream) add(op Operator, from []int) {
	s.ops = append(s.ops, op)
	s.from = from
}

// mapped gives the columns' origin after a choice of columns, −1 = a computed one.
func (s *stream) mapped(cols []int) []int {
	if s.from == nil {
		return nil
	}
	from := make([]int, len(cols))
	for i, c := range cols {
		from[i] = -1
		if c >= 0 {
			from[i] = s.from[c]
		}
	}
	return from
}

// into closes streams with a sink; the pipelines are returned in order.
func (b *builder) into(streams []*stream, sink Sink, owner planner.Node) []*Pipeline {
	shared := &SharedSink{Sink: sink, owner: b.run.stats.of(owner)}
	var out []*Pipeline
	for _, s := range streams {
		p := &Pipeline{Source: s.source, Ops: s.ops, After: s.after, Serial: s.serial}
		for _, other := range s.waits {
			p.After = append(p.After[:len(p.After):len(p.After)], other.pipeline)
		}
		if s.round != nil {
			p.round = s.round
			p.round.of.members = append(p.round.of.members, p)
		}
		s.pipeline = p
		shared.feed(p)
		out = append(out, p)
	}
	return out
}

// one returns a stream over a source that needs the given pipelines.
func one(source Source, after []*Pipeline) []*stream {
	return []*stream{{source: source, after: after}}
}

// build returns the streams of a node's rows. parent is who the time after them belongs to.
func (b *builder) build(n, parent planner.Node) ([]*stream, error) {
	streams, err := b.node(n)
	if err != nil || b.run.stats == nil {
		return streams, err
	}
	from, to := b.run.stats.of(n), b.run.stats.of(parent)
	from.loops.Add(1)
	for _, s := range streams {
		if _, timed := s.source.(*timedSource); !timed {
			s.source = &timedSource{Source: s.source, stats: from}
		}
		s.add(&counter{from, to}, s.from)
	}
	return streams, nil
}

// node dispatches on the kind of node.
func (b *builder) node(n planner.Node) ([]*stream, error) {
	switch n := n.(type) {
	case *planner.Scan:
		return b.scan(n), nil
	case *planner.Values:
		return one(&valuesSource{run: b.run, node: n}, nil), nil
	case *planner.FuncScan:
		return b.function(n)
	case *planner.CTEScan:
		return b.cteScan(n)
	case *planner.Project:
		return b.project(n)
	case *planner.Filter:
		return b.filter(n)
	case *planner.Limit:
		return b.limit(n)
	case *planner.Append:
		return b.append(n)
	case *planner.Repeat:
		return b.repeat(n)
	case *planner.LateFetch:
		return b.lateFetch(n)
	case *planner.Sort:
		return b.sort(n)
	case *planner.Aggregate:
		return b.aggregate(n)
	case *planner.Join:
		return b.join(n)
	case *planner.Apply:
		return b.apply(n)
	case *planner.LockRows:
		return b.lockRows(n)
	case *planner.Insert, *planner.Update, *planner.Delete:
		return b.write(n)
	case *planner.Merge:
		return b.merge(n)
	}
	return nil, sqlerr.New(sqlerr.InternalError, "no operator for plan node %T", n)
}

func (b *builder) scan(n *planner.Scan) []*stream {
	if refs, ok := b.run.newest.of(n); ok {
		return one(&newestSource{run: b.run, node: n, refs: refs}, nil)
	}
	source := b.run.scanSource(n)
	s, filtered := source.(*scanSource)
	var after []*Pipeline
	if n.Parts != nil {
		s, filtered = newScan(b.run, n), true
		parts := &partitionSource{run: b.run, node: n, rows: s, stats: s.stats}
		parts.selections, after = b.selectionsOf(n.Parts)
		source = parts
	}
	if filtered && n.Nodes != nil {
		var before []*Pipeline
		s.selections, before = b.selectionsOf(n.Nodes)
		after = append(after, before...)
	}
	if !filtered {
		streams := one(source, nil)
		streams[0].serial = n.Access == planner.AccessIndex && n.Index.Ordered
		return streams
	}
	from := make([]int, len(n.Columns), len(n.Columns)+1)
	for i := range from {
		from[i] = i
	}
	if n.RowRef != nil {
		from = append(from, -1)
	}
	return []*stream{{source: source, scan: s, from: from, after: after}}
}

// scanSource returns the source of a scan of a table with stores.
func (r *run) scanSource(n *planner.Scan) Source {
	switch n.Access {
	case planner.AccessKey:
		return &keySource{run: r, node: n}
	case planner.AccessBitmap:
		return &bitmapSource{run: r, node: n}
	case planner.AccessIndex:
		return &indexSource{run: r, node: n}
	}
	return newScan(r, n)
}

func (b *builder) project(n *planner.Project) ([]*stream, error) {
	streams, err := b.build(n.Input, n)
	if err != nil {
		return nil, err
	}
	list := make([]expr.Expr, len(n.Items))
	for i := range n.Items {
		list[i] = n.Items[i].Expr
	}
	at := layout(n.Input.Cols())
	bare := bareColumns(list, at)
	var op Operator = &projectOp{exprs: list, layout: at, env: b.run.env}
	if passes(bare, len(n.Input.Cols())) {
		return streams, nil
	}
	if allBare(bare) {
		op = &pickOp{cols: bare}
	}
	for _, s := range streams {
		s.add(op, s.mapped(bare))
	}
	return streams, nil
}

// passes reports whether a projection passes all columns on as they are.
func passes(bare []int, n int) bool {
	for i, c := range bare {
		if c != i {
			return false
		}
	}
	return len(bare) == n
}

func allBare(bare []int) bool {
	for _, c := range bare {
		if c < 0 {
			return false
		}
	}
	return true
}

func (b *builder) filter(n *planner.Filter) ([]*stream, error) {
	streams, err := b.build(n.Input, n)
	if err != nil || len(n.Conds) == 0 {
		return streams, err
	}
	op := &filterOp{cond: conjunction(n.Conds), layout: layout(n.Input.Cols()), env: b.run.env}
	for _, s := range streams {
		s.add(op, s.from)
	}
	return streams, nil
}

func (b *builder) limit(n *planner.Limit) ([]*stream, error) {
	op, err := newLimit(n.Count, n.Offset, b.run.env)
	if err != nil {
		return nil, err
	}
	streams, err := b.build(n.Input, n)
	if err != nil {
		return nil, err
	}
	limitLocks(streams, n.Input, op)
	for _, s := range streams {
		s.add(op, nil) // rows below a LIMIT must not be dropped by what is above
		s.scan = nil
	}
	return streams, nil
}

func (b *builder) append(n *planner.Append) ([]*stream, error) {
	var out []*stream
	for _, kid := range n.Inputs {
		streams, err := b.build(kid, n)
		if err != nil {
			return nil, err
		}
		out = append(out, streams...)
	}
	return out, nil
}

func (b *builder) repeat(n *planner.Repeat) ([]*stream, error) {
	streams, err := b.build(n.Input, n)
	if err != nil {
		return nil, err
	}
	at := layout(n.Input.Cols())
	op := &repeatOp{times: at(n.Times.ID)}
	for _, c := range n.Out {
		op.cols = append(op.cols, at(c.ID))
	}
	for _, s := range streams {
		s.add(op, s.mapped(op.cols))
	}
	return streams, nil
}
