package planner

import (
	"testing"

	"github.com/weftdb/weft/sql"
)

// TestInlineChains plans queries of WITH that read each other once: none may stay a CTE, and each
// that is read twice is planned once.
func TestInlineChains(t *testing.T) {
	in := tpchInput(t)
	for query, want := range map[string]int{
		"with a as (select n_nationkey k from nation), b as (select k from a) select * from b":                                               0,
		"with a as (select n_nationkey k from nation), b as (select k from a), c as (select k from b) select * from c":                       0,
		"with a as (select n_nationkey k from nation), b as (select k from a) select * from b x, b y where x.k = y.k":                        1,
		"with a as (select n_nationkey k from nation), b as (select x.k from a x, a y), c as (select k from b) select * from c":              1,
		"with a as materialized (select n_nationkey k from nation), b as (select k from a) select * from b":                                  1,
		"with a as (select n_nationkey k from nation), unread as (select 1), b as not materialized (select k from a) select * from b x, b y": 0,
	} {
		stmt, err := sql.ParseOne(query)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := Build(stmt, in)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		checkPlan(t, plan)
		if len(plan.CTEs) != want {
			t.Errorf("%s: %d CTEs are left, want %d", query, len(plan.CTEs), want)
		}
		known := map[*CTE]bool{}
		for _, c := range plan.CTEs {
			known[c] = true
		}
		walkNodes(plan.Root, func(n Node) bool {
			if scan, ok := n.(*CTEScan); ok && !known[scan.CTE] {
				t.Errorf("%s: the plan reads a CTE that is not part of it", query)
			}
			return true
		})
	}
}
