package bench

import (
	"context"
	"errors"
	"fmt"
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
}

// timed runs a query in a mode of htap_router_mode, once to warm up, then for time.
func (r *queryRunner) timed(ctx context.Context, mode, query string) (timing, error) {
	if err := r.exec(ctx, "SET htap_router_mode = '"+mode+"'"); err != nil {
		return timing{}, err
	}
	t := timing{}
	var wall, cpu []float64
	for i := range r.runs + 1 {
		start := time.Now()
		before, _ := cpuTime()
		rows, err := r.drain(ctx, query)
		if err != nil {
			return t, fmt.Errorf("%s: %w", query, err)
		}
		after, _ := cpuTime()
		if i > 0 {
			wall, cpu = append(wall, milliseconds(time.Since(start))), append(cpu, milliseconds(after-before))
		}
		if i > 0 && rows != t.rows {
			return t, fmt.Errorf("%s: %d rows, but %d in the run before", query, rows, t.rows)
		}
		t.rows = rows
	}
	t.wall, t.cpu = median(wall), median(cpu)
	return t, nil
}

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
