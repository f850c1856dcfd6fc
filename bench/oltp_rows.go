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

// commits measures single-row writes that commit, in turn with bare syncs.
func (r *oltpRunner) commits(ctx context.Context) (err error) {
	f, err := os.Create(filepath.Join(r.dir, "sync"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	order := rand.New(rand.NewPCG(3, 4))
	var appended, inPlace spent
	var figures []Figure
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
		writes, appends, overwrites, err := r.besideSyncs(f, func(int) error {
			_, err := stmt.ExecContext(ctx, w.args()...)
			return err
		})
		if err = errors.Join(err, stmt.Close()); err != nil {
			return err
		}
		figures = append(figures,
			Figure{Name: w.name + ", autocommit: CPU above the bare sync's", Value: writes.cpuMicros - appends.cpuMicros, Unit: "µs", Goal: 60},
			Figure{Name: w.name + ", autocommit: p50 of the bare in-place sync's", Value: writes.p50() / overwrites.p50(), Unit: "times", Goal: 1.3})
		appended.merge(appends)
		inPlace.merge(overwrites)
	}
	r.add(Figure{Name: "bare append of 4 KiB and fdatasync: CPU", Value: appended.cpuMicros, Unit: "µs"})
	r.add(Figure{Name: "bare append of 4 KiB and fdatasync: p50", Value: appended.p50(), Unit: "µs"})
	r.add(Figure{Name: "bare 4 KiB in place and fdatasync: p50", Value: inPlace.p50(), Unit: "µs"})
	for _, figure := range figures {
		r.add(figure)
	}
	return nil
}

// syncTurn is how many operations follow one another before it is the next kind's turn.
const syncTurn = 50

// besideSyncs measures an operation, and in turn what the file system takes: appending a block to f and
// overwriting one, each with a sync of the data.
func (r *oltpRunner) besideSyncs(f *os.File, op func(i int) error) (ops, appended, inPlace *spent, err error) {
	block := make([]byte, 4096)
	write := func(at int64) error {
		if _, err := f.WriteAt(block, at); err != nil {
			return err
		}
		return syncData(f)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, nil, err
	}
	end := max(info.Size(), int64(len(block)))
	ops, appended, inPlace = &spent{}, &spent{}, &spent{}
	for done := 0; done < r.o.Commits; done += syncTurn {
		n := min(syncTurn, r.o.Commits-done)
		for _, kind := range []struct {
			into *spent
			op   func(i int) error
		}{
			{appended, func(int) error { end += int64(len(block)); return write(end - int64(len(block))) }},
			{inPlace, func(int) error { return write(0) }},
			{ops, op},
		} {
			s, err := r.measured(n, kind.op)
			if err != nil {
				return nil, nil, nil, err
			}
			kind.into.merge(s)
		}
	}
	return ops, appended, inPlace, nil
}

// newRow returns a row with a key above all others.
func (r *oltpRunner) newRow() []any {
	r.nextID++
	return []any{r.nextID, r.nextID % 1000, r.nextID * 3, rowText}
}

var rowText = strings.Repeat("y", 80)

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
