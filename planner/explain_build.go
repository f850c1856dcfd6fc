package planner

import (
	"fmt"
	"math"
	"strings"
)

// buildRowBytes is what a row of a hash join's build takes besides its values, about.
const buildRowBytes = 24

// buildPartitions is how many partitions a build is scattered to that memory does not take.
const buildPartitions = 16

// BuildBytes is about what the build of a hash join takes in memory.
func (n *Join) BuildBytes() int64 {
	e := n.Right.Estimate()
	return int64(math.Min(float64(e.Rows)*float64(e.Width+buildRowBytes), math.MaxInt64/2))
}

// boundOf bounds the rows of a node by the counts that the statement sees; unknown where it has none.
func (e *explainer) boundOf(n Node) RowsBound { return e.proofs.of(n).bound }

// buildBound is what a build takes at most, if its rows are as wide as expected.
func (e *explainer) buildBound(n *Join) float64 {
	return e.boundOf(n.Right).bytes(n.Right.Estimate().Width + buildRowBytes)
}

// describeBuild says what a hash join builds its table from, how many rows that are at most and what they take if
// they are as wide as expected, and what makes its keys unique.
func (e *explainer) describeBuild(n *Join) Fact {
	relations := e.relationsOf(n.Right)
	parts := Parts{{"relations", relations, "%s"}}
	if len(relations) == 0 {
		parts = Parts{{"relations", []string{}, "rows"}}
	}
	bound, bytes, budget := e.boundOf(n.Right), e.buildBound(n), e.options.WorkBytes
	if e.options.Verbose {
		if parts = append(parts, Part{"rows_bound", bound, ", bound %s"}); bound.Known() {
			parts = append(parts, Part{"size_bound", wholeBytes(bytes), " rows / %s"})
		}
		if budget > 0 {
			parts = append(parts, Part{"limit", Bytes(budget), " of %s"})
		}
	}
	if budget > 0 && e.options.Rows != nil && bytes > float64(budget) {
		partitions := buildPartitions
		if n.Wise != nil {
			partitions = len(n.Wise.Groups)
		}
		parts = append(parts, Part{"partitions", int64(partitions), ", partitions %s"})
	}
	if k := sidesKeys(nil, e.proofs.of(n.Right).keys, n.Keys).right; k != nil && n.RightUnique {
		parts = append(parts, Part{"unique", k.name, ", unique (%s)"})
	}
	return Fact{Key: "Build", Value: parts}
}

// MemoryFact is what a hash join's build took of memory at the most. Explain puts beside it what was expected.
func MemoryFact(peak int64) Fact {
	return Fact{Key: memoryFact, Value: Parts{{"peak", Bytes(peak), "peak %s"}}}
}

const memoryFact = "Memory"

// measureMemory puts what a build took beside what was expected, and what it takes at most if its rows are as
// wide as expected.
func (e *explainer) measureMemory(n *Join, f Fact) Fact {
	parts := f.Value.(Parts)
	if budget := e.options.WorkBytes; budget > 0 {
		parts = append(parts, Part{"limit", Bytes(budget), " of %s"})
	}
	parts = append(parts, Part{"estimated", Bytes(n.BuildBytes()), ", estimated %s"})
	if e.boundOf(n.Right).Known() {
		parts = append(parts, Part{"bound", wholeBytes(e.buildBound(n)), ", bound %s"})
	}
	return Fact{Key: f.Key, Value: parts}
}

// describeFilters lists the filters that a join's build lends to scans: those of partitions are known from the
// plan, others from an execution.
func (e *explainer) describeFilters(n *Join) []Fact {
	if len(n.Selectors) == 0 {
		return nil
	}
	list := List{Separator: ", "}
	for _, ps := range n.Selectors {
		form := "leaf"
		if ps.Nodes {
			form = "data node"
		}
		list.Items = append(list.Items, Parts{{"filter", psName(ps.ID), "%s"}, {"form", form, "[%s] "}, {"from", ps.Values, "%s -> "},
			{"to", []string{e.scanName(ps.Scan, n.Left)}, "%s"}})
	}
	return []Fact{{Key: filtersFact, Value: list}}
}

// filtersFact is the key of the list of a join's filters, to which an execution adds.
const filtersFact = "Runtime Filters"

// FiltersFact is what an execution adds to the list of the filters that a join lends.
func FiltersFact(items []Parts) Fact {
	return Fact{Key: filtersFact, Value: List{Items: items, Separator: ", "}}
}

// measure adds a fact of an execution. A list that the plan began goes on.
func (d *detail) measure(f Fact) {
	for i := range d.facts {
		have, isList := d.facts[i].Value.(List)
		if more, areMore := f.Value.(List); d.facts[i].Key == f.Key && isList && areMore {
			have.Items = append(have.Items[:len(have.Items):len(have.Items)], more.Items...)
			d.facts[i].Value = have
			return
		}
	}
	d.facts = append(d.facts, f)
}

// selectors puts a join's selectors above its build side.
func (e *explainer) selectors(n *Join, build *detail) *detail {
	for _, ps := range n.Selectors {
		d := &detail{node: n.Right, kids: []*detail{build}}
		kind := "Partition Selector"
		if ps.Nodes {
			kind = "Data Node Selector"
		}
		d.is(kind, fmt.Sprintf("%s %s (scan %d, %s)", kind, psName(ps.ID), ps.Scan, e.scanName(ps.Scan, n.Left)),
			Fact{Key: "Selector ID", Value: int64(ps.ID)}, Fact{Key: "Scan Number", Value: int64(ps.Scan)})
		routes := List{Separator: "; "}
		for i, by := range ps.Routes {
			switch {
			case ps.Nodes:
				routes.Items = append(routes.Items, Parts{{"hash_of", by, "hash of (%s)"}})
			case len(by) > 0:
				routes.Items = append(routes.Items, Parts{{"level", int64(i + 1), "level %s"}, {"by", by, " = (%s)"}})
			default:
				routes.Items = append(routes.Items, Parts{{"level", int64(i + 1), "level %s all"}})
			}
		}
		d.facts = append(d.facts, Fact{Key: "Route", Value: routes})
		if e.options.Actual != nil {
			for _, f := range e.options.Actual(n).Facts {
				if key, ofThis := strings.CutPrefix(f.Key, SelectorFact(ps.ID)); ofThis {
					f.Key = selectorFact + key
					d.facts = append(d.facts, f)
				}
			}
		}
		build = d
	}
	return build
}
