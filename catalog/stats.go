package catalog

import "github.com/weftdb/weft/vector"

// ColumnStats describes a column's values as of the last ANALYZE or bulk load.
type ColumnStats struct {
	NullFraction float64
	Min, Max     vector.Datum // Null when unknown
	Distinct     float64      // number of distinct values, 0 when unknown
	AvgWidth     float64      // bytes
}

// SampleRows is the size of the row sample kept for each table: enough that a predicate true of
// one row in a hundred is seen with certainty for all practical purposes.
const SampleRows = 1024

// Stats describes a table's contents. The cost model reads only these.
type Stats struct {
	Version uint64
	Rows    int64
	Columns map[ColumnID]ColumnStats
	// Sample holds up to SampleRows rows: Sample[c][i] is column SampleColumns[c] of row i.
	SampleColumns []ColumnID
	Sample        [][]vector.Datum
}
