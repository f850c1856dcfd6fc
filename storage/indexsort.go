package storage

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftdb/weft/vector"
)

type datum = vector.Datum

// sortChunk is a chunk of index entries to sort.
type sortChunk struct {
	buf     []byte // keys and values one behind the other
	entries []sortEntry
}

// sortEntry is one entry of a chunk. head is the start of the key behind the index's prefix, which
// decides most comparisons without following at.
type sortEntry struct {
	head  uint64
	at    uint32
	key   uint32 // length
	value uint32 // length
}

// newSortChunk makes room for so many bytes.
func newSortChunk(bytes int) *sortChunk { return &sortChunk{buf: make([]byte, 0, bytes+bytes/64)} }

func (c *sortChunk) add(key, value []byte) {
	var head [8]byte
	copy(head[:], key[indexPrefixLen:])
	c.entries = append(c.entries, sortEntry{binary.BigEndian.Uint64(head[:]), uint32(len(c.buf)), uint32(len(key)), uint32(len(value))})
	c.buf = append(append(c.buf, key...), value...)
}

func (c *sortChunk) key(e *sortEntry) []byte { return c.buf[e.at : e.at+e.key] }

func (c *sortChunk) value(e *sortEntry) []byte { return c.buf[e.at+e.key : e.at+e.key+e.value] }

func (c *sortChunk) sort() {
	slices.SortFunc(c.entries, func(a, b sortEntry) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return bytes.Compare(c.key(&a), c.key(&b))
	})
}

// sortedRun is a sorted chunk, in memory or in a file.
type sortedRun struct {
	chunk *sortChunk // nil once spilled
	path  string
}

// spill writes the run to a file: per entry the lengths of key and value as uvarints, the key and the
// value.
func (r *sortedRun) spill(e *Engine, path string) error {
	file, err := e.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return ioError("spill keys", err)
	}
	r.path = path
	w := bufio.NewWriterSize(file, 1<<20)
	var num [binary.MaxVarintLen64]byte
	for i := range r.chunk.entries {
		x := &r.chunk.entries[i]
		_, _ = w.Write(num[:binary.PutUvarint(num[:], uint64(x.key))]) // the first error stays for Flush
		_, _ = w.Write(num[:binary.PutUvarint(num[:], uint64(x.value))])
		_, _ = w.Write(r.chunk.key(x))
		_, _ = w.Write(r.chunk.value(x))
	}
	r.chunk = nil
	return ioError("spill keys", errors.Join(w.Flush(), file.Close()))
}

func (r *sortedRun) open(e *Engine) (mergeSource, error) {
	if r.chunk != nil {
		return &chunkSource{chunk: r.chunk, at: -1}, nil
	}
	file, err := e.fs.Open(r.path)
	if err != nil {
		return nil, ioError("read spilled keys", err)
	}
	return &runSource{file: file, r: bufio.NewReaderSize(file, 256<<10)}, nil
}

func (r *sortedRun) remove(e *Engine) {
	if r.path != "" {
		_ = e.fs.Remove(r.path)
	}
}

// mergeSource is one input of a merge. Entries are valid until the next step.
type mergeSource interface {
	first() (bool, error)
	next() (bool, error)
	entry() (key, value []byte)
	close()
}

type chunkSource struct {
	chunk *sortChunk
	at    int
}

func (s *chunkSource) first() (bool, error) { return s.next() }

func (s *chunkSource) next() (bool, error) {
	s.at++
	return s.at < len(s.chunk.entries), nil
}

func (s *chunkSource) entry() (key, value []byte) {
	x := &s.chunk.entries[s.at]
	return s.chunk.key(x), s.chunk.value(x)
}

func (s *chunkSource) close() {}

type runSource struct {
	file   vfs.File
	r      *bufio.Reader
	buf    []byte
	keyEnd int
}

func (s *runSource) first() (bool, error) { return s.next() }

func (s *runSource) next() (bool, error) {
	key, err := binary.ReadUvarint(s.r)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	var value uint64
	if err == nil {
		value, err = binary.ReadUvarint(s.r)
	}
	if err == nil {
		s.buf, s.keyEnd = slices.Grow(s.buf[:0], int(key+value))[:key+value], int(key)
		_, err = io.ReadFull(s.r, s.buf)
	}
	return err == nil, ioError("read spilled keys", err)
}

func (s *runSource) entry() (key, value []byte) { return s.buf[:s.keyEnd], s.buf[s.keyEnd:] }

func (s *runSource) close() { _ = s.file.Close() }

// mergeHeap orders sources by their next key.
type mergeHeap struct {
	sources []mergeSource
	all     []mergeSource
}

func (h *mergeHeap) add(s mergeSource) { h.all = append(h.all, s) }

// start reads the first entry of every source.
func (h *mergeHeap) start() error {
	for _, s := range h.all {
		ok, err := s.first()
		if err != nil {
			return ioError("merge keys", err)
		}
		if ok {
			h.sources = append(h.sources, s)
		}
	}
	for i := len(h.sources)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	return nil
}

// advance steps the first source.
func (h *mergeHeap) advance() error {
	ok, err := h.sources[0].next()
	if err != nil {
		return ioError("merge keys", err)
	}
	if !ok {
		n := len(h.sources) - 1
		h.sources[0] = h.sources[n]
		h.sources = h.sources[:n]
	}
	h.down(0)
	return nil
}

func (h *mergeHeap) less(i, j int) bool {
	a, _ := h.sources[i].entry()
	b, _ := h.sources[j].entry()
	return bytes.Compare(a, b) < 0
}

func (h *mergeHeap) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h.sources) {
			return
		}
		if child+1 < len(h.sources) && h.less(child+1, child) {
			child++
		}
		if !h.less(child, i) {
			return
		}
		h.sources[i], h.sources[child] = h.sources[child], h.sources[i]
		i = child
	}
}

func (h *mergeHeap) close() {
	for _, s := range h.all {
		s.close()
	}
}
