package storage

import (
	"log/slog"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options say how a database is opened. The zero value of each field means its default.
type Options struct {
	// Dir is the database's directory; it is created when it does not exist.
	Dir string
	// InMemory keeps everything in memory; Dir is ignored and nothing survives Close.
	InMemory bool
	// Nodes is the number of data nodes of a database that is created; an existing database keeps
	// its number. Default 1.
	Nodes int
	// CacheBytes is the size of the cache of uncompressed blocks. Default 64 MB: smaller ones make
	// scans decompress every block again, larger ones take memory from column views.
	CacheBytes int64
	// RowCacheBytes bounds the cache of rows looked up by key, which takes memory as it fills.
	// Default 64 MB, negative none.
	RowCacheBytes int64
	// PageCacheBytes bounds the cache of packed pages, which takes memory as it fills. Default 64 MB;
	// below 0 there is none.
	PageCacheBytes int64
	// MemTableBytes is the size at which recent writes are flushed to a file. Default 32 MB:
	// smaller ones cost more merging, larger ones make recovery after a crash longer.
	MemTableBytes int64
	// SpillBytes is how much memory the writes of one transaction may take; more go to temporary files.
	// Default 64 MB, at most 1 GB: one commit's batch must hold what was not spilled.
	SpillBytes int64
	// CommitFileBytes is from what size on a transaction's writes are committed as files instead of through
	// the log. Default 4 MB: an ingestion takes as long as writing some megabytes to the log, for it syncs
	// several files, and other commits wait meanwhile; many small files cost more merging than they save.
	CommitFileBytes int
	// WholeTableLocks is from how many rows and keys of a table on a transaction tries to lock the table
	// instead of further ones. Default 100,000: each takes about 100 bytes, and to others that wait for
	// the table it is as if all its rows were locked. A transaction with as many in all tries for
	// tables of which it has a sixteenth.
	WholeTableLocks int
	// NoFold turns the folding of cold rows in the background off; FoldGroup stays.
	NoFold bool
	// NoMaintenance turns folding off, and the merging of files in the background too.
	NoMaintenance bool
	// FS replaces the operating system's file system, for tests.
	FS vfs.FS
	// Logger receives messages of the store underneath. Default: none are written.
	Logger *slog.Logger
}
