package weft

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// readPoint runs a plan that looks one row up: no operators, no goroutine. It ends the reading.
func (r *running) readPoint(plan *planner.Plan, in *reading, env *expr.Env) (*Rows, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, contextError(r.ctx, err)
	}
	point := plan.Point
	rows := &Rows{ctx: r.ctx, columns: resultColumns(plan), env: env, tagPrefix: "SELECT", done: true}
	key := make([]vector.Datum, len(point.Key))
	for i, e := range point.Key {
		switch e := e.(type) {
		case *expr.Const:
			key[i] = e.Value
		case *expr.Param:
			var err error
			if key[i], err = env.Param(e.Index); err != nil {
				return nil, err
			}
		}
		if key[i].Null {
			in.abandon()
			return rows, nil
		}
	}
	b := &vector.Batch{}
	_, found, err := in.view.LookupRow(point.Scan.Table, point.Scan.Table.PrimaryKey(), key, point.Cols, b)
	if err != nil {
		return nil, err
	}
	if found {
		rows.kept = []*vector.Batch{b}
	}
	if in.implicit != nil {
		if err := in.implicit.Commit(r.ctx); err != nil {
			return nil, err
		}
	}
	in.abandon()
	return rows, nil
}
