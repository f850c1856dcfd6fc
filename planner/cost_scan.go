package planner

import "math"

// What reading a table takes, in nanoseconds on the machine of docs/performance.md, warm, as
// `weft bench htap --step sweep` shows it. A scan's cost is in rows read by rows, so that only the
// ratios matter: they depend on how many columns are read.
const (
	nanosRow       = 4.0  // a row of a page read in order
	nanosRowCell   = 2.2  // each of its columns
	nanosUnitCell  = 0.7  // a covered column of a row
	nanosFetchRow  = 60.0 // a row by reference, among hundreds, from anywhere in the table
	nanosFetchCell = 60.0 // each of its columns
	nanosDiskCell  = 2.5  // a covered column of a row whose unit has to be read from disk (not measured: an estimate)
	rowsOfPage     = 64.0
	// togetherShare is of the pages that rows lie on if they lie anywhere: often they lie together. A
	// group in which they do not is read by rows at no loss, so the estimate may lean that way.
	togetherShare = 0.8
)

// nanosByRows is what a row of a scan takes by rows: the unit of its cost.
func nanosByRows(n *Scan) float64 {
	return nanosRow + nanosRowCell*math.Max(1, float64(len(n.Columns)))
}

// lateFetchCost is what fetching a number of a scan's columns by reference costs, for a row.
func lateFetchCost(n *Scan, columns int) float64 {
	return (nanosFetchRow + nanosFetchCell*float64(columns)) / nanosByRows(n)
}

// scanCost estimates a scan under an access.
func (b *binder) scanCost(n *Scan, access Access) (startup, total Cost) {
	base := defaultRows
	if b.world != nil {
		base = b.tableRows(n)
	}
	base *= n.nodeShare()
	rowCost := base*costRowScan + base*costFilter*float64(len(n.Filter))
	switch access {
	case AccessKey:
		return 0, costFetch
	case AccessIndex:
		if n.Index.Ordered {
			return 0, b.indexCost(n, n.Index, 1, costOrderedFetch)
		}
		return 0, b.indexCost(n, n.Index, 1, costFetch)
	case AccessBitmap:
		return b.setCost(n, n.Bitmap), b.bitmapCost(n, n.Bitmap)
	case AccessRows:
		if !b.settings.EnableSeqScan {
			rowCost += costDisabled
		}
		return 0, Cost(rowCost)
	}
	return costColumnStart, Cost(costColumnStart + b.columnCost(n, access, base, rowCost))
}

// columnCost estimates reading a table by columns: groups that have units by these, groups that have
// none by rows, and rows that changed since from the row store.
func (b *binder) columnCost(n *Scan, access Access, base, rowCost float64) float64 {
	loaded, disk, stale := 0.0, 0.0, 0.0
	if b.world == nil {
		loaded = 1
	} else if v := b.viewState(n); v.Groups > 0 {
		loaded = float64(v.LoadedGroups) / float64(v.Groups)
		disk, stale = v.DiskShare, v.StaleRows*n.nodeShare()
	}
	unit := nanosByRows(n)
	cells := float64(len(n.Columns)) + 0.5
	if access == AccessHybrid {
		cells = float64(len(columnSet(n.Filter...)))
	}
	filters := base * costFilter * float64(len(n.Filter))
	cell := nanosUnitCell + disk*nanosDiskCell
	cost := base*loaded*cells*cell/unit + filters + (1-loaded)*rowCost
	// A changed row is read by its reference where few have changed, else with its page.
	cost += math.Min(stale*lateFetchCost(n, len(n.Columns)), base*loaded)
	if access != AccessHybrid {
		return cost
	}
	out := float64(n.Rows)
	if n.Rows == 0 {
		out = b.facts(n).rows
	}
	late := 0
	for _, c := range n.Columns {
		if !n.Table.Columns[c.Pos].Covered {
			late++
		}
	}
	// Chosen per group when the survivors are known: each by its reference, or the pages they lie on.
	share := math.Min(1, out/math.Max(base, 1))
	pages := togetherShare * base * (1 - math.Pow(1-share, rowsOfPage))
	return cost + loaded*math.Min(out*lateFetchCost(n, late), pages)
}
