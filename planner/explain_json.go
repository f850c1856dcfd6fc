package planner

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// json renders a tree as EXPLAIN (FORMAT JSON) of PostgreSQL does: its keys, its order of them, its
// layout.
func (e *explainer) json(root *detail) string {
	top := object{{"Plan", e.jsonNode(root, "")}}
	if e.options.Summary {
		if e.options.Phases != nil {
			top = e.withFacts(top, []Fact{e.options.Phases.fact()})
		}
		top = append(top, property{"Planning Time", milliseconds(e.options.PlanningNanos, 1)})
	}
	if e.options.Analyze {
		top = append(top, property{"Triggers", []object{}})
		if e.options.Summary {
			top = append(top, property{"Execution Time", milliseconds(e.options.ExecutionNanos, 1)})
		}
	}
	var b strings.Builder
	writeJSON(&b, []object{top}, "")
	return b.String()
}

// jsonNode renders a node; relationship is what it is to its parent, "" at the top.
func (e *explainer) jsonNode(d *detail, relationship string) object {
	out := object{{"Node Type", d.nodeType}}
	if relationship != "" {
		out = append(out, property{"Parent Relationship", relationship})
	}
	if d.label != "" {
		out = append(out, property{"Subplan Name", d.label})
	}
	// Every operator of weft may run on several workers, but none depends on that.
	out = append(out, property{"Parallel Aware", false}, property{"Async Capable", false})
	out = e.withFacts(out, d.members)
	out = e.withFacts(e.jsonNumbers(out, d), d.facts)
	if len(d.kids) > 0 {
		var kids []object
		inputs := 0
		for _, kid := range d.kids {
			kids = append(kids, e.jsonNode(kid, d.relationship(kid, inputs)))
			if kid.label == "" {
				inputs++
			}
		}
		out = append(out, property{"Plans", kids})
	}
	return out
}

// relationship is PostgreSQL's word for what a node is to this one; input is its number among the
// inputs.
func (d *detail) relationship(kid *detail, input int) string {
	switch {
	case kid.label != "":
		return "InitPlan"
	case d.nodeType == "Append":
		return "Member"
	case input > 0:
		return "Inner"
	}
	return "Outer"
}

// jsonNumbers adds estimates and actual figures.
func (e *explainer) jsonNumbers(out object, d *detail) object {
	if e.options.Costs && d.node != nil {
		est := d.node.Estimate()
		out = append(out, property{"Startup Cost", decimals(float64(est.Startup), 2)}, property{"Total Cost", decimals(float64(est.Total), 2)},
			property{"Plan Rows", decimals(float64(est.Rows), 0)}, property{"Plan Width", int64(est.Width)})
		if bound := e.boundOf(d.node); e.options.Verbose && bound.Known() {
			out = append(out, property{"Plan Rows Bound", decimals(bound.rows, 0)})
		}
	}
	a := e.actual(d)
	if a == nil {
		return out
	}
	loops := max(a.Loops, 1)
	if e.options.Timing {
		out = append(out, property{"Actual Startup Time", milliseconds(a.StartupNanos, loops)}, property{"Actual Total Time", milliseconds(a.TotalNanos, loops)})
	}
	return append(out, property{"Actual Rows", decimals(float64(a.Rows)/float64(loops), 0)}, property{"Actual Loops", a.Loops})
}

// maxJSONNumber bounds estimates, which may be infinite: JSON has no word for that.
const maxJSONNumber = 1e100

func decimals(x float64, digits int) json.Number {
	return json.Number(strconv.FormatFloat(math.Min(x, maxJSONNumber), 'f', digits, 64))
}

func milliseconds(nanos, loops int64) json.Number {
	return decimals(float64(nanos)/1e6/float64(loops), 3)
}

// object is a JSON object that keeps the order of its members.
type object []property

// property's value is a string, a bool, a number, a list of strings, an object or a list of objects.
type property struct {
	key   string
	value any
}

// withFacts adds facts in order.
func (e *explainer) withFacts(o object, facts []Fact) object {
	for _, f := range facts {
		if counts, ok := f.Value.(Counts); ok {
			for _, c := range counts {
				o = append(o, property{f.Key + " " + strings.ToUpper(c.Name[:1]) + c.Name[1:], c.N})
			}
			continue
		}
		value := e.jsonValue(f.Value)
		if f.Item != "" {
			o = o.withItem(f.jsonKey(), value.(object))
			continue
		}
		o = append(o, property{f.jsonKey(), value})
	}
	return o
}

// withItem adds an object to a list of them.
func (o object) withItem(key string, item object) object {
	for i := range o {
		if list, ok := o[i].value.([]object); ok && o[i].key == key {
			o[i].value = append(list, item)
			return o
		}
	}
	return append(o, property{key, []object{item}})
}

// writeJSON writes a value in PostgreSQL's layout: objects and their members on lines of their own,
// a list of strings on one.
func writeJSON(b *strings.Builder, value any, indent string) {
	switch v := value.(type) {
	case object:
		b.WriteString("{")
		for i, m := range v {
			nextLine(b, i, indent+"  ")
			b.WriteString(quoteJSON(m.key) + ": ")
			writeJSON(b, m.value, indent+"  ")
		}
		b.WriteString("\n" + indent + "}")
	case []object:
		b.WriteString("[")
		for i, o := range v {
			nextLine(b, i, indent+"  ")
			writeJSON(b, o, indent+"  ")
		}
		b.WriteString("\n" + indent + "]")
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = quoteJSON(s)
		}
		b.WriteString("[" + strings.Join(quoted, ", ") + "]")
	case string:
		b.WriteString(quoteJSON(v))
	case json.Number:
		b.WriteString(v.String())
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	default:
		panic(fmt.Sprintf("planner: EXPLAIN has a member of type %T", value))
	}
}

func nextLine(b *strings.Builder, i int, indent string) {
	if i > 0 {
		b.WriteString(",")
	}
	b.WriteString("\n" + indent)
}

// quoteJSON quotes a string and leaves <, > and & as they are: conditions are full of them.
func quoteJSON(s string) string {
	var b strings.Builder
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	if err := w.Encode(s); err != nil {
		panic(err) // a string: cannot fail
	}
	return strings.TrimSuffix(b.String(), "\n")
}
