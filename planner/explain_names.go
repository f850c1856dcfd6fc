package planner

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/weftdb/weft/expr"
)

// nameColumns prepares how relations and columns print: a relation by its alias, with a number behind it where
// the statement uses that again elsewhere; columns bare in a plan of one relation, else with their relation;
// computed columns as what they compute.
func (e *explainer) nameColumns() {
	e.values = map[expr.ColID]expr.Expr{}
	var relations []Node
	visit := func(n Node) bool {
		switch n := n.(type) {
		case *Scan, *CTEScan, *FuncScan:
			relations = append(relations, n)
		case *Project:
			for _, it := range n.Items {
				e.values[it.Col.ID] = it.Expr
			}
		case *Aggregate:
			for _, g := range n.Groups {
				e.values[g.Col.ID] = g.Expr
			}
			for _, a := range n.Aggs {
				e.values[a.Col.ID] = &aggregateRef{call: a.Call}
			}
		case *Apply:
			for _, p := range n.Params {
				e.outer[p.Index] = p.Col
			}
		}
		return true
	}
	e.plan.walk(visit)
	for _, ip := range e.plan.InitPlans {
		e.param[ip.Param] = fmt.Sprintf("$%d", len(e.param))
	}
	e.nameRelations(relations)
	fetches := 0
	e.plan.walk(func(n Node) bool {
		if fetch, ok := n.(*LateFetch); ok {
			fetches++
			e.names[n] = e.fetchedFrom(fetch, relations)
			for i := range fetch.Columns {
				e.alias[fetch.Columns[i].Col.ID] = e.names[n]
			}
		}
		return true
	})
	if len(relations)+fetches < 2 {
		clear(e.alias)
	}
}

// nameRelations names relations in the order in which the statement does, which columns are numbered by.
func (e *explainer) nameRelations(relations []Node) {
	place := func(n Node) expr.ColID {
		first := expr.ColID(math.MaxInt32)
		for _, c := range n.Cols() {
			first = min(first, c.ID)
		}
		return first
	}
	slices.SortStableFunc(relations, func(a, b Node) int { return cmp.Compare(place(a), place(b)) })
	taken := map[string]bool{}
	for _, n := range relations {
		alias := aliasOf(n)
		name := alias
		for i := 1; taken[name]; i++ {
			name = fmt.Sprintf("%s_%d", alias, i)
		}
		taken[name], e.names[n] = true, name
		for _, c := range n.Cols() {
			e.alias[c.ID] = name
		}
	}
}

// fetchedFrom returns the name of the scan that a late fetch adds columns to.
func (e *explainer) fetchedFrom(n *LateFetch, relations []Node) string {
	for _, r := range relations {
		if scan, ok := r.(*Scan); ok && scan.RowRef != nil && e.fetches(n, scan) {
			return e.names[r]
		}
	}
	return n.Alias
}

// fetches reports whether the references that a late fetch reads are a scan's.
func (e *explainer) fetches(n *LateFetch, scan *Scan) bool {
	ref, ok := n.Ref, true
	for range printDepth {
		if ref.ID == scan.RowRef.ID {
			return true
		}
		if ref, ok = e.values[ref.ID].(*expr.Col); !ok {
			return false
		}
	}
	return false
}

// aliasOf is what the statement calls a relation.
func aliasOf(n Node) string {
	switch n := n.(type) {
	case *Scan:
		return n.Alias
	case *CTEScan:
		return n.Alias
	case *FuncScan:
		return n.Alias
	}
	return ""
}

// relationsOf names the relations below a node.
func (e *explainer) relationsOf(n Node) (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	walkNodes(n, func(n Node) bool {
		switch n.(type) {
		case *Scan, *CTEScan, *FuncScan:
			add(e.names[n])
		case *Values:
			add("*VALUES*")
		}
		return true
	})
	return names
}

// scanName is the name of a scan that something is selected for, by its number.
func (e *explainer) scanName(number int, below Node) (name string) {
	walkNodes(below, func(n Node) bool {
		if scan, ok := n.(*Scan); ok && scan.Number == number {
			name = e.names[n]
		}
		return name == ""
	})
	return name
}
