package exec

import (
	"slices"

	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/planner"
)

// tableTally is what hash tables a join has built: one for each execution, or for each of an execution's rounds.
type tableTally struct {
	form                    string // of the largest
	largest                 int
	rows, keys, most, bytes int64 // rows in memory; bytes are the largest's
}

func (t *tableTally) add(table *join.Table) {
	if rows := table.Rows(); rows > t.largest || t.form == "" {
		t.form, t.largest = table.Form(), rows
	}
	f := table.KeyFigures()
	t.rows, t.keys, t.most, t.bytes = t.rows+int64(table.Rows()), t.keys+f.Keys, max(t.most, f.Most), max(t.bytes, table.Bytes())
}

func (t *tableTally) facts(key string, loops int64) []planner.Fact {
	parts := planner.Parts{{Name: "form", Value: t.form, Text: "%s"}, {Name: "rows", Value: perLoop(t.rows, loops), Text: ", rows %s"},
		{Name: "keys", Value: perLoop(t.keys, loops), Text: ", keys %s"}}
	if t.most > 0 {
		parts = append(parts, planner.Part{Name: "max_dup", Value: t.most, Text: ", max dup %s"})
	}
	return oneFact(key, append(parts, planner.Part{Name: "bytes", Value: planner.Bytes(t.bytes), Text: ", %s"}))
}

// greatestMemory is how much memory the tables of one execution's build took at a time at most.
type greatestMemory struct{ peak int64 }

func (t *greatestMemory) facts(string, int64) []planner.Fact {
	return []planner.Fact{planner.MemoryFact(t.peak)}
}

// spillTally is what of a hash join went to disk.
type spillTally struct {
	join.SpillFigures
	wise           bool  // the probe side was read a group of partitions at a time
	levels, passes int64 // the most that a partition needed
	// skewed are the hashes of keys that have at least half of the rows of a block, where rows could not be divided.
	skewed map[uint64]struct{}
}

// spilled notes what has been written.
func (h *hashBuild) spilled(f join.SpillFigures) {
	tallied(h.plan.stats, factSpill, func(t *spillTally) {
		t.add(f)
		t.wise = h.wise != nil
	})
}

func (t *spillTally) add(f join.SpillFigures) {
	t.Partitions, t.OnDisk, t.BuildBytes, t.ProbeBytes = t.Partitions+f.Partitions, t.OnDisk+f.OnDisk, t.BuildBytes+f.BuildBytes, t.ProbeBytes+f.ProbeBytes
}

// level notes that a partition has been scattered so often.
func (t *spillTally) level(n int) { t.levels = max(t.levels, int64(n)) }

// block notes the table of a block of rows that could not be divided.
func (t *spillTally) block(table *join.Table) {
	if hash, ok := table.HeaviestKey(); ok {
		if t.skewed == nil {
			t.skewed = map[uint64]struct{}{}
		}
		t.skewed[hash] = struct{}{}
	}
}

func (t *spillTally) facts(key string, loops int64) []planner.Fact {
	how := ""
	if t.wise {
		how = " (partition-wise)"
	}
	return oneFact(key, planner.Parts{{Name: "spilled_partitions", Value: perLoop(int64(t.OnDisk), loops), Text: "build %s"},
		{Name: "partitions", Value: perLoop(int64(t.Partitions), loops), Text: " of %s partitions"},
		{Name: "build_bytes", Value: planner.Bytes(perLoop(t.BuildBytes, loops)), Text: " %s"},
		{Name: "probe_bytes", Value: planner.Bytes(perLoop(t.ProbeBytes, loops)), Text: ", probe %s" + how}, {Name: "partition_wise", Value: t.wise},
		{Name: "levels", Value: max(t.levels, 1), Text: ", levels %s"}, {Name: "skew_keys", Value: int64(len(t.skewed)), Text: ", skew keys %s"},
		{Name: "passes", Value: max(t.passes, 1), Text: ", passes %s"}})
}

// wiseTally is how a join was carried out partition-wise.
type wiseTally struct {
	how               string
	groups            int64
	unmatched, rounds int64
}

func (t *wiseTally) facts(key string, loops int64) []planner.Fact {
	return oneFact(key, planner.Parts{{Name: "groups", Value: t.groups, Text: "groups %s"}, {Name: "mode", Value: t.how, Text: " (%s)"},
		{Name: "unmatched_probe_leaves", Value: perLoop(t.unmatched, loops), Text: ", unmatched probe leaves %s"}, {Name: "rounds", Value: perLoop(t.rounds, loops), Text: ", rounds %s"}})
}

// filtersTally lists the filters that a join has lent.
type filtersTally struct{ filters []lentFilter }

type lentFilter struct {
	number int
	parts  planner.Parts
}

func (t *filtersTally) add(number int, parts planner.Parts) {
	for i := range t.filters {
		if t.filters[i].number == number {
			t.filters[i].parts = parts
			return
		}
	}
	t.filters = append(t.filters, lentFilter{number, parts})
	slices.SortFunc(t.filters, func(a, b lentFilter) int { return a.number - b.number })
}

func (t *filtersTally) facts(string, int64) []planner.Fact {
	var items []planner.Parts
	for _, f := range t.filters {
		items = append(items, f.parts)
	}
	return []planner.Fact{planner.FiltersFact(items)}
}
