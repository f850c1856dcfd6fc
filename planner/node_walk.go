package planner

import (
	"slices"

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

// walk is walkNodes for all parts of a plan.
func (p *Plan) walk(visit func(Node) bool) {
	walkNodes(p.Root, visit)
	for _, ip := range p.InitPlans {
		walkNodes(ip.Plan, visit)
	}
	for _, c := range p.CTEs {
		walkNodes(c.Plan, visit)
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
		filter, key, index, bitmap := m.list(n.Filter), m.list(n.Key), m.index(n.Index), m.bitmap(n.Bitmap)
		if m.changed {
			c := *n
			c.Filter, c.Key, c.Index, c.Bitmap = filter, key, index, bitmap
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
	case *Merge:
		on, whens := m.list(n.On), slices.Clone(n.Whens)
		for i := range whens {
			whens[i].Cond, whens[i].Values = m.one(whens[i].Cond), m.list(whens[i].Values)
		}
		if m.changed {
			c := *n
			c.On, c.Whens = on, whens
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
	c.Equal, c.In, c.Conds, c.Where = m.list(s.Equal), m.list(s.In), m.list(s.Conds), m.list(s.Where)
	for _, b := range []**IndexBound{&c.Low, &c.High} {
		if *b != nil {
			*b = &IndexBound{Value: m.one((*b).Value), Open: (*b).Open}
		}
	}
	return &c
}

func (m *exprMapper) bitmap(s *BitmapScan) *BitmapScan {
	if s == nil {
		return nil
	}
	c := &BitmapScan{Index: m.index(s.Index), Or: s.Or, Conds: m.list(s.Conds)}
	for _, kid := range s.Kids {
		c.Kids = append(c.Kids, m.bitmap(kid))
	}
	return c
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
