package exec

import (
	"fmt"

	"github.com/bits-and-blooms/bitset"

	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/prune"
	"github.com/weftdb/weft/vector"
)

// Lines of EXPLAIN ANALYZE under a scan of a partitioned table.
const (
	factSelected = "Partitions selected"
	factScanned  = "Partitions scanned"
	factLeaves   = "Leaves"
)

// scanTotals are figures of one execution of a scan.
type scanTotals struct {
	selected, opened *bitset.BitSet
	groups           int
}

// leafCounter counts the rows of a leaf.
type leafCounter struct {
	Pusher
	rows int64
}

func (c *leafCounter) Push(b *vector.Batch) error {
	c.rows += int64(b.Live())
	return c.Pusher.Push(b)
}

// note takes down which leaves are selected, now that s.leaves are those to be opened.
func (s *partitionSource) note(set *bitset.BitSet, groups int) {
	opened := bitset.New(set.Len())
	for _, leaf := range s.leaves {
		opened.Set(uint(leaf.number))
	}
	switch {
	case !s.inRounds:
		s.report(scanTotals{set, opened, groups})
	case s.noted == nil:
		s.noted = &scanTotals{set, opened, groups}
	default:
		s.noted.selected.InPlaceUnion(set)
		s.noted.opened.InPlaceUnion(opened)
		s.noted.groups += groups
	}
}

// reportRounds reports what all rounds have read.
func (s *partitionSource) reportRounds() {
	if s.noted == nil {
		s.leaveUnread()
		return
	}
	s.report(*s.noted)
	s.noted = nil
}

// leaveUnread reports that no leaf is read, because a join above has nothing to join them to.
func (s *partitionSource) leaveUnread() {
	none := bitset.New(uint(len(s.node.Parts.Desc.Leaves)))
	s.report(scanTotals{none, none, 0})
}

// report adds an execution of the scan to those before.
func (s *partitionSource) report(t scanTotals) {
	parts := s.node.Parts
	removed := int64(parts.Selected.Count() - s.node.SelectLeaves(s.run.env).Count())
	tallied(s.stats, factSelected, func(all *selectedTally) {
		all.add(parts, t.selected, s.selections)
		all.removed = removed
	})
	s.rows.reportNodes(s.nodes)
	tallied(s.stats, factScanned, func(all *scannedTally) {
		leaves := all.of(parts.Desc)
		for i := range leaves {
			leaves[i].selected = leaves[i].selected || t.selected.Test(uint(i))
			leaves[i].opened = leaves[i].opened || t.opened.Test(uint(i))
		}
	})
	if t.groups > 0 {
		tallied(s.stats, factGroups, func(all *greatest) { all.n = max(all.n, int64(t.groups)) })
	}
}

// read adds rows to those that a leaf has yielded.
func (s *partitionSource) read(leaf int, rows int64) {
	tallied(s.stats, factScanned, func(all *scannedTally) { all.of(s.node.Parts.Desc)[leaf].rows += rows })
}

// selectedTally is which leaves, or data nodes, the executions of a scan select: in detail where there is one.
type selectedTally struct {
	parts            *planner.PartScan
	times, sum, most int64
	removed          int64 // of leaves, by what was known at start
	bySelector       []int64
	defaults         bool // a default partition is among those selected
}

func (t *selectedTally) add(parts *planner.PartScan, selected *bitset.BitSet, by []*selection) {
	t.parts, t.bySelector = parts, t.bySelector[:0]
	for _, found := range by {
		t.bySelector = append(t.bySelector, int64(found.leaves.Count()))
	}
	count := int64(selected.Count())
	t.times, t.sum, t.most = t.times+1, t.sum+count, max(t.most, count)
	t.defaults = false
	for i, ok := selected.NextSet(0); ok; i, ok = selected.NextSet(i + 1) {
		t.defaults = t.defaults || parts.Desc.Default(int(i))
	}
}

func (t *selectedTally) facts(key string, _ int64) []planner.Fact {
	left := int64(t.parts.Selected.Count())
	if t.times > 1 {
		return oneFact(key, planner.Parts{{Name: "average", Value: float64(t.sum) / float64(t.times), Text: "avg %s"},
			{Name: "most", Value: t.most, Text: ", max %s"}, {Name: "total", Value: left, Text: " out of %s"}, {Name: "rescans", Value: t.times, Text: " over %s rescans"}})
	}
	value := planner.Parts{{Name: "selected", Value: t.sum, Text: "%s"}, {Name: "total", Value: left, Text: " out of %s"}}
	open := " ("
	add := func(name string, v any, text string) {
		value = append(value, planner.Part{Name: name, Value: v, Text: open + text})
		open = ", "
	}
	if t.parts.AtStart && key == factSelected {
		add("subplans_removed", t.removed, "Subplans Removed: %s")
	}
	if len(t.parts.Selectors) > 0 {
		var counts planner.Parts
		for i, n := range t.bySelector {
			name := fmt.Sprintf("PS%d", t.parts.Selectors[i].ID)
			counts = append(counts, planner.Part{Name: name, Value: n, Text: name + " %s"})
			if i > 0 {
				counts[i].Text = ", " + counts[i].Text
			}
		}
		add("by_selector", counts, "%s")
		if key == factSelected {
			add("default", t.defaults, "default %s")
		}
	}
	if why := t.parts.WhyAll; why != "" && !t.parts.AtStart && !t.parts.Covered && len(t.parts.Selectors) == 0 {
		add("run_time_off", why, "run time: off, reason: %s")
	}
	if open == ", " {
		last := &value[len(value)-1]
		last.Text += ")"
	}
	return oneFact(key, value)
}

// removed is how many leaves the only execution of a scan has left out when it started.
func (s *nodeStats) removed() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, have := range s.tallies {
		if t, ok := have.tally.(*selectedTally); ok && have.key == factSelected && t.times == 1 && t.parts.AtStart {
			return t.removed
		}
	}
	return 0
}

// scannedTally is what all executions of a scan together read of its leaves.
type scannedTally struct {
	desc   *prune.Desc
	leaves []leafTally // by number
}

type leafTally struct {
	selected, opened bool
	rows             int64 // that passed the scan's filters
}

func (t *scannedTally) of(desc *prune.Desc) []leafTally {
	if t.leaves == nil {
		t.desc, t.leaves = desc, make([]leafTally, len(desc.Leaves))
	}
	return t.leaves
}

func (t *scannedTally) facts(key string, _ int64) []planner.Fact {
	selected, opened, rows := int64(0), int64(0), int64(0)
	for _, leaf := range t.leaves {
		if leaf.selected {
			selected++
		}
		if leaf.opened {
			opened++
		}
		rows += leaf.rows
	}
	scanned := planner.Fact{Key: key, Value: planner.Parts{{Name: "scanned", Value: selected, Text: "%s"}, {Name: "opened", Value: opened, Text: " (opened %s"},
		{Name: "empty", Value: selected - opened, Text: ", empty %s)"}, {Name: "rows", Value: rows, Text: ", rows %s"},
		{Name: "not_opened", Value: int64(len(t.leaves)) - selected, Text: "; not opened: %s"}}}
	return []planner.Fact{scanned, {Key: factLeaves, Value: t.list(), Verbose: true}}
}

// list tells of the leaves one by one.
func (t *scannedTally) list() planner.List {
	list := planner.List{Separator: "\n"}
	for i, leaf := range t.leaves {
		partition := t.desc.Leaves[i].Table
		name := partition.Name
		if partition.Schema != t.desc.Table.Schema {
			name = partition.Schema + "." + name
		}
		item := planner.Parts{{Name: "leaf", Value: name, Text: "%s"}}
		switch {
		case leaf.opened:
			item = append(item, planner.Part{Name: "rows", Value: leaf.rows, Text: "  (rows %s)"})
		case leaf.selected:
			item = append(item, planner.Part{Name: "empty", Value: true, Text: "  (empty)"})
		default:
			item = append(item, planner.Part{Name: "never_opened", Value: true, Text: "  (never opened)"})
		}
		list.Items = append(list.Items, item)
	}
	return list
}
