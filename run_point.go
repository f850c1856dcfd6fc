package weft

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// pointRows is a result of one row, in one piece.
type pointRows struct {
	Rows
	batch vector.Batch
	list  [1]*vector.Batch
}

// readPoint runs a plan that looks one row up: no operators, no goroutine. It ends the reading.
func (r *running) readPoint(plan *cachedPlan, in *reading, env *expr.Env) (*Rows, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, contextError(r.ctx, err)
	}
	point := plan.Point
	one := &pointRows{Rows: Rows{ctx: r.ctx, columns: plan.columns, env: env, tagPrefix: "SELECT", done: true}}
	rows := &one.Rows
	var few [4]vector.Datum
	key := few[:0]
	for _, e := range point.Key {
		var d vector.Datum
		switch e := e.(type) {
		case *expr.Const:
			d = e.Value
		case *expr.Param:
			var err error
			if d, err = env.Param(e.Index); err != nil {
				return nil, err
			}
		}
		if d.Null {
			in.abandon()
			return rows, nil
		}
		key = append(key, d)
	}
	_, found, err := in.view.LookupRow(point.Scan.Table, point.Scan.Table.PrimaryKey(), key, point.Cols, &one.batch)
	if err != nil {
		return nil, err
	}
	if found {
		one.list[0] = &one.batch
		rows.kept = one.list[:]
	}
	if in.implicit != nil {
		if err := in.implicit.Commit(r.ctx); err != nil {
			return nil, err
		}
	}
	in.abandon()
	return rows, nil
}
