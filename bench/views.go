package bench

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/weftdb/weft"
	"github.com/weftdb/weft/bench/tpch"
)

// partialViews lists the columns of partial views: those that queries filter by, and few others.
var partialViews = map[tpch.Table]string{
	tpch.Part:     "p_partkey, p_type, p_size, p_brand, p_container",
	tpch.PartSupp: "ps_partkey, ps_suppkey",
	tpch.Customer: "c_custkey, c_mktsegment, c_nationkey",
	tpch.Orders:   "o_orderkey, o_custkey, o_orderdate",
	tpch.LineItem: "l_orderkey, l_partkey, l_suppkey, l_quantity, l_discount, l_shipdate, l_commitdate, l_receiptdate, l_shipmode, l_returnflag",
}

// viewState is how far column views are loaded.
type viewState struct {
	groups, loaded, bytes int64
}

// Views that load nothing for so long are taken as they are: their memory is used up.
const viewsStall = 20 * time.Second

// makeViews gives the tables column views and waits until they are loaded.
func (r *runner) makeViews(ctx context.Context) error {
	if err := r.reserveMemory(ctx); err != nil {
		return err
	}
	start := time.Now()
	for _, table := range tpch.Tables() {
		statement := "ALTER TABLE " + table.String() + " COLVIEW"
		if r.o.Partial {
			columns, ok := partialViews[table]
			if !ok {
				continue
			}
			statement = "ALTER TABLE " + table.String() + " NOCOLVIEW COLVIEW (" + columns + ")"
		}
		if _, err := r.session.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return r.awaitViews(ctx, start)
}

// reserveMemory raises the column views' memory for scale factors that the default is too small for.
func (r *runner) reserveMemory(ctx context.Context) error {
	const defaultMB, perScaleMB = 1024, 700
	need := int64(r.gen.Scale() * perScaleMB)
	if need <= defaultMB {
		return nil
	}
	if _, err := r.session.Exec(ctx, fmt.Sprintf("SET htap_max_mem_size = '%dMB'", need)); err != nil {
		return err
	}
	fmt.Fprintf(r.o.Out, "htap_max_mem_size is %s MB.\n", grouped(need))
	return nil
}

func (r *runner) awaitViews(ctx context.Context, start time.Time) error {
	v, err := r.viewState(ctx)
	if err != nil {
		return err
	}
	p := startProgress(r.o, start, "views", "groups", v.groups)
	changed := time.Now()
	for v.loaded < v.groups || v.groups == 0 {
		select {
		case <-ctx.Done():
			p.finish("stopped")
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
		before := v
		if v, err = r.viewState(ctx); err != nil {
			p.finish("failed")
			return err
		}
		p.done.Store(v.loaded)
		if v != before {
			changed = time.Now()
		}
		if time.Since(changed) > viewsStall {
			break
		}
	}
	p.done.Store(v.loaded)
	note := fmt.Sprintf("%s MB", grouped(v.bytes>>20))
	if v.loaded < v.groups {
		note += fmt.Sprintf("; %d groups are read by rows", v.groups-v.loaded)
	}
	r.report.ViewSeconds = p.finish(note)
	r.report.ViewGroups, r.report.ViewGroupsLoaded, r.report.ViewBytes = v.groups, v.loaded, v.bytes
	return nil
}

// viewState adds up the state of all column views.
func (r *runner) viewState(ctx context.Context) (v viewState, err error) {
	rows, err := r.session.Query(ctx, "SELECT rowgroup_num, populated_rowgroup_num, cu_mem_size FROM gs_global_imcv_info()")
	if err != nil {
		return v, err
	}
	defer rows.Close()
	for rows.Next() {
		for i, sum := range []*int64{&v.groups, &v.loaded, &v.bytes} {
			n, err := number(rows, i)
			if err != nil {
				return v, err
			}
			*sum += n
		}
	}
	return v, rows.Close()
}

func number(rows *weft.Rows, column int) (int64, error) {
	text, _ := rows.Text(column)
	return strconv.ParseInt(text, 10, 64)
}
