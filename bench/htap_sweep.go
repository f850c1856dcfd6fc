package bench

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/weftdb/weft"
)

// The sweep's table has two columns to filter by and twenty to fetch:
// c ascends, so that the rows of a range lie together; r is a permutation, so that they lie anywhere.
const sweepPayload = 20

var (
	selectivities = []float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1}
	payloads      = []int{1, 5, sweepPayload}
)

// payloadType alternates what rows have: integers, bigints, numerics, texts.
func payloadType(i int) string {
	return []string{"integer", "bigint", "numeric(12,2)", "varchar(24)"}[i%4]
}

// fillSweep makes and loads a table of a number of payload columns.
func (r *htapRunner) fillSweep(ctx context.Context, table string, rows, payload int) error {
	var columns strings.Builder
	for i := range payload {
		fmt.Fprintf(&columns, ", u%d %s NOT NULL", i+1, payloadType(i))
	}
	if err := r.exec(ctx, "CREATE TABLE "+table+" (c integer NOT NULL, r integer NOT NULL"+columns.String()+")"); err != nil {
		return err
	}
	step := coprimeStep(rows)
	_, err := r.session.BulkLoad(ctx, table, 1, func(seq uint64, b *weft.LoadBatch) (int, error) {
		first := int(seq) * weft.MaxLoadRows
		n := min(weft.MaxLoadRows, rows-first)
		if n <= 0 {
			return 0, nil
		}
		c, p := make([]int32, n), make([]int32, n)
		for k := range n {
			c[k], p[k] = int32(first+k), int32((first+k)*step%rows)
		}
		b.Int32(0, c)
		b.Int32(1, p)
		for i := range payload {
			fillPayload(b, i, p)
		}
		return n, nil
	})
	if err != nil {
		return err
	}
	return r.exec(ctx, "ANALYZE "+table)
}

// coprimeStep returns a step that visits every number below n once before it comes back, far from
// the one before.
func coprimeStep(n int) int {
	step := int(float64(n)*0.6180339887) | 1
	for gcd(step, n) != 1 {
		step += 2
	}
	return step
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func fillPayload(b *weft.LoadBatch, i int, seeds []int32) {
	column := 2 + i
	switch i % 4 {
	case 0:
		v := make([]int32, len(seeds))
		for k, s := range seeds {
			v[k] = s ^ int32(i)
		}
		b.Int32(column, v)
	case 3:
		offsets, heap := make([]int32, 1, len(seeds)+1), []byte(nil)
		for _, s := range seeds {
			heap = fmt.Appendf(heap, "text %d of %d", s, i)
			offsets = append(offsets, int32(len(heap)))
		}
		b.Bytes(column, offsets, heap)
	default:
		v := make([]int64, len(seeds))
		for k, s := range seeds {
			v[k] = int64(s)*7 + int64(i)
		}
		b.Int64(column, v)
	}
}

// sweepCase is one point of the sweep.
type sweepCase struct {
	column      string // c or r
	selectivity float64
	payload     int
}

func (c *sweepCase) query(table string, rows int) string {
	list := make([]string, c.payload)
	for i := range list {
		list[i] = fmt.Sprintf("u%d", i+1)
	}
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s < %d", strings.Join(list, ", "), table, c.column, int(math.Round(c.selectivity*float64(rows))))
}

func (c *sweepCase) String() string {
	return fmt.Sprintf("%-9s %2d columns, %g", map[string]string{"c": "clustered", "r": "random"}[c.column], c.payload, c.selectivity)
}

// sweep compares the row scan, the hybrid scan, what the router chooses, and the scan of a view that
// covers everything, from few rows to all.
func (r *htapRunner) sweep(ctx context.Context) error {
	for _, t := range []struct{ name, covered string }{{"wide", " (c, r)"}, {"whole", ""}} {
		if err := r.fillSweep(ctx, t.name, r.o.Rows, sweepPayload); err != nil {
			return err
		}
		if err := r.exec(ctx, "ALTER TABLE "+t.name+" COLVIEW"+t.covered, "SELECT * FROM gs_imcv_flush('"+t.name+"')"); err != nil {
			return err
		}
	}
	if err := r.exec(ctx, "SET threads = 1"); err != nil {
		return err
	}
	var cases []sweepCase
	for _, column := range []string{"c", "r"} {
		for _, payload := range payloads {
			for _, s := range selectivities {
				if s*float64(r.o.Rows) >= 1 {
					cases = append(cases, sweepCase{column, s, payload})
				}
			}
		}
	}
	results := make([]sweepTimings, len(cases))
	for i, c := range cases {
		wide, whole := c.query("wide", r.o.Rows), c.query("whole", r.o.Rows)
		t, err := r.inTurn(ctx, way{mode: "row", query: wide}, way{mode: "column", query: wide}, way{mode: "auto", query: wide}, way{mode: "column", query: whole})
		if err != nil {
			return err
		}
		results[i] = sweepTimings{t[0], t[1], t[2], t[3]}
	}
	r.reportSweep(cases, results)
	return nil
}

// sweepTimings are what one case took.
type sweepTimings struct{ rows, hybrid, auto, covered timing }

// reportSweep prints the table and adds the figures that have goals: of each goal the worst case.
func (r *htapRunner) reportSweep(cases []sweepCase, results []sweepTimings) {
	fmt.Fprintf(r.o.Out, "%-34s %9s | %9s %9s | %9s %9s | %9s %9s | %9s %9s | %8s %8s %8s\n", "CPU and wall in ms", "rows found", "rows CPU", "wall",
		"hybrid", "wall", "auto", "wall", "covered", "wall", "hyb/row", "auto/row", "hyb/cov")
	worst := map[string]float64{}
	note := func(key string, v float64, larger bool) {
		if old, ok := worst[key]; !ok || larger && v > old || !larger && v < old {
			worst[key] = v
		}
	}
	for i, c := range cases {
		row, hybrid, auto, covered := results[i].rows, results[i].hybrid, results[i].auto, results[i].covered
		fmt.Fprintf(r.o.Out, "%-34s %9d | %9.2f %9.2f | %9.2f %9.2f | %9.2f %9.2f | %9.2f %9.2f | %8.3f %8.3f %8.2f\n", c.String(), row.rows, row.cpu, row.wall,
			hybrid.cpu, hybrid.wall, auto.cpu, auto.wall, covered.cpu, covered.wall, hybrid.cpuOf(&row), auto.cpuOf(&row), hybrid.cpuOf(&covered))
		note("hybrid/row", hybrid.cpuOf(&row), true)
		note("auto/row", auto.cpuOf(&row), true)
		if c.payload == sweepPayload {
			if c.selectivity <= 1e-3 {
				note("0.1 %", row.cpuOf(&hybrid), false)
				note("covered", hybrid.cpuOf(&covered), true)
			}
			if c.selectivity <= 1e-4 {
				note("0.01 %", row.cpuOf(&hybrid), false)
			}
		}
	}
	if v, ok := worst["0.1 %"]; ok {
		r.add(Figure{Name: "hybrid against rows, 20 columns, at most 0.1 % of rows", Value: v, Unit: "times", Goal: 10, AtLeast: true})
		r.add(Figure{Name: "hybrid of the fully covered scan, at most 0.1 %", Value: worst["covered"], Unit: "times", Goal: 2})
	}
	if v, ok := worst["0.01 %"]; ok {
		r.add(Figure{Name: "hybrid against rows, 20 columns, at most 0.01 %", Value: v, Unit: "times", Goal: 20, AtLeast: true})
	}
	r.add(Figure{Name: "hybrid of the row scan, worst of all", Value: worst["hybrid/row"], Unit: "times", Goal: 1.1})
	r.add(Figure{Name: "auto of the row scan, worst of all", Value: worst["auto/row"], Unit: "times", Goal: 1.1})
}

// wide reads all 50 columns of rows that one covered column selects, as Arrow batches.
func (r *htapRunner) wide(ctx context.Context) error {
	const columns = 48
	if err := r.fillSweep(ctx, "wide", r.o.WideRows, columns); err != nil {
		return err
	}
	if err := r.exec(ctx, "ALTER TABLE wide COLVIEW (r)", "SELECT * FROM gs_imcv_flush('wide')"); err != nil {
		return err
	}
	for _, c := range []struct {
		share float64
		goal  float64
	}{{0.001, 15}, {0.01, 60}, {0.1, 500}} {
		query := fmt.Sprintf("SELECT * FROM wide WHERE r < %d", int(c.share*float64(r.o.WideRows)))
		var cpu []float64
		for i := range r.o.Runs + 1 {
			before, _ := cpuTime()
			if err := r.drainArrow(ctx, query); err != nil {
				return err
			}
			after, _ := cpuTime()
			if i > 0 {
				cpu = append(cpu, milliseconds(after-before))
			}
		}
		goal := c.goal * float64(r.o.WideRows) / 2e6
		r.add(Figure{Name: fmt.Sprintf("SELECT * of 50 columns as Arrow, %g %% of rows: CPU", c.share*100), Value: median(cpu), Unit: "ms", Goal: goal})
	}
	return nil
}

// late compares queries that need all columns of few rows in the end, by rows and with late fetches.
func (r *htapRunner) late(ctx context.Context) error {
	if err := r.fillSweep(ctx, "wide", r.o.Rows, sweepPayload); err != nil {
		return err
	}
	if err := r.exec(ctx, "SET threads = 1", "ALTER TABLE wide COLVIEW (c, r)", "SELECT * FROM gs_imcv_flush('wide')",
		"CREATE TABLE few (r integer)", fmt.Sprintf("INSERT INTO few SELECT g * 97 FROM generate_series(1, %d) g", max(r.o.Rows/10_000, 1)), "ANALYZE few"); err != nil {
		return err
	}
	for _, q := range []struct{ name, query string }{
		{"ORDER BY LIMIT 100", "SELECT * FROM wide ORDER BY r, c LIMIT 100"},
		{"half of the rows, ORDER BY LIMIT 1000", fmt.Sprintf("SELECT * FROM wide WHERE c > %d ORDER BY r DESC LIMIT 1000", r.o.Rows/2)},
		{"join that keeps a row in 10,000", "SELECT wide.* FROM wide JOIN few ON few.r = wide.r"},
	} {
		t, err := r.inTurn(ctx, way{mode: "row", query: q.query}, way{mode: "auto", query: q.query})
		if err != nil {
			return err
		}
		rows, auto := &t[0], &t[1]
		if auto.rows != rows.rows {
			return fmt.Errorf("bench: %s: %d rows, by rows %d", q.query, auto.rows, rows.rows)
		}
		r.add(Figure{Name: q.name + ": by rows, CPU", Value: rows.cpu, Unit: "ms"})
		r.add(Figure{Name: q.name + ": late fetch against rows", Value: rows.cpuOf(auto), Unit: "times"})
	}
	return nil
}

// drainArrow reads a query's rows as Arrow records.
func (r *htapRunner) drainArrow(ctx context.Context, query string) error {
	reader, err := r.db.QueryArrow(ctx, query)
	if err != nil {
		return err
	}
	defer reader.Release()
	values := int64(0)
	for reader.Next() {
		values += reader.Record().NumRows() * reader.Record().NumCols()
	}
	if err := reader.Err(); err != nil {
		return err
	}
	if values == 0 {
		return fmt.Errorf("%s: no rows", query)
	}
	return nil
}
