package planner

import "time"

// Phases are what planning a statement took its time for, and how joins were ordered; for EXPLAIN.
type Phases struct {
	Bind      time.Duration // names and types
	Rules     time.Duration // all that are not named here
	JoinOrder time.Duration
	Access    time.Duration // how joins are carried out, and tables read
	// Search is how the largest set of relations was ordered, "" where there was none to order, and Pairs
	// how many pairs of subsets were looked at in all.
	Search string
	Pairs  int64
	// Allocations counts objects allocated meanwhile, others' too, where somebody has looked.
	Allocations int64

	largest int
}

// accessRules are the rules that Phases.Access is of.
var accessRules = map[string]bool{"choose_join": true, "choose_access": true, "merge_join": true}

// ordered notes that some relations have been ordered. Without EXPLAIN p is nil, and nothing happens.
func (p *Phases) ordered(relations int, search string, pairs int64) {
	if p == nil {
		return
	}
	if p.Pairs += pairs; relations > p.largest {
		p.largest, p.Search = relations, search
	}
}

// end notes the whole time since planning began; names and types were bound at a time in between.
func (p *Phases) end(began, bound time.Time) {
	if p == nil {
		return
	}
	p.Bind = bound.Sub(began)
	p.Rules = time.Since(bound) - p.JoinOrder - p.Access
}

// apply runs a rule.
func (p *Phases) apply(r *rule, b *binder, n Node) Node {
	if p == nil {
		return r.apply(b, n)
	}
	began := time.Now()
	n = r.apply(b, n)
	switch took := time.Since(began); {
	case r.name == "order_joins":
		p.JoinOrder += took
	case accessRules[r.name]:
		p.Access += took
	}
	return n
}

// fact says it; times in text are in milliseconds.
func (p *Phases) fact() Fact {
	parts := Parts{{"total", p.Bind + p.Rules + p.JoinOrder + p.Access, "%s"}, {"bind", p.Bind, " (bind %s"}, {"rules", p.Rules, ", rules %s"}, {"join_order", p.JoinOrder, ", join order %s"}}
	if p.Search != "" {
		parts = append(parts, Part{"search", p.Search, " [%s"}, Part{"pairs", p.Pairs, ", pairs %s]"})
	}
	return Fact{Key: "Planning", Value: append(parts, Part{"access", p.Access, ", access %s"}, Part{"allocations", p.Allocations, ", %s allocs)"})}
}
