package weft

import (
	"context"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/imcv"
	"github.com/weftdb/weft/planner"
)

// world is what the planner may know of the database.
type world struct{ db *database }

func (w *world) Stats(id catalog.TableID) *catalog.Stats { return w.db.engine.Stats(id) }

func (w *world) Rows(t *catalog.Table) float64 { return float64(w.db.engine.RowCount(t)) }

// leafRows is how many rows a table has, in its leaves if it is partitioned.
func (w *world) leafRows(c *catalog.Snapshot, t *catalog.Table) float64 {
	rows := 0.0
	for _, leaf := range c.Leaves(t) {
		rows += w.Rows(leaf)
	}
	return rows
}

func (w *world) ViewState(t *catalog.Table) planner.ViewState {
	v := planner.ViewState{}
	inMemory, onDisk := 0, 0
	for _, info := range w.db.views.Info(t) {
		v.Groups += info.Groups
		v.LoadedGroups += info.LoadedGroups
		v.StaleRows += float64(info.TouchedRows)
		inMemory += info.UnitsInMemory
		onDisk += info.UnitsOnDisk
	}
	if onDisk > 0 {
		v.DiskShare = float64(onDisk) / float64(inMemory+onDisk)
	}
	return v
}

func (w *world) TableFunction(name string) ([]planner.ResultColumn, []catalog.Type, bool) {
	f, ok := tableFunctions[name]
	if !ok {
		return nil, nil, false
	}
	return f.columns, f.args, true
}

func (w *world) SystemView(name string) ([]planner.ResultColumn, bool) {
	f, ok := tableFunctions[name]
	return f.columns, ok && f.relation
}

// smallTableRows is the size below which a column view is loaded before the statement that defines
// it returns: such a load takes less time than waiting for a background worker would.
const smallTableRows = 65536

// populateChanged brings column views in line with the committed catalog. Small tables, and all
// tables when background loading is off, are loaded before it returns.
func (d *database) populateChanged(ctx context.Context, background bool) error {
	d.views.Refresh()
	for _, t := range d.engine.Catalog().Tables() {
		if !t.HasView {
			continue
		}
		if !background || d.engine.RowCount(t) < smallTableRows {
			if err := d.views.Populate(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *database) viewOptions() imcv.Options {
	return imcv.Options{
		Enabled:      d.setting(setEnableHTAP) == "on" && !d.options.NoMaintenance,
		BudgetBytes:  parseInt(d.setting(setMaxMemSize)) << 10,
		Workers:      int(parseInt(d.setting(setFlushWorkers))),
		FlushPages:   int(parseInt(d.setting(setFlushPages))),
		FlushSeconds: int(parseInt(d.setting(setFlushInterval))),
		Policy:       d.setting(setMemPolicy),
		Logger:       d.options.Logger,
	}
}

// workBytes is what a memory limit leaves for statements. The caches were sized when the database was
// opened; a limit set too low for it later still leaves a quarter.
func workBytes(limitBytes, cacheBytes int64) int64 {
	return max(limitBytes-cacheBytes, limitBytes/4)
}

// applyGlobal makes a changed database setting take effect.
func (d *database) applyGlobal(name string) {
	switch name {
	case setMemoryLimit:
		limit := parseInt(d.setting(setMemoryLimit))
		d.budget.SetLimit(workBytes(limit, d.options.cachesBytes()))
		if d.options.LimitRuntime {
			limitRuntime(d, limit)
		}
	default:
		d.views.SetOptions(d.viewOptions())
	}
}
