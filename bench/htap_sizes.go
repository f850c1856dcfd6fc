package bench

import (
	"context"
	"fmt"

	"github.com/weftdb/weft/bench/tpch"
)

// unitGoal is what units should take at most of what rows take.
const unitGoal = 0.5

// tableSizes is what a table takes, in bytes.
type tableSizes struct {
	rows  float64 // as the row store encodes them
	units float64 // column units
	view  float64 // these with bitmaps, Bloom filters and the journal
}

// sizes compares the units of TPC-H's tables with their rows.
func (r *htapRunner) sizes(ctx context.Context) error {
	gen, err := tpch.New(r.o.Scale)
	if err != nil {
		return err
	}
	if err := r.exec(ctx, "SET htap_max_mem_size = '16GB'"); err != nil {
		return err
	}
	var all tableSizes
	for _, table := range tpch.Tables() {
		if err := r.exec(ctx, table.DDL(gen.UniqueKeys(table))); err != nil {
			return err
		}
		s := source{gen: gen, table: table, progress: &progress{}, fillers: []*tpch.Filler{gen.Filler(table)}}
		if _, err := r.session.BulkLoad(ctx, table.String(), 1, s.fill); err != nil {
			return err
		}
		if err := r.exec(ctx, "ALTER TABLE "+table.String()+" COLVIEW", fmt.Sprintf("SELECT * FROM gs_imcv_flush('%v')", table)); err != nil {
			return err
		}
		t, err := r.sizesOf(ctx, table.String())
		if err != nil {
			return err
		}
		all.rows, all.units, all.view = all.rows+t.rows, all.units+t.units, all.view+t.view
		r.add(Figure{Name: fmt.Sprintf("%v: units of its rows", table), Value: t.units / t.rows, Unit: "times"})
	}
	r.add(Figure{Name: "all tables: rows", Value: all.rows / 1e6, Unit: "MB"})
	r.add(Figure{Name: "all tables: units of the rows", Value: all.units / all.rows, Unit: "times", Goal: unitGoal})
	r.add(Figure{Name: "all tables: views of the rows", Value: all.view / all.rows, Unit: "times", Goal: unitGoal})
	return nil
}

// sizesOf asks for a table's sizes; its view must be loaded.
func (r *queryRunner) sizesOf(ctx context.Context, table string) (s tableSizes, err error) {
	for query, to := range map[string]*float64{
		"SELECT sum(row_size) FROM gs_table_row_size('" + table + "')":                                                       &s.rows,
		"SELECT sum(imcu_size) FROM gs_imcu_meta('" + table + "')":                                                           &s.units,
		"SELECT cu_mem_size FROM gs_imcv_status WHERE relname = '" + table + "' AND imcvstatus = 'F' AND cu_num_in_disk = 0": &s.view,
	} {
		if *to, err = r.one(ctx, query); err != nil {
			return s, err
		}
	}
	return s, nil
}
