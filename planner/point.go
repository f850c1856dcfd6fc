package planner

import (
	"github.com/weftdb/weft/expr"
)

// PointRead is what a plan comes to that looks one row up by primary key and yields columns of it:
// it can be run without operators.
type PointRead struct {
	Scan *Scan
	Key  []expr.Expr // constants and parameters
	Cols []int       // positions in Scan.Table.Columns, per result column
}

// pointRead recognises a plan that is no more than a PointRead.
func pointRead(p *Plan) *PointRead {
	if len(p.CTEs) > 0 || len(p.InitPlans) > 0 {
		return nil
	}
	root := p.Root
	project, _ := root.(*Project)
	if project != nil {
		root = project.Input
	}
	scan, ok := root.(*Scan)
	if !ok || scan.Access != AccessKey || scan.Parts != nil || scan.Lock != 0 || len(scan.Filter) != len(scan.Key) {
		return nil
	}
	for _, e := range scan.Key {
		switch e.(type) {
		case *expr.Const, *expr.Param:
		default:
			return nil
		}
	}
	at := map[expr.ColID]int{}
	for _, c := range scan.Columns {
		at[c.Col.ID] = c.Pos
	}
	out := &PointRead{Scan: scan, Key: scan.Key}
	if project == nil {
		for _, c := range scan.Columns {
			out.Cols = append(out.Cols, c.Pos)
		}
		return out
	}
	for _, it := range project.Items {
		c, ok := it.Expr.(*expr.Col)
		if !ok || c.Typ.Kind() != it.Col.Typ.Kind() {
			return nil
		}
		pos, ok := at[c.ID]
		if !ok {
			return nil
		}
		out.Cols = append(out.Cols, pos)
	}
	return out
}
