package planner

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// mergedLeaves is how many leaves' statistics are put together: a plan takes the others to be like them.
const mergedLeaves = 32

// scanStats returns the statistics of what a scan reads before its filter. Where it reads some leaves of
// a partitioned table only, those of the whole table would count the conditions that have selected them
// once more: the leaves' own are put together, as far as they are known.
func (b *binder) scanStats(n *Scan) *catalog.Stats {
	whole := b.world.Stats(n.Table.ID)
	if n.Parts == nil || n.Parts.Selected.Count() == uint(len(n.Parts.Desc.Leaves)) {
		return whole
	}
	m := &statsMerge{scan: n, out: &catalog.Stats{Columns: map[catalog.ColumnID]catalog.ColumnStats{}}}
	set := n.Parts.Selected
	for i, ok := set.NextSet(0); ok && m.leaves < mergedLeaves; i, ok = set.NextSet(i + 1) {
		if s := b.world.Stats(n.Parts.Desc.Leaves[i].Table.ID); s != nil && s.Rows > 0 {
			m.list, m.at = append(m.list, s), append(m.at, int(i))
			m.out.Rows += s.Rows
			m.leaves++
		}
	}
	if m.leaves == 0 {
		return whole
	}
	m.merge()
	return m.out
}

// statsMerge puts statistics of leaves together, for the columns of a scan.
type statsMerge struct {
	scan   *Scan
	out    *catalog.Stats
	list   []*catalog.Stats
	at     []int // leaves
	leaves int
}

func (m *statsMerge) merge() {
	table := m.scan.Table
	for _, sc := range m.scan.Columns {
		column := &table.Columns[sc.Pos]
		all := catalog.ColumnStats{Min: vector.NullDatum(column.Type.Kind()), Max: vector.NullDatum(column.Type.Kind())}
		for k, s := range m.list {
			if one, ok := s.Columns[m.columnOf(k, sc.Pos)]; ok {
				m.addColumn(column.Type, &all, &one, float64(s.Rows)/float64(m.out.Rows))
			}
		}
		m.out.Columns[column.ID] = all
		m.out.SampleColumns = append(m.out.SampleColumns, column.ID)
		m.out.Sample = append(m.out.Sample, m.sample(sc.Pos))
	}
	for _, column := range m.out.Sample {
		if len(column) != len(m.out.Sample[0]) { // one came later than some leaf's statistics
			m.out.SampleColumns, m.out.Sample = nil, nil
			break
		}
	}
}

// columnOf is a leaf's column for a position in the table.
func (m *statsMerge) columnOf(k, pos int) catalog.ColumnID {
	leaf := &m.scan.Parts.Desc.Leaves[m.at[k]]
	return leaf.Table.Columns[leaf.Columns[pos]].ID
}

// addColumn adds what a leaf, which has a share of the rows, knows of a column. Values of different
// leaves are taken to be the same ones.
func (m *statsMerge) addColumn(t catalog.Type, all, one *catalog.ColumnStats, share float64) {
	all.NullFraction += share * one.NullFraction
	all.AvgWidth += share * one.AvgWidth
	all.Distinct = max(all.Distinct, one.Distinct)
	less := func(a, b vector.Datum) bool {
		v := vector.New(t.Kind(), 2)
		vector.AppendDatum(v, a)
		vector.AppendDatum(v, b)
		return expr.CompareValues(t)(v, 0, v, 1) < 0
	}
	if !one.Min.Null && (all.Min.Null || less(one.Min, all.Min)) {
		all.Min = one.Min
	}
	if !one.Max.Null && (all.Max.Null || less(all.Max, one.Max)) {
		all.Max = one.Max
	}
}

// sample takes from each leaf's sample as many rows as the leaf has a share of all; nil where a leaf
// has no sample of the column.
func (m *statsMerge) sample(pos int) []vector.Datum {
	var out []vector.Datum
	for k, s := range m.list {
		id := m.columnOf(k, pos)
		for i, sampled := range s.SampleColumns {
			if sampled == id {
				rows := int(float64(catalog.SampleRows)*float64(s.Rows)/float64(m.out.Rows) + 0.999)
				out = append(out, s.Sample[i][:min(rows, len(s.Sample[i]))]...)
			}
		}
	}
	return out
}
