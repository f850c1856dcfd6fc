package planner

import "github.com/weftdb/weft/expr"

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
