package weft

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

var workerColumns = []planner.ResultColumn{column("workers", int4Type), column("rowgroup_num", int4Type), column("unloaded_rowgroup_num", int4Type),
	column("changed_row_num", int8Type)}

// workerStatus is gs_imcv_bgworker_status: how many workers may load row groups at a time, and what
// there is to load and to rebuild.
func workerStatus(c *functionCall, _ []vector.Datum) ([][]vector.Datum, error) {
	groups, loaded, changed := 0, 0, 0
	for _, t := range c.views() {
		s := c.db.views.State(t)
		groups, loaded, changed = groups+s.Groups, loaded+s.LoadedGroups, changed+s.TouchedRows
	}
	return [][]vector.Datum{{int4(int(parseInt(c.db.setting(setFlushWorkers)))), int4(groups), int4(groups - loaded), int8(int64(changed))}}, nil
}

var hitColumns = []planner.ResultColumn{column("rowgroup_units", int8Type), column("rowgroup_merged", int8Type), column("rowgroup_pruned", int8Type),
	column("rowgroup_rows", int8Type), column("hit_ratio", realType)}

// hitStatus is gs_htap_scan_hit_status: row groups of tables with views by the way scans by columns
// answered them since the database was opened. The ratio is that of those that needed no row scan.
func hitStatus(c *functionCall, _ []vector.Datum) ([][]vector.Datum, error) {
	s := &c.db.views.Served
	units, rows := s.Units.Load()+s.Pruned.Load(), s.Rows.Load()
	ratio := vector.NullDatum(vector.F64)
	if units+rows > 0 {
		ratio = real8(float64(units) / float64(units+rows))
	}
	return [][]vector.Datum{{int8(s.Units.Load()), int8(s.Touched.Load()), int8(s.Pruned.Load()), int8(rows), ratio}}, nil
}

var fileColumns = onNode([]planner.ResultColumn{column("schema_name", nameType), column("rel_name", nameType), column("file_num", int4Type), column("file_size", int8Type)})

// fileStatus is gs_htap_file_status: units that lie in files.
func fileStatus(c *functionCall, _ []vector.Datum) ([][]vector.Datum, error) {
	var rows [][]vector.Datum
	for _, t := range c.views() {
		for node, info := range c.db.views.Info(t) {
			rows = append(rows, []vector.Datum{text(catalog.NodeName(node)), text(t.Schema), text(t.Name), int4(info.UnitsOnDisk), int8(info.DiskBytes)})
		}
	}
	return rows, nil
}

var memoryColumns = []planner.ResultColumn{column("nodename", textType), column("memorytype", textType), column("memorymbytes", int4Type)}

// memoryDetail is pg_total_memory_detail: memory in MB. All data nodes of a database share one process.
func memoryDetail(c *functionCall, _ []vector.Datum) ([][]vector.Datum, error) {
	var rows [][]vector.Datum
	for _, m := range []struct {
		name  string
		bytes int64
	}{
		{"max_process_memory", parseInt(c.db.setting(setMemoryLimit))},
		{"query_used_memory", c.db.budget.Used()},
		{"max_htap_memory", parseInt(c.db.setting(setMaxMemSize)) << 10},
		{"htap_used_memory", c.db.views.MemoryBytes()},
	} {
		rows = append(rows, []vector.Datum{text(catalog.NodeName(0)), text(m.name), int4(int(m.bytes >> 20))})
	}
	return rows, nil
}
