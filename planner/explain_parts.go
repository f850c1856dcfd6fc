package planner

import (
	"fmt"
	"strings"

	"github.com/bits-and-blooms/bitset"

	"github.com/weftdb/weft/sql"
)

// describeParts says of a scan of a partitioned table which partitions it reads.
func (e *explainer) describeParts(n *Scan, d *detail) {
	if n.Parts == nil {
		return
	}
	d.name = "Dynamic " + strings.TrimPrefix(d.name, "Seq ")
	d.nodeType = "Dynamic " + strings.TrimPrefix(d.nodeType, "Seq ")
	all, left := int64(len(n.Parts.Desc.Leaves)), int64(n.Parts.Selected.Count())
	parts := Parts{{"after_planning", left, "%s"}, {"total", all, " of %s after planning"}, {"subplans_removed", all - left, " (Subplans Removed: %s)"}}
	parts = append(parts, n.Parts.atRunTime()...)
	e.number(n, d)
	removed := all - left
	if e.options.Actual != nil {
		if a := e.options.Actual(n); a != nil {
			removed += a.Removed
		}
	}
	d.members = append(d.members, Fact{Key: "Subplans Removed", Value: removed})
	keys := List{Separator: " / "}
	for i, text := range n.Parts.Desc.KeyTexts(sql.QuoteIdent) {
		keys.Items = append(keys.Items, Parts{{"level", int64(i + 1), ""}, {"key", text, "%s"}})
	}
	d.facts = append([]Fact{{Key: "Partition Key", Value: keys}, {Key: "Partitions", Value: parts}}, d.facts...)
}

// number shows the number of a scan that joins may select for.
func (e *explainer) number(n *Scan, d *detail) {
	if n.Number > 0 {
		d.name += fmt.Sprintf(" (scan %d)", n.Number)
		d.members = append(d.members, Fact{Key: "Scan Number", Value: int64(n.Number)})
	}
}

// atRunTime says by what more is left out when the plan runs, or why nothing is.
func (p *PartScan) atRunTime() Parts {
	var by []string
	if p.AtStart {
		by = append(by, "at start")
	}
	for _, ps := range p.Selectors {
		by = append(by, psName(ps.ID))
	}
	if p.Covered {
		by = append(by, "values of anti join")
	}
	switch {
	case len(by) > 0:
		return Parts{{"run_time", by, "; run time: " + strings.Join(by, " AND ")}}
	case p.WhyAll != "":
		return Parts{{"run_time_off", p.WhyAll, "; run time: off, reason: %s"}}
	}
	return nil
}

// describeNodes says which data nodes a scan reads, where it need not read all.
func (e *explainer) describeNodes(n *Scan, d *detail) {
	if n.Nodes == nil || !n.readsGroups() {
		return
	}
	all, left := int64(len(n.Nodes.Desc.Leaves)), int64(n.Nodes.Selected.Count())
	if left == all && !n.Nodes.RunTime() && !(e.options.Verbose && n.Nodes.WhyAll != "") {
		return
	}
	nodes := append(Parts{{"after_planning", left, "%s"}, {"total", all, " of %s"}}, n.Nodes.atRunTime()...)
	d.facts = append([]Fact{{Key: "Data Nodes", Value: nodes}}, d.facts...)
	if n.Parts == nil {
		e.number(n, d)
	}
}

// nodesRead names the data nodes that a plan reads, as far as planning knows.
func (e *explainer) nodesRead() string {
	read, all := bitset.New(uint(e.plan.Nodes)), false
	e.plan.walk(func(n Node) bool {
		if scan, ok := n.(*Scan); ok && scan.Nodes != nil && scan.readsGroups() {
			read.InPlaceUnion(scan.Nodes.Selected)
		} else if ok {
			all = true
		}
		return true
	})
	switch {
	case all || read.Count() == uint(e.plan.Nodes):
		return "All datanodes"
	case read.None():
		return "none"
	}
	var names []string
	for i, ok := read.NextSet(0); ok; i, ok = read.NextSet(i + 1) {
		names = append(names, fmt.Sprintf("datanode%d", i+1))
	}
	return strings.Join(names, ", ")
}
