package exec

import (
	"math"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// spooledProbe says how the probe rows of a hash join are written to disk: the keys, as they were
// evaluated, then the other columns that are needed.
type spooledProbe struct {
	keys    int
	kinds   []vector.Kind
	columns []int
	place   places
}

func newSpooledProbe(p *joinPlan) spooledProbe {
	s := spooledProbe{keys: len(p.node.Keys)}
	keys, normal := probeKeys(p)
	for i, k := range keys {
		s.kinds = append(s.kinds, normal[i].kind(k.Type().Kind()))
	}
	s.place, s.columns = placeColumns(keys, normal, p.left, p.needed(leftSide, p.left))
	for _, c := range s.columns {
		s.kinds = append(s.kinds, p.left[c].Typ.Kind())
	}
	return s
}

// show makes b the probe rows as they were before they were written. Columns nobody needs are empty.
func (s *spooledProbe) show(b *vector.Batch, vecs []*vector.Vector, n int) {
	if b.Vecs == nil {
		b.Vecs = make([]*vector.Vector, len(s.place))
	}
	for c, at := range s.place {
		switch {
		case at >= 0:
			b.Vecs[c] = vecs[at]
		case at < -1:
			b.Vecs[c] = vecs[s.keys-2-at]
		case b.Vecs[c] == nil:
			b.Vecs[c] = &vector.Vector{}
		}
	}
	b.N, b.Sel = n, nil
}

// spill says when the build goes to disk; nil where nothing may.
func (p *joinPlan) spill(probe []vector.Kind) *join.Spill {
	limit := p.run.spillBytes()
	if limit == 0 {
		return nil
	}
	return &join.Spill{Files: p.run.files.of(p.stats), LimitBytes: limit, Whole: p.nullAware() || p.kind == join.NullAwareAnti, Probe: probe}
}

// nullAware reports whether a NULL key makes a row's match unknown.
func (p *joinPlan) nullAware() bool {
	return p.node.NullAware || p.kind == join.NullAwareAnti && p.residual == nil
}

// minSpillBytes is what a hash table may take whatever the limit: less is not worth a file.
const minSpillBytes = 64 << 10

// spillBytes is how much memory each hash join of the run may take before it goes to disk: what the
// session says, and no more than an equal share for everything in the plan that holds rows, with a
// reserve. 0 = without limit.
func (r *run) spillBytes() int64 {
	if r.files == nil {
		return 0
	}
	return r.holderBytes()
}

func (r *run) holderBytes() int64 { return r.query.HolderBytes() }

// HolderBytes is how much memory each node of the plan that holds rows should be content with; 0 = any.
func (q *Query) HolderBytes() int64 {
	limit, share := q.WorkBytes, q.Memory.Limit()
	if share > 0 {
		share = max(share*3/4/(1+holders(q.Plan.Root)), minSpillBytes)
	}
	if limit == 0 || share > 0 && share < limit {
		limit = share
	}
	return limit
}

// holders counts the nodes of a plan that hold rows.
func holders(n planner.Node) (count int64) {
	switch n.(type) {
	case *planner.Join, *planner.Aggregate, *planner.Sort:
		count = 1
	}
	for _, kid := range n.Kids() {
		count += holders(kid)
	}
	return count
}

// spilledSource joins those partitions of a hash join that went to disk, after all other rows. A
// partition whose build fits into memory is joined like a table of its own. A larger one is scattered
// again. One that cannot be scattered, since its rows have the same keys, is joined block by block of
// its build, each of which meets all of its probe rows.
type spilledSource struct {
	*hashJoinOp
	partitions []*join.Partition
}

// Morsels finds the partitions; nothing is written to them any more.
func (s *spilledSource) Morsels(*Worker) (int, error) {
	s.partitions = s.build.table.Partitions()
	if s.stats != nil && s.build.table.Spilled() {
		s.build.spilled(join.SpillFigures{ProbeBytes: s.build.table.SpillFigures().ProbeBytes})
	}
	return len(s.partitions), nil
}

type spilledScanner struct {
	*spilledSource
	w      *Worker
	out    Pusher
	memory *Reservation
	share  int64 // bytes a table may take
	batch  vector.Batch
}

// What a worker gets to read a block of a build back and to index it, even if other queries have taken everything:
// they may wait for nobody, as this one holds nothing any more that it could write. Each row has a key, and
// indexing takes up to 24 bytes a row.
const (
	blockFloorBytes = minSpillBytes
	indexFloorBytes = 4 * minSpillBytes
)

// Open returns a worker's scanner.
func (s *spilledSource) Open(w *Worker, out Pusher) (Scanner, error) {
	share := s.run.spillBytes() / int64(min(s.run.threads, max(len(s.partitions), 1)))
	memory := w.reservation()
	memory.meter = s.build.meter
	w.onClose(func() error {
		s.build.describeMemory()
		memory.free()
		return nil
	})
	return &spilledScanner{spilledSource: s, w: w, out: out, memory: memory, share: share}, nil
}

// Scan joins a partition.
func (c *spilledScanner) Scan(morsel int) error { return c.join(c.partitions[morsel]) }

func (c *spilledScanner) join(p *join.Partition) error {
	tallied(c.stats, factSpill, func(t *spillTally) { t.level(p.Level + 1) })
	if err := c.w.Check(); err != nil {
		return err
	}
	if p.IndexedBytes() <= c.share {
		joined, err := c.whole(p)
		if joined || err != nil {
			return err
		}
	}
	parts, err := p.Split(c.probe.keys, c.w.Check)
	if err != nil {
		return err
	}
	if parts == nil {
		return c.inBlocks(p)
	}
	for _, part := range parts {
		if err := c.join(part); err != nil {
			return err
		}
	}
	return nil
}

// whole joins a partition whose build fits; false when it does not after all.
func (c *spilledScanner) whole(p *join.Partition) (bool, error) {
	defer c.memory.restart()
	build := c.build.part(c.memory)
	more, err := build.load(&blockReader{SpoolReader: p.Build.NewReader()}, c, math.MaxInt64)
	switch {
	case more, sqlerr.CodeOf(err) == sqlerr.OutOfMemory:
		return false, nil
	case err != nil:
		return false, err
	}
	output := &joinOutput{}
	output.init(c.joinPlan, c.w, c.out, build.stored)
	residual, err := newResidual(c.joinPlan, output)
	if err != nil {
		return false, err
	}
	joiner := build.table.NewJoiner(c.kind, c.node.NullAware, residual, output)
	err = c.eachProbe(p, func(keys []*vector.Vector, _ int64) error {
		output.input = &c.batch
		return joiner.Push(keys, c.batch.N, nil)
	})
	if err == nil {
		err = c.rest(build)
	}
	if err != nil {
		return false, err
	}
	return true, p.Close()
}

// eachProbe calls f with the keys of each batch of probe rows, which is c.batch, and the number of its
// first row.
func (c *spilledScanner) eachProbe(p *join.Partition, f func(keys []*vector.Vector, first int64) error) error {
	r := p.Probe.NewReader()
	for {
		vecs, n, err := r.Next()
		if err != nil || n == 0 {
			return err
		}
		if err := c.w.Check(); err != nil {
			return err
		}
		c.probe.show(&c.batch, vecs, n)
		if err := f(vecs[:c.probe.keys], r.First); err != nil {
			return err
		}
	}
}

// rest yields the build rows that the kind adds after all probe rows.
func (c *spilledScanner) rest(build *hashBuild) error {
	if !c.kind.MarksBuild() {
		return nil
	}
	source := &unmatchedSource{joinPlan: c.joinPlan, rows: build.table, stored: build.stored}
	morsels, err := source.Morsels(c.w)
	if err != nil {
		return err
	}
	scanner, err := source.Open(c.w, c.out)
	for m := 0; m < morsels && err == nil; m++ {
		err = scanner.Scan(m)
	}
	return err
}

// part returns the build of a part of the rows, which stays in memory.
func (h *hashBuild) part(memory join.Memory) *hashBuild {
	return &hashBuild{plan: h.plan, keys: h.keys, columns: h.columns, place: h.place, table: h.table.Part(memory)}
}

// load builds the table from the rows that r comes to, up to so many bytes of them, and reports whether
// there are more.
func (h *hashBuild) load(r *blockReader, c *spilledScanner, bytes int64) (more bool, err error) {
	builder := h.table.NewBuilder(nil)
	keys := len(h.keys)
	c.memory.floor = blockFloorBytes
	for more = true; builder.Bytes() <= bytes; {
		vecs, n, err := r.next()
		if err != nil {
			return false, err
		}
		if n == 0 {
			more = false
			break
		}
		if err := builder.Append(vecs[:keys], vecs[keys:], n, nil); err != nil {
			if sqlerr.CodeOf(err) != sqlerr.OutOfMemory || builder.Bytes() == 0 {
				return false, err
			}
			r.again()
			break
		}
		if err := c.w.Check(); err != nil {
			return false, err
		}
	}
	c.memory.floor = indexFloorBytes
	return more, h.table.Finish(join.Finisher{Check: c.w.Check})
}
