package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/weftdb/weft"
)

// HTAPOptions say what HTAP does. Zero values mean the defaults.
type HTAPOptions struct {
	// Rows is the size of the table of 20 columns that the sweep reads. Default 1,000,000.
	Rows int
	// WideRows is the size of the table of 50 columns, and of that whose view meets a budget. Default
	// 2,000,000.
	WideRows int
	// FilterRows is the size of the table that is filtered by one column. Default 10,000,000.
	FilterRows int
	// Runs is the number of measured runs of each query, of which the median counts. Default 5.
	Runs int
	// Steps are the parts to run, by name. Default: all of HTAPSteps.
	Steps []string
	// Scale is the TPC-H scale factor of the tables whose units are compared with their rows. Default 0.1.
	Scale float64
	// Seconds is how long a mix of readers and writers runs. Default 3.
	Seconds float64
	// Idle is how long a transaction stays open while rows are changed. Default 5 seconds.
	Idle time.Duration
	// Dir is where the databases are made, in a new directory that is removed at the end. Default:
	// the system's temporary directory.
	Dir string
	// Out receives the results as text.
	Out io.Writer
}

// htapStep is a part of the benchmark.
type htapStep struct {
	name string
	run  func(*htapRunner, context.Context) error
}

// htapSteps are the parts in the order they run in.
var htapSteps = []htapStep{
	{"filter", (*htapRunner).filter},
	{"sweep", (*htapRunner).sweep},
	{"wide", (*htapRunner).wide},
	{"late", (*htapRunner).late},
	{"freshness", (*htapRunner).freshness},
	{"writes", (*htapRunner).writes},
	{"ch", (*htapRunner).mixed},
	{"storm", (*htapRunner).storm},
	{"sizes", (*htapRunner).sizes},
	{"budget", (*htapRunner).budget},
	{"restart", (*htapRunner).restart},
}

// HTAPSteps lists the parts of the benchmark.
func HTAPSteps() []string {
	var names []string
	for _, s := range htapSteps {
		names = append(names, s.name)
	}
	return names
}

func (o HTAPOptions) withDefaults() (HTAPOptions, error) {
	if o.Rows < 0 || o.WideRows < 0 || o.FilterRows < 0 || o.Runs < 0 || o.Scale < 0 || o.Idle < 0 || o.Seconds < 0 {
		return o, errors.New("bench: numbers cannot be negative")
	}
	o.Rows, o.WideRows, o.Runs = cmp.Or(o.Rows, 1_000_000), cmp.Or(o.WideRows, 2_000_000), cmp.Or(o.Runs, 5)
	o.FilterRows, o.Scale = cmp.Or(o.FilterRows, 10_000_000), cmp.Or(o.Scale, 0.1)
	o.Seconds, o.Idle, o.Out = cmp.Or(o.Seconds, 3), cmp.Or(o.Idle, 5*time.Second), cmp.Or(o.Out, io.Discard)
	for _, step := range o.Steps {
		if !slices.Contains(HTAPSteps(), step) {
			return o, fmt.Errorf("bench: there is no step %q, only %v", step, HTAPSteps())
		}
	}
	return o, nil
}

// HTAP measures column views beside rows, most things against another one of the same run: filters, hybrid scans by
// selectivity, late fetches, freshness under writes, writes and order entry with and without views, changed
// rows beneath an idle snapshot, sizes, little memory, a restart. A wrong result is an error.
func HTAP(ctx context.Context, o HTAPOptions) ([]Figure, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &htapRunner{queryRunner: queryRunner{runs: o.Runs, figureList: figureList{out: o.Out}}, o: o}
	err = inTempDir(o.Dir, "weft-htap-", func(dir string) error {
		r.dir = dir
		for _, step := range htapSteps {
			if len(o.Steps) > 0 && !slices.Contains(o.Steps, step.name) {
				continue
			}
			if err := r.inDatabase(ctx, step); err != nil {
				return err
			}
		}
		return nil
	})
	return r.figures, err
}

// htapRunner is one run of the benchmark.
type htapRunner struct {
	queryRunner
	o   HTAPOptions
	dir string
}

// inDatabase runs a part in a database of its own.
func (r *htapRunner) inDatabase(ctx context.Context, step htapStep) (err error) {
	dir := filepath.Join(r.dir, step.name)
	if r.db, err = weft.Open(ctx, dir, weft.Options{}); err != nil {
		return err
	}
	r.session = r.db.Session()
	fmt.Fprintf(r.o.Out, "\n%s\n", step.name)
	err = errors.Join(step.run(r, ctx), r.session.Close(), r.db.Close())
	return errors.Join(err, os.RemoveAll(dir))
}
