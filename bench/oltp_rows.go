package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// lookUps reads rows by primary key, at random: first ones nobody has read, then those again.
func (r *oltpRunner) lookUps(ctx context.Context) error {
	stmt, err := r.db.PrepareContext(ctx, "SELECT a, b, c FROM rows WHERE id = $1")
	if err != nil {
		return err
	}
	defer stmt.Close()
	order := rand.New(rand.NewPCG(1, 2)).Perm(r.o.Rows)
	order = order[:min(len(order), 200_000)]
	var a, b int64
	var c string
	read := func() (*spent, error) {
		return r.measured(len(order), func(i int) error { return stmt.QueryRowContext(ctx, 1+order[i]).Scan(&a, &b, &c) })
	}
	first, err := read()
	if err != nil {
		return err
	}
	r.add(Figure{Name: "SELECT by primary key, prepared, first time: CPU", Value: first.cpuMicros, Unit: "µs"})
	again, err := medianOf(read, cpuOf)
	if err != nil {
		return err
	}
	r.add(Figure{Name: "SELECT by primary key, prepared: CPU", Value: again.cpuMicros, Unit: "µs", Goal: 9})
	return nil
}

// commits measures single-row writes that commit, between two measurements of bare syncs.
func (r *oltpRunner) commits(ctx context.Context) error {
	appended, inPlace, err := r.syncs()
	if err != nil {
		return err
	}
	r.add(Figure{Name: "bare append of 4 KiB and fdatasync: CPU", Value: appended.cpuMicros, Unit: "µs"})
	r.add(Figure{Name: "bare append of 4 KiB and fdatasync: p50", Value: appended.p50(), Unit: "µs"})
	r.add(Figure{Name: "bare 4 KiB in place and fdatasync: p50", Value: inPlace.p50(), Unit: "µs"})
	order := rand.New(rand.NewPCG(3, 4))
	for _, w := range []struct {
		name, query string
		args        func() []any
	}{
		{"INSERT", "INSERT INTO rows VALUES ($1, $2, $3, $4)", func() []any { return r.newRow() }},
		{"UPDATE by key", "UPDATE rows SET b = b + $2 WHERE id = $1", func() []any { return []any{1 + order.IntN(r.o.Rows), 1} }},
		{"upsert", "INSERT INTO rows VALUES ($1, 1, 1, 'x') ON CONFLICT (id) DO UPDATE SET b = rows.b + 1", func() []any { return []any{1 + order.IntN(r.o.Rows)} }},
		{"DELETE by key", "DELETE FROM rows WHERE id = $1", func() []any { r.nextID--; return []any{r.nextID + 1} }},
	} {
		stmt, err := r.db.PrepareContext(ctx, w.query)
		if err != nil {
			return err
		}
		s, err := r.measured(r.o.Commits, func(int) error {
			_, err := stmt.ExecContext(ctx, w.args()...)
			return err
		})
		if err = errors.Join(err, stmt.Close()); err != nil {
			return err
		}
		r.add(Figure{Name: w.name + ", autocommit: CPU above the bare sync's", Value: s.cpuMicros - appended.cpuMicros, Unit: "µs", Goal: 60})
		r.add(Figure{Name: w.name + ", autocommit: p50 of the bare in-place sync's", Value: s.p50() / inPlace.p50(), Unit: "times", Goal: 1.3})
	}
	return nil
}

// newRow returns a row with a key above all others.
func (r *oltpRunner) newRow() []any {
	r.nextID++
	return []any{r.nextID, r.nextID % 1000, r.nextID * 3, rowText}
}

var rowText = strings.Repeat("y", 80)

// syncs measures what the file system takes: appending a block and overwriting one, each with a
// sync of the data.
func (r *oltpRunner) syncs() (appended, inPlace *spent, err error) {
	f, err := os.Create(filepath.Join(r.dir, "sync"))
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	block := make([]byte, 4096)
	write := func(at func(i int) int64) (*spent, error) {
		return r.measured(r.o.Commits, func(i int) error {
			if _, err := f.WriteAt(block, at(i)); err != nil {
				return err
			}
			return syncData(f)
		})
	}
	if appended, err = write(func(i int) int64 { return int64(i) * 4096 }); err != nil {
		return nil, nil, err
	}
	inPlace, err = write(func(int) int64 { return 0 })
	return appended, inPlace, err
}

// manyWriters compares many sessions that commit at a time with one.
func (r *oltpRunner) manyWriters(ctx context.Context) error {
	r.db.SetMaxIdleConns(r.o.Writers)
	rate := func(writers, commits int) (float64, error) {
		errs := make(chan error, writers)
		var ids sync.Mutex
		start := time.Now()
		for range writers {
			go func() {
				errs <- r.insertEach(ctx, commits/writers, func() []any {
					ids.Lock()
					defer ids.Unlock()
					return r.newRow()
				})
			}()
		}
		var err error
		for range writers {
			err = errors.Join(err, <-errs)
		}
		return float64(commits/writers*writers) / time.Since(start).Seconds(), err
	}
	one, err := rate(1, r.o.Commits)
	if err != nil {
		return err
	}
	many, err := rate(r.o.Writers, max(r.o.Commits*5, r.o.Writers))
	if err != nil {
		return err
	}
	r.add(Figure{Name: "one writer", Value: one, Unit: "commits/s"})
	r.add(Figure{Name: "all writers together, of one writer", Value: many / one, Unit: "times", Goal: 10, AtLeast: true})
	return nil
}

func (r *oltpRunner) insertEach(ctx context.Context, n int, row func() []any) error {
	conn, err := r.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	stmt, err := conn.PrepareContext(ctx, "INSERT INTO rows VALUES ($1, $2, $3, $4)")
	if err != nil {
		return err
	}
	defer stmt.Close()
	for range n {
		if _, err := stmt.ExecContext(ctx, row()...); err != nil {
			return err
		}
	}
	return nil
}

// insertInTransaction inserts many rows one by one through a prepared statement, and commits.
func (r *oltpRunner) insertInTransaction(ctx context.Context) error {
	rows := max(r.o.Rows/5, 1)
	s, err := medianOf(func() (*spent, error) { return r.insertRows(ctx, rows) }, cpuOf)
	if err != nil {
		return err
	}
	r.add(Figure{Name: "INSERT in one transaction, prepared, with its commit: CPU a row", Value: s.cpuMicros, Unit: "µs", Goal: 3})
	return nil
}

func (r *oltpRunner) insertRows(ctx context.Context, rows int) (*spent, error) {
	before, _ := cpuTime()
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	stmt, err := tx.PrepareContext(ctx, "INSERT INTO rows VALUES ($1, $2, $3, $4)")
	if err != nil {
		return nil, err
	}
	for range rows {
		if _, err := stmt.ExecContext(ctx, r.newRow()...); err != nil {
			return nil, err
		}
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	after, _ := cpuTime()
	return &spent{cpuMicros: float64((after - before).Nanoseconds()) / 1000 / float64(rows)}, nil
}
