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
	table  *catalog.Table
	parts  *placement // nil: the table is not partitioned
	checks *rowChecks // of a table that is not
	whole  [1]PlacedRows
}

// PlacedRows are rows of a table with stores, in the order of its columns.
type PlacedRows struct {
	Table *catalog.Table
	Rows  *vector.Batch
}

// NewPlacement prepares for rows of a table.
func NewPlacement(t *catalog.Table, into planner.Target, env *expr.Env) (*Placement, error) {
	p := &Placement{table: t}
	if into.Parts != nil {
		parts := newPlacement(into.Parts, env)
		p.parts = &parts
		return p, nil
	}
	cols, checks, err := planner.LeafChecks(t)
	if err != nil {
		return nil, err
	}
	if p.checks, err = newRowChecks(t, checks, cols, env); err != nil {
		return nil, err
	}
	p.checks.bound = newBoundCheck(into.Bound, t, env)
	return p, nil
}

// Place returns where rows are to be stored, or the error of the first that may not be. The result is valid
// until the next call.
func (p *Placement) Place(rows *vector.Batch) ([]PlacedRows, error) {
	if p.parts == nil {
		if err := p.checks.check(rows); err != nil {
			return nil, err
		}
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
