package weft

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/imcv"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// InMemory is the directory name of a database that lives in memory only.
const InMemory = ":memory:"

// DB is an open database. It is safe for concurrent use. Opening a directory that this process has
// open already shares it; the last Close closes it.
type DB struct {
	*database
	closeOnce sync.Once
	closeErr  error
}

// database is what all handles of one directory share.
type database struct {
	dir      string
	options  Options
	engine   *storage.Engine
	views    *imcv.Manager
	budget   *exec.Budget
	plans    *planCache
	users    *users
	uses     columnUses // what scans read, for advice on column views
	verified verifyCounts
	control  *control // nil = nobody can ask

	sessions atomic.Uint64 // opened so far

	mu            sync.Mutex // guards global
	global        map[string]string
	globalVersion atomic.Uint64                   // names what is in global
	derived       atomic.Pointer[derivedSettings] // of sessions without settings of their own
	handles       int                             // guarded by open's mutex
}

// open lists the directories this process has open, so that a second Open shares the first.
var open = struct {
	sync.Mutex
	byDir map[string]*database
}{byDir: map[string]*database{}}

// Open opens the database in dir, creating it if it does not exist. An empty dir or InMemory makes
// a new database in memory.
func Open(ctx context.Context, dir string, o Options) (*DB, error) {
	if err := ctx.Err(); err != nil {
		return nil, canceled(ctx)
	}
	if dir == "" || dir == InMemory {
		d, err := openDatabase(InMemory, o)
		if err != nil {
			return nil, err
		}
		return &DB{database: d}, nil
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, sqlerr.New(sqlerr.UndefinedFile, "open database: %w", err)
	}
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real
	}
	open.Lock()
	defer open.Unlock()
	if d := open.byDir[full]; d != nil {
		d.handles++
		return &DB{database: d}, nil
	}
	d, err := openDatabase(full, o)
	if err != nil {
		return nil, err
	}
	open.byDir[full] = d
	return &DB{database: d}, nil
}

func openDatabase(dir string, o Options) (*database, error) {
	o = o.withDefaults()
	engine, err := storage.Open(storage.Options{Dir: dir, InMemory: dir == InMemory, Nodes: o.DataNodes, CacheBytes: o.CacheBytes, RowCacheBytes: o.rowCacheBytes(), PageCacheBytes: o.pageCacheBytes(), SpillBytes: o.spillBytes,
		NoMaintenance: o.NoMaintenance, Logger: o.Logger, FS: o.fs})
	if err != nil {
		return nil, err
	}
	d := &database{dir: dir, options: o, engine: engine, handles: 1, global: map[string]string{}, plans: newPlanCache(), users: newUsers()}
	engine.FormatValue = func(t catalog.Type, v vector.Datum) string { return expr.FormatDatum(t, v, nil) }
	engine.ParseValue = parseMissing
	engine.CompileIndex = exec.CompileIndex
	d.budget = exec.NewBudget(workBytes(o.MemoryLimitBytes, o.cachesBytes()))
	d.views = imcv.NewManager(engine, d.viewOptions())
	d.views.Start()
	if o.LimitRuntime {
		limitRuntime(d, o.MemoryLimitBytes)
	}
	if dir != InMemory && o.fs == nil {
		d.control = startControl(d)
	}
	return d, nil
}

// Close ends this handle; the last one of a directory closes the database. Statements that still
// run are cancelled, open rows end, and open transactions are rolled back; whoever uses them
// afterwards gets 57P01.
func (db *DB) Close() error {
	db.closeOnce.Do(func() { db.closeErr = db.database.release() })
	return db.closeErr
}

func (d *database) release() error {
	open.Lock()
	defer open.Unlock()
	if d.handles--; d.handles > 0 {
		return nil
	}
	d.users.end()
	d.control.close()
	if open.byDir[d.dir] == d {
		delete(open.byDir, d.dir)
	}
	d.views.Stop()
	releaseRuntime(d)
	return d.engine.Close()
}

// Exec runs one or more statements without returning rows. Arguments stand for $1, $2, …, which
// only a single statement may use.
func (db *DB) Exec(ctx context.Context, query string, args ...any) (Result, error) {
	s := db.Session()
	defer s.Close()
	return s.Exec(ctx, query, args...)
}

// Query runs a statement and returns its rows, which must be closed.
func (db *DB) Query(ctx context.Context, query string, args ...any) (*Rows, error) {
	s := db.Session()
	rows, err := s.Query(ctx, query, args...)
	if err != nil {
		s.Close()
		return nil, err
	}
	rows.onClose = s.Close
	return rows, nil
}

// Begin starts a transaction.
func (db *DB) Begin(ctx context.Context, o TxOptions) (*Tx, error) {
	s := db.Session()
	if err := s.locked(func() error { return s.begin(o) }); err != nil {
		s.Close()
		return nil, err
	}
	return &Tx{s: s}, nil
}

// Nodes returns the number of data nodes.
func (db *DB) Nodes() int { return db.engine.Catalog().Nodes }
