package storage

import (
	"math"
	"runtime"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
)

// directories are the folders of a database.
type directories struct {
	root string
	rows string // Pebble's files
	temp string
}

// maxSpillBytes keeps a batch with all that is in memory, and with what the statement that made it too
// much has added, far from the 4 GB at which Pebble's batches end.
const maxSpillBytes = 1 << 30

func (o *Options) setDefaults() {
	if o.Nodes <= 0 {
		o.Nodes = 1
	}
	if o.RowCacheBytes == 0 {
		o.RowCacheBytes = 64 << 20
	}
	if o.PageCacheBytes == 0 {
		o.PageCacheBytes = 64 << 20
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = 64 << 20
	}
	if o.SpillBytes <= 0 {
		o.SpillBytes = 64 << 20
	}
	if o.CommitFileBytes <= 0 {
		o.CommitFileBytes = 4 << 20
	}
	if o.WholeTableLocks <= 0 {
		o.WholeTableLocks = 100_000
	}
	o.SpillBytes = min(o.SpillBytes, maxSpillBytes)
	if o.MemTableBytes <= 0 {
		o.MemTableBytes = 32 << 20
	}
}

// Open opens or creates a database.
func Open(o Options) (*Engine, error) {
	o.setDefaults()
	base, osFS := o.FS, o.FS == nil && !o.InMemory
	switch {
	case o.InMemory:
		base, o.Dir = vfs.NewMem(), "memory"
	case o.Dir == "":
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "no database directory given")
	case base == nil:
		base = vfs.Default
	}
	e := &Engine{FormatValue: formatPlain, ParseValue: parsePlain, opts: o, log: o.Logger, wal: !o.InMemory,
		fs: &haltFS{FS: base}, locks: &lockManager{}, rows: newRowCache(max(o.RowCacheBytes, 0)), stopped: make(chan struct{})}
	e.stores.stores = map[catalog.StoreID]*storeState{}
	e.journal.groups = map[groupID]*groupState{}
	e.pages = newPageCache(max(o.PageCacheBytes, 0), &e.journal, &e.folds)
	e.redo.e, e.redo.written.L = e, &e.redo.mu
	e.dirs = directories{root: o.Dir, rows: base.PathJoin(o.Dir, "rows"), temp: base.PathJoin(o.Dir, "tmp")}
	e.fs.store, e.fs.opening, e.fs.fail = e.dirs.rows, &e.opening, e.fail
	if err := e.open(osFS); err != nil {
		if e.db != nil {
			_ = e.closeStore()
		}
		if e.redo.file != nil {
			_ = e.redo.file.Close()
		}
		if e.dbLock != nil {
			_ = e.dbLock.Close()
		}
		if e.lock != nil {
			_ = e.lock.release()
		}
		return nil, err
	}
	e.startMaintenance()
	return e, nil
}

func (e *Engine) open(osFS bool) error {
	if err := makeDirs(e.fs, e.dirs.root); err != nil {
		return ioError("create database directory", err)
	}
	if err := e.fs.MkdirAll(e.dirs.rows, 0o755); err != nil {
		return ioError("create database directory", err)
	}
	var err error
	if e.lock, err = lockDir(e.fs, e.dirs.root, osFS); err != nil {
		return err
	}
	if e.format, err = loadFormat(e.fs, e.dirs.root, e.dirs.rows); err != nil {
		return err
	}
	if err := e.fs.RemoveAll(e.dirs.temp); err != nil {
		return ioError("sweep temporary files", err)
	}
	if err := e.fs.MkdirAll(e.dirs.temp, 0o755); err != nil {
		return ioError("create directory for temporary files", err)
	}
	if e.dbLock, err = pebble.LockDirectory(e.dirs.rows, e.fs); err != nil {
		return ioError("lock store", err)
	}
	closed, err := takeCloseNote(e.fs, e.dirs.root, e.dirs.rows)
	if err != nil {
		return err
	}
	if err := e.checkRecoverySpace(closed); err != nil {
		return err
	}
	e.storeOpts = e.storeOptions()
	if err := e.openStore(); err != nil {
		return err
	}
	if info := e.damage.Load(); info != nil {
		_ = e.fail("read "+info.Path, info.Details)
	}
	if err := e.openRedo(closed); err != nil {
		if failure := e.failed(); failure != nil {
			return failure // it says more than what came of it
		}
		return err
	}
	// If there is damage, what can be read is.
	return e.load()
}

// storeOptions configures Pebble.
func (e *Engine) storeOptions() *pebble.Options {
	o := &pebble.Options{
		Cache:                       pebble.NewCache(e.opts.CacheBytes),
		FS:                          e.fs,
		Lock:                        e.dbLock,
		DisableWAL:                  !e.wal,
		FormatMajorVersion:          pebbleVersion,
		MemTableSize:                uint64(e.opts.MemTableBytes),
		MemTableStopWritesThreshold: 4,
		BytesPerSync:                1 << 20,
		WALBytesPerSync:             1 << 20,
		L0CompactionThreshold:       4,
		L0StopWritesThreshold:       24,
		LBaseMaxBytes:               64 << 20,
		FlushSplitBytes:             4 << 20,
		MaxManifestFileSize:         64 << 20,
		FlushDelayDeleteRange:       10 * time.Second,
		DisableAutomaticCompactions: e.opts.NoMaintenance,
		Logger:                      storeLogger{e.log, func(err error) { _ = e.fail("store", err) }},
	}
	if e.opts.NoMaintenance {
		o.L0StopWritesThreshold = math.MaxInt32 // nothing would ever end the wait
	}
	o.CompactionConcurrencyRange = func() (int, int) { return 1, max(2, runtime.GOMAXPROCS(0)/2) }
	o.EventListener = &pebble.EventListener{
		BackgroundError: e.backgroundFailed,
		FlushEnd:        e.flushEnded,
		CompactionEnd:   e.mergeEnded,
		DataCorruption:  e.foundDamage,
		WriteStallBegin: func(pebble.WriteStallBeginInfo) { e.fs.stalls.Add(1) },
	}
	o.TargetFileSizes[0] = 4 << 20
	for i := range o.Levels {
		l := &o.Levels[i]
		// Packed pages are some kilobytes each: a block holds several, and a point read
		// decompresses few.
		l.BlockSize = 32 << 10
		l.IndexBlockSize = 256 << 10
		l.FilterPolicy = bloom.FilterPolicy(10)
		l.Compression = func() *sstable.CompressionProfile { return sstable.FastestCompression }
	}
	// Rows, index entries and what is in front of them get files of their own: what every commit writes lies at
	// both ends of the key space, and new rows often lie above all others. A file that holds all three would
	// have to be merged with every other one; a file of new rows only changes its level.
	o.Experimental.SpanPolicyFunc = func(start []byte) (p pebble.SpanPolicy, end []byte, err error) {
		for _, kind := range []byte{kindRow, kindIndex, kindIndex + 1} {
			if start[0] < kind {
				return p, []byte{kind}, nil
			}
		}
		return p, nil, nil
	}
	o.EnsureDefaults()
	return o
}

// load reads what the engine keeps in memory, and makes the catalog of a new database.
func (e *Engine) load() error {
	n, err := storedCommitNumber(e.db)
	if err != nil {
		return err
	}
	snap, err := loadCatalog(e.db)
	if err != nil {
		return err
	}
	if snap == nil {
		if n, err = 1, e.createCatalog(); err != nil {
			return err
		}
		snap = catalog.NewSnapshot(e.opts.Nodes)
	}
	if e.failed() == nil { // else there is damage; what can be read is
		if err := e.noteOpened(); err != nil {
			return err
		}
		if snap, err = e.removeTemporaries(snap); err != nil {
			return err
		}
	}
	e.published.Store(&committedState{commit: n, catalog: snap})
	e.durable.done.Store(n)
	e.journal.floor.Store(n)
	e.nextTable.Store(uint32(snap.NextTable))
	e.nextStore.Store(uint32(snap.NextStore))
	e.nextIndex.Store(uint32(snap.NextIndex))
	if err := e.loadCounters(); err != nil {
		return err
	}
	for _, t := range snap.Relations() {
		e.stores.know(t)
	}
	if err := e.loadStats(); err != nil {
		return err
	}
	if e.failed() != nil { // there is damage; what can be read is
		return nil
	}
	return e.removeOrphans()
}
