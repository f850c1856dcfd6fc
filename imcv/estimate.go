package imcv

import (
	"context"
	"slices"

	"github.com/weftdb/weft/catalog"
)

// sampledGroups is how many row groups of a store EstimateBytes builds.
const sampledGroups = 2

// Estimate is the memory that units of a table's columns would take on a data node.
type Estimate struct {
	Columns  map[catalog.ColumnID]int64
	Overhead int64 // whatever the columns
}

// EstimateBytes estimates the memory that units of some columns would take, by data node: it builds
// those of a few row groups and counts their bytes.
func (m *Manager) EstimateBytes(ctx context.Context, t *catalog.Table, columns []catalog.ColumnID) ([]Estimate, error) {
	c := t.Clone()
	for i := range c.Columns {
		c.Columns[i].Covered = slices.Contains(columns, c.Columns[i].ID)
	}
	view := m.engine.View()
	defer view.Release()
	out := make([]Estimate, len(c.Stores))
	for node, store := range c.Stores {
		e := &out[node]
		e.Columns = map[catalog.ColumnID]int64{}
		groups, err := view.Groups(store)
		if err != nil {
			return nil, err
		}
		sampled := min(groups, sampledGroups)
		for k := range sampled {
			data, err := m.readGroup(ctx, view, c, store, k*groups/sampled)
			if err != nil {
				return nil, err
			}
			if data.rows == 0 {
				continue
			}
			scale := func(bytes int64) int64 { return bytes * int64(groups) / int64(sampled) }
			e.Overhead += scale((&group{}).overheadBytes())
			for i, b := range data.builders {
				e.Columns[data.columns[i].id] += scale(b.finish(data.present[:]).sizeBytes())
			}
		}
	}
	return out, nil
}

// Bytes is the memory of all columns of the estimate.
func (e *Estimate) Bytes() int64 {
	sum := e.Overhead
	for _, bytes := range e.Columns {
		sum += bytes
	}
	return sum
}
