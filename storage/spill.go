package storage

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
)

// spillStore holds the versions of an overlay that did not fit in memory: a private Pebble store below
// the directory for temporary files, into which runs of sorted versions are ingested.
//
// A version's key is that of its row or index entry, as on disk, with the complement of its number
// behind: the newest version of a row comes first. Numbers ascend in the order in which versions were
// added, counted by kind, and are never used twice; commands never decrease with them. So what a view
// with command number c sees is the first version of a key whose number is not dead and whose command
// is before c, and what the overlay holds in memory of the key is newer than all of them.
//
// Nothing is ever changed here: undoing makes a range of numbers dead. The store needs no log, and its
// files no syncs, for it means nothing to anybody after a crash. It is guarded by the overlay's mu:
// runs are added under it, and what is read under it shared.
type spillStore struct {
	e    *Engine
	fs   spillFS
	dir  string
	opts *pebble.Options
	db   *pebble.DB
	runs int
	// failure is what the store itself gave up over.
	failure atomic.Pointer[sqlerr.Error]

	firstCmd uint32 // no version is of an earlier command
	rows     versionNumbers
	keys     versionNumbers
	// groups has a bit per row with a version, also for those whose versions are dead.
	groups  map[groupID]*GroupBits
	stores  map[catalog.StoreID]int // one more than the largest group
	indexes map[catalog.IndexID]*spilledKeys
}

// versionNumbers are the numbers of the spilled versions of one kind: those below next, without the
// dead.
type versionNumbers struct {
	next int
	dead []numberRange // ascending, apart from each other
}

// numberRange is the numbers from <= n < to.
type numberRange struct{ from, to int }

// kill makes the numbers from one on dead.
func (v *versionNumbers) kill(from int) {
	if from >= v.next {
		return
	}
	for n := len(v.dead); n > 0 && v.dead[n-1].to >= from; n-- {
		from = min(from, v.dead[n-1].from)
		v.dead = v.dead[:n-1]
	}
	v.dead = append(v.dead, numberRange{from, v.next})
}

func (v *versionNumbers) isDead(n int) bool {
	i, found := slices.BinarySearchFunc(v.dead, n, func(r numberRange, n int) int { return r.from - n })
	return found || i > 0 && n < v.dead[i-1].to
}

// spilledKeys bounds the spilled keys of an index: most look-ups of new keys end here.
type spilledKeys struct{ low, high []byte }

// spillNumberLen is the length of the number at the end of a version's key.
const spillNumberLen = 8

// spillComparer makes all versions of one row or index entry share a prefix, which the filters know.
// No key of a kind is the start of another, so byte order is prefix order first; for keys that Pebble
// makes up between two others to agree, they must not be shortened.
var spillComparer = func() *pebble.Comparer {
	c := *pebble.DefaultComparer
	c.Name = "weft.versions"
	c.Split = func(key []byte) int { return max(len(key)-spillNumberLen, 0) }
	c.Separator = func(dst, a, _ []byte) []byte { return append(dst, a...) }
	c.Successor = func(dst, a []byte) []byte { return append(dst, a...) }
	return &c
}()

// spillCacheBytes is the size of a private store's block cache, a part of what the smallest memory_limit
// leaves to a transaction, and spillBlockBytes that of its blocks: single versions are read from places
// all over.
const (
	spillCacheBytes = 1 << 20
	spillBlockBytes = 8 << 10
)

func (e *Engine) newSpillStore() (*spillStore, error) {
	s := &spillStore{e: e, fs: spillFS{vfs.NewMem(), e.fs},
		groups: map[groupID]*GroupBits{}, stores: map[catalog.StoreID]int{}, indexes: map[catalog.IndexID]*spilledKeys{}}
	s.dir = e.fs.PathJoin(e.dirs.temp, fmt.Sprintf("spill-%d", e.nextLoad.Add(1)))
	if err := errors.Join(e.fs.MkdirAll(s.dir, 0o755), s.fs.FS.MkdirAll(s.dir, 0o755)); err != nil {
		return nil, ioError("spill writes", err)
	}
	fatal := func(err error) {
		s.failure.CompareAndSwap(nil, sqlerr.New(sqlerr.IOError, "store of spilled writes: %w", oneLine{err}))
	}
	o := &pebble.Options{
		Comparer:              spillComparer,
		Cache:                 pebble.NewCache(spillCacheBytes),
		FS:                    s.fs,
		DisableWAL:            true,
		FormatMajorVersion:    pebbleVersion,
		MemTableSize:          64 << 10, // nothing is ever written but by ingestion
		L0CompactionThreshold: 8,
		Logger:                storeLogger{e.log, fatal},
		EventListener: &pebble.EventListener{
			BackgroundError: func(error) { time.Sleep(20 * time.Millisecond) }, // Pebble tries merging again at once
		},
	}
	defer o.Cache.Unref()
	// Older versions of a key would be set apart, and kept in memory until the end of their file.
	o.Experimental.SpanPolicyFunc = func([]byte) (pebble.SpanPolicy, []byte, error) {
		return pebble.SpanPolicy{DisableValueSeparationBySuffix: true}, nil, nil
	}
	for i := range o.Levels {
		l := &o.Levels[i]
		l.BlockSize = spillBlockBytes
		l.FilterPolicy = bloom.FilterPolicy(10)
		l.Compression = func() *sstable.CompressionProfile { return sstable.FastestCompression }
	}
	o.EnsureDefaults()
	db, err := pebble.Open(s.dir, o)
	if err != nil {
		return nil, ioError("spill writes", errors.Join(err, e.fs.RemoveAll(s.dir)))
	}
	s.opts, s.db = o, db
	return s, nil
}

// close removes the store. Nobody reads it any more.
func (s *spillStore) close() {
	_ = s.db.Close()            // it has nothing to write
	_ = s.e.fs.RemoveAll(s.dir) // what is left is swept when the database is opened
}

// failed returns what the store gave up over, nil if it works.
func (s *spillStore) failed() error {
	if err := s.failure.Load(); err != nil {
		return err
	}
	return nil
}

// add ingests a run of versions that write puts out in the order of their keys.
func (s *spillStore) add(ctx context.Context, write func(out *sstFiles) error) (bytes int64, err error) {
	out := &sstFiles{e: s.e, spill: s, name: fmt.Sprintf("%s-run%d", s.dir, s.runs)}
	s.runs++
	defer out.remove()
	if err := write(out); err != nil {
		return 0, err
	}
	if err := out.close(); err != nil {
		return 0, err
	}
	if err := s.db.Ingest(ctx, out.paths); err != nil {
		return 0, ioError("spill writes", err)
	}
	return out.bytes, s.failed()
}

// Flags of a spilled version.
const (
	spilledDeleted = 1 << iota
	spilledInserted
	spilledSuffixed
)

// spilledHeader is the length of a version's flags and command, with which its value begins. The row
// follows, or the reference of the index entry and its payload.
const spilledHeader = 1 + 4

// appendVersionKey appends a version's number to its key.
func appendVersionKey(key []byte, number int) []byte {
	return binary.BigEndian.AppendUint64(key, ^uint64(number))
}

// beforeVersions returns a key in front of all versions of the keys from one on, and behind those of the
// keys before it.
func beforeVersions(key []byte) []byte {
	return append(key[:len(key):len(key)], make([]byte, spillNumberLen)...)
}

func (v *rowVersion) appendSpilled(dst []byte, arena *byteArena) []byte {
	flags, row := byte(0), arena.at(v.row)
	if row == nil {
		flags |= spilledDeleted
	}
	if v.inserted {
		flags |= spilledInserted
	}
	return append(binary.BigEndian.AppendUint32(append(dst, flags), v.cmd), row...)
}

func (v *keyVersion) appendSpilled(dst []byte, arena *byteArena) []byte {
	flags := byte(0)
	if v.deleted {
		flags |= spilledDeleted
	}
	if v.suffixed {
		flags |= spilledSuffixed
	}
	return append(appendRef(binary.BigEndian.AppendUint32(append(dst, flags), v.cmd), v.ref), arena.at(v.payload)...)
}

// spilledVersion is a version as stored.
type spilledVersion struct {
	key    []byte // without the number
	number int
	flags  byte
	cmd    uint32
	rest   []byte
}

func (v *spilledVersion) deleted() bool { return v.flags&spilledDeleted != 0 }

// row returns the row, nil if it was deleted.
func (v *spilledVersion) row() []byte {
	if v.deleted() {
		return nil
	}
	return v.rest
}

// payload returns what an index entry holds of included columns, nil if there are none.
func (v *spilledVersion) payload() []byte {
	if len(v.rest) == 8 {
		return nil
	}
	return v.rest[8:]
}

var errBadVersion = sqlerr.New(sqlerr.DataCorrupted, "malformed spilled version")

// decode reads the version an iterator stands on.
func (v *spilledVersion) decode(it *pebble.Iterator) error {
	key := it.Key()
	value, err := it.ValueAndErr()
	if err != nil {
		return ioError("read spilled writes", err)
	}
	n := len(key) - spillNumberLen
	if n < indexPrefixLen || len(value) < spilledHeader || key[0] == kindIndex && len(value) < spilledHeader+8 || key[0] == kindRow && n != rowKeyLen {
		return errBadVersion
	}
	v.key, v.number = key[:n:n], int(^binary.BigEndian.Uint64(key[n:]))
	v.flags, v.cmd, v.rest = value[0], binary.BigEndian.Uint32(value[1:]), value[spilledHeader:len(value):len(value)]
	return nil
}

// numbers returns those of the kind of a key.
func (s *spillStore) numbers(key []byte) *versionNumbers {
	if key[0] == kindRow {
		return &s.rows
	}
	return &s.keys
}
