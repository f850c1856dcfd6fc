package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/weftdb/weft/bench/tpch"
)

// lineitem copies TPC-H's lineitem from a CSV file, with its primary key, and reads it.
func (r *oltpRunner) lineitem(ctx context.Context) error {
	g, err := tpch.New(r.o.Scale)
	if err != nil {
		return err
	}
	file := filepath.Join(r.dir, "lineitem.csv")
	rows, err := writeLineitem(g, file)
	if err != nil {
		return err
	}
	if _, err := r.db.ExecContext(ctx, tpch.LineItem.DDL(true)); err != nil {
		return err
	}
	start := time.Now()
	if _, err := r.db.ExecContext(ctx, "COPY lineitem FROM '"+file+"' (FORMAT csv)"); err != nil {
		return err
	}
	r.add(Figure{Name: "COPY of lineitem from CSV, with its primary key, until durable", Value: float64(rows) / time.Since(start).Seconds(), Unit: "rows/s",
		Goal: 300_000, AtLeast: true})
	if err := errors.Join(r.setting(ctx, "threads", "1"), r.setting(ctx, "htap_router_mode", "row")); err != nil {
		return err
	}
	scan, err := r.cpuOfQuery(ctx, "SELECT max(l_shipdate), max(l_discount), max(l_quantity), max(l_extendedprice) FROM lineitem", rows)
	if err != nil {
		return err
	}
	r.add(Figure{Name: "scan of lineitem's rows, four columns and their maxima: CPU", Value: scan, Unit: "ns/row", Goal: 25})
	return r.fetch(ctx, rows)
}

// fetch reads five columns of one row in a hundred, which a sixth column chooses, by reference.
func (r *oltpRunner) fetch(ctx context.Context, rows int64) error {
	for _, query := range []string{"ALTER TABLE lineitem COLVIEW (l_suppkey)", "SELECT * FROM gs_imcv_flush('lineitem')"} {
		if _, err := r.db.ExecContext(ctx, query); err != nil {
			return err
		}
	}
	if err := r.setting(ctx, "htap_router_mode", "column"); err != nil {
		return err
	}
	const where = " FROM lineitem WHERE l_suppkey % 100 = 7"
	var chosen int64
	if err := r.db.QueryRowContext(ctx, "SELECT count(*)"+where).Scan(&chosen); err != nil {
		return err
	}
	filter, err := r.cpuOfQuery(ctx, "SELECT count(*)"+where, chosen)
	if err != nil {
		return err
	}
	all, err := r.cpuOfQuery(ctx, "SELECT max(l_shipdate), max(l_discount), max(l_quantity), max(l_extendedprice), max(l_orderkey)"+where, chosen)
	if err != nil {
		return err
	}
	r.add(Figure{Name: "fetch of five columns by reference, one row in a hundred: CPU", Value: all - filter, Unit: "ns/row", Goal: 300})
	return nil
}

func (r *oltpRunner) setting(ctx context.Context, name, value string) error {
	r.db.SetMaxOpenConns(1) // settings are the connection's
	_, err := r.db.ExecContext(ctx, "SET "+name+" = "+value)
	return err
}

// cpuOfQuery is the CPU time of a query for each of a number of rows, in nanoseconds: the median of
// nine runs after two.
func (r *oltpRunner) cpuOfQuery(ctx context.Context, query string, rows int64) (float64, error) {
	var taken []float64
	for run := range 11 {
		before, _ := cpuTime()
		result, err := r.db.QueryContext(ctx, query)
		if err != nil {
			return 0, err
		}
		for result.Next() {
		}
		if err := errors.Join(result.Err(), result.Close()); err != nil {
			return 0, err
		}
		after, _ := cpuTime()
		if run >= 2 {
			taken = append(taken, float64((after-before).Nanoseconds())/float64(max(rows, 1)))
		}
	}
	return median(taken), nil
}

// writeLineitem writes all rows of lineitem as CSV.
func writeLineitem(g *tpch.Generator, name string) (rows int64, err error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	filler := g.Filler(tpch.LineItem)
	specs := tpch.LineItem.Columns()
	units := g.Units(tpch.LineItem)
	var line []byte
	const step = 4096
	for from := int64(0); from < units; from += step {
		b, err := filler.Fill(from, min(from+step, units))
		if err != nil {
			return 0, err
		}
		for row := range b.Rows {
			line = line[:0]
			for i := range b.Columns {
				if i > 0 {
					line = append(line, ',')
				}
				line = appendCSV(line, &b.Columns[i], specs[i].Kind, row)
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return 0, err
			}
		}
		rows += int64(b.Rows)
	}
	return rows, w.Flush()
}

// appendCSV writes a value; texts of TPC-H have no quotes in them.
func appendCSV(line []byte, c *tpch.Column, kind tpch.Kind, row int) []byte {
	switch kind {
	case tpch.Int32:
		return strconv.AppendInt(line, int64(c.Int32[row]), 10)
	case tpch.Int64:
		return strconv.AppendInt(line, c.Int64[row], 10)
	case tpch.Decimal:
		return fmt.Appendf(line, "%d.%02d", c.Int64[row]/100, c.Int64[row]%100)
	case tpch.Date:
		return time.Unix(int64(c.Int32[row])*86400, 0).UTC().AppendFormat(line, time.DateOnly)
	}
	line = append(line, '"')
	line = append(line, c.Text(row)...)
	return append(line, '"')
}
