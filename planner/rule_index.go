package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// IndexScan is the part of an index that a scan reads: the entries whose first parts equal Equal,
// whose next part, if In is not empty, equals one of In, and whose next part lies between Low and
// High. The values have no columns in them and are of the types of the index's own parts.
type IndexScan struct {
	Index     *catalog.Index
	Equal     []expr.Expr // nil among them stands for IS NULL
	In        []expr.Expr
	Low, High *IndexBound // nil = open
	// NotNull leaves NULLs out, as every bound does.
	NotNull bool
	// Ordered tells that the rows are wanted in the order of the index, or in Reverse of it.
	Ordered, Reverse bool
	// Only tells that the entries hold every column of the scan: no row is read.
	Only bool
	// Conds are those of the scan's filter that the range stands for. They hold for every entry in
	// it, and stay in the filter for rows that are read otherwise.
	Conds []expr.Expr
	// Where is the condition of a partial index, which the filter implies. It holds for every entry.
	Where []expr.Expr
}

// IndexBound is an end of a range.
type IndexBound struct {
	Value expr.Expr
	Open  bool // the value itself is outside
}

// usableIndex is an index as a scan may use it.
type usableIndex struct {
	scan  *Scan
	index *catalog.Index
	keys  []expr.Expr // the parts of the key over the scan's columns; nil = it lacks one of them
	where []expr.Expr // the index's condition, likewise
}

// usable returns an index as a scan can use it; nil when there are rows that the scan wants and the
// index may lack.
func (b *binder) usable(n *Scan, index *catalog.Index) *usableIndex {
	if index.State != catalog.IndexReady {
		return nil
	}
	u := &usableIndex{scan: n, index: index, keys: make([]expr.Expr, len(index.Columns))}
	for i, id := range index.Columns {
		if c := n.columnOf(id); c != nil {
			u.keys[i] = c
		}
	}
	if index.OnColumns() {
		return u
	}
	bound := b.boundIndex(n.Table, index)
	if bound == nil {
		return nil
	}
	with := map[expr.ColID]expr.Expr{}
	for i, c := range bound.Cols {
		if own := n.columnOf(n.Table.Columns[i].ID); own != nil {
			with[c.ID] = own
		}
	}
	over := func(e expr.Expr) expr.Expr {
		for id := range expr.Columns(e) {
			if with[id] == nil {
				return nil
			}
		}
		return replaceCols(e, with)
	}
	if bound.Where != nil {
		where := over(bound.Where)
		if where == nil {
			return nil
		}
		if u.where = expr.Conjuncts(where); !implied(u.where, n.Filter) {
			return nil
		}
	}
	exprs := bound.Exprs
	for i, id := range index.Columns {
		if id == 0 {
			u.keys[i] = over(exprs[0])
			exprs = exprs[1:]
		}
	}
	return u
}

// boundIndex returns an index's expressions; nil if they cannot be bound, as no index is created
// whose expressions cannot.
func (b *binder) boundIndex(t *catalog.Table, index *catalog.Index) *IndexExprs {
	if bound, ok := b.indexes[index]; ok {
		return bound
	}
	if b.indexes == nil {
		b.indexes = map[*catalog.Index]*IndexExprs{}
	}
	bound, err := b.indexExprs(t, index)
	if err != nil {
		bound = nil
	}
	b.indexes[index] = bound
	return bound
}

// columnOf returns the scan's column for a column of its table, nil if it has none.
func (n *Scan) columnOf(id catalog.ColumnID) expr.Expr {
	for _, sc := range n.Columns {
		if n.Table.Columns[sc.Pos].ID == id {
			return sc.Col
		}
	}
	return nil
}

// covers reports whether the entries of the index hold every column of the scan.
func (u *usableIndex) covers() bool {
	for _, c := range u.scan.Columns {
		column := &u.scan.Table.Columns[c.Pos]
		if !slices.Contains(u.index.Include, column.ID) && !(column.Type.ExactKeys() && slices.Contains(u.index.Columns, column.ID)) {
			return false
		}
	}
	return true
}

// scanOf returns what of the index the filter asks for; without Conds it is all of it.
func (u *usableIndex) scanOf(only bool) *IndexScan {
	s := &IndexScan{Index: u.index, Where: u.where, Only: only && u.covers()}
	for _, key := range u.keys {
		if key == nil {
			break
		}
		if cond, value := u.scan.equalityOn(key); cond != nil {
			s.Equal, s.Conds = append(s.Equal, value), append(s.Conds, cond)
			continue
		}
		if cond := u.scan.listOn(key); cond != nil {
			s.In, s.Conds = cond.List, append(s.Conds, cond)
			break
		}
		u.scan.boundsOn(key, s)
		break
	}
	return s
}

// equalityOn returns the condition that makes a key one value, and the value; nil for NULL.
func (n *Scan) equalityOn(key expr.Expr) (cond, value expr.Expr) {
	for _, cond := range n.Filter {
		if value := equalTo(cond, key); value != nil {
			return cond, value
		}
		switch c := cond.(type) {
		case *expr.IsNull:
			if !c.Negated && sameKey(c.Arg, key) {
				return cond, nil
			}
		case *expr.Not:
			if key.Type().ID == catalog.Bool && sameKey(c.Arg, key) {
				return cond, &expr.Const{Value: vector.BoolDatum(false), Typ: key.Type()}
			}
		}
		if key.Type().ID == catalog.Bool && sameKey(cond, key) {
			return cond, &expr.Const{Value: vector.BoolDatum(true), Typ: key.Type()}
		}
	}
	return nil, nil
}

// listOn returns the condition that a key is one of a list of values.
func (n *Scan) listOn(key expr.Expr) *expr.InList {
	for _, cond := range n.Filter {
		in, ok := cond.(*expr.InList)
		if !ok || in.Negated || !sameKey(in.Arg, key) {
			continue
		}
		usable := true
		for _, e := range in.List {
			usable = usable && comparesAs(e, key)
		}
		if usable {
			return in
		}
	}
	return nil
}

// boundsOn adds the conditions that bound a key from below or above, the first of each kind.
func (n *Scan) boundsOn(key expr.Expr, s *IndexScan) {
	for _, cond := range n.Filter {
		if c, ok := cond.(*expr.IsNull); ok && c.Negated && sameKey(c.Arg, key) && !s.NotNull {
			s.NotNull, s.Conds = true, append(s.Conds, cond)
			continue
		}
		call, ok := cond.(*expr.Call)
		if !ok || !call.Fn.Operator || len(call.Args) != 2 {
			continue
		}
		op, left, right := call.Fn.Name, call.Args[0], call.Args[1]
		if !sameKey(left, key) {
			left, right, op = right, left, expr.SwappedOperator(op)
		}
		if !sameKey(left, key) || !comparesAs(right, key) {
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

// sameKey reports whether an expression is a part of an index's key.
func sameKey(e, key expr.Expr) bool {
	if c, ok := e.(*expr.Col); ok {
		k, ok := key.(*expr.Col)
		return ok && c.ID == k.ID
	}
	return expr.Equal(e, key)
}

// comparesAs reports whether the order of e's values among themselves and a key's is that of the
// key's type, so that they can be looked up among them.
func comparesAs(e, key expr.Expr) bool {
	t, k := e.Type(), key.Type()
	return len(columnSet(e)) == 0 && t.Kind() == k.Kind() && t.Scale == k.Scale && expr.VolatilityOf(e) != expr.Volatile
}

// cheapestIndex returns the index scan that costs least, nil when no index helps.
func (b *binder) cheapestIndex(n *Scan) (best *IndexScan, cost Cost) {
	for i := range n.Table.Indexes {
		u := b.usable(n, &n.Table.Indexes[i])
		if u == nil {
			continue
		}
		for _, only := range []bool{true, false} {
			s := u.scanOf(only)
			if only && !s.Only || only && !b.settings.EnableIndexOnlyScan || !only && !b.settings.EnableIndexScan || !only && len(s.Conds)+len(s.Where) == 0 {
				continue
			}
			if c := b.indexCost(n, s, 1, costFetch); best == nil || c < cost {
				best, cost = s, c
			}
		}
	}
	return best, cost
}

// indexCost estimates reading a share of a range of an index: every entry of it is a row fetched, at
// the cost of a fetch, unless it holds all that is wanted.
func (b *binder) indexCost(n *Scan, s *IndexScan, share, fetch float64) Cost {
	if s.Only {
		fetch = 0
	}
	ranges, entries := float64(max(len(s.In), 1))*n.indexParts(), b.entries(n, s)*share
	cost := ranges*costIndexSeek + entries*(costIndexEntry+fetch+costFilter*float64(len(n.Filter)))
	if more := entries - float64(vector.BatchCap); fetch == costFetch && more > 0 {
		cost += more * (costFetchMany - costFetch)
	}
	return Cost(cost)
}

// entries estimates how many entries of an index a scan of it reads.
func (b *binder) entries(n *Scan, s *IndexScan) float64 {
	part := *n
	part.Filter = s.Conds
	for _, cond := range s.Where {
		if !impliedOne(cond, s.Conds) {
			part.Filter = append(part.Filter[:len(part.Filter):len(part.Filter)], cond)
		}
	}
	return b.scanFacts(&part).rows
}
