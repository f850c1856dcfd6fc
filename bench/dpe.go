package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/weftdb/weft"
)

// DPEOptions say what DPE does. Zero values mean the defaults.
type DPEOptions struct {
	// Rows is the size of the partitioned table. Default 4,000,000.
	Rows int
	// Partitions is how many it has. Default 32.
	Partitions int
	// BuildRows is the size of the large build side. Default 1,000,000.
	BuildRows int
	// Runs is the number of measured runs of each query, of which the median counts. Default 7.
	Runs int
	// Dir is where the database is made, in a new directory that is removed at the end. Default: the
	// system's temporary directory.
	Dir string
	// Out receives the results as text.
	Out io.Writer
}

func (o DPEOptions) withDefaults() (DPEOptions, error) {
	if o.Rows < 0 || o.Partitions < 0 || o.BuildRows < 0 || o.Runs < 0 {
		return o, errors.New("bench: numbers cannot be negative")
	}
	o.Rows, o.Partitions, o.BuildRows = cmp.Or(o.Rows, 4_000_000), cmp.Or(o.Partitions, 32), cmp.Or(o.BuildRows, 1_000_000)
	o.Runs, o.Out = cmp.Or(o.Runs, 7), cmp.Or(o.Out, io.Discard)
	return o, nil
}

// DPE measures how joins leave out partitions at run time (dynamic partition elimination), on one thread,
// each query against the same one without selectors, and a join that goes to disk against one in memory.
func DPE(ctx context.Context, o DPEOptions) ([]Figure, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &dpeRunner{queryRunner: queryRunner{runs: o.Runs, figureList: figureList{out: o.Out}}, o: o}
	err = inTempDir(o.Dir, "weft-dpe-", func(dir string) error { return r.run(ctx, filepath.Join(dir, "db")) })
	return r.figures, err
}

// dpeRunner is one run of the benchmark.
type dpeRunner struct {
	queryRunner
	o DPEOptions
}

const (
	withSelectors    = "RESET disabled_rules"
	withoutSelectors = "SET disabled_rules = 'select_partitions'"
	keysPerPartition = 1000
)

func (r *dpeRunner) run(ctx context.Context, dir string) (err error) {
	if r.db, err = weft.Open(ctx, dir, weft.Options{}); err != nil {
		return err
	}
	r.session = r.db.Session()
	defer func() { err = errors.Join(err, r.session.Close(), r.db.Close()) }()
	if err := r.fill(ctx); err != nil {
		return err
	}
	for _, mode := range []string{"row", "column"} {
		if err := errors.Join(r.oneLeaf(ctx, mode), r.allLeaves(ctx, mode)); err != nil {
			return err
		}
	}
	return errors.Join(r.selector(ctx), r.planning(ctx), r.disk(ctx))
}

// partitions makes a table partitioned by ranges of k.
func (r *dpeRunner) partitions(ctx context.Context, table string, n int) error {
	if err := r.exec(ctx, fmt.Sprintf("CREATE TABLE %s (id bigint, k integer, v bigint, w bigint) PARTITION BY RANGE (k)", table)); err != nil {
		return err
	}
	for i := range n {
		err := r.exec(ctx, fmt.Sprintf("CREATE TABLE %[1]s_%[2]d PARTITION OF %[1]s FOR VALUES FROM (%[3]d) TO (%[4]d)", table, i, i*keysPerPartition, (i+1)*keysPerPartition))
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *dpeRunner) fill(ctx context.Context) error {
	keys := r.o.Partitions * keysPerPartition
	err := errors.Join(r.partitions(ctx, "facts", r.o.Partitions), r.partitions(ctx, "few", r.o.Partitions), r.partitions(ctx, "wide", 1000), r.partitions(ctx, "other", 1000))
	if err != nil {
		return err
	}
	return r.exec(ctx,
		fmt.Sprintf("INSERT INTO facts SELECT g, (g::bigint * 7919) %% %d, g, g %% 100 FROM generate_series(1, %d) g", keys, r.o.Rows),
		fmt.Sprintf("INSERT INTO few SELECT g, g * %d, g, g FROM generate_series(0, %d) g", keysPerPartition, r.o.Partitions-1),
		"CREATE TABLE dim (k integer, leaf integer, place integer)",
		fmt.Sprintf("INSERT INTO dim SELECT g, g / %[1]d, g %% %[1]d FROM generate_series(0, %[2]d) g", keysPerPartition, keys-1),
		"CREATE TABLE build (k integer, x bigint)",
		// Half of the partitions are never hit, so that there is always something left to find.
		fmt.Sprintf("INSERT INTO build SELECT (g::bigint * 104729) %% %d, g FROM generate_series(1, %d) g", max(keys/2, 1), r.o.BuildRows),
		"ALTER TABLE facts COLVIEW", "ANALYZE", "SELECT * FROM gs_imcv_flush('facts')", "SET threads = 1", "CHECKPOINT")
}

// compare measures a query with and without selectors and others, in turn, and returns their timings in this
// order.
func (r *dpeRunner) compare(ctx context.Context, mode, query string, others ...way) ([]timing, error) {
	ways := append([]way{{mode, query, withSelectors}, {mode, query, withoutSelectors}}, others...)
	t, err := r.inTurn(ctx, ways...)
	if err == nil && t[0].rows != t[1].rows {
		err = fmt.Errorf("%s: %d rows with selectors, %d without", query, t[0].rows, t[1].rows)
	}
	return t, errors.Join(err, r.exec(ctx, withSelectors))
}

// oneLeaf joins with the keys of one partition. The whole that this should take a share of is the join with the keys
// of all: rows that find nothing cost less than rows that do, so that the same query without selectors, for which
// most rows find nothing, is not.
func (r *dpeRunner) oneLeaf(ctx context.Context, mode string) error {
	const build = "SELECT count(DISTINCT k) FROM dim WHERE leaf = 3" // which hashes its keys, too
	const whole = "SELECT count(*), sum(v) FROM facts JOIN dim ON facts.k = dim.k"
	query := whole + " WHERE leaf = 3"
	if err := r.exec(ctx, "SET enable_runtime_filter = off"); err != nil {
		return err
	}
	t, err := r.compare(ctx, mode, query, way{mode, whole, withoutSelectors}, way{mode: mode, query: build})
	if err != nil {
		return err
	}
	with, without, all, built := &t[0], &t[1], &t[2], &t[3]
	var ideal timing
	for i, cpu := range all.cpuRuns {
		ideal.cpuRuns = append(ideal.cpuRuns, cpu/float64(r.o.Partitions)+built.cpuRuns[i])
	}
	r.add(Figure{Name: fmt.Sprintf("one of %d leaves hit, by %ss: of the whole's share and the build", r.o.Partitions, mode), Value: with.cpuOf(&ideal), Unit: "times", Goal: 1.15})
	r.add(Figure{Name: fmt.Sprintf("the same, by %ss: CPU with selectors", mode), Value: with.cpu, Unit: "ms"})
	r.add(Figure{Name: fmt.Sprintf("the same, by %ss: CPU without", mode), Value: without.cpu, Unit: "ms"})
	return r.exec(ctx, "SET enable_runtime_filter = on")
}

// allLeaves joins with one key of every partition.
func (r *dpeRunner) allLeaves(ctx context.Context, mode string) error {
	t, err := r.compare(ctx, mode, "SELECT count(*), sum(v) FROM facts JOIN dim ON facts.k = dim.k WHERE place = 5")
	if err != nil {
		return err
	}
	r.add(Figure{Name: fmt.Sprintf("all leaves hit, by %ss: CPU with selectors of that without", mode), Value: t[0].cpuOf(&t[1]), Unit: "times", Goal: 1.02})
	return nil
}

// selector joins a large build with a probe side of a few rows.
func (r *dpeRunner) selector(ctx context.Context) error {
	t, err := r.compare(ctx, "row", "SELECT count(*), sum(x) FROM few JOIN build ON few.k = build.k")
	if err != nil {
		return err
	}
	r.add(Figure{Name: fmt.Sprintf("build of %d rows in random order: CPU with a selector", r.o.BuildRows), Value: t[0].cpuOf(&t[1]), Unit: "times", Goal: 1.05})
	return nil
}

// indexedRowBytes is about what a build row of disk takes in memory, with its place in the hash table.
const indexedRowBytes = 40

// disk joins with a build of four times what it may take in memory.
func (r *dpeRunner) disk(ctx context.Context) error {
	const query = "SELECT count(*), sum(v), sum(x) FROM facts JOIN build ON facts.k = build.k AND facts.id = build.x"
	small := fmt.Sprintf("SET work_mem = '%dkB'", max(r.o.BuildRows*indexedRowBytes/4/1024, 1))
	t, err := r.inTurn(ctx, way{"row", query, small}, way{"row", query, "RESET work_mem"})
	if err != nil {
		return err
	}
	onDisk, inMemory := &t[0], &t[1]
	if onDisk.rows != inMemory.rows {
		return fmt.Errorf("%s: %d rows on disk, %d in memory", query, onDisk.rows, inMemory.rows)
	}
	r.add(Figure{Name: "join with a build of four times work_mem: CPU of that in memory", Value: onDisk.cpuOf(inMemory), Unit: "times", Goal: 2.5})
	r.add(Figure{Name: "the same: time", Value: onDisk.wall / inMemory.wall, Unit: "times", Goal: 2.5})
	return nil
}

// planning explains a join of two tables of 1,000 partitions.
func (r *dpeRunner) planning(ctx context.Context) error {
	for _, query := range []string{"EXPLAIN SELECT count(*) FROM wide JOIN other USING (k)", "EXPLAIN SELECT count(*) FROM wide JOIN dim USING (k) WHERE leaf = 3"} {
		var took []float64
		for i := range r.runs + 1 {
			start := time.Now()
			if _, err := r.drain(ctx, query+strings.Repeat(" ", i)); err != nil { // each text is planned anew
				return err
			}
			if i > 0 {
				took = append(took, milliseconds(time.Since(start)))
			}
		}
		r.add(Figure{Name: "planning: " + strings.TrimPrefix(query, "EXPLAIN SELECT count(*) FROM "), Value: median(took), Unit: "ms", Goal: 5})
	}
	return nil
}
