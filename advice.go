package weft

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/vector"
)

// columnUses remembers, per table, which columns its scans filter by and which they yield, and how
// many rows they read. It is what advice on column views rests on; it is kept in memory only and
// bounded: of a table the workloads that have read most rows stay.
type columnUses struct {
	mu     sync.Mutex
	tables map[catalog.TableID]*tableUse // guarded by mu
}

// tableUse holds a table's workloads by the columns they read.
type tableUse struct {
	schema    uint32 // version of the definition that the columns belong to
	workloads map[string]*planner.Workload
}

const (
	maxUsedTables = 1024
	maxWorkloads  = 64 // of a table
)

// note counts the scans of a plan that is about to run.
func (u *columnUses) note(d *database, plan *planner.Plan) {
	uses := plan.ColumnUses(func(t *catalog.Table) float64 { return float64(d.engine.RowCount(t)) })
	if len(uses) == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := range uses {
		u.noteOne(&uses[i], float64(d.engine.RowCount(uses[i].Table)))
	}
}

// noteOne counts a scan. mu is held.
func (u *columnUses) noteOne(use *planner.ColumnUse, rows float64) {
	t := u.tables[use.Table.ID]
	if t == nil || t.schema != use.Table.SchemaVersion {
		if u.tables == nil {
			u.tables = map[catalog.TableID]*tableUse{}
		}
		if t == nil && len(u.tables) >= maxUsedTables {
			return
		}
		t = &tableUse{schema: use.Table.SchemaVersion, workloads: map[string]*planner.Workload{}}
		u.tables[use.Table.ID] = t
	}
	key := useKey(use)
	w := t.workloads[key]
	if w == nil {
		if len(t.workloads) >= maxWorkloads {
			t.forgetLeast()
		}
		w = &planner.Workload{Filter: use.Filter, Output: use.Output}
		t.workloads[key] = w
	}
	w.Scans++
	w.Rows += rows
	w.Passed += rows * use.Share
}

// forgetLeast drops the workload that has read fewest rows.
func (t *tableUse) forgetLeast() {
	least := ""
	for key, w := range t.workloads {
		if least == "" || w.Rows < t.workloads[least].Rows {
			least = key
		}
	}
	delete(t.workloads, least)
}

func useKey(use *planner.ColumnUse) string {
	var key []byte
	for _, list := range [][]catalog.ColumnID{use.Filter, use.Output} {
		key = binary.AppendUvarint(key, uint64(len(list)))
		for _, id := range list {
			key = binary.AppendUvarint(key, uint64(id))
		}
	}
	return string(key)
}

// of returns copies of a table's workloads, those that have read most rows first.
func (u *columnUses) of(t *catalog.Table) []planner.Workload {
	u.mu.Lock()
	defer u.mu.Unlock()
	var out []planner.Workload
	if use := u.tables[t.ID]; use != nil && use.schema == t.SchemaVersion {
		for _, w := range use.workloads {
			out = append(out, *w)
		}
	}
	slices.SortFunc(out, func(a, b planner.Workload) int {
		switch {
		case a.Rows > b.Rows:
			return -1
		case a.Rows < b.Rows:
			return 1
		}
		return slices.Compare(slices.Concat(a.Filter, a.Output), slices.Concat(b.Filter, b.Output))
	})
	return out
}

// advice is a proposal for a table's column view.
type advice struct {
	columns      []catalog.ColumnID
	scans        int64
	rows         float64
	saved, total float64 // nanoseconds
	bytes        int64
}

// advise proposes columns of a table from the queries seen since the database was opened; nil when
// no view would help them. The view fits in the memory that views of other tables leave.
func (d *database) advise(ctx context.Context, t *catalog.Table) (*advice, error) {
	workloads := d.uses.of(t)
	if len(workloads) == 0 {
		return nil, nil
	}
	a := &advice{}
	var used []catalog.ColumnID
	for i := range workloads {
		w := &workloads[i]
		a.scans, a.rows = a.scans+w.Scans, a.rows+w.Rows
		used = append(append(used, w.Filter...), w.Output...)
	}
	nodes, err := d.views.EstimateBytes(ctx, t, used)
	if err != nil {
		return nil, err
	}
	sizes, overhead := map[catalog.ColumnID]int64{}, int64(0)
	for i := range nodes {
		overhead += nodes[i].Overhead
		for id, bytes := range nodes[i].Columns {
			sizes[id] += bytes
		}
	}
	budget := parseInt(d.setting(setMaxMemSize))<<10 - d.views.MemoryBytes() - overhead
	for _, info := range d.views.Info(t) {
		budget += info.MemoryBytes
	}
	if a.columns, a.saved, a.total = planner.AdviseColumns(workloads, sizes, budget); len(a.columns) == 0 {
		return nil, nil
	}
	a.bytes = overhead
	for _, id := range a.columns {
		a.bytes += sizes[id]
	}
	return a, nil
}

// adviseColumns is advise for COLVIEW AUTO.
func (r *running) adviseColumns(t *catalog.Table) ([]catalog.ColumnID, error) {
	a, err := r.s.db.advise(r.ctx, t)
	if a == nil || err != nil {
		return nil, err
	}
	return a.columns, nil
}

// columnNames lists the names of columns, by their place in the table.
func columnNames(t *catalog.Table, ids []catalog.ColumnID) []string {
	var names []string
	for i := range t.Columns {
		if slices.Contains(ids, t.Columns[i].ID) {
			names = append(names, sql.QuoteIdent(t.Columns[i].Name))
		}
	}
	return names
}

var adviceColumns = []planner.ResultColumn{column("schema_name", nameType), column("rel_name", nameType), column("scans", int8Type),
	column("rows_scanned", int8Type), column("covered", textType), column("advised", textType), column("estimated_size", int8Type),
	column("saved_ms", realType), column("saved_share", realType), column("statement", textType)}

// viewAdvice is gs_imcv_advice: a row for each table whose queries a column view would help. Savings
// are against reading rows, of all scans since the database was opened.
func viewAdvice(c *functionCall, _ []vector.Datum) ([][]vector.Datum, error) {
	var rows [][]vector.Datum
	for _, t := range c.catalog.Tables() {
		if t.Temp {
			continue
		}
		a, err := c.db.advise(c.ctx, t)
		if err != nil {
			return nil, err
		}
		if a == nil {
			continue
		}
		names := strings.Join(columnNames(t, a.columns), ", ")
		statement := fmt.Sprintf("ALTER TABLE %s.%s NOCOLVIEW COLVIEW (%s)", sql.QuoteIdent(t.Schema), sql.QuoteIdent(t.Name), names)
		rows = append(rows, []vector.Datum{text(t.Schema), text(t.Name), int8(a.scans), int8(int64(a.rows)),
			text(strings.Join(columnNames(t, t.CoveredColumns()), ", ")), text(names), int8(a.bytes), real8(a.saved / 1e6), real8(a.saved / max(a.total, 1)), text(statement)})
	}
	return rows, nil
}

var useColumns = []planner.ResultColumn{column("schema_name", nameType), column("rel_name", nameType), column("filter_columns", textType),
	column("output_columns", textType), column("scans", int8Type), column("rows_scanned", int8Type), column("rows_passed", int8Type)}

// columnUse is gs_imcv_advice_statistics: what the advice rests on.
func columnUse(c *functionCall, _ []vector.Datum) ([][]vector.Datum, error) {
	var rows [][]vector.Datum
	for _, t := range c.catalog.Tables() {
		for _, w := range c.db.uses.of(t) {
			rows = append(rows, []vector.Datum{text(t.Schema), text(t.Name), text(strings.Join(columnNames(t, w.Filter), ", ")),
				text(strings.Join(columnNames(t, w.Output), ", ")), int8(w.Scans), int8(int64(w.Rows)), int8(int64(w.Passed))})
		}
	}
	return rows, nil
}
