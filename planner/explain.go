package planner

import (
	"fmt"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
)

// ExplainOptions are the options of EXPLAIN.
type ExplainOptions struct {
	Analyze, Verbose, Costs, Timing, JSON, Summary bool
	// Actual returns what happened at a node; nil without ANALYZE.
	Actual func(Node) *Actual
	// PlanningNanos and ExecutionNanos are printed under Summary.
	PlanningNanos, ExecutionNanos int64
	// Phases are what the planning took its time for; nil: that is not known.
	Phases *Phases
	// Rows is how many rows a table has at most that the statement sees; nil: that is not known.
	Rows func(*catalog.Table) int64
	// WorkBytes is what a hash join may take in memory, 0 = without limit.
	WorkBytes int64
}

// Actual is what running a node showed, in all loops together.
type Actual struct {
	Rows  int64
	Loops int64 // 0 = the node was never run
	// StartupNanos passed before the first row, TotalNanos before the last. Both are wall-clock
	// time and include the node's inputs.
	StartupNanos int64
	TotalNanos   int64
	// Facts are the operator's own lines, such as row groups pruned.
	Facts []Fact
	// Removed is how many partitions an execution left out when it started.
	Removed int64
}

// detail is a node of the printed tree: facts, not text, so that all formats share it.
type detail struct {
	name     string // the node's line in text
	nodeType string // the same without what members say
	members  []Fact
	node     Node // whose estimates are shown
	measured Node // whose actual figures are shown; nil = node's
	facts    []Fact
	kids     []*detail
	label    string // "InitPlan 1 (returns $0)" and the like, on a line of its own
}

// is names a node: its type, which text prints with more words before or behind it.
func (d *detail) is(nodeType, name string, members ...Fact) {
	d.nodeType, d.name, d.members = nodeType, name, members
}

// Explain renders a plan as lines of text or of JSON.
func Explain(p *Plan, o ExplainOptions) []string {
	e := &explainer{plan: p, options: o, alias: map[expr.ColID]string{}, names: map[Node]string{}, param: map[int]string{}, outer: map[int]*expr.Col{}, proofs: newProver(o.Rows)}
	e.nameColumns()
	root := e.tree()
	if o.JSON {
		return strings.Split(e.json(root), "\n")
	}
	var lines []string
	e.text(root, 0, &lines)
	if o.Summary {
		if o.Phases != nil {
			f := o.Phases.fact()
			lines = append(lines, f.Key+": "+e.line(f.Value))
		}
		lines = append(lines, fmt.Sprintf("Planning Time: %.3f ms", float64(o.PlanningNanos)/1e6))
		if o.Analyze {
			lines = append(lines, fmt.Sprintf("Execution Time: %.3f ms", float64(o.ExecutionNanos)/1e6))
		}
	}
	return lines
}

type explainer struct {
	plan    *Plan
	options ExplainOptions
	alias   map[expr.ColID]string // relation of each scanned column, when there is more than one
	names   map[Node]string       // of relations
	param   map[int]string
	outer   map[int]*expr.Col // of the rows that an Apply runs its inner plan for, by parameter
	proofs  *prover
	values  map[expr.ColID]expr.Expr // what projections compute, for printing
}

// print renders an expression with names resolved.
func (e *explainer) print(x expr.Expr) string { return expr.String(e.resolve(x, 0)) }

const printDepth = 30

func (e *explainer) resolve(x expr.Expr, depth int) expr.Expr {
	return expr.Transform(x, func(x expr.Expr) expr.Expr {
		switch x := x.(type) {
		case *expr.Col:
			if v, ok := e.values[x.ID]; ok && depth < printDepth {
				if c, same := v.(*expr.Col); !same || c.ID != x.ID {
					return e.resolve(v, depth+1)
				}
			}
			if alias := e.alias[x.ID]; alias != "" {
				return &expr.Col{ID: x.ID, Typ: x.Typ, Name: alias + "." + x.Name}
			}
		case *expr.Param:
			if name, ok := e.param[x.Index]; ok {
				return &expr.Col{Typ: x.Typ, Name: name}
			}
			if col := e.outer[x.Index]; col != nil && depth < printDepth {
				return e.resolve(col, depth+1)
			}
		case *aggregateRef:
			return &expr.Col{Typ: x.Type(), Name: e.aggregateText(x.call)}
		}
		return x
	})
}

// withoutOuterParens strips the parentheses around a whole expression: a call has its own.
func withoutOuterParens(text string) string {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 && i < len(text)-1 || text[i] == '\'' {
			return text
		}
	}
	if depth != 0 || !strings.HasPrefix(text, "(") {
		return text
	}
	return text[1 : len(text)-1]
}

func (e *explainer) aggregateText(call *expr.AggCall) string {
	var args []string
	for _, a := range call.Args {
		args = append(args, withoutOuterParens(expr.String(a)))
	}
	text := strings.Join(args, ", ")
	if len(call.Args) == 0 {
		text = "*"
	}
	if call.Distinct {
		text = "DISTINCT " + text
	}
	return call.Fn.Name + "(" + text + ")"
}

// conditions joins conjuncts the way PostgreSQL prints them.
func (e *explainer) conditions(conds []expr.Expr) string {
	if len(conds) == 1 {
		s := e.print(conds[0])
		if !strings.HasPrefix(s, "(") {
			s = "(" + s + ")"
		}
		return s
	}
	parts := make([]string, len(conds))
	for i, c := range conds {
		parts[i] = e.print(c)
	}
	return "(" + strings.Join(parts, " AND ") + ")"
}

// tree builds the printed tree: Row Adapter on top when columns are read, one GATHER when the
// database has several data nodes, then the plan.
func (e *explainer) tree() *detail {
	body := e.describe(e.plan.Root)
	for i, ip := range e.plan.InitPlans {
		d := e.describe(ip.Plan)
		d.label = fmt.Sprintf("InitPlan %d (returns %s)", i+1, e.param[ip.Param])
		body.kids = append([]*detail{d}, body.kids...)
	}
	for i := len(e.plan.CTEs) - 1; i >= 0; i-- {
		d := e.describe(e.plan.CTEs[i].Plan)
		d.label = "CTE " + e.plan.CTEs[i].Name
		body.kids = append([]*detail{d}, body.kids...)
	}
	tables, columns := e.plan.reads()
	if e.plan.Nodes > 1 && tables {
		name := "Streaming (type: GATHER)"
		if columns {
			name = "Vector " + name
		}
		body = &detail{name: name, nodeType: name, node: e.plan.Root, facts: []Fact{{Key: "Node/s", Value: e.nodesRead()}}, kids: []*detail{body}}
	}
	if columns {
		body = &detail{name: "Row Adapter", nodeType: "Row Adapter", node: e.plan.Root, kids: []*detail{body}}
	}
	return body
}

// reads reports whether the plan reads tables, and whether any by columns.
func (p *Plan) reads() (tables, columns bool) {
	visit := func(n Node) bool {
		if s, ok := n.(*Scan); ok {
			tables = true
			columns = columns || s.Access == AccessColumns || s.Access == AccessHybrid
		}
		return true
	}
	p.walk(visit)
	return tables, columns
}
