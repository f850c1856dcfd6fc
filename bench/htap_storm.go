package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/weftdb/weft"
)

// staleShares are shares of rows changed since the units were built.
var staleShares = []float64{0, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5}

// storm measures a scan of a column view by how many rows have changed since it was built, and what a
// rebuild brings. A transaction that began before all of that reads the same query at every step: it must
// get the same result, without a cliff.
func (r *htapRunner) storm(ctx context.Context) (err error) {
	if err := r.fillSweep(ctx, "wide", r.o.Rows, 5); err != nil {
		return err
	}
	if err := r.exec(ctx, "SET threads = 1", "SET htap_flush_interval = 36000", "SET htap_flush_pagenum = 1000",
		"ALTER TABLE wide COLVIEW", "SELECT * FROM gs_imcv_flush('wide')"); err != nil {
		return err
	}
	const query = "SELECT sum(u1), sum(u2) FROM wide WHERE r >= 0"
	old, want, err := r.snapshot(ctx, query)
	defer func() { err = errors.Join(err, old.session.Close()) }()
	if err != nil {
		return err
	}
	fresh, changed := 0.0, 0
	var byRows timing
	for _, share := range staleShares {
		for ; changed < int(share*100); changed++ { // one row in a hundred at a time, spread over all pages
			if err := r.exec(ctx, fmt.Sprintf("UPDATE wide SET u1 = u1 + 1 WHERE r %% 100 = %d", changed)); err != nil {
				return err
			}
		}
		t, err := r.inTurn(ctx, way{mode: "column", query: query}, way{mode: "row", query: query})
		if err != nil {
			return err
		}
		now := &t[0]
		byRows = t[1]
		if share == 0 {
			fresh = now.cpu
		}
		snapshot, err := old.timed(ctx, "column", query)
		if err != nil {
			return err
		}
		if got, err := old.one(ctx, query); err != nil || got != want {
			return errors.Join(err, fmt.Errorf("bench: the idle snapshot reads %v, it was %v", got, want))
		}
		name := fmt.Sprintf("%g %% of rows changed: ", share*100)
		r.add(Figure{Name: name + "scan of that of a fresh view", Value: now.cpu / fresh, Unit: "times"})
		r.add(Figure{Name: name + "scan of that by rows", Value: now.cpuOf(&byRows), Unit: "times"})
		r.add(Figure{Name: name + "idle snapshot's scan of that by rows", Value: snapshot.cpu / byRows.cpu, Unit: "times"})
	}
	if err := r.exec(ctx, "SELECT * FROM gs_imcv_flush('wide')"); err != nil {
		return err
	}
	rebuilt, err := r.timed(ctx, "column", query)
	if err != nil {
		return err
	}
	r.add(Figure{Name: "after a rebuild: scan of that of the first view", Value: rebuilt.cpu / fresh, Unit: "times"})
	snapshot, err := old.timed(ctx, "column", query)
	if err != nil {
		return err
	}
	r.add(Figure{Name: "after a rebuild: idle snapshot's scan of that by rows", Value: snapshot.cpu / byRows.cpu, Unit: "times"})
	if got, err := old.one(ctx, query); err != nil || got != want {
		return errors.Join(err, fmt.Errorf("bench: after a rebuild the idle snapshot reads %v, it was %v", got, want))
	}
	if err := old.exec(ctx, "ROLLBACK"); err != nil {
		return err
	}
	return r.idleSnapshot(ctx)
}

// budget gives a view all the memory it wants, half of it and a quarter, as far as the setting goes down,
// and measures a scan that needs every column.
func (r *htapRunner) budget(ctx context.Context) error {
	if err := r.fillSweep(ctx, "wide", r.o.WideRows, sweepPayload); err != nil {
		return err
	}
	if err := r.exec(ctx, "SET threads = 1", "SET htap_max_mem_size = '16GB'", "ALTER TABLE wide COLVIEW", "SELECT * FROM gs_imcv_flush('wide')"); err != nil {
		return err
	}
	size := r.db.Stats().UnitBytes
	const query = "SELECT sum(u1), sum(u2), max(u4), sum(u5), count(u8) FROM wide WHERE r > 5"
	byRows, err := r.timed(ctx, "row", query)
	if err != nil {
		return err
	}
	const lowest = 100 << 20 // of htap_max_mem_size
	for _, share := range []float64{1, 0.5, 0.25} {
		limit := max(int64(share*float64(size))+1<<20, lowest)
		if err := r.exec(ctx, "ALTER TABLE wide NOCOLVIEW", fmt.Sprintf("SET htap_max_mem_size = %d", limit>>10), "ALTER TABLE wide COLVIEW", "SELECT * FROM gs_imcv_flush('wide')"); err != nil {
			return err
		}
		t, err := r.timed(ctx, "column", query)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("budget of %.0f %% of the view: ", 100*float64(limit)/float64(max(size, 1)))
		r.add(Figure{Name: name + "scan of that by rows", Value: t.cpu / byRows.cpu, Unit: "times"})
		r.add(Figure{Name: name + "memory taken of it", Value: float64(r.db.Stats().UnitBytes) / float64(limit), Unit: "times", Goal: 1})
	}
	return nil
}

// restart closes the database and opens it again: how long until a scan by columns has answered, and until
// all row groups are loaded.
func (r *htapRunner) restart(ctx context.Context) error {
	if err := r.fillSweep(ctx, "wide", r.o.Rows, 5); err != nil {
		return err
	}
	const query = "SELECT sum(u1) FROM wide WHERE r > 5"
	if err := r.exec(ctx, "ALTER TABLE wide COLVIEW", "SELECT * FROM gs_imcv_flush('wide')"); err != nil {
		return err
	}
	want, err := r.one(ctx, query)
	if err != nil {
		return err
	}
	if err := errors.Join(r.session.Close(), r.db.Close()); err != nil {
		return err
	}
	start := time.Now()
	if r.db, err = weft.Open(ctx, filepath.Join(r.dir, "restart"), weft.Options{}); err != nil {
		return err
	}
	r.session = r.db.Session()
	opened := time.Since(start)
	got, err := r.one(ctx, query)
	if err == nil && got != want {
		err = fmt.Errorf("bench: after the restart the sum is %v, it was %v", got, want)
	}
	if err != nil {
		return err
	}
	first := time.Since(start)
	if err := r.exec(ctx, "SELECT * FROM gs_imcv_flush('wide')"); err != nil {
		return err
	}
	r.add(Figure{Name: "open", Value: milliseconds(opened), Unit: "ms"})
	r.add(Figure{Name: "first answer, from when it is opened", Value: milliseconds(first), Unit: "ms"})
	r.add(Figure{Name: "all units loaded, from when it is opened", Value: milliseconds(time.Since(start)), Unit: "ms"})
	return nil
}

// snapshot opens a REPEATABLE READ transaction in a session of its own, which the caller closes, and reads a
// number in it.
func (r *htapRunner) snapshot(ctx context.Context, query string) (old *queryRunner, value float64, err error) {
	old = &queryRunner{db: r.db, session: r.db.Session(), runs: r.runs}
	if err = old.exec(ctx, "SET threads = 1", "BEGIN ISOLATION LEVEL REPEATABLE READ"); err == nil {
		value, err = old.one(ctx, query)
	}
	return old, value, err
}
