package prune

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// groupPicker finds the leaves of many rows at a time, as rows that are inserted find theirs: where every
// key is compared for equality with a value that its type represents in the same way, and the direct
// partitions are leaves.
type groupPicker struct {
	grouper *Grouper
	params  []int // by key, its place among the join's parameters
	live    vector.Sel
}

// groupPicker returns a picker by whole keys, nil where conditions are of another kind.
func (j *Join) groupPicker() *groupPicker {
	l := j.Desc.top
	for i := range l.kids {
		if l.kids[i].level != nil {
			return nil
		}
	}
	p := &groupPicker{}
	for i := range l.keys {
		k := &l.keys[i]
		if k.pos < 0 {
			return nil
		}
		at := j.equated(j.Column(k.pos), func(other catalog.Type) bool { return SameDivision(k.typ, other) })
		if at < 0 {
			return nil
		}
		p.params = append(p.params, at)
	}
	p.grouper = j.Desc.NewGrouper(p.params)
	return p
}

// equated returns the place among the parameters of one, of a type that will do, that a key must be equal to;
// −1 if there is none.
func (j *Join) equated(key expr.Expr, fits func(catalog.Type) bool) int {
	if key == nil {
		return -1
	}
	for _, cond := range j.Conds {
		e, ok := cond.(*expr.Call)
		if !ok || !e.Fn.Operator || e.Fn.Name != "=" {
			continue
		}
		for i := range e.Args {
			param, isParam := withoutCasts(e.Args[1-i]).(*expr.Param)
			if !isParam || !expr.Equal(withoutCasts(e.Args[i]), key) {
				continue
			}
			for at, number := range j.Params {
				if number == param.Index && fits(j.Types[at]) {
					return at
				}
			}
		}
	}
	return -1
}

// addGroups looks at rows: those with a NULL in a key match nothing.
func (p *Picker) addGroups(values []*vector.Vector, n int, sel vector.Sel) {
	g := p.groups
	g.live = g.live[:0]
	each := func(row int) {
		for _, at := range g.params {
			if values[at].IsNull(row) {
				p.Nulls++
				return
			}
		}
		g.live = append(g.live, uint16(row))
	}
	if sel == nil {
		for row := range n {
			each(row)
		}
	} else {
		for _, row := range sel {
			each(int(row))
		}
	}
	kids := g.grouper.Kids(values, n, g.live)
	p.Routed += int64(len(g.live))
	if top := p.join.Desc.top; p.CountDefaults && top.defaultKid >= 0 {
		for _, row := range g.live {
			if int(kids[row]) == top.defaultKid {
				p.Defaults++
			}
		}
	}
	for _, row := range g.live {
		if kid := kids[row]; kid >= 0 && p.found(uint(p.join.Desc.top.kids[kid].lo)) {
			return
		}
	}
}
