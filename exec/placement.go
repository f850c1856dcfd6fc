package exec

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// Placement finds the tables that rows are stored in which are written by other means than a plan, and
// checks them as INSERT does where partitions are concerned. It belongs to one goroutine.
type Placement struct {
	table *catalog.Table
	parts *placement // nil: the table is not partitioned
	bound *rowChecks // nil: it is no partition
	whole [1]PlacedRows
}

// PlacedRows are rows of a table with stores, in the order of its columns.
type PlacedRows struct {
	Table *catalog.Table
	Rows  *vector.Batch
}

// NewPlacement prepares for rows of a table.
func NewPlacement(t *catalog.Table, into planner.Target, env *expr.Env) *Placement {
	p := &Placement{table: t}
	if into.Parts != nil {
		parts := newPlacement(into.Parts, env)
		p.parts = &parts
	}
	if into.Bound != nil {
		p.bound = &rowChecks{table: t, env: env, bound: newBoundCheck(into.Bound, t, env)}
	}
	return p
}

// Place returns where rows are to be stored. The result is valid until the next call.
func (p *Placement) Place(rows *vector.Batch) ([]PlacedRows, error) {
	if p.bound != nil {
		at, err := p.bound.bound.first(rows)
		if err != nil {
			return nil, err
		}
		if at >= 0 {
			return nil, p.bound.boundError().WithDetail("Failing row contains (%s).", p.bound.describe(rows, at))
		}
	}
	if p.parts == nil {
		p.whole[0] = PlacedRows{p.table, rows}
		return p.whole[:], nil
	}
	groups, err := p.parts.place(rows)
	if err != nil {
		return nil, err
	}
	placed := make([]PlacedRows, len(groups))
	for i, g := range groups {
		placed[i] = PlacedRows{g.Table, &g.rows}
	}
	return placed, nil
}
