package planner

import (
	"fmt"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// scanHint is what the hints of a query say about one of its tables.
type scanHint uint8

const (
	noScanHint scanHint = iota
	hintColumns
	hintRows
)

// hintImcvScan is the one hint that is acted on: /*+ imcvscan(t) */ reads t by columns whatever
// the router and the costs say, /*+ no imcvscan(t) */ never does. t is a table of the query's own
// FROM clause by its alias. Where two speak of one table the last counts.
const hintImcvScan = "imcvscan"

// applyHints marks the scans of a FROM clause. Hints never make a statement fail; those without
// effect are told to the client, because the reader of the query believes in them.
func (b *binder) applyHints(hints []sql.Hint, plan Node) {
	if len(hints) == 0 {
		return
	}
	scans := ownScans(plan)
	for i := range hints {
		h := &hints[i]
		if h.Name != hintImcvScan {
			b.notices = append(b.notices, sqlerr.Text("hint %q is not known and has no effect", h.Name))
			continue
		}
		say := hintColumns
		if h.No {
			say = hintRows
		}
		for _, table := range h.Args {
			found := false
			for _, scan := range scans {
				if scan.Alias == table {
					scan.hint, found = say, true
				}
			}
			if !found {
				b.notices = append(b.notices, fmt.Sprintf("hint %s(%s) has no effect: the query has no table of that name", h.Name, table))
			}
		}
	}
}

// ownScans lists the scans that a FROM clause names itself: not those of its subqueries, which
// binding has put below other nodes than joins.
func ownScans(plan Node) []*Scan {
	switch n := plan.(type) {
	case *Scan:
		return []*Scan{n}
	case *Join:
		return append(ownScans(n.Left), ownScans(n.Right)...)
	}
	return nil
}
