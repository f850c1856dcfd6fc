package bench

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"time"

	_ "github.com/weftdb/weft" // the database/sql driver
)

// OLTPOptions say what OLTP does. Zero values mean the defaults.
type OLTPOptions struct {
	// Rows is the size of the table that single rows are read from and written to. Default 1,000,000.
	Rows int
	// Commits is how many single-row commits are measured of each kind. Default 2,000.
	Commits int
	// Writers is how many sessions commit at a time. Default 64.
	Writers int
	// Scale is TPC-H's scale factor for the scan and COPY of lineitem. Default 0.1.
	Scale float64
	// Dir is where the database and the files compared with are made, in a new directory that is
	// removed at the end. Default: the system's temporary directory.
	Dir string
	// Out receives the results as text.
	Out io.Writer
}

func (o OLTPOptions) withDefaults() (OLTPOptions, error) {
	if o.Rows < 0 || o.Commits < 0 || o.Writers < 0 || o.Scale < 0 {
		return o, errors.New("bench: numbers cannot be negative")
	}
	o.Rows, o.Commits, o.Writers = cmp.Or(o.Rows, 1_000_000), cmp.Or(o.Commits, 2_000), cmp.Or(o.Writers, 64)
	o.Scale, o.Out = cmp.Or(o.Scale, 0.1), cmp.Or(o.Out, io.Discard)
	return o, nil
}

// OLTP measures the row store through database/sql: look-ups and single-row writes with their commits,
// against what the file system takes for a sync in the same run, and scans and loads of TPC-H's
// lineitem. CPU is that of the whole process, with what it does in the background meanwhile.
func OLTP(ctx context.Context, o OLTPOptions) ([]Figure, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &oltpRunner{figureList: figureList{out: o.Out}, o: o, ctx: ctx}
	err = inTempDir(o.Dir, "weft-oltp-", func(dir string) error {
		r.dir = dir
		return r.run(ctx)
	})
	return r.figures, err
}

// oltpRunner is one run of the benchmark.
type oltpRunner struct {
	figureList
	o      OLTPOptions
	dir    string
	ctx    context.Context // that may end the run
	db     *sql.DB
	nextID int
}

func (r *oltpRunner) run(ctx context.Context) (err error) {
	if r.db, err = sql.Open("weft", filepath.Join(r.dir, "db")); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.db.Close()) }()
	for _, step := range []func(context.Context) error{r.fill, r.lookUps, r.commits, r.manyWriters, r.insertInTransaction, r.lineitem} {
		// A context that can end costs every statement more than some of them take.
		if err := errors.Join(ctx.Err(), step(context.WithoutCancel(ctx))); err != nil {
			return err
		}
		settle()
	}
	return nil
}

// settle waits until the background work that a step has left, merging files above all, is done,
// or a minute has passed: it belongs to the step before.
func settle() {
	const pause = 200 * time.Millisecond
	for range time.Minute / pause {
		before, known := cpuTime()
		time.Sleep(pause)
		if after, _ := cpuTime(); !known || after-before < pause/20 {
			return
		}
	}
}

// fill makes the table of small rows: a key, two numbers and 80 bytes of text.
func (r *oltpRunner) fill(ctx context.Context) error {
	if _, err := r.db.ExecContext(ctx, "CREATE TABLE rows (id bigint PRIMARY KEY, a integer, b bigint, c text)"); err != nil {
		return err
	}
	start := time.Now()
	_, err := r.db.ExecContext(ctx, "INSERT INTO rows SELECT g, g % 1000, g * 3, repeat('x', 80) FROM generate_series(1, $1::bigint) g", r.o.Rows)
	r.nextID = r.o.Rows
	if err != nil {
		return err
	}
	r.add(Figure{Name: "INSERT ... SELECT into the table, durable", Value: float64(r.o.Rows) / time.Since(start).Seconds(), Unit: "rows/s"})
	_, err = r.db.ExecContext(ctx, "VACUUM rows") // packs them now, not in some seconds
	return err
}

// spent is what a number of operations took.
type spent struct {
	cpuMicros float64   // of one operation, on average
	wall      []float64 // microseconds of each, where they were taken
	seconds   float64   // of all
}

func (s *spent) p50() float64 { return median(s.wall) }

// merge adds the operations of another measurement.
func (s *spent) merge(other *spent) {
	had, more := float64(len(s.wall)), float64(len(other.wall))
	s.cpuMicros = (s.cpuMicros*had + other.cpuMicros*more) / max(had+more, 1)
	s.wall = append(s.wall, other.wall...)
	s.seconds += other.seconds
}

// measured runs an operation many times.
func (r *oltpRunner) measured(n int, op func(i int) error) (*spent, error) {
	s := &spent{wall: make([]float64, 0, n)}
	before, _ := cpuTime()
	began := time.Now()
	last := began
	for i := range n {
		if err := op(i); err != nil {
			return nil, err
		}
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		now := time.Now()
		s.wall = append(s.wall, float64(now.Sub(last).Nanoseconds())/1000)
		last = now
	}
	after, _ := cpuTime()
	s.seconds = time.Since(began).Seconds()
	s.cpuMicros = float64((after - before).Nanoseconds()) / 1000 / float64(max(n, 1))
	return s, nil
}

// medianOf runs a measurement five times and returns the run with the median value.
func medianOf(run func() (*spent, error), value func(*spent) float64) (*spent, error) {
	var runs []*spent
	for range 5 {
		s, err := run()
		if err != nil {
			return nil, err
		}
		runs = append(runs, s)
	}
	slices.SortFunc(runs, func(a, b *spent) int {
		if value(a) < value(b) {
			return -1
		}
		return 1
	})
	return runs[len(runs)/2], nil
}

func cpuOf(s *spent) float64 { return s.cpuMicros }
