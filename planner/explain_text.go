package planner

import (
	"encoding/json"
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
		*lines = append(*lines, pad+f.Key+": "+f.Value)
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
	return e.options.Actual(d.node)
}

// json renders a tree as EXPLAIN (FORMAT JSON) does.
func (e *explainer) json(root *detail) string {
	top := ordered{{"Plan", e.jsonNode(root)}}
	if e.options.Summary {
		top = append(top, field{"Planning Time", float64(e.options.PlanningNanos) / 1e6})
		if e.options.Analyze {
			top = append(top, field{"Execution Time", float64(e.options.ExecutionNanos) / 1e6})
		}
	}
	text, err := json.MarshalIndent([]any{top}, "", "  ")
	if err != nil {
		panic(err) // only numbers, strings and lists of them: cannot fail
	}
	return string(text)
}

func (e *explainer) jsonNode(d *detail) ordered {
	name, relation, _ := strings.Cut(d.name, " on ")
	out := ordered{{"Node Type", name}}
	if relation != "" {
		table, alias, found := strings.Cut(relation, " ")
		if !found {
			alias = table
		}
		out = append(out, field{"Relation Name", table}, field{"Alias", alias})
	}
	if d.label != "" {
		out = append(out, field{"Subplan Name", d.label})
	}
	if e.options.Costs && d.node != nil {
		est := d.node.Estimate()
		out = append(out, field{"Startup Cost", costNumber(float64(est.Startup))}, field{"Total Cost", costNumber(float64(est.Total))},
			field{"Plan Rows", int64(est.Rows)}, field{"Plan Width", est.Width})
	}
	if a := e.actual(d); a != nil {
		if e.options.Timing {
			out = append(out, field{"Actual Startup Time", float64(a.StartupNanos) / 1e6}, field{"Actual Total Time", float64(a.TotalNanos) / 1e6})
		}
		out = append(out, field{"Actual Rows", a.Rows}, field{"Actual Loops", a.Loops})
	}
	for _, f := range d.facts {
		out = append(out, field{f.Key, f.Value})
	}
	if len(d.kids) > 0 {
		var kids []any
		for _, k := range d.kids {
			kids = append(kids, e.jsonNode(k))
		}
		out = append(out, field{"Plans", kids})
	}
	return out
}

func costNumber(x float64) json.Number { return json.Number(formatCost(Cost(x))) }

// ordered is a JSON object that keeps the order of its members.
type ordered []field

type field struct {
	key   string
	value any
}

// MarshalJSON writes the members in order.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		k, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(k)
		b.WriteByte(':')
		b.Write(v)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}
