package weft

import (
	"fmt"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlname"
	"github.com/weftdb/weft/planner"
)

// DescribePartitioning returns the lines of \d about a table's place among partitions: those that come
// before its indexes, and those that come last.
func DescribePartitioning(c *catalog.Snapshot, t *catalog.Table) (before, after []string) {
	if parent := c.Table(t.Parent); parent != nil {
		before = append(before, "Partition of: "+parent.Name+" "+planner.BoundText(parent, t))
	}
	if t.Partitioning != nil {
		before = append(before, "Partition key: "+t.Partitioning.Definition(t, sqlname.Quote))
		more := ""
		n := len(c.Partitions(t.ID))
		if n > 0 {
			more = ` (Use \d+ to list them.)`
		}
		after = append(after, fmt.Sprintf("Number of partitions: %d%s", n, more))
	}
	return before, after
}

// RelationType names what a relation is, as \d does.
func RelationType(t *catalog.Table) string {
	if t.Kind == catalog.PartitionedTable {
		return "partitioned table"
	}
	return t.Kind.String()
}
