package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// A row group keeps up to journalVersions bitmaps of changes, of journalBitmap bytes each, however many views
// are open: what the journal may take at most.
const (
	journalVersions = 4
	journalBitmap   = 8 << 10
)

// idleGoal is what a scan by columns may take of that by rows in the same transaction.
const idleGoal = 1.1

// idleSnapshot holds a transaction open while rows are changed and units rebuilt all the time. Now and then,
// when rebuilding has caught up, it reads by rows and by columns: the result must stay the same, and the scan
// by columns no slower than that by rows. The journal's size is looked at after each change.
func (r *htapRunner) idleSnapshot(ctx context.Context) (err error) {
	if err := r.exec(ctx, "SET htap_flush_interval = 1", "SET htap_flush_pagenum = 512", "SELECT * FROM gs_imcv_flush('wide')"); err != nil {
		return err
	}
	settle()
	const query = "SELECT sum(u1), sum(u2) FROM wide WHERE r >= 0"
	old, want, err := r.snapshot(ctx, query)
	defer func() { err = errors.Join(err, old.session.Close()) }()
	if err != nil {
		return err
	}
	worst, first, last := 0.0, 0.0, 0.0
	table, err := r.one(ctx, "SELECT reloid FROM gs_imcv WHERE relname = 'wide'")
	if err != nil {
		return err
	}
	s := &idleStorm{r: r, rnd: rand.New(rand.NewPCG(5, 6)), builds: map[int64]int64{},
		journalQuery: fmt.Sprintf("SELECT rowgroup_id, build_commit, mem_usage FROM gs_htap_tmu_chunk_meta(%d)", int64(table))}
	until := time.Now().Add(r.o.Idle)
	for time.Now().Before(until) {
		if err := s.until(ctx, time.Now().Add(min(r.o.Idle/4, 5*time.Second))); err != nil {
			return err
		}
		settle()
		columns, rows, err := old.leastCPU(ctx, query)
		if err != nil {
			return err
		}
		for _, mode := range []string{"row", "column"} {
			if err := old.exec(ctx, "SET htap_router_mode = '"+mode+"'"); err != nil {
				return err
			}
			if got, err := old.one(ctx, query); err != nil || got != want {
				return errors.Join(err, fmt.Errorf("bench: after %d changes the idle snapshot reads %v in mode %s, it was %v", s.changes, got, mode, want))
			}
		}
		if last = columns / rows; first == 0 {
			first = last
		}
		if last > idleGoal {
			fmt.Fprintf(r.o.Out, "after %d changes: %.2f ms by columns, %.2f ms by rows\n", s.changes, columns, rows)
		}
		worst = max(worst, last)
	}
	if err := old.exec(ctx, "ROLLBACK"); err != nil {
		return err
	}
	name := fmt.Sprintf("a snapshot idle for %v: ", r.o.Idle)
	r.add(Figure{Name: name + "rows changed meanwhile", Value: float64(s.changes) / 1e6, Unit: "M"})
	r.add(Figure{Name: name + "rebuilt row groups", Value: float64(s.rebuilt), Unit: ""})
	r.add(Figure{Name: name + "its scan of that by rows, first", Value: first, Unit: "times"})
	r.add(Figure{Name: name + "its scan of that by rows, last", Value: last, Unit: "times"})
	r.add(Figure{Name: name + "its scan of that by rows, worst", Value: worst, Unit: "times", Goal: idleGoal})
	r.add(Figure{Name: name + "the journal's largest size", Value: float64(s.journal) / 1024, Unit: "kB"})
	r.add(Figure{Name: name + "of four bitmaps a row group", Value: s.ofBound, Unit: "times", Goal: 1})
	return nil
}

// leastCPU runs a query by columns and by rows in turns and returns the least CPU time of each: rows may still be
// packed and files merged in the background, which only adds to what the process uses.
func (r *queryRunner) leastCPU(ctx context.Context, query string) (columns, rows float64, err error) {
	for i := range r.runs {
		c, err := r.onceCPU(ctx, "column", query)
		if err != nil {
			return 0, 0, err
		}
		w, err := r.onceCPU(ctx, "row", query)
		if err != nil {
			return 0, 0, err
		}
		if i == 0 {
			columns, rows = c, w
		}
		columns, rows = min(columns, c), min(rows, w)
	}
	return columns, rows, nil
}

// onceCPU runs a query once in a mode and returns its CPU time in milliseconds.
func (r *queryRunner) onceCPU(ctx context.Context, mode, query string) (float64, error) {
	if err := r.exec(ctx, "SET htap_router_mode = '"+mode+"'"); err != nil {
		return 0, err
	}
	before, _ := cpuTime()
	if _, err := r.drain(ctx, query); err != nil {
		return 0, fmt.Errorf("%s: %w", query, err)
	}
	after, _ := cpuTime()
	return milliseconds(after - before), nil
}

// idleStorm changes rows at random.
type idleStorm struct {
	r       *htapRunner
	rnd     *rand.Rand
	changes int     // rows
	journal int64   // bytes, at most so far
	ofBound float64 // the same, of what it may take with as many row groups
	rebuilt int     // row groups found rebuilt since they were last looked at

	journalQuery string
	builds       map[int64]int64 // by row group: the commit it was last built at
}

// until changes rows until a time, a hundredth of the table with each statement, spread over all pages.
func (s *idleStorm) until(ctx context.Context, end time.Time) error {
	for time.Now().Before(end) {
		result, err := s.r.session.Exec(ctx, fmt.Sprintf("UPDATE wide SET u1 = u1 + 1 WHERE r %% 100 = %d", s.rnd.IntN(100)))
		if err != nil {
			return err
		}
		s.changes += int(result.RowsAffected)
		if err := s.look(ctx); err != nil {
			return err
		}
	}
	return nil
}

// look notes the journal's size and which row groups have been rebuilt.
func (s *idleStorm) look(ctx context.Context) error {
	rows, err := s.r.session.Query(ctx, s.journalQuery)
	if err != nil {
		return err
	}
	total, groups := int64(0), int64(0)
	for rows.Next() {
		var group, built, bytes int64
		if err := rows.Scan(&group, &built, &bytes); err != nil {
			return errors.Join(err, rows.Close())
		}
		total, groups = total+bytes, groups+1
		if before, known := s.builds[group]; known && before != built {
			s.rebuilt++
		}
		s.builds[group] = built
	}
	if groups == 0 {
		return errors.Join(errors.New("bench: the view has no row groups"), rows.Close())
	}
	s.journal, s.ofBound = max(s.journal, total), max(s.ofBound, float64(total)/float64(groups*journalVersions*journalBitmap))
	return rows.Close()
}
