package planner

import (
	"slices"

	"github.com/weftdb/weft/expr"
)

// rule is one rewriting step. Rules run once each, in the order of the list: every rule states in
// its file what it needs to have happened before.
type rule struct {
	name string
	// required rules cannot be switched off: what follows relies on their result.
	required bool
	apply    func(b *binder, n Node) Node
}

// rules turns a bound tree into one that can be ordered and costed.
var rules = []rule{
	{name: "unnest", required: true, apply: (*binder).unnest},
	{name: "fold_constants", apply: foldConstants},
	{name: "push_filter", apply: pushFilters},
	{name: "prune_partitions", apply: prunePartitions},
	{name: "order_joins", apply: orderJoins},
	{name: "top_n", apply: topN},
	{name: "prune_columns", required: true, apply: pruneColumns},
	{name: "late_fetch", apply: lateFetch},
	{name: "choose_join", required: true, apply: chooseJoins},
	{name: "choose_access", required: true, apply: chooseAccess},
	{name: "merge_join", apply: mergeJoins},
	{name: "select_partitions", apply: selectPartitions},
	{name: "partitionwise_join", apply: joinPartitionWise},
	{name: "partitionwise_aggregate", apply: aggregatePartitionWise},
}

// RuleNames lists the rules that SET disabled_rules accepts.
func RuleNames() []string {
	var names []string
	for _, r := range rules {
		if !r.required {
			names = append(names, r.name)
		}
	}
	return names
}

// optimize runs the rules over every part of the plan. CTEs come first, because their readers'
// estimates use theirs; rules may add CTEs, which are appended and treated in turn.
func (b *binder) optimize(plan *Plan) (*Plan, error) {
	b.ctes = plan.CTEs
	for i := range plan.InitPlans {
		plan.InitPlans[i].Plan = b.unnest(plan.InitPlans[i].Plan)
	}
	for i := 0; i < len(b.ctes); i++ {
		b.ctes[i].Plan = b.unnest(b.ctes[i].Plan)
	}
	plan.Root = b.unnest(plan.Root)
	b.inlineCTEs(plan)
	b.shared = true
	for _, c := range b.readBeforeReaders() {
		c.Plan = b.applyRules(c.Plan)
	}
	b.shared = false
	for i := range plan.InitPlans {
		plan.InitPlans[i].Plan = b.applyRules(plan.InitPlans[i].Plan)
	}
	plan.Root = b.applyRules(plan.Root)
	plan.CTEs = b.readBeforeReaders()
	plan.keepUsedInitPlans()
	plan.ParamSlots = b.paramSlots
	return plan, b.failed
}

func (b *binder) applyRules(n Node) Node {
	for _, r := range rules[1:] {
		if r.required || !b.settings.DisabledRules[r.name] {
			n = b.phases.apply(&r, b, n)
		}
	}
	b.failIfNeeded(n)
	b.estimate(n)
	return n
}

// keepUsedInitPlans drops the init plans whose value nothing reads any more: constant folding may
// have removed the branch they stood in. An init plan may read those before it.
func (p *Plan) keepUsedInitPlans() {
	used := map[int]bool{}
	note := func(root Node) {
		walkNodes(root, func(n Node) bool {
			visitExprs(n, func(e expr.Expr) {
				expr.Walk(e, func(e expr.Expr) bool {
					if param, ok := e.(*expr.Param); ok {
						used[param.Index] = true
					}
					return true
				})
			})
			return true
		})
	}
	note(p.Root)
	for _, c := range p.CTEs {
		note(c.Plan)
	}
	var kept []InitPlan
	for _, ip := range slices.Backward(p.InitPlans) {
		if used[ip.Param] {
			note(ip.Plan)
			kept = append(kept, ip)
		}
	}
	slices.Reverse(kept)
	p.InitPlans = kept
}
