package planner

import "math"

// What reading a table takes, in nanoseconds on the machine of docs/performance.md, warm, as
// `weft bench htap --step sweep` shows it. A scan's cost is in rows read by rows, so that only the
// ratios matter: they depend on how many columns are read.
const (
	nanosRow       = 4.0   // a row of a page read in order
	nanosRowCell   = 2.2   // each of its columns
	nanosUnitCell  = 0.7   // a covered column of a row
	nanosPickCell  = 200.0 // … of one that passes where most do not: it alone is unpacked
	nanosFetchRow  = 60.0  // a row by reference, among hundreds, from anywhere in the table
	nanosFetchCell = 60.0  // each of its columns
	nanosDiskCell  = 2.5   // a covered column of a row whose unit has to be read from disk, of all rows of its group
	rowsOfPage     = 64.0
	rowsOfGroup    = 65536.0
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
	out := float64(n.Rows)
	if n.Rows == 0 {
		out = b.facts(n).rows
	}
	share := math.Min(1, out/math.Max(base, 1))
	tested, picked, late := n.columnUses()
	if access != AccessHybrid {
		tested += 0.5
	}
	cost := base*loaded*tested*(nanosUnitCell+disk*nanosDiskCell)/unit + base*costFilter*float64(len(n.Filter)) + (1-loaded)*rowCost
	// The other columns are read for the rows that pass, from disk in groups that have some.
	groups := 1 - math.Pow(1-share, rowsOfGroup)
	cost += loaded * picked * (math.Min(out*nanosPickCell, base*nanosUnitCell) + base*groups*disk*nanosDiskCell) / unit
	// A changed row is read by its reference where few have changed, else with its page.
	cost += math.Min(stale*lateFetchCost(n, len(n.Columns)), base*loaded)
	if access != AccessHybrid {
		return cost
	}
	// Chosen per group when the survivors are known: each by its reference, or the pages they lie on.
	pages := togetherShare * base * (1 - math.Pow(1-share, rowsOfPage))
	return cost + loaded*math.Min(out*lateFetchCost(n, late), pages)
}

// columnUses counts a scan's columns: those that its filter uses, the other covered ones, and those that are not
// covered.
func (n *Scan) columnUses() (tested, picked float64, late int) {
	used := columnSet(n.Filter...)
	for i := range n.Columns {
		switch c := &n.Columns[i]; {
		case used[c.Col.ID]:
			tested++
		case n.Table.Columns[c.Pos].Covered:
			picked++
		default:
			late++
		}
	}
	return tested, picked, late
}
