package planner

import (
	"fmt"
	"strings"
)

// text renders a tree in PostgreSQL's layout.
func (e *explainer) text(d *detail, indent int, lines *[]string) {
	pad := strings.Repeat(" ", indent)
	if d.label != "" {
		*lines = append(*lines, pad+d.label)
		indent += 2
		pad += "  "
	}
	line := pad
	if indent > 0 {
		line += "->  "
		indent += 4
	}
	*lines = append(*lines, line+d.name+e.numbers(d))
	pad = strings.Repeat(" ", indent+2)
	for _, f := range d.facts {
		if f.Value == any(int64(0)) && strings.HasPrefix(f.Key, "Rows Removed by") {
			continue // PostgreSQL leaves it to the other formats
		}
		value := e.line(f.Value)
		if _, ok := f.Value.(Counts); ok && value == "" {
			continue
		}
		line := f.Key + ": " + value
		if !f.own() {
			*lines = append(*lines, pad+line)
			continue
		}
		for i, part := range strings.Split(line, "\n") { // one for each of a list's items
			if i > 0 {
				part = "  " + part
			}
			*lines = append(*lines, strings.TrimRight(pad+part, " "))
		}
	}
	for _, kid := range d.kids {
		e.text(kid, indent+2, lines)
	}
}

// numbers renders estimates and actual figures.
func (e *explainer) numbers(d *detail) string {
	out := ""
	if e.options.Costs && d.node != nil {
		est := d.node.Estimate()
		out = fmt.Sprintf("  (cost=%s..%s rows=%.0f width=%d)", formatCost(est.Startup), formatCost(est.Total), float64(est.Rows), est.Width)
	}
	if a := e.actual(d); a != nil {
		if a.Loops == 0 {
			return out + " (never executed)"
		}
		loops := float64(a.Loops)
		if e.options.Timing {
			out += fmt.Sprintf(" (actual time=%.3f..%.3f rows=%.0f loops=%d)", float64(a.StartupNanos)/1e6/loops, float64(a.TotalNanos)/1e6/loops, float64(a.Rows)/loops, a.Loops)
		} else {
			out += fmt.Sprintf(" (actual rows=%.0f loops=%d)", float64(a.Rows)/loops, a.Loops)
		}
	}
	return out
}

func (e *explainer) actual(d *detail) *Actual {
	if e.options.Actual == nil || d.node == nil {
		return nil
	}
	if d.measured != nil {
		return e.options.Actual(d.measured)
	}
	return e.options.Actual(d.node)
}
