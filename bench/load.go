package bench

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/weftdb/weft"
	"github.com/weftdb/weft/bench/tpch"
)

// Loaded tells how a table was loaded.
type Loaded struct {
	Table   string  `json:"table"`
	Rows    int64   `json:"rows"`
	Seconds float64 `json:"seconds"`
}

// loadAll creates and loads all tables, each in one transaction, and counts their rows.
func (r *runner) loadAll(ctx context.Context) error {
	fmt.Fprintf(r.o.Out, "Loading TPC-H, scale factor %v, into %s\n", r.gen.Scale(), r.dir)
	var total Loaded
	for _, table := range tpch.Tables() {
		l, err := r.load(ctx, table)
		if err != nil {
			return fmt.Errorf("load %v: %w", table, err)
		}
		r.report.Tables = append(r.report.Tables, l)
		total.Rows += l.Rows
		total.Seconds += l.Seconds
	}
	r.report.LoadRows, r.report.LoadSeconds = total.Rows, total.Seconds
	fmt.Fprintln(r.o.Out, stepLine("all", total.Rows, "rows", total.Seconds))
	return r.checkCounts(ctx)
}

func (r *runner) load(ctx context.Context, table tpch.Table) (Loaded, error) {
	unique := r.gen.UniqueKeys(table)
	if !unique {
		fmt.Fprintf(r.o.Out, "%v has no primary key: at this scale factor dbgen's data repeat keys.\n", table)
	}
	if _, err := r.session.Exec(ctx, table.DDL(unique)); err != nil {
		return Loaded{}, err
	}
	p := startProgress(r.o, time.Now(), table.String(), "rows", r.gen.Rows(table))
	s := source{gen: r.gen, table: table, progress: p, fillers: make([]*tpch.Filler, r.threads)}
	for i := range s.fillers {
		s.fillers[i] = r.gen.Filler(table)
	}
	rows, err := r.session.BulkLoad(ctx, table.String(), r.threads, s.fill)
	p.done.Store(rows)
	if err != nil {
		p.finish("failed")
		return Loaded{}, err
	}
	return Loaded{table.String(), rows, p.finish("")}, nil
}

// source feeds a generator's rows to a bulk load.
type source struct {
	gen      *tpch.Generator
	table    tpch.Table
	progress *progress
	fillers  []*tpch.Filler // of each worker
}

func (s *source) fill(seq uint64, b *weft.LoadBatch) (int, error) {
	from, to := s.gen.Chunk(s.table, seq, weft.MaxLoadRows)
	if from == to {
		return 0, nil
	}
	rows, err := s.fillers[b.Worker].Fill(from, to)
	if err != nil {
		return 0, err
	}
	for i := range rows.Columns {
		switch c := &rows.Columns[i]; c.Kind {
		case tpch.Int32, tpch.Date:
			b.Int32(i, c.Int32)
		case tpch.Int64, tpch.Decimal:
			b.Int64(i, c.Int64)
		default:
			b.Bytes(i, c.Offsets, c.Bytes)
		}
	}
	s.progress.done.Add(int64(rows.Rows))
	return rows.Rows, nil
}

// checkCounts compares every table's number of rows with the generator's.
func (r *runner) checkCounts(ctx context.Context) error {
	start := time.Now()
	for _, table := range tpch.Tables() {
		have, err := r.number(ctx, "SELECT count(*) FROM "+table.String())
		if err != nil {
			return fmt.Errorf("count %v: %w", table, err)
		}
		if want := r.gen.Rows(table); have != want {
			return fmt.Errorf("table %v has %d rows, not the %d of scale factor %v", table, have, want, r.gen.Scale())
		}
	}
	fmt.Fprintf(r.o.Out, "All tables counted in %.2f s.\n", time.Since(start).Seconds())
	return nil
}

// number runs a query that gives one number.
func (r *runner) number(ctx context.Context, query string) (int64, error) {
	rows, err := r.session.Query(ctx, query)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	if !rows.Next() {
		return 0, fmt.Errorf("%s: no row: %w", query, rows.Err())
	}
	text, ok := rows.Text(0)
	if !ok {
		return 0, rows.Close()
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, err
	}
	return n, rows.Close()
}
