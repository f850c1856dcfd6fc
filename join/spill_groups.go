package join

import "github.com/weftdb/weft/vector"

// Grouping sends build rows that go to disk to groups that the caller knows, instead of to partitions by
// hash: probe rows then come group by group, and none of them has to be written.
type Grouping struct {
	// Groups is how many there are.
	Groups int
	// New returns what tells the groups of one worker's rows.
	New func() Grouper
}

// Grouper tells which groups rows belong to, by their keys.
type Grouper interface {
	// Groups returns the groups of the live rows, by row; −1 = the row is not wanted. The result is used
	// before the next call.
	Groups(keys []*vector.Vector, n int, sel vector.Sel) []int32
}

// spreader writes one worker's rows to spools.
type spreader interface {
	Append(keys, vecs []*vector.Vector, n int, sel vector.Sel) error
	Flush() error
}

// newSpreader returns a worker's way to the spools of the build.
func (s *spill) newSpreader() spreader {
	if s.Grouping == nil {
		return newScatter(s.build, 0)
	}
	return &groupSpread{grouper: s.Grouping.New(), spools: s.build, writers: make([]*SpoolWriter, len(s.build)), sels: make([]vector.Sel, len(s.build))}
}

// spreadBytes is about what one worker's buffers take.
func (s *spill) spreadBytes() int64 { return int64(len(s.build)) * spoolBytes }

// groupSpread writes rows by group.
type groupSpread struct {
	grouper Grouper
	spools  []*Spool
	writers []*SpoolWriter // made with the first row
	sels    []vector.Sel
	met     []int32 // groups that the batch has rows of
}

func (g *groupSpread) Append(keys, vecs []*vector.Vector, n int, sel vector.Sel) error {
	if sel == nil {
		sel = allRows[:n]
	}
	groups := g.grouper.Groups(keys, n, sel)
	g.met = g.met[:0]
	for _, i := range sel {
		to := groups[i]
		if to < 0 {
			continue
		}
		if len(g.sels[to]) == 0 {
			g.met = append(g.met, to)
		}
		g.sels[to] = append(g.sels[to], i)
	}
	for _, to := range g.met {
		if g.writers[to] == nil {
			g.writers[to] = g.spools[to].NewWriter()
		}
		if err := g.writers[to].Append(vecs, n, g.sels[to]); err != nil {
			return err
		}
		g.sels[to] = g.sels[to][:0]
	}
	return nil
}

func (g *groupSpread) Flush() error {
	for _, w := range g.writers {
		if w != nil {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// GroupSpools returns the groups' rows of a finished table, its keys and columns; nil if all rows are in
// memory. They belong to the caller.
func (t *Table) GroupSpools() []*Spool {
	if !t.Spilled() || t.spill.Grouping == nil {
		return nil
	}
	return t.spill.build
}

// leaveGroups ends the build of a table whose rows went to their groups: it is empty.
func (t *Table) leaveGroups(f *Finisher) error {
	if err := t.allToDisk(); err != nil {
		return err
	}
	t.store = NewStore(t.kinds(), t.spec.Memory)
	return t.index(f)
}

// Renewed returns an empty table for the rows of some groups, which goes to disk by hash if they are too
// many.
func (t *Table) Renewed() *Table {
	spec := t.spec
	if spec.Spill != nil {
		spill := *spec.Spill
		spill.Grouping = nil
		spec.Spill = &spill
	}
	return NewTable(spec)
}

// IndexedBytes is about what the rows take in memory with an index over them.
func (s *Spool) IndexedBytes() int64 { return indexedBytes(s) }

// Blocks returns the number of blocks, of which a reader can read a part.
func (s *Spool) Blocks() int { return len(s.blocks) }

// NewBlockReader returns a reader of some blocks of a spool that is written no more.
func (s *Spool) NewBlockReader(from, to int) *SpoolReader {
	r := s.NewReader()
	r.next, r.end = from, to
	return r
}
