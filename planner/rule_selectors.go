package planner

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/prune"
)

// PartSelector stands above the build side of a join: it finds, from the build's rows, the leaves or the data
// nodes that a scan on the probe side has to read.
type PartSelector struct {
	ID int // unique in the plan
	// Scan is the number of the scan, of a table that the statement calls Table.
	Scan  int
	Table string
	Nodes bool // it selects data nodes
	Join  *prune.Join
	// Values are the join's parameters as expressions over the build's columns.
	Values []expr.Expr
	// Routes are, for EXPLAIN, the values that each level of partitions is selected by.
	Routes [][]expr.Expr
}

// SelectorFact begins the keys of what EXPLAIN ANALYZE says of a selector. These are facts of the join's node, and
// printed with the selector without its name.
func SelectorFact(id int) string { return psName(id) + " " }

const selectorFact = "Selector"

func psName(id int) string { return fmt.Sprintf("PS%d", id) }

// The reasons for which a scan below a join reads all partitions that are left after planning, as EXPLAIN
// says them.
const (
	whyPreserved  = "probe preserved"
	whyNullAware  = "null-aware join"
	whyNoKey      = "no key in condition"
	whyOperator   = "operator"     // that says nothing of a key's place
	whyCast       = "inexact cast" // of a key, so that several of its values may be equal to one
	whyVolatile   = "volatile"
	whyLimit      = "limit below join"
	whyExtended   = "null-extended"
	whyAggregated = "aggregated below join"
	whyShared     = "shared subplan"
	whyMerged     = "merge join"
	whyBuild      = "build side"
	whyDisabled   = "disabled"
)

// selectPartitions lets the build sides of joins select the partitions and data nodes that are read on their probe
// sides (dynamic partition elimination; Antova et al., SIGMOD 2014). Dropping a row of the probe side is right
// where a row without a match does not show: the kind yields no such row, and nothing between the scan
// and the join counts, limits, or tests rows for being there.
// Needs: choose_join, choose_access.
func selectPartitions(b *binder, n Node) Node {
	divided := false
	walkNodes(n, func(n Node) bool {
		scan, ok := n.(*Scan)
		divided = divided || ok && (scan.Parts != nil || scan.Nodes != nil)
		return !divided
	})
	if !divided {
		return n
	}
	n = transformNodes(n, func(n Node) Node {
		join, ok := n.(*Join)
		if !ok {
			return n
		}
		c := *join
		s := &selecting{b: b, join: &c, outer: setOf(c.Right.Cols())}
		c.Left = s.below(c.Left, s.conditions(), s.forbidden())
		s.cover()
		c.Right = withoutSelectors(c.Right, buildReason(&c))
		return &c
	})
	if b.shared {
		return withoutSelectors(n, whyShared)
	}
	return n
}

// buildReason tells why a join's right side has no selectors.
func buildReason(n *Join) string {
	if n.Merge != nil {
		return whyMerged
	}
	return whyBuild // it is read first
}

// withoutSelectors tells of the scans below a node why they have no selectors, unless a join further up gives
// them some.
func withoutSelectors(n Node, why string) Node {
	return transformNodes(n, func(n Node) Node {
		scan, ok := n.(*Scan)
		if !ok || scan.Parts == nil || scan.Parts.Only || scan.Parts.WhyAll != "" || len(scan.Parts.Selectors) > 0 {
			return n
		}
		c, parts := *scan, *scan.Parts
		c.Parts, parts.WhyAll = &parts, why
		return &c
	})
}

// selecting is a join that looks for scans on its probe side.
type selecting struct {
	b     *binder
	join  *Join
	outer colSet // the build's columns
}

// forbidden tells why the join's kind selects nothing; "" when it does.
func (s *selecting) forbidden() string {
	if s.join.Merge != nil {
		return whyMerged // both sides are read at a time
	}
	switch s.join.Kind {
	case InnerJoin, SemiJoin, RightJoin, RightSemiJoin, RightAntiJoin:
		if !s.b.settings.EnablePruning {
			return whyDisabled
		}
		return ""
	case NullAwareAntiJoin:
		return whyNullAware
	}
	return fmt.Sprintf("%s by %s join", whyPreserved, strings.ToLower(strings.TrimSpace(s.join.Kind.String())))
}

// cover lets an anti join leave out leaves by list of which it would keep no row: every value that they
// list is a key of its build. That needs no condition besides, and tells nothing of NULLs.
func (s *selecting) cover() {
	n := s.join
	if n.Merge != nil || n.Kind != AntiJoin || len(n.Keys) != 1 || len(n.Residual)+len(n.On) > 0 || !s.b.settings.EnablePruning {
		return
	}
	scan := PartitionedInput(n.Left)
	if scan == nil || !scan.Parts.Desc.Listed() {
		return
	}
	columns, types := scan.Parts.Desc.DividedBy()
	key := n.Keys[0]
	if len(columns) != 1 || expr.VolatilityOf(key.Right) == expr.Volatile || !prune.SameDivision(types[0], key.Right.Type()) {
		return
	}
	if c, ok := traced(n.Left, key.Left).(*expr.Col); ok && expr.Equal(c, scan.columnAt(columns[0])) {
		n.Covers = true
		scan.Parts.Covered, scan.Parts.WhyAll = true, "" // both are this rule's copies
	}
}

// conditions are what is true for every pair of rows that match.
func (s *selecting) conditions() []expr.Expr {
	var conds []expr.Expr
	for _, k := range s.join.Keys {
		if k.NullSafe {
			conds = append(conds, &expr.IsDistinct{Left: k.Left, Right: k.Right, Negated: true})
		} else {
			conds = append(conds, mustResolve(expr.ResolveBinary("=", k.Left, k.Right, 0)))
		}
	}
	return append(append(conds, s.join.Residual...), s.join.On...)
}

// below finds the scans below a node that conds, over the node's columns and the build's, speak of. why
// tells that they may not select, and why.
func (s *selecting) below(n Node, conds []expr.Expr, why string) Node {
	switch n := n.(type) {
	case *Scan:
		return s.scan(n, conds, why)
	case *Filter:
		return n.With([]Node{s.below(n.Input, conds, why)})
	case *Project:
		return n.With([]Node{s.below(n.Input, substituted(conds, n.Items), why)})
	case *Sort:
		if n.Limit != nil || n.Offset != nil {
			why = first(why, whyLimit)
		}
		return n.With([]Node{s.below(n.Input, conds, why)})
	case *Limit:
		return n.With([]Node{s.below(n.Input, conds, first(why, whyLimit))})
	case *Aggregate:
		// Rows that agree with no build row in their group's key make groups that do not either.
		return n.With([]Node{s.below(n.Input, substituted(only(conds, setOf(itemCols(n.Groups)), s.outer), n.Groups), first(why, aggregateReason(n)))})
	case *Append:
		kids := make([]Node, len(n.Inputs))
		for i, input := range n.Inputs {
			items := make([]Item, len(n.Out))
			for k, c := range input.Cols() {
				items[k] = Item{Col: n.Out[k], Expr: c}
			}
			kids[i] = s.below(input, substituted(conds, items), why)
		}
		return n.With(kids)
	case *Join:
		left, right := joinReasons(n.Kind)
		return n.With([]Node{
			s.below(n.Left, only(conds, setOf(n.Left.Cols()), s.outer), first(why, left)),
			s.below(n.Right, only(conds, setOf(n.Right.Cols()), s.outer), first(why, right)),
		})
	case *Apply:
		kids := n.Kids()
		out := append([]Node(nil), kids...)
		left, _ := joinReasons(n.Kind)
		out[0] = s.below(n.Outer, only(conds, setOf(n.Outer.Cols()), s.outer), first(why, left))
		return n.With(out)
	}
	return n
}

func first(why, other string) string {
	if why != "" {
		return why
	}
	return other
}

func aggregateReason(n *Aggregate) string {
	if len(n.Groups) == 0 {
		return whyAggregated
	}
	return ""
}

// joinReasons tells what forbids to drop rows of a join's sides by what is known of its result.
func joinReasons(kind JoinKind) (left, right string) {
	switch kind {
	case InnerJoin:
	case RightJoin, RightSemiJoin, RightAntiJoin:
		left = whyExtended
	case FullJoin:
		return whyExtended, whyExtended
	default:
		right = whyExtended
	}
	return left, right
}

// only keeps the conditions that read nothing but some columns and the build's.
func only(conds []expr.Expr, cols, outer colSet) (out []expr.Expr) {
	for _, c := range conds {
		within := true
		for id := range expr.Columns(c) {
			within = within && (cols[id] || outer[id])
		}
		if within {
			out = append(out, c)
		}
	}
	return out
}

// substituted replaces columns by what they are computed from. Conditions on what is volatile are
// dropped: it has other values each time.
func substituted(conds []expr.Expr, items []Item) (out []expr.Expr) {
	with := map[expr.ColID]expr.Expr{}
	for _, it := range items {
		with[it.Col.ID] = it.Expr
	}
	for _, cond := range conds {
		volatile := false
		cond = expr.Transform(cond, func(e expr.Expr) expr.Expr {
			if c, ok := e.(*expr.Col); ok && with[c.ID] != nil {
				volatile = volatile || expr.VolatilityOf(with[c.ID]) == expr.Volatile
				return with[c.ID]
			}
			return e
		})
		if !volatile {
			out = append(out, cond)
		}
	}
	return out
}

// scan makes selectors for a scan: of the leaves of a partitioned table, and of data nodes.
func (s *selecting) scan(n *Scan, conds []expr.Expr, why string) Node {
	if n.Parts == nil && n.Nodes == nil {
		return n
	}
	c := *n
	if n.Parts != nil && !n.Parts.Only {
		s.number(&c)
		c.Parts = s.selected(&c, n.Parts, conds, why)
	}
	if n.Nodes != nil && n.readsGroups() && n.Nodes.Selected.Count() > 1 {
		c.Nodes = s.selected(&c, n.Nodes, conds, why)
	}
	return &c
}

func (s *selecting) number(n *Scan) {
	if n.Number == 0 {
		s.b.numbered++
		n.Number = s.b.numbered
	}
}

// selected adds a selector to what a scan reads, or the reason why there is none.
func (s *selecting) selected(n *Scan, p *PartScan, conds []expr.Expr, why string) *PartScan {
	out := *p
	ps, reason := s.selector(n, p, conds)
	if why = first(why, reason); why != "" {
		if out.WhyAll == "" || out.WhyAll == whyBuild {
			out.WhyAll = why
		}
		return &out
	}
	s.number(n)
	s.b.selectors++
	ps.ID, ps.Scan, ps.Table, ps.Nodes = s.b.selectors, n.Number, n.Alias, p == n.Nodes
	out.Selectors = append(p.Selectors[:len(p.Selectors):len(p.Selectors)], ps)
	s.join.Selectors = append(s.join.Selectors[:len(s.join.Selectors):len(s.join.Selectors)], ps)
	return &out
}

// Rows that can be looked up only one by one are, up to leastRouted of them and one for rowsPerRouted rows that
// the scan may read in vain: more would cost more than they might spare.
const (
	leastRouted   = 1024
	rowsPerRouted = 200
)

// selector makes a selector from the conditions that connect the scan with the build, or tells why there
// is none.
func (s *selecting) selector(n *Scan, p *PartScan, conds []expr.Expr) (*PartSelector, string) {
	ps, volatile := &PartSelector{Join: &prune.Join{Desc: p.Desc, Column: n.columnAt}}, false
	cols := setOf(n.Cols())
	for _, cond := range only(conds, cols, s.outer) {
		if !n.readsKey(p, cond) {
			continue // it tells nothing of leaves, and its values would only be computed
		}
		replaced, ok := s.parameters(ps, cond)
		volatile = volatile || !ok
		if ok {
			ps.Join.Conds = append(ps.Join.Conds, replaced)
		}
	}
	known := &prune.Knowledge{}
	ps.Join.Desc.Select(ps.Join.Conds, n.columnAt, known)
	switch {
	case !known.Waiting && volatile:
		return nil, whyVolatile
	case !known.Waiting:
		return nil, keyReason(n, p, only(conds, cols, s.outer))
	}
	ps.Join.Conds = append(ps.Join.Conds, n.Filter...)
	if why := s.unlikely(n, p, ps.Values); why != "" {
		return nil, why
	}
	ps.Routes = s.routes(n, ps)
	ps.Join.MaxRouted = max(leastRouted, int64(s.b.estimate(n).rows/rowsPerRouted))
	return ps, ""
}

// readsKey reports whether an expression reads what leaves are told apart by.
func (n *Scan) readsKey(p *PartScan, e expr.Expr) bool {
	used := expr.Columns(e)
	return n.anyKey(p, func(column *expr.Col) bool { return used.Has(column.ID) })
}

// anyKey reports whether something is true of a column that leaves are told apart by.
func (n *Scan) anyKey(p *PartScan, is func(*expr.Col) bool) bool {
	return slices.ContainsFunc(p.Desc.KeyColumns(), func(level []int) bool {
		return slices.ContainsFunc(level, func(pos int) bool {
			column, ok := n.columnAt(pos).(*expr.Col)
			return ok && is(column)
		})
	})
}

// keyReason tells why none of the conditions selects.
func keyReason(n *Scan, p *PartScan, conds []expr.Expr) string {
	isKey := func(e expr.Expr) bool {
		return n.anyKey(p, func(column *expr.Col) bool { return expr.Equal(e, column) })
	}
	why := whyNoKey
	for _, cond := range conds {
		for _, kid := range expr.Children(cond) {
			if cast, ok := kid.(*expr.Cast); ok && isKey(cast.Arg) {
				return whyCast
			}
			if isKey(kid) && len(expr.Columns(cond)) > 1 {
				why = whyOperator
			}
		}
	}
	return why
}

// parameters replaces what a condition reads of the build; false where that is volatile.
func (s *selecting) parameters(ps *PartSelector, cond expr.Expr) (expr.Expr, bool) {
	ok := true
	var replace func(e expr.Expr) expr.Expr
	replace = func(e expr.Expr) expr.Expr {
		used := expr.Columns(e)
		ofBuild := len(used) > 0
		for id := range used {
			ofBuild = ofBuild && s.outer[id]
		}
		if ofBuild {
			if expr.VolatilityOf(e) == expr.Volatile {
				ok = false
				return e
			}
			for i, v := range ps.Values {
				if expr.Equal(v, e) {
					return &expr.Param{Index: ps.Join.Params[i], Typ: e.Type()}
				}
			}
			s.b.paramSlots++
			ps.Values, ps.Join.Params, ps.Join.Types = append(ps.Values, e), append(ps.Join.Params, s.b.paramSlots), append(ps.Join.Types, e.Type())
			return &expr.Param{Index: s.b.paramSlots, Typ: e.Type()}
		}
		if len(used) == 0 {
			return e
		}
		kids := expr.Children(e)
		out := make([]expr.Expr, len(kids))
		for i, kid := range kids {
			out[i] = replace(kid)
		}
		return expr.WithChildren(e, out)
	}
	out := replace(cond)
	return out, ok
}

// What it costs to look a build row up: nearly all are answered by the one before, or by a table of those
// before. Once every leaf is found no row is looked up any more; if the rows come from all of them at
// random, that is so after about n ln n.
const (
	routeCost     = 0.01
	routesPerLeaf = 4.0
)

// selectorShare is the share of a scan's cost that a selector may cost if it is not expected to leave out
// anything. Estimates take keys for spread at random, and those of a build are often of a few leaves.
const selectorShare = 0.02

// unlikely tells that selecting would cost more than it might spare: that most leaves will be hit. Keys are spread
// at random over data nodes, so what counts there is how many different ones are expected.
func (s *selecting) unlikely(n *Scan, p *PartScan, by []expr.Expr) string {
	leaves := float64(p.Selected.Count())
	if leaves < 1 {
		return ""
	}
	build := s.b.estimate(s.join.Right)
	rows := math.Max(build.rows, 1)
	if p == n.Nodes {
		keys := 1.0
		for _, value := range by {
			keys *= math.Max(build.exprFacts(value).distinct, 1)
		}
		rows = math.Min(rows, keys)
	}
	hit := leaves * (1 - math.Pow(1-1/leaves, rows))
	_, total := s.b.scanCost(n, n.Access)
	looked := math.Min(rows, routesPerLeaf*leaves*(1+math.Log(leaves)))
	if hit > 0.99*leaves && (p == n.Nodes || looked*routeCost > float64(total)*selectorShare) {
		return fmt.Sprintf("cost (expected %.0f of %.0f)", hit, leaves)
	}
	return ""
}

// routes finds the values that the levels of partitions are selected by.
func (s *selecting) routes(n *Scan, ps *PartSelector) (out [][]expr.Expr) {
	for _, columns := range ps.Join.Desc.KeyColumns() {
		var by []expr.Expr
		for i, param := range ps.Join.Params {
			selects := slices.ContainsFunc(ps.Join.Conds, func(cond expr.Expr) bool {
				return readsParam(cond, param) && slices.ContainsFunc(columns, func(pos int) bool {
					column := n.columnAt(pos)
					return column != nil && reads(cond, column)
				})
			})
			if selects {
				by = append(by, ps.Values[i])
			}
		}
		out = append(out, by)
	}
	return out
}

func reads(e, column expr.Expr) bool {
	return expr.Contains(e, func(e expr.Expr) bool { return expr.Equal(e, column) })
}

func readsParam(e expr.Expr, index int) bool {
	return expr.Contains(e, func(e expr.Expr) bool {
		p, ok := e.(*expr.Param)
		return ok && p.Index == index
	})
}
