package weft

import (
	"log/slog"
	"runtime"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options say how a database is opened. The zero value of each field means its default.
type Options struct {
	// DataNodes is the number of data nodes a new database spreads its tables over; an existing
	// database keeps its number. Default 1.
	DataNodes int
	// MemoryLimitBytes bounds what queries, column views and caches may take together. Default:
	// 60 % of the machine's memory.
	MemoryLimitBytes int64
	// Threads is the number of workers a statement may use. Default: the number of processors.
	Threads int
	// CacheBytes is the size of the row store's block cache, part of MemoryLimitBytes. Default
	// 128 MB.
	CacheBytes int64
	// LimitRuntime sets the Go runtime's memory limit to a tenth more than memory_limit while the
	// database is open. It concerns the whole process; the shell and the benchmarks set it.
	LimitRuntime bool
	// NoMaintenance leaves the files alone but for recovery and what statements write: cold rows are
	// not packed and files not merged in the background, and column views are not loaded. It is for
	// tools that look at a database once.
	NoMaintenance bool
	// Logger receives what the engine has to say. Default: nothing is logged.
	Logger *slog.Logger

	spillBytes int64  // how much a transaction's writes may take in memory
	fs         vfs.FS // replaces the operating system's file system, for tests; other processes know nothing of it
}

// writesBytes is how much of a transaction's writes stays in memory: an eighth of a small limit, and less of a large
// one, for several transactions may be large at a time.
func (o Options) writesBytes() int64 {
	return max(min(o.MemoryLimitBytes/8, 64<<20), min(o.MemoryLimitBytes/32, 256<<20))
}

const defaultCacheBytes = 128 << 20

// maxRowCacheBytes is the largest cache of rows looked up by key: a million short rows and more.
const maxRowCacheBytes = 256 << 20

// maxPageCacheBytes is the largest cache of packed pages: some ten million short rows.
const maxPageCacheBytes = 1 << 30

// pageCacheBytes is the share of memory that packed pages may take.
func (o Options) pageCacheBytes() int64 { return min(o.MemoryLimitBytes/8, maxPageCacheBytes) }

// cachesBytes is what the row store's caches take when they are full.
func (o Options) cachesBytes() int64 { return o.CacheBytes + o.rowCacheBytes() + o.pageCacheBytes() }

// rowCacheBytes is the share of memory that rows looked up by key may take.
func (o Options) rowCacheBytes() int64 { return min(o.MemoryLimitBytes/16, maxRowCacheBytes) }

func (o Options) withDefaults() Options {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.MemoryLimitBytes <= 0 {
		o.MemoryLimitBytes = machineMemoryBytes() * 6 / 10
	}
	if o.spillBytes <= 0 {
		o.spillBytes = o.writesBytes()
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = min(defaultCacheBytes, o.MemoryLimitBytes/4)
	}
	return o
}
