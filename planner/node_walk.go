package planner

import (
	"github.com/weftdb/weft/expr"
)

// walkNodes calls visit for n and, where visit returns true, for its inputs.
func walkNodes(n Node, visit func(Node) bool) {
	if !visit(n) {
		return
	}
	for _, kid := range n.Kids() {
		walkNodes(kid, visit)
	}
}

// transformNodes rebuilds a tree bottom-up; unchanged subtrees are shared.
func transformNodes(n Node, change func(Node) Node) Node {
	kids := n.Kids()
	var changed []Node
	for i, kid := range kids {
		next := transformNodes(kid, change)
		if next != kid && changed == nil {
			changed = append([]Node(nil), kids...)
		}
		if changed != nil {
			changed[i] = next
		}
	}
	if changed != nil {
		n = n.With(changed)
	}
	return change(n)
}

// visitExprs calls visit for each expression that n itself evaluates.
func visitExprs(n Node, visit func(expr.Expr)) {
	mapExprs(n, func(e expr.Expr) expr.Expr { visit(e); return e })
}

// mapExprs returns n with each expression that it evaluates replaced by change's result. Nodes
// whose expressions do not change are returned as they are.
func mapExprs(n Node, change func(expr.Expr) expr.Expr) Node {
	m := &exprMapper{change: change}
	switch n := n.(type) {
	case *Project:
		if items := m.items(n.Items); m.changed {
			c := *n
			c.Items = items
			return &c
		}
	case *Filter:
		if conds := m.list(n.Conds); m.changed {
			c := *n
			c.Conds = conds
			return &c
		}
	case *Scan:
		filter, key, index := m.list(n.Filter), m.list(n.Key), m.index(n.Index)
		if m.changed {
			c := *n
			c.Filter, c.Key, c.Index = filter, key, index
			return &c
		}
	case *Join:
		on, keys, residual := m.list(n.On), m.keys(n.Keys), m.list(n.Residual)
		if m.changed {
			c := *n
			c.On, c.Keys, c.Residual = on, keys, residual
			return &c
		}
	case *Apply:
		if on := m.list(n.On); m.changed {
			c := *n
			c.On = on
			return &c
		}
	case *Aggregate:
		groups, aggs := m.items(n.Groups), m.aggs(n.Aggs)
		if m.changed {
			c := *n
			c.Groups, c.Aggs = groups, aggs
			return &c
		}
	case *Sort:
		keys, limit, offset := m.sortKeys(n.Keys), m.one(n.Limit), m.one(n.Offset)
		if m.changed {
			c := *n
			c.Keys, c.Limit, c.Offset = keys, limit, offset
			return &c
		}
	case *Limit:
		count, offset := m.one(n.Count), m.one(n.Offset)
		if m.changed {
			c := *n
			c.Count, c.Offset = count, offset
			return &c
		}
	case *FuncScan:
		if args := m.list(n.Args); m.changed {
			c := *n
			c.Args = args
			return &c
		}
	case *Values:
		rows := make([][]expr.Expr, len(n.Rows))
		for i := range n.Rows {
			rows[i] = m.list(n.Rows[i])
		}
		if m.changed {
			c := *n
			c.Rows = rows
			return &c
		}
	case *LockRows:
		rows := append([]LockedRows(nil), n.Rows...)
		for i := range rows {
			if ref, ok := m.one(rows[i].Ref).(*expr.Col); ok {
				rows[i].Ref = ref
			}
		}
		if m.changed {
			c := *n
			c.Rows = rows
			return &c
		}
	default:
		return mapWriteExprs(n, m)
	}
	return n
}

// mapWriteExprs is mapExprs for the nodes that write.
func mapWriteExprs(n Node, m *exprMapper) Node {
	switch n := n.(type) {
	case *Insert:
		items, conflict := m.items(n.Returning), n.Conflict
		if conflict != nil {
			c := *conflict
			c.Set, c.Where = m.list(c.Set), m.one(c.Where)
			conflict = &c
		}
		if m.changed {
			c := *n
			c.Returning, c.Conflict = items, conflict
			return &c
		}
	case *Update:
		if items := m.items(n.Returning); m.changed {
			c := *n
			c.Returning = items
			return &c
		}
	case *Delete:
		if items := m.items(n.Returning); m.changed {
			c := *n
			c.Returning = items
			return &c
		}
	}
	return n
}

// exprMapper applies change and remembers whether anything changed.
type exprMapper struct {
	change  func(expr.Expr) expr.Expr
	changed bool
}

func (m *exprMapper) one(e expr.Expr) expr.Expr {
	if e == nil {
		return nil
	}
	out := m.change(e)
	m.changed = m.changed || out != e
	return out
}

func (m *exprMapper) index(s *IndexScan) *IndexScan {
	if s == nil {
		return nil
	}
	c := *s
	c.Equal, c.In, c.Conds = m.list(s.Equal), m.list(s.In), m.list(s.Conds)
	for _, b := range []**IndexBound{&c.Low, &c.High} {
		if *b != nil {
			*b = &IndexBound{Value: m.one((*b).Value), Open: (*b).Open}
		}
	}
	return &c
}

func (m *exprMapper) list(list []expr.Expr) []expr.Expr {
	if list == nil {
		return nil
	}
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		out[i] = m.one(e)
	}
	return out
}

func (m *exprMapper) items(items []Item) []Item {
	out := make([]Item, len(items))
	for i := range items {
		out[i] = Item{Col: items[i].Col, Expr: m.one(items[i].Expr)}
	}
	return out
}

func (m *exprMapper) keys(keys []JoinKey) []JoinKey {
	if keys == nil {
		return nil
	}
	out := make([]JoinKey, len(keys))
	for i, k := range keys {
		out[i] = JoinKey{Left: m.one(k.Left), Right: m.one(k.Right), NullSafe: k.NullSafe}
	}
	return out
}

func (m *exprMapper) sortKeys(keys []SortKey) []SortKey {
	out := append([]SortKey(nil), keys...)
	for i := range out {
		out[i].Expr = m.one(out[i].Expr)
	}
	return out
}

func (m *exprMapper) aggs(aggs []AggItem) []AggItem {
	out := make([]AggItem, len(aggs))
	for i, a := range aggs {
		args, filter := m.list(a.Call.Args), m.one(a.Call.Filter)
		out[i] = a
		if m.changed {
			call := *a.Call
			call.Args, call.Filter = args, filter
			out[i].Call = &call
		}
	}
	return out
}

// colSet is a set of column ids.
type colSet map[expr.ColID]bool

func (s colSet) add(cols []*expr.Col) colSet {
	for _, c := range cols {
		s[c.ID] = true
	}
	return s
}

func setOf(cols []*expr.Col) colSet { return colSet{}.add(cols) }

// within reports whether every element of s is in t.
func (s colSet) within(t colSet) bool {
	for id := range s {
		if !t[id] {
			return false
		}
	}
	return true
}

func (s colSet) meets(t colSet) bool {
	for id := range s {
		if t[id] {
			return true
		}
	}
	return false
}

// addExpr adds the columns that e uses, including those its subqueries take from outside.
func (s colSet) addExpr(e expr.Expr) {
	expr.Walk(e, func(e expr.Expr) bool {
		switch e := e.(type) {
		case *expr.Col:
			s[e.ID] = true
		case *subqueryRef:
			for id := range freeColumns(e.plan) {
				s[id] = true
			}
		}
		return true
	})
}

// columnSet returns the columns that e uses.
func columnSet(exprs ...expr.Expr) colSet {
	s := colSet{}
	for _, e := range exprs {
		if e != nil {
			s.addExpr(e)
		}
	}
	return s
}

// freeColumns returns the columns that a plan uses but does not produce: its correlation with
// outer queries. The right side of a dependent join may use the left side's columns.
func freeColumns(n Node) colSet {
	used, made := colSet{}, colSet{}
	walkNodes(n, func(n Node) bool {
		made.add(n.Cols())
		if j, ok := n.(*Join); ok { // Out may hide what the condition uses
			made.add(j.Left.Cols()).add(j.Right.Cols())
		}
		visitExprs(n, func(e expr.Expr) { used.addExpr(e) })
		return true
	})
	for id := range made {
		delete(used, id)
	}
	return used
}

// substitute replaces columns everywhere in a plan, as free columns of a subquery are replaced.
func substitute(n Node, with map[expr.ColID]expr.Expr) Node {
	if len(with) == 0 {
		return n
	}
	return transformNodes(n, func(n Node) Node {
		return mapExprs(n, func(e expr.Expr) expr.Expr { return replaceCols(e, with) })
	})
}

// replaceCols replaces columns in an expression.
func replaceCols(e expr.Expr, with map[expr.ColID]expr.Expr) expr.Expr {
	return expr.Transform(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Col:
			if r, ok := with[e.ID]; ok {
				return r
			}
		case *subqueryRef:
			if freeColumns(e.plan).meetsKeys(with) {
				c := *e
				c.plan = substitute(e.plan, with)
				return &c
			}
		}
		return e
	})
}

func (s colSet) meetsKeys(with map[expr.ColID]expr.Expr) bool {
	for id := range s {
		if _, ok := with[id]; ok {
			return true
		}
	}
	return false
}

// fresh copies a plan under new column ids and returns the new id of each old one. Free columns
// stay as they are.
func (b *binder) fresh(n Node) (Node, map[expr.ColID]*expr.Col) {
	f := &freshener{b: b, made: map[expr.ColID]*expr.Col{}}
	return f.node(n), f.made
}

type freshener struct {
	b    *binder
	made map[expr.ColID]*expr.Col
}

func (f *freshener) col(c *expr.Col) *expr.Col {
	if c == nil {
		return nil
	}
	n := f.b.columnLike(c)
	f.made[c.ID] = n
	return n
}

func (f *freshener) cols(cols []*expr.Col) []*expr.Col {
	out := make([]*expr.Col, len(cols))
	for i, c := range cols {
		out[i] = f.col(c)
	}
	return out
}

func (f *freshener) items(items []Item) []Item {
	out := make([]Item, len(items))
	for i, it := range items {
		out[i] = Item{Col: f.col(it.Col), Expr: it.Expr}
	}
	return out
}

// node copies inputs first, so that by the time a node's expressions are mapped all columns they
// may name have their new ids.
func (f *freshener) node(n Node) Node {
	kids := n.Kids()
	if len(kids) > 0 {
		copied := make([]Node, len(kids))
		for i, kid := range kids {
			copied[i] = f.node(kid)
		}
		n = n.With(copied)
	}
	n = mapExprs(n, func(e expr.Expr) expr.Expr {
		return expr.Transform(e, func(e expr.Expr) expr.Expr {
			if c, ok := e.(*expr.Col); ok {
				if r := f.made[c.ID]; r != nil {
					return r
				}
			}
			return e
		})
	})
	switch n := n.(type) {
	case *Scan:
		c := *n
		c.Columns = append([]ScanCol(nil), n.Columns...)
		for i := range c.Columns {
			c.Columns[i].Col = f.col(c.Columns[i].Col)
		}
		c.RowRef = f.col(n.RowRef)
		// The filter was mapped before the scan's own columns had their new ids.
		return mapExprs(&c, func(e expr.Expr) expr.Expr { return replaceColPtrs(e, f.made) })
	case *Project:
		c := *n
		// An item that passes a column on under its own id takes the id its input has now.
		c.Items = f.passing(n.Items)
		return &c
	case *Aggregate:
		c := *n
		c.Groups = f.items(n.Groups)
		c.Aggs = append([]AggItem(nil), n.Aggs...)
		for i := range c.Aggs {
			c.Aggs[i].Col = f.col(c.Aggs[i].Col)
		}
		return &c
	case *Append:
		c := *n
		c.Out = f.cols(n.Out)
		return &c
	case *Values:
		c := *n
		c.Out = f.cols(n.Out)
		return &c
	case *FuncScan:
		c := *n
		c.Out = f.cols(n.Out)
		return &c
	case *CTEScan:
		c := *n
		c.Out = f.cols(n.Out)
		return &c
	case *Repeat:
		c := *n
		c.Times = f.made[n.Times.ID]
		c.Out = f.mapped(n.Out)
		return &c
	case *Join:
		c := *n
		c.Mark = f.col(n.Mark)
		c.Out = f.mapped(n.Out)
		return &c
	case *Apply:
		c := *n
		c.Mark = f.col(n.Mark)
		c.Params = append([]ApplyParam(nil), n.Params...)
		for i := range c.Params {
			if r := f.made[c.Params[i].Col.ID]; r != nil {
				c.Params[i].Col = r
			}
		}
		return &c
	}
	return n
}

func (f *freshener) passing(items []Item) []Item {
	out := make([]Item, len(items))
	for i, it := range items {
		if c, ok := it.Expr.(*expr.Col); ok && f.made[it.Col.ID] == c {
			out[i] = Item{Col: c, Expr: c}
			continue
		}
		out[i] = Item{Col: f.col(it.Col), Expr: it.Expr}
	}
	return out
}

// mapped gives columns the ids their inputs have now.
func (f *freshener) mapped(cols []*expr.Col) []*expr.Col {
	if cols == nil {
		return nil
	}
	out := make([]*expr.Col, len(cols))
	for i, c := range cols {
		out[i] = c
		if r := f.made[c.ID]; r != nil {
			out[i] = r
		}
	}
	return out
}

func replaceColPtrs(e expr.Expr, with map[expr.ColID]*expr.Col) expr.Expr {
	return expr.Transform(e, func(e expr.Expr) expr.Expr {
		if c, ok := e.(*expr.Col); ok {
			if r := with[c.ID]; r != nil {
				return r
			}
		}
		return e
	})
}
