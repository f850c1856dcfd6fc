package exec

import (
	"fmt"
	"sort"

	"github.com/bits-and-blooms/bitset"

	"github.com/weftdb/weft/internal/invariants"
	"github.com/weftdb/weft/planner"
)

// partitionSource reads the leaves of a partitioned table that are left for one execution, each by a
// source of its own: by the indexes, columns and positions that the leaf has. What is not read costs
// nothing but its bit in the set.
type partitionSource struct {
	run  *run
	node *planner.Scan
	// rows has the filters that joins lend to the scan.
	rows *scanSource
	// selections are what joins above have found to be of use.
	selections []*selection
	leaves     []leafSource
	stats      *nodeStats
	// covering, where not nil, finds leaves that an anti join above keeps no row of.
	covering *covering
	// within, where not nil, are the leaves of interest at present; rounds adds up what is read when that
	// changes, nil where all leaves are read at a time.
	within *bitset.BitSet
	rounds *scanTotals
	// nodes are the data nodes that are read of each leaf, nil where all rows of one are on one.
	nodes *bitset.BitSet
}

// scanTotals are figures of one execution of a scan.
type scanTotals struct{ selected, opened, groups int }

// leafSource reads one leaf: its morsels follow those of the leaves before.
type leafSource struct {
	Source
	number int
	first  int
}

// Lines of EXPLAIN ANALYZE under a scan of a partitioned table.
const (
	factSelected = "Partitions selected"
	factScanned  = "Partitions scanned"
	factNodes    = "Data Nodes selected"
)

// Morsels selects the leaves and lists the morsels of all.
func (s *partitionSource) Morsels(w *Worker) (int, error) {
	s.leaves = s.leaves[:0]
	set := s.selected()
	s.nodes = s.rows.dataNodes()
	if invariants.Enabled {
		if err := s.shadow(); err != nil {
			return 0, err
		}
	}
	for _, found := range s.selections {
		found.describe(s.stats)
	}
	if s.within != nil {
		set.InPlaceIntersection(s.within)
	}
	total, groups, opened := 0, 0, 0
	for i, ok := set.NextSet(0); ok; i, ok = set.NextSet(i + 1) {
		leaf := leafSource{Source: s.leafSource(int(i)), number: int(i), first: total}
		n, err := leaf.Morsels(w)
		if err != nil {
			return 0, err
		}
		if _, byGroup := leaf.Source.(*scanSource); byGroup {
			groups += n
		}
		if n == 0 {
			continue
		}
		opened++
		total += n
		s.leaves = append(s.leaves, leaf)
	}
	totals := scanTotals{int(set.Count()), opened, groups}
	switch {
	case s.rounds != nil:
		s.rounds.add(totals)
	case s.stats != nil:
		s.report(totals)
	}
	return total, nil
}

// leaveUnread reports that no leaf is read, because a join above has nothing to join them to.
func (s *partitionSource) leaveUnread() {
	for _, found := range s.selections {
		found.describe(s.stats)
	}
	s.report(scanTotals{})
}

func (t *scanTotals) add(more scanTotals) {
	t.selected, t.opened, t.groups = t.selected+more.selected, t.opened+more.opened, t.groups+more.groups
}

// selected returns the leaves to be read, as far as it is known.
func (s *partitionSource) selected() *bitset.BitSet {
	set := s.node.SelectLeaves(s.run.env).Clone()
	for _, found := range s.selections {
		set.InPlaceIntersection(found.leaves)
	}
	if s.covering != nil {
		set.InPlaceDifference(s.node.Parts.Desc.Covered(s.covering.seen))
	}
	return set
}

// report notes what this execution of the scan reads; of several the average is shown.
func (s *partitionSource) report(t scanTotals) {
	selected, opened, groups := t.selected, t.opened, t.groups
	all := len(s.node.Parts.Desc.Leaves)
	s.rows.reportNodes(s.nodes)
	if s.stats.selects("Partition", selected, int(s.node.Parts.Selected.Count()), s.selections) == 1 {
		s.stats.fact(planner.Fact{Key: factScanned, Text: fmt.Sprintf("%d (empty %d); not opened: %d", opened, selected-opened, all-selected),
			Value: []planner.Fact{{Key: "Partitions Opened", Value: int64(opened)}, {Key: "Partitions Empty", Value: int64(selected - opened)},
				{Key: "Partitions Not Opened", Value: int64(all - selected)}}})
	} else {
		s.stats.drop(factScanned)
	}
	if groups > 0 {
		s.stats.fact(planner.Fact{Key: factGroups, Value: int64(groups)})
	}
}

func (s *partitionSource) leafSource(number int) Source {
	n := s.node.OnLeaf(number)
	s.run.stats.rebuilt(n, s.node)
	source := s.run.scanSource(n)
	if scan, ok := source.(*scanSource); ok {
		scan.filters, scan.within = s.rows.filters, s.nodes
	}
	return source
}

// partitionScanner is a worker's part of a partitionSource. It has one leaf open at a time.
type partitionScanner struct {
	source  *partitionSource
	w       *Worker
	out     Pusher
	open    int // place in source.leaves, −1 = none
	scanner Scanner
	closers []func() error
}

func (s *partitionSource) Open(w *Worker, out Pusher) (Scanner, error) {
	c := &partitionScanner{source: s, w: w, out: out, open: -1}
	w.onClose(c.close)
	return c, nil
}

func (c *partitionScanner) Scan(morsel int) error {
	leaves := c.source.leaves
	at := sort.Search(len(leaves), func(i int) bool { return leaves[i].first > morsel }) - 1
	if at != c.open {
		if err := c.Flush(); err != nil {
			return err
		}
		if err := c.close(); err != nil {
			return err
		}
		before := len(c.w.closers)
		scanner, err := leaves[at].Open(c.w, c.out)
		c.closers = append(c.closers, c.w.closers[before:]...)
		c.w.closers = c.w.closers[:before]
		if err != nil {
			return err
		}
		c.open, c.scanner = at, scanner
	}
	return c.scanner.Scan(morsel - leaves[at].first)
}

// Flush pushes the rows that the open leaf's scanner has kept.
func (c *partitionScanner) Flush() error {
	if h, ok := c.scanner.(holder); ok {
		return h.Flush()
	}
	return nil
}

// close releases what is held of the open leaf.
func (c *partitionScanner) close() error {
	err := closeAll(c.closers, nil)
	c.open, c.scanner, c.closers = -1, nil, nil
	return err
}
