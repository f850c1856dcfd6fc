package planner

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// MemoryFact is the key of a fact that an execution notes of a hash join: the most memory that its build took.
const MemoryFact = "Memory"

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

// describeBuild says what a hash join builds its table from, how many rows that are at most and what they take if
// they are as wide as expected, and what makes its keys unique.
func (e *explainer) describeBuild(n *Join, d *detail) {
	relations := relationsOf(n.Right)
	text := strings.Join(relations, ", ")
	if len(relations) == 0 {
		text = "rows"
	}
	value := []Fact{{Key: "Build Relations", Value: relations}}
	bound, budget := e.boundOf(n.Right), e.options.WorkBytes
	bytes := bound.bytes(n.Right.Estimate().Width + buildRowBytes)
	if e.options.Verbose {
		if text += ", bound " + bound.String(); bound.Known() {
			text += " rows / " + sizeText(bytes)
			value = append(value, Fact{Key: "Build Rows Bound", Value: decimals(bound.rows, 0)}, Fact{Key: "Build Size at Bound", Value: kilobytes(bytes)})
		}
		if budget > 0 {
			text += " of " + sizeText(float64(budget))
			value = append(value, Fact{Key: "Build Memory Budget", Value: kilobytes(float64(budget))})
		}
	}
	if budget > 0 && e.options.Rows != nil && bytes > float64(budget) {
		partitions := buildPartitions
		if n.Wise != nil {
			partitions = len(n.Wise.Groups)
		}
		text += fmt.Sprintf(", partitions %d", partitions)
		value = append(value, Fact{Key: "Build Partitions", Value: int64(partitions)})
	}
	if k := sidesKeys(nil, e.proofs.of(n.Right).keys, n.Keys).right; k != nil && n.RightUnique {
		text += ", unique (" + k.name + ")"
		value = append(value, Fact{Key: "Build Unique Key", Value: k.name})
	}
	d.facts = append(d.facts, Fact{Key: "Build", Text: text, Value: value})
}

// measureMemory puts what a build took beside what was expected.
func (e *explainer) measureMemory(n *Join, f Fact) Fact {
	peak := float64(f.Value.(int64))
	text := "peak " + sizeText(peak)
	value := []Fact{{Key: "Build Peak Memory", Value: kilobytes(peak)}}
	if budget := e.options.WorkBytes; budget > 0 {
		text += " of " + sizeText(float64(budget))
	}
	estimate := float64(n.BuildBytes())
	text += ", estimated " + sizeText(estimate)
	value = append(value, Fact{Key: "Build Estimated Memory", Value: kilobytes(estimate)})
	if bound := e.boundOf(n.Right); bound.Known() {
		text += ", bound " + bound.String() + " rows"
		if !e.options.Verbose { // else it is there already
			value = append(value, Fact{Key: "Build Rows Bound", Value: decimals(bound.rows, 0)})
		}
	}
	return Fact{Key: MemoryFact, Text: text, Value: value}
}

// relationsOf names the relations below a node.
func relationsOf(n Node) (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	walkNodes(n, func(n Node) bool {
		switch n := n.(type) {
		case *Scan:
			add(n.Alias)
		case *CTEScan:
			add(n.Alias)
		case *FuncScan:
			add(n.Alias)
		case *Values:
			add("*VALUES*")
		}
		return true
	})
	return names
}

const (
	kibibyte = 1 << 10
	mebibyte = 1 << 20
)

// sizeText prints a number of bytes: whole kilobytes, from one megabyte on megabytes with a decimal.
func sizeText(bytes float64) string {
	if bytes < mebibyte {
		return fmt.Sprintf("%.0f kB", math.Ceil(bytes/kibibyte))
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", math.Min(bytes, maxJSONNumber)/mebibyte), ".0") + " MB"
}

// kilobytes is a number of bytes as JSON has it.
func kilobytes(bytes float64) int64 {
	return int64(math.Ceil(math.Min(bytes, math.MaxInt64/2) / kibibyte))
}
