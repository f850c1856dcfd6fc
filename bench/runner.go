package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/weftdb/weft"
	"github.com/weftdb/weft/bench/tpch"
)

// ErrWrong tells that a query failed or gave a wrong answer; the report says which.
var ErrWrong = errors.New("bench: some queries failed or gave wrong answers")

// runner is one run of a benchmark.
type runner struct {
	o       Options
	gen     *tpch.Generator
	dir     string
	threads int
	db      *weft.DB
	session *weft.Session
	report  *Report
}

// TPCH runs the TPC-H benchmark: it generates and loads the data durably, makes column views,
// measures the queries in each mode and checks their answers. With ErrWrong the report is complete.
func TPCH(ctx context.Context, o Options) (*Report, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &runner{o: o, threads: o.Threads}
	if r.threads == 0 {
		r.threads = runtime.GOMAXPROCS(0)
	}
	if r.gen, err = tpch.New(o.Scale); err != nil {
		return nil, err
	}
	r.report = newReport(o, r.gen.Scale(), r.threads)
	remove, err := r.chooseDir()
	if err != nil {
		return nil, err
	}
	err = r.open(ctx)
	if err == nil {
		err = r.run(ctx)
		r.session.Close()
		err = errors.Join(err, r.db.Close())
	}
	return r.report, errors.Join(err, remove())
}

// chooseDir settles the database's directory and returns what to do with it at the end.
func (r *runner) chooseDir() (remove func() error, err error) {
	if r.o.Dir != "" {
		r.dir = r.o.Dir
		return func() error { return nil }, nil
	}
	if r.dir, err = os.MkdirTemp("", "weft-tpch-"); err != nil {
		return nil, err
	}
	return func() error {
		if r.o.Keep {
			fmt.Fprintf(r.o.Out, "The database stays in %s\n", r.dir)
			return nil
		}
		return os.RemoveAll(r.dir)
	}, nil
}

func (r *runner) open(ctx context.Context) (err error) {
	if r.db, err = weft.Open(ctx, r.dir, weft.Options{Threads: r.threads, LimitRuntime: true}); err != nil {
		return err
	}
	r.session = r.db.Session()
	return nil
}

func (r *runner) run(ctx context.Context) error {
	if err := r.prepareData(ctx); err != nil {
		return err
	}
	if r.report.DiskBytes = directoryBytes(r.dir); r.report.DiskBytes > 0 {
		fmt.Fprintf(r.o.Out, "On disk: %s MB\n", grouped(r.report.DiskBytes>>20))
	}
	if r.o.LoadOnly {
		return nil
	}
	if err := r.makeViews(ctx); err != nil {
		return err
	}
	return r.measureAll(ctx)
}

// prepareData loads the data unless the directory holds them already.
func (r *runner) prepareData(ctx context.Context) error {
	if r.o.Scale != r.gen.Scale() {
		fmt.Fprintf(r.o.Out, "As in dbgen, scale factor %v counts as %v.\n", r.o.Scale, r.gen.Scale())
	}
	if loaded := r.tableExists(ctx, tpch.LineItem); loaded {
		fmt.Fprintf(r.o.Out, "%s holds TPC-H tables already.\n", r.dir)
		return r.checkCounts(ctx)
	}
	r.gen.Prepare()
	return r.loadAll(ctx)
}

func (r *runner) tableExists(ctx context.Context, table tpch.Table) bool {
	rows, err := r.session.Query(ctx, "SELECT 1 FROM "+table.String()+" LIMIT 0")
	if err != nil {
		return false
	}
	return rows.Close() == nil
}

// directoryBytes adds up the sizes of a directory's files, 0 if it cannot be read.
func directoryBytes(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}
