package planner

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
)

// IndexScan is the part of an index that a scan reads: the entries whose first columns equal Equal,
// whose next column, if In is not empty, equals one of In, and whose next column lies between Low
// and High. The values have no columns in them and are of the index columns' own types.
type IndexScan struct {
	Index     *catalog.Index
	Equal     []expr.Expr
	In        []expr.Expr
	Low, High *IndexBound // nil = open
	// Ordered tells that the rows are wanted in the order of the index, or in Reverse of it.
	Ordered, Reverse bool
	// Conds are those of the scan's filter that the range stands for. They hold for every entry in
	// it, and stay in the filter for rows that are read otherwise.
	Conds []expr.Expr
}

// IndexBound is an end of a range.
type IndexBound struct {
	Value expr.Expr
	Open  bool // the value itself is outside
}

// indexScan returns what of an index the filter asks for, nil when the index does not help.
func (n *Scan) indexScan(index *catalog.Index) *IndexScan {
	s := &IndexScan{Index: index}
	for _, id := range index.Columns {
		if cond, value := n.equalityOn(id); cond != nil {
			s.Equal, s.Conds = append(s.Equal, value), append(s.Conds, cond)
			continue
		}
		if cond := n.listOn(id); cond != nil {
			s.In, s.Conds = cond.List, append(s.Conds, cond)
			break
		}
		n.boundsOn(id, s)
		break
	}
	if len(s.Conds) == 0 {
		return nil
	}
	return s
}

func (n *Scan) equalityOn(id catalog.ColumnID) (cond, value expr.Expr) {
	for _, cond := range n.Filter {
		if value := n.equalTo(cond, id); value != nil {
			return cond, value
		}
	}
	return nil, nil
}

// listOn returns the condition that a column is one of a list of values.
func (n *Scan) listOn(id catalog.ColumnID) *expr.InList {
	for _, cond := range n.Filter {
		in, ok := cond.(*expr.InList)
		if !ok || in.Negated {
			continue
		}
		c, ok := in.Arg.(*expr.Col)
		if !ok || !n.isColumn(c, id) {
			continue
		}
		usable := true
		for _, e := range in.List {
			usable = usable && comparesAs(e, c)
		}
		if usable {
			return in
		}
	}
	return nil
}

// boundsOn adds the conditions that bound a column from below or above, the first of each kind.
func (n *Scan) boundsOn(id catalog.ColumnID, s *IndexScan) {
	for _, cond := range n.Filter {
		call, ok := cond.(*expr.Call)
		if !ok || !call.Fn.Operator || len(call.Args) != 2 {
			continue
		}
		op, left, right := call.Fn.Name, call.Args[0], call.Args[1]
		if _, ok := left.(*expr.Col); !ok {
			left, right, op = right, left, mirroredOp[op]
		}
		c, ok := left.(*expr.Col)
		if !ok || !n.isColumn(c, id) || !comparesAs(right, c) {
			continue
		}
		bound := &IndexBound{Value: right, Open: op == "<" || op == ">"}
		switch {
		case (op == ">" || op == ">=") && s.Low == nil:
			s.Low = bound
		case (op == "<" || op == "<=") && s.High == nil:
			s.High = bound
		default:
			continue
		}
		s.Conds = append(s.Conds, cond)
	}
}

var mirroredOp = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// comparesAs reports whether the order of e's values among themselves and a column's is that of the
// column's type, so that they can be looked up among its keys.
func comparesAs(e expr.Expr, c *expr.Col) bool {
	t := e.Type()
	return len(columnSet(e)) == 0 && t.Kind() == c.Typ.Kind() && t.Scale == c.Typ.Scale && expr.VolatilityOf(e) != expr.Volatile
}

// isColumn reports whether an expression's column is the table's column of that id.
func (n *Scan) isColumn(c *expr.Col, id catalog.ColumnID) bool {
	of, ok := n.tableColumn(c)
	return ok && of == id
}

// tableColumn returns the id that an expression's column has in the scan's table; ok is false if it
// is not one of the scan's.
func (n *Scan) tableColumn(c *expr.Col) (id catalog.ColumnID, ok bool) {
	for _, sc := range n.Columns {
		if sc.Col.ID == c.ID {
			return n.Table.Columns[sc.Pos].ID, true
		}
	}
	return 0, false
}

// cheapestIndex returns the index scan that costs least, nil when no index helps.
func (b *binder) cheapestIndex(n *Scan) (best *IndexScan, cost Cost) {
	if !b.settings.EnableIndexScan {
		return nil, 0
	}
	for i := range n.Table.Indexes {
		s := n.indexScan(&n.Table.Indexes[i])
		if s == nil {
			continue
		}
		if c := b.indexCost(n, s, 1, costFetch); best == nil || c < cost {
			best, cost = s, c
		}
	}
	return best, cost
}

// indexCost estimates reading a share of a range of an index: every entry of it is a row fetched, at
// the cost of a fetch.
func (b *binder) indexCost(n *Scan, s *IndexScan, share, fetch float64) Cost {
	part := *n
	part.Filter = s.Conds
	entries := b.scanFacts(&part).rows
	ranges := float64(max(len(s.In), 1))
	return Cost(ranges*costIndexSeek + entries*share*(costIndexEntry+fetch+costFilter*float64(len(n.Filter))))
}
