package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
)

// ColumnUse is what a plan reads of a table when it goes through all of its rows.
type ColumnUse struct {
	Table  *catalog.Table
	Filter []catalog.ColumnID // columns of conditions, ascending
	Output []catalog.ColumnID // other columns, ascending
	Share  float64            // of the rows, those that are estimated to pass
}

// ColumnUses lists what the plan reads of tables that it scans, by rows or by columns. Tables read by
// key or index are left out: a column view would not change that.
func (p *Plan) ColumnUses(rows func(*catalog.Table) float64) []ColumnUse {
	var uses []ColumnUse
	fetched := map[*catalog.Table][]catalog.ColumnID{}
	note := func(n Node) bool {
		switch n := n.(type) {
		case *LateFetch:
			for _, c := range n.Columns {
				fetched[n.Table] = append(fetched[n.Table], n.Table.Columns[c.Pos].ID)
			}
		case *Scan:
			if n.Access == AccessRows || n.Access == AccessColumns || n.Access == AccessHybrid {
				uses = append(uses, n.use(rows(n.Table), fetched[n.Table]))
			}
		}
		return true
	}
	p.walk(note)
	return uses
}

func (n *Scan) use(rows float64, fetched []catalog.ColumnID) ColumnUse {
	u := ColumnUse{Table: n.Table, Share: min(1, float64(n.Rows)/max(rows, 1)), Output: slices.Clone(fetched)}
	filtered := columnSet(n.Filter...)
	for _, c := range n.Columns {
		if id := n.Table.Columns[c.Pos].ID; filtered[c.Col.ID] {
			u.Filter = append(u.Filter, id)
		} else {
			u.Output = append(u.Output, id)
		}
	}
	slices.Sort(u.Filter)
	slices.Sort(u.Output)
	u.Output = slices.Compact(u.Output)
	return u
}

// Workload is a number of scans that read the same columns.
type Workload struct {
	Filter, Output []catalog.ColumnID
	Scans          int64
	Rows           float64 // read, of all scans together
	Passed         float64 // of these, the rows that passed the filter
}

// Nanos estimates the time the scans take with a column view of some columns; nil is no view.
func (w *Workload) Nanos(covered []catalog.ColumnID) float64 {
	cells := float64(len(w.Filter) + len(w.Output))
	byRows := w.Rows * (nanosRow + nanosRowCell*max(cells, 1))
	late := 0.0
	for _, id := range w.Output {
		if !slices.Contains(covered, id) {
			late++
		}
	}
	for _, id := range w.Filter {
		if !slices.Contains(covered, id) {
			return byRows
		}
	}
	switch {
	case late == 0:
		return min(byRows, w.Rows*nanosUnitCell*(cells+0.5))
	case len(w.Filter) == 0:
		return byRows
	}
	fetch := w.Passed * (nanosFetchRow + nanosFetchCell*late)
	return min(byRows, w.Rows*nanosUnitCell*float64(len(w.Filter))+fetch)
}

// AdviseColumns proposes the columns of a table to cover: those that save most time for the memory
// they take, as long as this fits in the budget. saved is the time that the workloads would have
// needed less, in nanoseconds, of total without any view.
func AdviseColumns(workloads []Workload, sizes map[catalog.ColumnID]int64, budget int64) (columns []catalog.ColumnID, saved, total float64) {
	cost := func(covered []catalog.ColumnID) (sum float64) {
		for i := range workloads {
			sum += workloads[i].Nanos(covered)
		}
		return sum
	}
	total = cost(nil)
	now, used := total, int64(0)
	for {
		var best []catalog.ColumnID
		bestRate, bestCost, bestSize := 0.0, 0.0, int64(0)
		for i := range workloads {
			w := &workloads[i]
			// A scan is helped by its conditions' columns, and by all.
			for _, wanted := range [][]catalog.ColumnID{w.Filter, slices.Concat(w.Filter, w.Output)} {
				added, size := without(wanted, columns), int64(0)
				for _, id := range added {
					size += sizes[id]
				}
				if len(added) == 0 || used+size > budget {
					continue
				}
				with := cost(slices.Concat(columns, added))
				if rate := (now - with) / float64(size+1); now-with > total/100 && rate > bestRate {
					best, bestRate, bestCost, bestSize = added, rate, with, size
				}
			}
		}
		if best == nil {
			slices.Sort(columns)
			return columns, total - now, total
		}
		columns, now, used = append(columns, best...), bestCost, used+bestSize
	}
}

// without returns the elements of list that are not in others.
func without(list, others []catalog.ColumnID) []catalog.ColumnID {
	var out []catalog.ColumnID
	for _, id := range list {
		if !slices.Contains(others, id) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}
