package storage

import "github.com/weftdb/weft/catalog"

// RowLimit returns an upper limit of the number of rows that the view shows of a table: how many there are,
// where nothing was committed since the view was taken and the transaction has not written the table itself,
// else how many were ever stored.
func (v *View) RowLimit(tbl *catalog.Table) int64 {
	e := v.Engine()
	before := e.sequence.Load()
	current := before&1 == 0 && v.snap.state == e.published.Load()
	rows, ever := int64(0), int64(0)
	for _, id := range tbl.Stores {
		s := e.stores.find(id)
		if s == nil { // it was dropped since the view was taken
			return v.rowsInGroups(tbl)
		}
		s.mu.Lock()
		stored := int64(s.next)
		s.mu.Unlock()
		if ever += stored; v.wrote(id) {
			rows += stored
		} else {
			rows += s.rows.Load()
		}
	}
	if !current || e.sequence.Load() != before {
		return ever
	}
	return rows
}

// rowsInGroups is how many rows the groups of a table hold at most.
func (v *View) rowsInGroups(tbl *catalog.Table) int64 {
	limit := int64(0)
	for _, id := range tbl.Stores {
		groups, err := v.Groups(id)
		if err != nil {
			return MaxRow // the statement will see the error itself
		}
		limit += int64(groups) * GroupRows
	}
	return limit
}

// wrote reports whether the view shows writes of its own transaction to a store.
func (v *View) wrote(id catalog.StoreID) bool {
	o := v.overlay
	if o == nil {
		return false
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.stores[id] != nil || o.spill.hasStore(id)
}
