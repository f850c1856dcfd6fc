package join

import (
	"slices"
	"sync/atomic"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// Spill says where build rows go that memory cannot take, and when.
type Spill struct {
	Files Files
	// LimitBytes is what the rows of all workers may take in memory together.
	LimitBytes int64
	// Whole keeps all rows in one partition: for joins in which a row's result depends on rows with
	// other keys, as that of NOT IN does on NULLs.
	Whole bool
	// Grouping sends rows to groups instead of partitions by hash; nil = there are none.
	Grouping *Grouping
	// Probe are the kinds of what Router writes of probe rows: their keys first, as many as the build's.
	Probe []vector.Kind
}

// spill is the state of a table that may go to disk: a hybrid hash join (DeWitt et al. 1984). Build rows
// stay in memory until they are too many. Then all of them are scattered to partitions in temporary
// files. When the last one has come, as many partitions as fit are read back and become the table, and
// probe rows of the others are written to files of their own, to be joined partition by partition.
type spill struct {
	Spill
	held  atomic.Int64 // bytes of rows in the builders
	on    atomic.Bool
	build []*Spool // by partition, since on
	probe []*Spool // by partition, nil = in memory; made by Finish
}

// MaySpill reports whether build rows can go to disk.
func (t *Table) MaySpill() bool { return t.spill != nil }

// Spilled reports whether build rows are on disk. It is known when the table is finished.
func (t *Table) Spilled() bool { return t.spill != nil && t.spill.on.Load() }

// startSpill makes all builders write their rows to disk from their next batch on.
func (t *Table) startSpill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.spill
	if s.on.Load() {
		return
	}
	n := s.partitions()
	s.build = newSpools(s.Files, t.kinds(), n)
	s.on.Store(true)
}

// partitions returns the number of parts that build rows are divided into first.
func (s *Spill) partitions() int {
	switch {
	case s.Grouping != nil:
		return s.Grouping.Groups
	case s.Whole:
		return 1
	}
	return fanOut
}

// add adds rows to the builder's store, or to the disk.
func (b *Builder) add(n int, sel vector.Sel) error {
	t := b.table
	if t.spill == nil {
		return b.store.Append(b.vecs, n, sel)
	}
	if b.scatter != nil {
		return b.scatter.Append(b.vecs[:len(t.spec.Keys)], b.vecs, n, sel)
	}
	before := b.store.need
	err := b.store.Append(b.vecs, n, sel)
	if err != nil && sqlerr.CodeOf(err) != sqlerr.OutOfMemory {
		return err
	}
	if err != nil || t.spill.held.Add(b.store.need-before) > t.spill.LimitBytes {
		t.startSpill()
	}
	if !t.spill.on.Load() {
		return nil
	}
	if spillErr := b.toDisk(); spillErr != nil || err == nil {
		return spillErr
	}
	return b.scatter.Append(b.vecs[:len(t.spec.Keys)], b.vecs, n, sel) // the store has not taken them
}

// toDisk scatters the builder's rows. What its rows were granted is kept for its buffers, as far as these
// need it.
func (b *Builder) toDisk() error {
	b.scatter = b.table.spill.newSpreader()
	keys := len(b.table.spec.Keys)
	vecs := NewBlock(len(b.store.cols))
	for from := 0; from < b.store.rows; from += BlockRows {
		n := min(BlockRows, b.store.rows-from)
		b.store.Block(vecs, from, n)
		if err := b.scatter.Append(vecs[:keys], vecs, n, nil); err != nil {
			return err
		}
	}
	kept := min(b.store.granted, b.table.spill.spreadBytes())
	b.store.granted -= kept
	b.store.release()
	b.store.granted = kept
	return nil
}

// allToDisk writes what the builders still have in memory.
func (t *Table) allToDisk() error {
	for _, b := range t.builders {
		if b.scatter == nil {
			if err := b.toDisk(); err != nil {
				return err
			}
		}
		if err := b.scatter.Flush(); err != nil {
			return err
		}
		b.scatter = nil
		b.store.release()
	}
	t.builders = nil
	return nil
}

// gather ends the build of a spilled table: all rows are on disk, and those partitions that fit come
// back into memory.
func (t *Table) gather(f *Finisher) error {
	if err := t.allToDisk(); err != nil {
		return err
	}
	s := t.spill
	s.probe = make([]*Spool, len(s.build))
	order := make([]int, len(s.build))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(s.build[a].load - s.build[b].load) })
	t.store = NewStore(t.kinds(), t.spec.Memory)
	room := s.LimitBytes / 2
	for k, p := range order {
		if room -= indexedBytes(s.build[p]); room < 0 || s.Whole {
			t.leave(order[k:])
			break
		}
		err := s.build[p].into(t.store, f)
		if sqlerr.CodeOf(err) == sqlerr.OutOfMemory {
			t.store.release()
			t.leave(order)
			break
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leaveAll leaves all partitions on disk and the table empty.
func (t *Table) leaveAll() {
	t.store = NewStore(t.kinds(), t.spec.Memory)
	for p := range t.spill.build {
		t.leave([]int{p})
	}
}

// closeResident removes the files of the partitions that are in memory.
func (t *Table) closeResident() error {
	for p, spool := range t.spill.build {
		if t.spill.probe[p] == nil {
			if err := spool.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// leave notes that partitions stay on disk.
func (t *Table) leave(partitions []int) {
	for _, p := range partitions {
		t.spill.probe[p] = NewSpool(t.spill.Files, t.spill.Probe)
	}
}

// IndexedBytes is about what the partition's build takes in memory with an index over it.
func (p *Partition) IndexedBytes() int64 { return indexedBytes(p.Build) }

// indexedBytes is about what a spool's rows take in memory with an index over them.
func indexedBytes(s *Spool) int64 { return s.load + 24*s.rows }

// into appends a spool's rows to a store.
func (s *Spool) into(store *Store, f *Finisher) error {
	r := s.NewReader()
	for {
		vecs, n, err := r.Next()
		if err != nil || n == 0 {
			return err
		}
		if err := store.Append(vecs, n, nil); err != nil {
			return err
		}
		if f.Check != nil {
			if err := f.Check(); err != nil {
				return err
			}
		}
	}
}

// Router sends one worker's probe rows to where the build rows of their partition are. It belongs to its
// worker.
type Router struct {
	scatter *Scatter
	whole   bool
}

// NewRouter returns a router for a table that has spilled. It may be called concurrently.
func (t *Table) NewRouter() *Router {
	return &Router{scatter: newScatter(t.spill.probe, 0), whole: t.spill.Whole}
}

// Route writes the rows that belong to partitions on disk there, and returns those to be looked up in
// the table. vecs are the columns of Spill.Probe. The result is valid until the next call.
func (r *Router) Route(keys, vecs []*vector.Vector, n int, sel vector.Sel) (vector.Sel, error) {
	if err := r.scatter.Append(keys, vecs, n, sel); err != nil || r.whole {
		return nil, err
	}
	return r.scatter.sels[kept], nil
}

// Flush writes what is still in memory. It is called once, after the last row.
func (r *Router) Flush() error { return r.scatter.Flush() }

// Partition is a part of both sides of a join that is on disk: all rows whose keys have certain hashes.
type Partition struct {
	// Build holds rows of the table's keys and columns, Probe those of Spill.Probe.
	Build, Probe *Spool
	// Level is how often the rows have been scattered; from maxLevel on they are not any more.
	Level int
	whole bool
	files Files
}

// Partitions returns the partitions on disk that have rows. It is called once, after the last Flush of
// all routers.
func (t *Table) Partitions() (out []*Partition) {
	if !t.Spilled() {
		return nil
	}
	for i, probe := range t.spill.probe {
		if probe != nil && probe.rows+t.spill.build[i].rows > 0 {
			out = append(out, &Partition{Build: t.spill.build[i], Probe: probe, whole: t.spill.Whole, files: t.spill.Files})
		}
	}
	return out
}

// Part returns a table for a part of the build rows of a finished one, which stays in memory.
func (t *Table) Part(memory Memory) *Table {
	spec := t.spec
	spec.Memory, spec.Spill, spec.Payload = memory, nil, false
	part := NewTable(spec)
	part.nullKeys.Store(t.HasNullKey())
	return part
}

// maxLevel is how often rows are scattered: with 16 partitions a level, a build of any size has come
// down to nothing by then, unless it is of rows with equal keys.
const maxLevel = 8

// Split scatters the rows by further bits of their hashes. It returns nil when that would lead nowhere:
// when so many rows have equal keys that one part would hold nearly all of them. Otherwise the
// partition has been closed.
func (p *Partition) Split(keys int, check func() error) ([]*Partition, error) {
	if p.whole || p.Level >= maxLevel {
		return nil, nil
	}
	build, err := p.Build.scatter(keys, p.Level+1, check)
	if err != nil {
		return nil, err
	}
	for _, s := range build {
		if float64(s.rows) > minProgress*float64(p.Build.rows) {
			return nil, closeAll(build)
		}
	}
	probe, err := p.Probe.scatter(keys, p.Level+1, check)
	if err != nil {
		return nil, err
	}
	var out []*Partition
	for i := range build {
		out = append(out, &Partition{Build: build[i], Probe: probe[i], Level: p.Level + 1, files: p.files})
	}
	return out, p.Close()
}

// minProgress is the share of a partition's rows from which on a part of it is as bad as the whole
// (DuckDB's value).
const minProgress = 0.8

// scatter splits a spool by the hashes of its first columns.
func (s *Spool) scatter(keys, level int, check func() error) ([]*Spool, error) {
	spools := newSpools(s.files, s.kinds, fanOut)
	out := newScatter(spools, level)
	r := s.NewReader()
	for {
		vecs, n, err := r.Next()
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return spools, out.Flush()
		}
		if err := out.Append(vecs[:keys], vecs, n, nil); err != nil {
			return nil, err
		}
		if err := check(); err != nil {
			return nil, err
		}
	}
}

// Close removes the partition's files.
func (p *Partition) Close() error { return closeAll([]*Spool{p.Build, p.Probe}) }

func closeAll(spools []*Spool) (first error) {
	for _, s := range spools {
		if err := s.Close(); first == nil {
			first = err
		}
	}
	return first
}

// SpillFigures describe what of a table went to disk, for EXPLAIN ANALYZE.
type SpillFigures struct {
	Partitions, OnDisk     int
	BuildBytes, ProbeBytes int64
}

// SpillFigures returns what is on disk after the last probe row.
func (t *Table) SpillFigures() SpillFigures {
	if t.spill == nil {
		return SpillFigures{}
	}
	f := SpillFigures{Partitions: len(t.spill.build)}
	for i, probe := range t.spill.probe {
		f.BuildBytes += t.spill.build[i].bytes
		if probe != nil {
			f.OnDisk++
			f.ProbeBytes += probe.bytes
		}
	}
	return f
}

// Empty reports whether a finished table has no build rows, in memory or on disk.
func (t *Table) Empty() bool { return t.allRows() == 0 }

// allRows returns the number of build rows of a finished table.
func (t *Table) allRows() int64 {
	if !t.Spilled() {
		return int64(t.rows)
	}
	rows := int64(0)
	for _, s := range t.spill.build {
		rows += s.rows
	}
	return rows
}
