package weft

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// copyOptions are the options of COPY.
type copyOptions struct {
	format    string // csv, text or parquet
	delimiter byte
	quote     byte
	escape    byte
	null      string
	header    bool
}

func readCopyOptions(n *sql.Copy) (copyOptions, error) {
	o := copyOptions{format: "text", quote: '"', escape: '"'}
	if strings.HasSuffix(n.File, ".parquet") {
		o.format = "parquet"
	}
	given := map[string]string{}
	for i := range n.Options {
		opt := &n.Options[i]
		if _, twice := given[opt.Name]; twice {
			return o, sqlerr.New(sqlerr.SyntaxError, "conflicting or redundant options").At(opt.Start)
		}
		given[opt.Name] = opt.Value
		if err := o.read(opt); err != nil {
			return o, err
		}
	}
	switch o.format {
	case "csv":
		o.delimiter = ','
	case "text":
		o.delimiter, o.null = '\t', `\N`
	case "parquet":
		return o, nil
	default:
		return o, sqlerr.New(sqlerr.InvalidParameterValue, "COPY format %q not recognized", o.format).At(n.Start).WithHint("Formats: csv, text, parquet.")
	}
	return o, o.setCharacters(given)
}

// read checks an option by itself and takes what stands for itself.
func (o *copyOptions) read(opt *sql.Option) error {
	switch opt.Name {
	case "format":
		o.format = strings.ToLower(opt.Value)
	case "csv":
		o.format = "csv"
	case "header":
		text := "on"
		if opt.HasValue {
			var err error
			if text, err = boolean("header", opt.Value); err != nil {
				return sqlerr.New(sqlerr.SyntaxError, "header requires a Boolean value").At(opt.Start)
			}
		}
		o.header = text == "on"
	case "delimiter", "quote", "escape", "null":
		if !opt.HasValue {
			return sqlerr.New(sqlerr.SyntaxError, "%s requires a parameter", opt.Name)
		}
	case "encoding":
		if !isUTF8(opt.Value) {
			return sqlerr.New(sqlerr.FeatureNotSupported, "encoding %q is not supported", opt.Value).At(opt.Start).WithHint("Convert the file to UTF8.")
		}
	default:
		return sqlerr.New(sqlerr.SyntaxError, "option %q not recognized", opt.Name).At(opt.Start)
	}
	return nil
}

// setCharacters takes the delimiter, the quote, the escape and the null string, in the order in
// which PostgreSQL checks them.
func (o *copyOptions) setCharacters(given map[string]string) error {
	csv := o.format == "csv"
	if v, ok := given["delimiter"]; ok {
		if len(v) != 1 {
			return sqlerr.New(sqlerr.FeatureNotSupported, "COPY delimiter must be a single one-byte character")
		}
		o.delimiter = v[0]
	}
	if v, ok := given["null"]; ok {
		o.null = v
	}
	switch {
	case o.delimiter == '\r' || o.delimiter == '\n':
		return sqlerr.New(sqlerr.InvalidParameterValue, "COPY delimiter cannot be newline or carriage return")
	case strings.ContainsAny(o.null, "\r\n"):
		return sqlerr.New(sqlerr.InvalidParameterValue, "COPY null representation cannot use newline or carriage return")
	case !csv && strings.IndexByte(`\.abcdefghijklmnopqrstuvwxyz0123456789`, o.delimiter) >= 0:
		return sqlerr.New(sqlerr.InvalidParameterValue, `COPY delimiter cannot be "%c"`, o.delimiter)
	}
	quote, quoteGiven := given["quote"]
	escape, escapeGiven := given["escape"]
	switch {
	case !csv && quoteGiven:
		return sqlerr.New(sqlerr.FeatureNotSupported, "COPY quote available only in CSV mode")
	case quoteGiven && len(quote) != 1:
		return sqlerr.New(sqlerr.FeatureNotSupported, "COPY quote must be a single one-byte character")
	case quoteGiven:
		o.quote, o.escape = quote[0], quote[0]
	}
	switch {
	case csv && o.delimiter == o.quote:
		return sqlerr.New(sqlerr.InvalidParameterValue, "COPY delimiter and quote must be different")
	case !csv && escapeGiven:
		return sqlerr.New(sqlerr.FeatureNotSupported, "COPY escape available only in CSV mode")
	case escapeGiven && len(escape) != 1:
		return sqlerr.New(sqlerr.FeatureNotSupported, "COPY escape must be a single one-byte character")
	case escapeGiven:
		o.escape = escape[0]
	}
	switch {
	case strings.IndexByte(o.null, o.delimiter) >= 0:
		return sqlerr.New(sqlerr.FeatureNotSupported, "COPY delimiter must not appear in the NULL specification")
	case csv && strings.IndexByte(o.null, o.quote) >= 0:
		return sqlerr.New(sqlerr.FeatureNotSupported, "CSV quote character must not appear in the NULL specification")
	}
	return nil
}

// copy runs COPY.
func (r *running) copy(n *sql.Copy) (*Rows, error) {
	if n.Program || n.Stdio {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "COPY with STDIN, STDOUT or PROGRAM is not supported yet").At(n.Start).WithHint("Name a file.")
	}
	if n.Where != nil {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "COPY FROM ... WHERE is not supported yet").At(n.Start)
	}
	o, err := readCopyOptions(n)
	if err != nil {
		return nil, err
	}
	if !n.From {
		return r.copyTo(n, o)
	}
	if err := r.refuseIfReadOnly(); err != nil {
		return nil, err
	}
	w := r.s.beginWork(&r.work)
	defer w.abandon()
	count, err := r.copyFrom(n, o, w)
	if err = w.end(r.ctx, err); err != nil {
		return nil, err
	}
	if err := r.refreshViews(r.ctx, w); err != nil {
		return nil, err
	}
	return &Rows{done: true, affected: count, tag: "COPY " + itoa(count)}, nil
}

func openFile(n *sql.Copy) (*os.File, error) {
	if isDirectory(n.File) {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is a directory", n.File).At(n.Start)
	}
	f, err := os.Open(n.File)
	if err != nil {
		return nil, sqlerr.New(sqlerr.UndefinedFile, "could not open file %q for reading: %w", n.File, err).At(n.Start)
	}
	return f, nil
}

// copyFrom loads a file into a table.
func (r *running) copyFrom(n *sql.Copy, o copyOptions, w *work) (int64, error) {
	in := r.s.input(w.txn.Catalog())
	t, err := (&planner.DDL{Input: in}).LookupTable(n.Table)
	if err != nil {
		return 0, err
	}
	if _, err := copiedColumns(t, n.Columns); err != nil { // comes before what is wrong with the file
		return 0, err
	}
	f, err := openFile(n)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	timed, cancel := r.timed()
	defer cancel()
	ctx := timed.ctx
	l, err := r.newCopyLoad(ctx, t, n.Columns, in, w)
	if err != nil {
		return 0, err
	}
	defer l.cancel()
	if o.format == "parquet" {
		err = l.parquet(f)
	} else {
		err = l.text(f, o)
	}
	if err != nil {
		l.abort()
		return 0, contextError(ctx, err)
	}
	count, err := timed.finishLoad(l, w)
	return count, contextError(ctx, err)
}

// copyLoad is a bulk load under way.
type copyLoad struct {
	// ctx ends with the statement, or with cancel at the first error: the loader stores batches in
	// the order of their numbers, and a worker that waits for its turn must not wait for one that
	// has failed.
	ctx       context.Context
	cancel    context.CancelFunc
	statement string
	table     *catalog.Table
	targets   []int // table position of each file column
	// loader stores rows of a table with stores, inserts those of a partitioned one.
	loader   *storage.Loader
	inserts  *partitionLoad
	into     planner.Target
	env      *expr.Env
	in       planner.Input
	threads  int
	wasEmpty bool
	keyUses  *planner.References // nil: no foreign keys

	mu         sync.Mutex // guards what follows
	collectors []*catalog.Collector
	changes    *exec.KeyChanges // nil: foreign keys, if any, are checked by a join at the end
}

func (r *running) newCopyLoad(ctx context.Context, t *catalog.Table, columns []sql.Ident, in planner.Input, w *work) (*copyLoad, error) {
	if t.Kind == catalog.PartitionedTable {
		if err := w.txn.LockTable(ctx, t.ID, storage.RowExclusive, storage.Wait); err != nil {
			return nil, err
		}
		in = r.s.input(w.txn.Catalog()) // its partitions may have changed in between
		now := in.Catalog.Table(t.ID)
		if now == nil {
			return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", t.Name)
		}
		t = now
	}
	l := &copyLoad{statement: r.text, table: t, in: in, threads: r.s.derived().threads, wasEmpty: (&world{db: r.s.db}).leafRows(in.Catalog, t) == 0}
	var err error
	l.env = r.sessionEnv()
	if l.targets, err = copiedColumns(t, columns); err != nil {
		return nil, err
	}
	l.ctx, l.cancel = context.WithCancel(ctx)
	if l.into, err = planner.TargetOf(t, in); err == nil {
		if l.into.Parts != nil {
			l.inserts = &partitionLoad{ctx: l.ctx, txn: w.txn, table: t, leaves: map[catalog.TableID]*leafLoad{},
				rows: func(leaf *catalog.Table) bool { return r.s.db.engine.RowCount(leaf) > 0 }}
		} else {
			l.loader, err = w.txn.NewLoader(l.ctx, t)
		}
	}
	if err != nil {
		l.cancel()
		return nil, err
	}
	if err := l.prepareKeys(w); err != nil {
		l.abort()
		l.cancel()
		return nil, err
	}
	return l, nil
}

// copiedColumns lists the positions of the columns that COPY reads or writes: those named, else all
// that are not generated.
func copiedColumns(t *catalog.Table, named []sql.Ident) ([]int, error) {
	var out []int
	for _, id := range named {
		pos := t.ColumnIndex(id.Name)
		if pos < 0 {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column %q of relation %q does not exist", id.Name, t.Name).At(id.Start)
		}
		if t.Columns[pos].Generated != "" {
			return nil, sqlerr.New(sqlerr.InvalidColumnReference, "column %q is a generated column", id.Name).
				WithDetail("Generated columns cannot be used in COPY.")
		}
		if slices.Contains(out, pos) {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column %q specified more than once", id.Name)
		}
		out = append(out, pos)
	}
	for pos := range t.Columns {
		if named == nil && t.Columns[pos].Generated == "" {
			out = append(out, pos)
		}
	}
	return out, nil
}

// stats merges what the workers saw.
func (l *copyLoad) stats() *catalog.Stats {
	all := catalog.NewCollector(l.table.Columns, 1)
	for _, c := range l.collectors {
		all.Merge(c)
	}
	return all.Stats()
}

// copyWorker completes and loads the batches of one goroutine.
type copyWorker struct {
	l        *copyLoad
	stats    *catalog.Collector
	row      *vector.Batch // full rows
	file     []*vector.Vector
	defaults []expr.Evaluator // by table position; nil for columns in the file
	// generated compute the columns at the positions generatedAt from the others.
	generated   []expr.Evaluator
	generatedAt []int
	placement   *exec.Placement
	buffers     *leafBuffers // of a partitioned table
}

func (l *copyLoad) worker() (*copyWorker, error) {
	w := &copyWorker{l: l, row: &vector.Batch{Vecs: make([]*vector.Vector, len(l.table.Columns))}, defaults: make([]expr.Evaluator, len(l.table.Columns))}
	if l.inserts != nil {
		w.buffers = &leafBuffers{load: l.inserts, leaves: map[catalog.TableID]*leafBuffer{}}
	}
	l.mu.Lock()
	w.stats = catalog.NewCollector(l.table.Columns, uint64(len(l.collectors)+1))
	l.collectors = append(l.collectors, w.stats)
	l.mu.Unlock()
	for _, pos := range l.targets {
		v := vector.New(l.table.Columns[pos].Type.Kind(), vector.BatchCap)
		w.file = append(w.file, v)
		w.row.Vecs[pos] = v
	}
	constraints, err := planner.BindConstraints(l.table, l.in)
	if err != nil {
		return nil, err
	}
	if w.placement, err = exec.NewPlacement(l.table, l.into, l.env); err != nil {
		return nil, err
	}
	for pos := range l.table.Columns {
		if w.row.Vecs[pos] == nil && l.table.Columns[pos].Generated == "" {
			if w.defaults[pos], err = expr.Compile(constraints.Defaults[pos], nil, l.env); err != nil {
				return nil, err
			}
		}
	}
	layout := map[expr.ColID]int{}
	for i, c := range constraints.RowCols {
		layout[c.ID] = i
	}
	at := func(id expr.ColID) int { return layout[id] }
	for _, g := range constraints.Generated {
		e, err := expr.Compile(g.Expr, at, l.env)
		if err != nil {
			return nil, err
		}
		w.generated, w.generatedAt = append(w.generated, e), append(w.generatedAt, g.Pos)
	}
	return w, nil
}

// load completes a batch of n file rows with defaults and generated columns, checks it and hands it on as number seq.
func (w *copyWorker) load(seq uint64, n int) error {
	w.row.N, w.row.Sel = n, nil
	for pos, e := range w.defaults {
		if e == nil {
			continue
		}
		v, err := e.Eval(&vector.Batch{N: n}, nil)
		if err != nil {
			return err
		}
		w.row.Vecs[pos] = v
	}
	for i, e := range w.generated {
		v, err := e.Eval(w.row, nil)
		if err != nil {
			return err
		}
		w.row.Vecs[w.generatedAt[i]] = v
	}
	placed, err := w.placement.Place(w.row)
	if err != nil {
		return err
	}
	w.stats.Add(w.row)
	w.l.noteKeys(w.row)
	if w.l.inserts != nil {
		return w.buffers.add(placed)
	}
	return w.l.loader.Append(seq, w.row)
}

// inParallel runs one goroutine per thread and returns the first error; the others stop at their
// next piece of work, because stop is closed.
func (l *copyLoad) inParallel(run func(w *copyWorker, stop <-chan struct{}) error) error {
	stop := make(chan struct{})
	var once sync.Once
	var wg sync.WaitGroup
	var first error
	fail := func(err error) {
		once.Do(func() {
			first = err
			close(stop)
			l.cancel()
		})
	}
	for range l.threads {
		w, err := l.worker()
		if err != nil {
			fail(err)
			break
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := l.guarded(func() error { return w.run(run, stop) }); err != nil {
				fail(err)
			}
		}()
	}
	wg.Wait()
	return first
}

// run lets a worker load its share, to the last row.
func (w *copyWorker) run(run func(w *copyWorker, stop <-chan struct{}) error, stop <-chan struct{}) error {
	if err := run(w, stop); err != nil || w.buffers == nil {
		return err
	}
	return w.buffers.flush()
}

// guarded turns a panic of a worker into an error.
func (l *copyLoad) guarded(run func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = sqlerr.Panicked(p, l.statement)
		}
	}()
	return run()
}
