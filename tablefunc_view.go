package weft

import (
	"strconv"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/imcv"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// loadColumns tell how far a view is loaded, and what its units take.
var loadColumns = []planner.ResultColumn{column("rowgroup_num", int4Type), column("populated_rowgroup_num", int4Type),
	column("cu_num_in_mem", int4Type), column("cu_mem_size", int8Type), column("cu_num_in_disk", int4Type), column("cu_disk_size", int8Type)}

func loadValues(i imcv.Info) []vector.Datum {
	return []vector.Datum{int4(i.Groups), int4(i.LoadedGroups), int4(i.UnitsInMemory), int8(i.MemoryBytes), int4(i.UnitsOnDisk), int8(i.DiskBytes)}
}

var viewColumns = append([]planner.ResultColumn{
	column("rel_name", nameType), column("partition_name", nameType), column("subpartition_name", nameType), column("schema_name", nameType),
	column("user_name", nameType), column("imcvnattr", int2Type), column("imcvkey", vectorType), column("priority", int2Type)}, loadColumns...)

// noPriority is the one that all views have.
const noPriority = 1

// viewOwner is the user of whom everything is.
const viewOwner = "weft"

// viewKey lists the numbers of a view's columns.
func viewKey(t *catalog.Table) (n, key vector.Datum) {
	var keys []string
	for _, id := range t.CoveredColumns() {
		keys = append(keys, strconv.Itoa(int(id)))
	}
	return int2(len(keys)), text(strings.Join(keys, " "))
}

// viewRow is a column view's row without the node's name. Of a partition it names the topmost table, the
// partition, and the leaf if that is another one.
func viewRow(s *catalog.Snapshot, t *catalog.Table, i imcv.Info) []vector.Datum {
	names := []string{t.Name, "", ""}
	if above := s.Ancestors(t); len(above) > 0 {
		names[0] = above[len(above)-1].Name
		if names[1] = t.Name; len(above) > 1 {
			names[1], names[2] = above[len(above)-2].Name, t.Name
		}
	}
	n, key := viewKey(t)
	return append([]vector.Datum{text(names[0]), text(names[1]), text(names[2]), text(t.Schema), text(viewOwner), n, key, int2(noPriority)}, loadValues(i)...)
}

func globalViewInfo(c *functionCall, _ []vector.Datum) ([][]vector.Datum, error) {
	var rows [][]vector.Datum
	for _, t := range c.views() {
		for node, info := range c.db.views.Info(t) {
			rows = append(rows, append([]vector.Datum{text(catalog.NodeName(node))}, viewRow(c.catalog, t, info)...))
		}
	}
	return rows, nil
}

func viewInfo(c *functionCall, _ []vector.Datum) ([][]vector.Datum, error) {
	var rows [][]vector.Datum
	for _, t := range c.views() {
		for _, info := range c.db.views.Info(t) {
			rows = append(rows, viewRow(c.catalog, t, info))
		}
	}
	return rows, nil
}

// definitionColumns are gs_imcv's: what the catalog says of views.
var definitionColumns = []planner.ResultColumn{column("reloid", oidType), column("relname", nameType), column("schemaname", nameType),
	column("username", nameType), column("parentoid", oidType), column("imcvispart", boolType), column("imcvnattr", int2Type),
	column("imcvkey", vectorType), column("priority", int2Type)}

func definitionRow(t *catalog.Table) []vector.Datum {
	n, key := viewKey(t)
	return []vector.Datum{int8(int64(t.ID)), text(t.Name), text(t.Schema), text(viewOwner), int8(0), vector.BoolDatum(false), n, key, int2(noPriority)}
}

func viewDefinitions(c *functionCall, _ []vector.Datum) ([][]vector.Datum, error) {
	var rows [][]vector.Datum
	for _, t := range c.views() {
		rows = append(rows, definitionRow(t))
	}
	return rows, nil
}

var statusColumns = append(append(append([]planner.ResultColumn{}, definitionColumns...), column("imcvstatus", textType)), loadColumns...)

// viewStatus is gs_imcv_status: F when all row groups are loaded, L when some are, I when none is.
func viewStatus(c *functionCall, _ []vector.Datum) ([][]vector.Datum, error) {
	var rows [][]vector.Datum
	for _, t := range c.views() {
		sum := imcv.Info{}
		for _, i := range c.db.views.Info(t) {
			sum.Groups += i.Groups
			sum.LoadedGroups += i.LoadedGroups
			sum.UnitsInMemory += i.UnitsInMemory
			sum.MemoryBytes += i.MemoryBytes
			sum.UnitsOnDisk += i.UnitsOnDisk
			sum.DiskBytes += i.DiskBytes
		}
		status := "L"
		switch sum.LoadedGroups {
		case sum.Groups:
			status = "F"
		case 0:
			status = "I"
		}
		rows = append(rows, append(append(definitionRow(t), text(status)), loadValues(sum)...))
	}
	return rows, nil
}

// flushView loads or rebuilds a table's column view now, with a number of workers (1 to 100, NULL =
// htap_flush_workers), and returns the number of row groups loaded. Its mode is all, or missing to
// leave row groups alone that are loaded.
func flushView(c *functionCall, args []vector.Datum) ([][]vector.Datum, error) {
	tables, err := c.viewed("gs_imcv_flush", args, 0)
	if err != nil {
		return nil, err
	}
	o := imcv.FlushOptions{}
	if workers, ok := given(args, 1); ok {
		if o.Workers = int(workers.I); o.Workers < 1 || o.Workers > 100 {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "parallel degree %d is outside the valid range (1 .. 100)", o.Workers)
		}
	}
	if mode, ok := given(args, 2); ok {
		switch mode.S {
		case "all":
		case "missing":
			o.MissingOnly = true
		default:
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid mode %q", mode.S).WithHint("Available values: all, missing.")
		}
	}
	loaded := 0
	for _, t := range tables {
		n, err := c.db.views.Flush(c.ctx, t, o)
		if err != nil {
			return nil, err
		}
		loaded += n
	}
	return [][]vector.Datum{{int8(int64(loaded))}}, nil
}

// maintainView is gs_htap_data_maintenance('unload', table), which makes room at once and leaves the
// table to be read by rows, and ('load', table), which undoes it.
func maintainView(c *functionCall, args []vector.Datum) ([][]vector.Datum, error) {
	tables, err := c.viewed("gs_htap_data_maintenance", args, 1)
	if err != nil {
		return nil, err
	}
	n := 0
	switch action, _ := given(args, 0); action.S {
	case "unload":
		for _, t := range tables {
			n += c.db.views.Unload(t)
		}
	case "load":
		for _, t := range tables {
			loaded, err := c.db.views.Flush(c.ctx, t, imcv.FlushOptions{MissingOnly: true})
			if err != nil {
				return nil, err
			}
			n += loaded
		}
	default:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid action %q", action.S).WithHint("Available values: unload, load.")
	}
	return [][]vector.Datum{{int8(int64(n))}}, err
}
