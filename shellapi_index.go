package weft

import (
	"cmp"
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/internal/sqlname"
)

// DescribeIndexes returns the lines of \d about a table's indexes: the primary key first, then by
// name.
func DescribeIndexes(t *catalog.Table) []string {
	if len(t.Indexes) == 0 {
		return nil
	}
	indexes := slices.Clone(t.Indexes)
	slices.SortFunc(indexes, func(a, b catalog.Index) int {
		if a.Primary != b.Primary {
			if a.Primary {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	lines := []string{"Indexes:"}
	for i := range indexes {
		x := &indexes[i]
		kind := " UNIQUE CONSTRAINT,"
		switch {
		case x.Primary:
			kind = " PRIMARY KEY,"
		case x.Plain && x.Unique:
			kind = " UNIQUE,"
		case x.Plain:
			kind = ""
		}
		line := sqlerr.Text("    %q%s btree %s", x.Name, kind, x.Definition(t, sqlname.Quote))
		if x.State != catalog.IndexReady {
			line += " INVALID"
		}
		lines = append(lines, line)
	}
	return lines
}
