package storage

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/internal/sqlerr"
)

// indexLoad builds a fresh index key space. While keys arrive in order they go straight into files
// for ingestion. From the first key out of order on, keys are collected in chunks, which are sorted
// and, when there are many, spilled; finish merges everything into new files.
type indexLoad struct {
	e    *Engine
	ix   *indexCodec
	name string // prefix of temporary files

	files *sstFiles // keys that came in order; after finish all keys
	last  []byte    // last key in files
	value []byte    // scratch
	chunk *sortChunk
	// loads is how many there are at the same time, 0 = one: their chunks take no more together.
	loads int
	full  sync.WaitGroup // chunks being sorted

	mu   sync.Mutex // guards runs and err: chunks are sorted by whoever filled them
	runs []*sortedRun
	err  error
}

// chunkBytes is the size of a chunk of keys; maxMemoryRuns chunks stay in memory. More cost memory,
// fewer spill earlier.
const (
	chunkBytes    = 32 << 20
	maxMemoryRuns = 4
)

func (l *indexLoad) chunkBytes() int { return chunkBytes / max(l.loads, 1) }

// add takes the entry of a row, which is copied. A returned chunk is full: the caller sorts it with
// sortChunk, outside of whatever lock orders its calls of add.
func (l *indexLoad) add(x rowEntry, ref RowRef) (full *sortChunk, err error) {
	key := x.key
	if x.suffixed {
		key = appendRef(key, ref)
	}
	l.value = appendEntryValue(l.value[:0], x.suffixed, ref, x.payload)
	if l.chunk == nil {
		order := bytes.Compare(key, l.last)
		if order > 0 {
			l.last = append(l.last[:0], key...)
			return nil, l.files.set(key, l.value)
		}
		if order == 0 {
			return nil, l.duplicate(key)
		}
		l.chunk = newSortChunk(l.chunkBytes())
	}
	l.chunk.add(key, l.value)
	if len(l.chunk.buf) < l.chunkBytes() {
		return nil, nil
	}
	full, l.chunk = l.chunk, newSortChunk(l.chunkBytes())
	l.full.Add(1)
	return full, nil
}

func (l *indexLoad) duplicate(key []byte) error {
	values, _, err := l.ix.decode(key[indexPrefixLen:])
	if err != nil {
		return err
	}
	return &duplicateKey{l.ix, values}
}

// sortChunk sorts a full chunk and makes it a run.
func (l *indexLoad) sortChunk(c *sortChunk) {
	defer l.full.Done()
	c.sort()
	l.mu.Lock()
	run := &sortedRun{chunk: c}
	spill := len(l.runs) >= maxMemoryRuns
	path := fmt.Sprintf("%s-run%d", l.name, len(l.runs))
	l.runs = append(l.runs, run)
	l.mu.Unlock()
	if !spill {
		return
	}
	if err := run.spill(l.e, path); err != nil {
		l.mu.Lock()
		l.err = err
		l.mu.Unlock()
	}
}

// finish ends the files; the paths are those of all entries, in order.
func (l *indexLoad) finish(ctx context.Context) (paths []string, err error) {
	l.full.Wait()
	if err := l.files.close(); err != nil {
		return nil, err
	}
	if l.chunk == nil {
		return l.files.paths, nil
	}
	if l.err != nil {
		return nil, l.err
	}
	l.chunk.sort()
	l.runs = append(l.runs, &sortedRun{chunk: l.chunk})
	merged := &sstFiles{e: l.e, name: l.name + "-merged"}
	err = l.merge(ctx, merged)
	l.files.remove()
	l.files = merged
	return merged.paths, err
}

// merge writes the entries of all runs, and of the files that came in order, in key order.
func (l *indexLoad) merge(ctx context.Context, out *sstFiles) error {
	h := &mergeHeap{}
	defer h.close()
	if len(l.files.paths) > 0 {
		it, err := l.files.iterator()
		if err != nil {
			return err
		}
		h.add(&fileSource{it: it})
	}
	for _, r := range l.runs {
		src, err := r.open(l.e)
		if err != nil {
			return err
		}
		h.add(src)
	}
	if err := h.start(); err != nil {
		return err
	}
	var last []byte
	for n := 0; len(h.sources) > 0; n++ {
		if n&0xFFFF == 0 && ctx.Err() != nil {
			return sqlerr.New(sqlerr.QueryCanceled, "canceling bulk load: %w", context.Cause(ctx))
		}
		src := h.sources[0]
		key, value := src.entry()
		if n > 0 && bytes.Equal(key, last) {
			return l.duplicate(key)
		}
		last = append(last[:0], key...)
		if err := out.set(key, value); err != nil {
			return err
		}
		if err := h.advance(); err != nil {
			return err
		}
	}
	return out.close()
}

// remove deletes all temporary files.
func (l *indexLoad) remove() {
	l.full.Wait()
	l.files.remove()
	for _, r := range l.runs {
		r.remove(l.e)
	}
}

// duplicateKey is a key that two rows of a bulk load have.
type duplicateKey struct {
	ix     *indexCodec
	values []datum
}

func (d *duplicateKey) Error() string { return "duplicate key" }

// fileSource reads entries back from ingestion files.
type fileSource struct{ it *pebble.Iterator }

func (s *fileSource) first() (bool, error) { ok := s.it.First(); return ok, s.it.Error() }
func (s *fileSource) next() (bool, error)  { ok := s.it.Next(); return ok, s.it.Error() }
func (s *fileSource) entry() (k, v []byte) { return s.it.Key(), s.it.Value() }
func (s *fileSource) close()               { _ = s.it.Close() }
