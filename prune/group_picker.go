package prune

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// groupPicker finds the leaves of many rows at a time, as rows that are inserted find theirs, from level to level:
// where all keys of a level are compared for equality with values that their types represent in the same way.
// Below a level that no condition is about every partition is looked into.
type groupPicker struct {
	top    *levelPicker
	params []int // places among the join's parameters of those that keys are equal to
	live   vector.Sel
}

// levelPicker is a level at work.
type levelPicker struct {
	level   *Level
	params  []int // by key; nil: no condition is about them
	at      *levelRouter
	kids    []*levelPicker // by partition, nil = a leaf
	parts   []vector.Sel   // rows by partition, where that is divided again
	lookups int            // that a row takes at most, with those below
}

// maxLookups is how often a row is looked up at most. More levels that nothing is known of leave it to the bound
// on rows that are looked up one by one.
const maxLookups = 32

// groupPicker returns a picker by whole keys, nil where conditions are of another kind.
func (j *Join) groupPicker() *groupPicker {
	p := &groupPicker{}
	if p.top = p.levelPicker(j, j.Desc.top); p.top == nil || p.top.lookups == 0 || p.top.lookups > maxLookups {
		return nil
	}
	slices.Sort(p.params)
	p.params = slices.Compact(p.params)
	return p
}

func (p *groupPicker) levelPicker(j *Join, l *Level) *levelPicker {
	lp := &levelPicker{level: l, kids: make([]*levelPicker, len(l.kids)), parts: make([]vector.Sel, len(l.kids))}
	about := false
	for i := range l.keys {
		k := &l.keys[i]
		about = about || j.about(k.expr)
		if k.pos < 0 {
			continue
		}
		if at := j.equated(j.Column(k.pos), func(other catalog.Type) bool { return SameDivision(k.typ, other) }); at >= 0 {
			lp.params = append(lp.params, at)
		}
	}
	switch {
	case len(lp.params) == len(l.keys):
		lp.at = &levelRouter{vecs: make([]*vector.Vector, len(l.keys)), flat: make([]vector.Vector, len(l.keys))}
		p.params = append(p.params, lp.params...)
	case about:
		return nil
	default:
		lp.params = nil
	}
	below := 0
	for i := range l.kids {
		if l.kids[i].level == nil {
			continue
		}
		kid := p.levelPicker(j, l.kids[i].level)
		if lp.kids[i] = kid; kid == nil {
			return nil
		}
		if lp.params == nil {
			below += kid.lookups
		} else {
			below = max(below, kid.lookups)
		}
	}
	if lp.lookups = below; lp.params != nil {
		lp.lookups++
	}
	return lp
}

// about reports whether the values of the other side say anything of a key.
func (j *Join) about(key expr.Expr) bool {
	var columns []expr.Expr
	used := expr.Columns(key)
	for pos, c := range j.Desc.Cols {
		if _, reads := used[c.ID]; !reads {
			continue
		}
		if e := j.Column(pos); e != nil {
			columns = append(columns, e)
		}
	}
	for _, cond := range j.Conds {
		ofKey, ofOther := false, false
		expr.Walk(cond, func(e expr.Expr) bool {
			param, isParam := e.(*expr.Param)
			ofOther = ofOther || isParam && slices.Contains(j.Params, param.Index)
			ofKey = ofKey || slices.ContainsFunc(columns, func(column expr.Expr) bool { return expr.Equal(column, e) })
			return true
		})
		if ofKey && ofOther {
			return true
		}
	}
	return false
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
	if len(g.live) > 0 {
		p.pick(g.top, values, n, g.live, false)
	}
}

// pick looks at rows whose leaves are below a level; byDefault tells that a default partition has led there. It
// returns when nothing is left to be found.
func (p *Picker) pick(l *levelPicker, values []*vector.Vector, n int, rows vector.Sel, byDefault bool) {
	if l.params == nil {
		for i, below := range l.kids {
			if below == nil {
				p.found(uint(l.level.kids[i].lo))
			} else if p.missing(&l.level.kids[i]) {
				p.pick(below, values, n, rows, byDefault)
			}
			if p.left == 0 {
				return
			}
		}
		return
	}
	for i, at := range l.params {
		l.at.vecs[i] = values[at]
	}
	l.at.locate(l.level, len(rows), rows, n)
	p.Routed += int64(len(rows))
	for i := range l.parts {
		l.parts[i] = l.parts[i][:0]
	}
	for _, row := range rows {
		kid := int(l.at.kids[row])
		if kid < 0 {
			continue
		}
		if p.CountDefaults && kid == l.level.defaultKid && !byDefault {
			p.Defaults++
		}
		if l.kids[kid] != nil {
			l.parts[kid] = append(l.parts[kid], row)
		} else if p.found(uint(l.level.kids[kid].lo)) {
			return
		}
	}
	for i, part := range l.parts {
		if len(part) > 0 && p.missing(&l.level.kids[i]) {
			if p.pick(l.kids[i], values, n, part, byDefault || i == l.level.defaultKid); p.left == 0 {
				return
			}
		}
	}
}

// missing reports whether leaves of interest below a partition are still to be found.
func (p *Picker) missing(k *kid) bool {
	for leaf := uint(k.lo); leaf < uint(k.hi); leaf++ {
		if p.within.Test(leaf) && !p.set.Test(leaf) {
			return true
		}
	}
	return false
}
