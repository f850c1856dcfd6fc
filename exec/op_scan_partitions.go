package exec

import (
	"fmt"
	"sort"

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
}

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
)

// Morsels selects the leaves and lists the morsels of all.
func (s *partitionSource) Morsels(w *Worker) (int, error) {
	s.leaves = s.leaves[:0]
	set := s.node.SelectLeaves(s.run.env)
	if len(s.selections) > 0 {
		set = set.Clone()
		for _, found := range s.selections {
			set.InPlaceIntersection(found.leaves)
			found.describe(s.stats)
		}
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
	if s.stats != nil {
		all, selected := len(s.node.Parts.Desc.Leaves), int(set.Count())
		s.stats.fact(s.selected(selected))
		s.stats.fact(planner.Fact{Key: factScanned, Text: fmt.Sprintf("%d (empty %d); not opened: %d", opened, selected-opened, all-selected),
			Value: []planner.Fact{{Key: "Opened", Value: int64(opened)}, {Key: "Empty", Value: int64(selected - opened)}, {Key: "Not Opened", Value: int64(all - selected)}}})
		if groups > 0 {
			s.stats.fact(planner.Fact{Key: factGroups, Value: int64(groups)})
		}
	}
	return total, nil
}

// selected says how many leaves were left, also by each selector alone, out of those left after planning.
func (s *partitionSource) selected(n int) planner.Fact {
	of := int(s.node.Parts.Selected.Count())
	text := fmt.Sprintf("%d out of %d", n, of)
	value := []planner.Fact{{Key: "Selected", Value: int64(n)}, {Key: "Total", Value: int64(of)}}
	for i, found := range s.selections {
		text += pick(i == 0, " (", ", ") + fmt.Sprintf("PS%d %d", found.spec.ID, found.leaves.Count())
		value = append(value, planner.Fact{Key: fmt.Sprintf("PS%d", found.spec.ID), Value: int64(found.leaves.Count())})
	}
	if len(s.selections) > 0 {
		text += ")"
	}
	return planner.Fact{Key: factSelected, Text: text, Value: value}
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

func (s *partitionSource) leafSource(number int) Source {
	n := s.node.OnLeaf(number)
	s.run.stats.rebuilt(n, s.node)
	source, ok := s.run.scanSource(n).(*scanSource)
	if !ok {
		return s.run.scanSource(n)
	}
	source.filters = s.rows.filters
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

// close releases what is held of the open leaf.
func (c *partitionScanner) close() error {
	var err error
	for i := len(c.closers) - 1; i >= 0; i-- {
		if e := c.closers[i](); err == nil {
			err = e
		}
	}
	c.open, c.scanner, c.closers = -1, nil, nil
	return err
}
