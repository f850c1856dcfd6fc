package planner

import (
	"fmt"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
)

// chooseAccess is the router: it decides for each scan whether to look one row up by key, read
// rows, read columns, or filter on columns and fetch the survivors' other columns from rows.
// Needs: prune_columns.
func chooseAccess(b *binder, n Node) Node {
	return transformNodes(n, func(n Node) Node {
		switch n := n.(type) {
		case *Scan:
			c := *n
			b.route(&c)
			return &c
		case *Sort:
			if ordered := b.orderByIndex(n); ordered != nil {
				return ordered
			}
		case *Aggregate:
			if ends := b.endsByIndex(n); ends != nil {
				return ends
			}
		}
		return n
	})
}

func (b *binder) route(n *Scan) {
	b.prune(n)
	n.Access = AccessRows
	if key := keyLookup(n); key != nil && n.hint != hintColumns {
		n.Access, n.Key = AccessKey, key
		n.WhyRows = "one row by primary key"
		return
	}
	_, rowCost := b.scanCost(n, AccessRows)
	if index, cost := b.cheapestIndex(n); index != nil && cost < rowCost {
		n.Access, n.Index, rowCost = AccessIndex, index, cost
	}
	if set, cost := b.cheapestBitmap(n); set != nil && cost < rowCost {
		n.Access, n.Index, n.Bitmap, rowCost = AccessBitmap, nil, set, cost
	}
	if n.WhyRows = b.columnsForbidden(n); n.WhyRows != "" {
		return
	}
	access, why := b.viewAccess(n)
	if access == AccessRows {
		n.WhyRows = why
		return
	}
	if b.settings.Router == RouterAuto && n.hint != hintColumns {
		if _, cost := b.scanCost(n, access); cost >= rowCost {
			n.WhyRows = fmt.Sprintf("cost (columns %.2f, rows %.2f)", float64(cost), float64(rowCost))
			return
		}
	}
	n.Access, n.Index, n.Bitmap = access, nil, nil
}

// columnsForbidden tells what keeps a scan off the column view whatever the view covers. A hint
// beats the session's settings, except for enable_htap, which switches the views themselves off.
func (b *binder) columnsForbidden(n *Scan) string {
	s := b.settings
	switch {
	case !n.Table.HasView && !n.anyLeaf(func(t *catalog.Table) bool { return t.HasView }):
		return "no column view"
	case !s.EnableHTAP:
		return "enable_htap is off"
	case n.hint == hintRows:
		return "hint no imcvscan"
	case n.hint == hintColumns:
		return ""
	case !s.EnableImcvScan:
		return "enable_imcvscan is off"
	case s.Router == RouterRow:
		return "htap_router_mode is row"
	}
	return ""
}

// columnAccess returns how the table's column view can serve the scan, or why it cannot.
func (n *Scan) columnAccess(hybrid bool) (Access, string) {
	filtered := columnSet(n.Filter...)
	var filterGap, outputGap []string
	for _, c := range n.Columns {
		column := &n.Table.Columns[c.Pos]
		if column.Covered {
			continue
		}
		if filtered[c.Col.ID] {
			filterGap = append(filterGap, column.Name)
		} else {
			outputGap = append(outputGap, column.Name)
		}
	}
	switch {
	case len(filterGap) > 0:
		return AccessRows, "predicate column not covered: " + strings.Join(filterGap, ", ")
	case len(outputGap) == 0:
		return AccessColumns, ""
	case len(n.Filter) == 0:
		return AccessRows, "column not covered and no predicate: " + strings.Join(outputGap, ", ")
	case !hybrid:
		return AccessRows, "column not covered and enable_hybrid_imcvscan is off: " + strings.Join(outputGap, ", ")
	}
	return AccessHybrid, ""
}

// keyLookup returns the key expressions of a scan whose filter fixes the whole primary key.
func keyLookup(n *Scan) []expr.Expr {
	pk := n.Table.PrimaryKey()
	if pk == nil {
		return nil
	}
	key := make([]expr.Expr, len(pk.Columns))
	for i, id := range pk.Columns {
		column := n.columnOf(id)
		if column == nil {
			return nil
		}
		for _, cond := range n.Filter {
			if e := equalTo(cond, column); e != nil {
				key[i] = e
				break
			}
		}
		if key[i] == nil {
			return nil
		}
	}
	return key
}

// equalTo returns the value that a condition says a key equals: an expression without columns, of the
// key's own type.
func equalTo(cond, key expr.Expr) expr.Expr {
	if !isEquality(cond) {
		return nil
	}
	kids := expr.Children(cond)
	for i := range kids {
		if value := kids[1-i]; sameKey(kids[i], key) && comparesAs(value, key) {
			return value
		}
	}
	return nil
}
