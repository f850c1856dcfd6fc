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

// factNodes is the line of EXPLAIN ANALYZE about the data nodes that a scan reads.
const factNodes = "Data Nodes selected"

// reportNodes notes, for EXPLAIN ANALYZE, which data nodes this execution of the scan reads; nil: none, because
// nobody wants its rows. Where planning has said all there is to say nothing is added.
func (s *scanSource) reportNodes(nodes *bitset.BitSet) {
	parts := s.node.Nodes
	if s.stats == nil || parts == nil || !parts.RunTime() {
		return
	}
	if nodes == nil {
		nodes = bitset.New(uint(len(parts.Desc.Leaves)))
	}
	tallied(s.stats, factNodes, func(all *selectedTally) { all.add(parts, nodes, s.selections) })
}
