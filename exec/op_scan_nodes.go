package exec

import "github.com/bits-and-blooms/bitset"

// dataNodes returns the data nodes that the scan reads in this execution, as far as it is known now; nil: all of
// them, or the only one.
func (s *scanSource) dataNodes() *bitset.BitSet {
	if s.within != nil || s.node.Nodes == nil {
		return s.within
	}
	set := s.node.SelectNodes(s.run.env)
	if len(s.selections) == 0 {
		return set
	}
	set = set.Clone()
	for _, found := range s.selections {
		set.InPlaceIntersection(found.leaves)
	}
	return set
}

// reportNodes notes, for EXPLAIN ANALYZE, which data nodes this execution of the scan reads; nil: none, because
// nobody wants its rows. Where planning has said all there is to say nothing is added.
func (s *scanSource) reportNodes(nodes *bitset.BitSet) {
	if s.stats == nil || s.node.Nodes == nil || !s.node.Nodes.RunTime() {
		return
	}
	count := 0
	if nodes != nil {
		count = int(nodes.Count())
	}
	for _, found := range s.selections {
		found.describe(s.stats)
	}
	s.stats.selects("Data Node", count, int(s.node.Nodes.Selected.Count()), s.selections)
}
