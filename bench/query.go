package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/weftdb/weft"
)

// queryRunner measures queries of a database one by one.
type queryRunner struct {
	db      *weft.DB
	session *weft.Session
	runs    int // of each query; medians count
	figureList
}

// exec runs statements one after another.
func (r *queryRunner) exec(ctx context.Context, statements ...string) error {
	for _, text := range statements {
		if _, err := r.session.Exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// timing is what a query took, in milliseconds: medians.
type timing struct {
	wall, cpu float64
	rows      int
	cpuRuns   []float64 // of each run, in order
}

// cpuOf returns the processor time of that of another query measured in turn with this one: the median over
// pairs of runs, for what else the machine does slows both of a pair.
func (t *timing) cpuOf(other *timing) float64 {
	ratios := make([]float64, min(len(t.cpuRuns), len(other.cpuRuns)))
	for i := range ratios {
		ratios[i] = t.cpuRuns[i] / other.cpuRuns[i]
	}
	return median(ratios)
}

// way is a query to measure, and how it is run.
type way struct {
	mode    string // of htap_router_mode
	query   string
	setting string // a statement before it, "" = none
}

const (
	// Short queries are run more often, unless one run is asked for, until a number of ways together has taken
	// this time.
	shortRunsTime = 2 * time.Second
	shortRuns     = 8 // times as often at most
)

// timed runs a query in a mode of htap_router_mode, once to warm up, then for time.
func (r *queryRunner) timed(ctx context.Context, mode, query string) (timing, error) {
	t, err := r.inTurn(ctx, way{mode: mode, query: query})
	if err != nil {
		return timing{}, err
	}
	return t[0], nil
}

// inTurn runs each of several ways once to warm up, then one after the other for time, again and again.
func (r *queryRunner) inTurn(ctx context.Context, ways ...way) ([]timing, error) {
	timings := make([]timing, len(ways))
	walls := make([][]float64, len(ways))
	began := time.Now()
	for round := 0; round <= r.runs || r.runs > 1 && time.Since(began) < shortRunsTime && round <= r.runs*shortRuns; round++ {
		for i, w := range ways {
			t := &timings[i]
			wall, cpu, rows, err := r.once(ctx, w)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.query, err)
			}
			if round == 0 {
				t.rows = rows
				continue
			}
			if rows != t.rows {
				return nil, fmt.Errorf("%s: %d rows, but %d in the run before", w.query, rows, t.rows)
			}
			walls[i], t.cpuRuns = append(walls[i], wall), append(t.cpuRuns, cpu)
		}
	}
	for i := range timings {
		timings[i].wall, timings[i].cpu = median(walls[i]), median(timings[i].cpuRuns)
	}
	return timings, nil
}

// once runs a way and returns what it took, in milliseconds.
func (r *queryRunner) once(ctx context.Context, w way) (wall, cpu float64, rows int, err error) {
	if err := r.exec(ctx, "SET htap_router_mode = '"+w.mode+"'"); err != nil {
		return 0, 0, 0, err
	}
	if w.setting != "" {
		if err := r.exec(ctx, w.setting); err != nil {
			return 0, 0, 0, err
		}
	}
	start := time.Now()
	before, _ := cpuTime()
	rows, err = r.drain(ctx, w.query)
	after, _ := cpuTime()
	wall, cpu = milliseconds(time.Since(start)), milliseconds(after-before)
	if rows > manyRows {
		runtime.GC() // else the next query would pay for what this one leaves
	}
	return wall, cpu, rows, err
}

// manyRows leave so much garbage that collecting it takes as long as a short query.
const manyRows = 50_000

// drain runs a query to its end and counts its rows.
func (r *queryRunner) drain(ctx context.Context, query string) (count int, err error) {
	rows, err := r.session.Query(ctx, query)
	if err != nil {
		return 0, err
	}
	for b := rows.NextBatch(); b != nil; b = rows.NextBatch() {
		count += b.Live()
	}
	return count, rows.Close()
}

// one returns the value of a query of one row and column.
func (r *queryRunner) one(ctx context.Context, query string) (float64, error) {
	rows, err := r.session.Query(ctx, query)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	if !rows.Next() {
		return 0, errors.Join(rows.Close(), fmt.Errorf("%s: no row", query))
	}
	text, _ := rows.Text(0)
	v, err := strconv.ParseFloat(text, 64)
	return v, errors.Join(err, rows.Close())
}
