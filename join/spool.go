package join

import (
	"encoding/binary"
	"io"
	"sync"
	"unsafe"

	"github.com/weftdb/weft/vector"
)

// File is a temporary file. Closing it removes it.
type File interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

// Files makes temporary files. It may be called concurrently.
type Files interface{ Create() (File, error) }

// Spool is a sequence of rows in a temporary file: written once, by any number of SpoolWriters, then
// read any number of times. Rows lie in blocks of their columns as a vector holds them.
type Spool struct {
	files Files
	kinds []vector.Kind

	mu     sync.Mutex // guards the rest while it is written
	file   File       // made with the first block
	bytes  int64
	blocks []spoolBlock
	rows   int64
	load   int64
}

type spoolBlock struct {
	offset int64
	bytes  int
	rows   int
}

// NewSpool returns an empty spool for rows of some kinds.
func NewSpool(files Files, kinds []vector.Kind) *Spool { return &Spool{files: files, kinds: kinds} }

// Rows returns the number of rows.
func (s *Spool) Rows() int64 { return s.rows }

// Bytes returns what has been written to the file.
func (s *Spool) Bytes() int64 { return s.bytes }

// LoadBytes is the memory that the rows would take in a Store, roughly.
func (s *Spool) LoadBytes() int64 { return s.load }

// Close removes the file. The spool must not be used afterwards.
func (s *Spool) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

func (s *Spool) write(block []byte, rows int, load int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		file, err := s.files.Create()
		if err != nil {
			return err
		}
		s.file = file
	}
	if _, err := s.file.Write(block); err != nil {
		return err
	}
	s.blocks = append(s.blocks, spoolBlock{s.bytes, len(block), rows})
	s.bytes += int64(len(block))
	s.rows += int64(rows)
	s.load += load
	return nil
}

// A block is written when so many rows or bytes have come together. It bounds the memory of a writer,
// of which there is one per worker and partition.
const (
	spoolRows  = 1024
	spoolBytes = 32 << 10
)

// SpoolWriter collects one worker's rows into blocks.
type SpoolWriter struct {
	spool *Spool
	rows  *Store
	block []byte
}

// NewWriter returns a writer. It may be called concurrently; the writer belongs to its caller.
func (s *Spool) NewWriter() *SpoolWriter {
	rows := NewStore(s.kinds, nil)
	rows.plain = true
	return &SpoolWriter{spool: s, rows: rows}
}

// Append adds the live rows of vecs, one vector per column in any form.
func (w *SpoolWriter) Append(vecs []*vector.Vector, n int, sel vector.Sel) error {
	if err := w.rows.Append(vecs, n, sel); err != nil {
		return err
	}
	if w.rows.rows < spoolRows && w.rows.need < spoolBytes {
		return nil
	}
	return w.Flush()
}

// Flush writes the rows that are still in memory.
func (w *SpoolWriter) Flush() error {
	n := w.rows.rows
	if n == 0 {
		return nil
	}
	b := w.block[:0]
	for i := range w.rows.cols {
		b = appendColumn(b, w.rows.cols[i].v, n)
	}
	w.block = b
	err := w.spool.write(b, n, w.rows.need)
	w.rows.clear()
	return err
}

// appendColumn adds a flat column to a block: whether it has NULLs, their bitmap, and its values. Every
// part begins at a multiple of eight bytes.
func appendColumn(b []byte, v *vector.Vector, n int) []byte {
	if v.Valid == nil {
		b = binary.LittleEndian.AppendUint64(b, 0)
	} else {
		b = binary.LittleEndian.AppendUint64(b, 1)
		b = append(b, vector.BytesOf(v.Valid[:(n+63)/64])...)
	}
	if v.Kind != vector.Bytes {
		return pad(append(b, vector.Of[uint8](v)[:n*v.Kind.Width()]...))
	}
	b = pad(append(b, vector.BytesOf(v.Offsets()[:n+1])...))
	heap := v.Heap()
	b = binary.LittleEndian.AppendUint64(b, uint64(len(heap)))
	return pad(append(b, heap...))
}

func pad(b []byte) []byte {
	for len(b)&7 != 0 {
		b = append(b, 0)
	}
	return b
}

// SpoolReader reads a spool from its start. It belongs to one goroutine.
type SpoolReader struct {
	spool *Spool
	next  int // block
	end   int // the block to stop at
	from  int // row in the block that is loaded
	words []uint64
	rows  *Store
	vecs  []*vector.Vector
	// First is the number of the batch's first row in the spool.
	First int64
	ahead int64
}

// NewReader returns a reader of a spool that is written no more.
func (s *Spool) NewReader() *SpoolReader {
	return &SpoolReader{spool: s, end: len(s.blocks), rows: NewStore(s.kinds, nil), vecs: NewBlock(len(s.kinds))}
}

// Next returns the next rows, as many as a batch takes; n = 0 at the end. The vectors are the reader's
// until the next call.
func (r *SpoolReader) Next() (vecs []*vector.Vector, n int, err error) {
	for r.from == r.rows.rows {
		if r.next == r.end {
			return nil, 0, nil
		}
		if err := r.load(r.spool.blocks[r.next]); err != nil {
			return nil, 0, err
		}
		r.next, r.from = r.next+1, 0
	}
	n = min(BatchRows(), r.rows.rows-r.from)
	r.rows.Block(r.vecs, r.from, n)
	r.from += n
	r.First, r.ahead = r.ahead, r.ahead+int64(n)
	return r.vecs, n, nil
}

// NextBlock returns the rows of the next block; nil at the end. They are the reader's until the next call.
func (r *SpoolReader) NextBlock() (*Store, error) {
	if r.next == r.end {
		return nil, nil
	}
	if err := r.load(r.spool.blocks[r.next]); err != nil {
		return nil, err
	}
	r.next++
	r.First, r.ahead = r.ahead, r.ahead+int64(r.rows.rows)
	return r.rows, nil
}

// load reads a block. Its columns are views of the reader's buffer.
func (r *SpoolReader) load(block spoolBlock) error {
	if n := block.bytes / 8; cap(r.words) < n {
		r.words = make([]uint64, n)
	} else {
		r.words = r.words[:n]
	}
	b := vector.BytesOf(r.words)
	if _, err := r.spool.file.ReadAt(b, block.offset); err != nil {
		return err
	}
	n := block.rows
	for i := range r.rows.cols {
		b = readColumn(r.rows.cols[i].v, r.spool.kinds[i], b, n)
	}
	r.rows.rows = n
	return nil
}

// readColumn makes v a column of n rows that begins at b, and returns what follows it.
func readColumn(v *vector.Vector, kind vector.Kind, b []byte, n int) []byte {
	var valid vector.Bitmap
	nulls := binary.LittleEndian.Uint64(b) != 0
	b = b[8:]
	if nulls {
		words := (n + 63) / 64
		valid = viewOf[uint64](b, words)
		b = b[8*words:]
	}
	if kind != vector.Bytes {
		size := n * kind.Width()
		v.SetFixed(kind, b[:size], n, valid)
		return b[(size+7)&^7:]
	}
	offsets := viewOf[int32](b, n+1)
	b = b[(4*(n+1)+7)&^7:]
	size := int(binary.LittleEndian.Uint64(b))
	v.SetBytes(offsets, b[8:8+size], valid)
	return b[8+(size+7)&^7:]
}

// viewOf shows the start of b, which is aligned to eight bytes, as n numbers.
func viewOf[T uint64 | int32](b []byte, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
