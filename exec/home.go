package exec

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/prune"
	"github.com/weftdb/weft/storage"
)

// home tells which table a row of a table lives in: of a partitioned one, the leaf that has its store.
type home struct {
	table *catalog.Table
	desc  *prune.Desc // nil: the table is not partitioned
}

// homeOf tells where the rows of a scan's table live.
func homeOf(n *planner.Scan) home {
	h := home{table: n.Table}
	if n.Parts != nil {
		h.desc = n.Parts.Desc
	}
	return h
}

// leaf returns the table that has a store.
func (h *home) leaf(store catalog.StoreID) (*catalog.Table, error) {
	if h.desc == nil {
		return h.table, nil
	}
	number := h.desc.LeafOf(store)
	if number < 0 {
		return nil, sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent change of table %q", h.table.Name)
	}
	return h.desc.Leaves[number].Table, nil
}

// columns returns the positions, in the table that has a store, of columns of the table.
func (h *home) columns(store catalog.StoreID, cols []int) []int {
	if h.desc == nil {
		return cols
	}
	at := h.desc.Leaves[h.desc.LeafOf(store)].Columns
	mapped := make([]int, len(cols))
	for i, c := range cols {
		mapped[i] = at[c]
	}
	return mapped
}

// each calls f for the references of each leaf, with their places in refs.
func (h *home) each(refs []storage.RowRef, f func(leaf *catalog.Table, refs []storage.RowRef, at []int) error) error {
	if len(refs) == 0 {
		return nil
	}
	if h.desc == nil {
		return f(h.table, refs, nil)
	}
	var order []int
	places := map[int][]int{}
	for i, ref := range refs {
		number := h.desc.LeafOf(ref.Store())
		if places[number] == nil {
			order = append(order, number)
		}
		places[number] = append(places[number], i)
	}
	for _, number := range order {
		at := places[number]
		part := make([]storage.RowRef, len(at))
		for k, i := range at {
			part[k] = refs[i]
		}
		leaf, err := h.leaf(part[0].Store())
		if err != nil {
			return err
		}
		if err := f(leaf, part, at); err != nil {
			return err
		}
	}
	return nil
}

// place returns the place in all references of one of a leaf's.
func place(at []int, i int) int {
	if at == nil {
		return i
	}
	return at[i]
}
