package storage

import (
	"encoding/binary"
	"math"

	"github.com/weftdb/weft/vector"
)

// rowEncoder turns batches into rows, a column at a time. It belongs to one goroutine.
type rowEncoder struct {
	dense  denser
	starts []int // per row: where it begins in buf; one more at the end
	varPos []int // per row: where its next variable-length value goes
	varOff []int // per row: where its end offsets lie
	buf    []byte
}

// encodedRows are rows one behind the other. They are valid until the encoder's next call.
type encodedRows struct {
	buf    []byte
	starts []int
	vecs   []*vector.Vector // the batch's columns, dense
}

func (r *encodedRows) len() int { return len(r.starts) - 1 }

func (r *encodedRows) row(i int) []byte { return r.buf[r.starts[i]:r.starts[i+1]:r.starts[i+1]] }

// encode encodes the live rows of b, whose vectors are those of the table's columns.
func (e *rowEncoder) encode(l *tableLayout, b *vector.Batch) encodedRows {
	n := b.Live()
	vecs := e.dense.columns(b, len(l.tbl.Columns))
	lay := l.current.row
	e.measure(l, vecs, n)
	for i := range n {
		start := e.starts[i]
		head := lay.version << 8
		if e.varPos[i] > 0 {
			head |= rowWide
		}
		row := e.buf[start:e.starts[i+1]]
		clear(row[:lay.fixedEnd])
		binary.LittleEndian.PutUint32(row, head)
		e.varOff[i] = start + lay.fixedEnd
		width := 2
		if head&rowWide != 0 {
			width = 4
		}
		e.varPos[i] = e.varOff[i] + width*lay.nVar
	}
	for c := range lay.cols {
		from := l.current.from[c]
		switch {
		case from < 0:
			e.putDropped(lay, c, n)
		case lay.cols[c].width == 0:
			e.putBytes(lay, c, vecs[from], n)
		default:
			e.putFixed(lay, c, vecs[from], n)
		}
	}
	return encodedRows{buf: e.buf, starts: e.starts[:n+1], vecs: vecs}
}

// measure sizes the rows. It leaves varPos[i] 1 for rows that need wide offsets, 0 for others.
func (e *rowEncoder) measure(l *tableLayout, vecs []*vector.Vector, n int) {
	lay := l.current.row
	if cap(e.starts) < n+1 {
		e.starts = make([]int, n+1)
		e.varPos, e.varOff = make([]int, n), make([]int, n)
	}
	e.starts, e.varPos, e.varOff = e.starts[:n+1], e.varPos[:n], e.varOff[:n]
	lens := e.varOff
	clear(lens)
	for c := range lay.cols {
		from := l.current.from[c]
		if lay.cols[c].width != 0 || from < 0 {
			continue
		}
		v := vecs[from]
		offsets := v.Offsets()
		if v.Valid == nil {
			for i := range lens {
				lens[i] += int(offsets[i+1] - offsets[i])
			}
			continue
		}
		for i := range lens {
			if v.Valid.Get(i) {
				lens[i] += int(offsets[i+1] - offsets[i])
			}
		}
	}
	total := 0
	for i, bytes := range lens {
		e.starts[i] = total
		size := lay.fixedEnd + 2*lay.nVar + bytes
		e.varPos[i] = 0
		if bytes > math.MaxUint16 {
			e.varPos[i] = 1
			size += 2 * lay.nVar
		}
		total += size
	}
	e.starts[n] = total
	if cap(e.buf) < total {
		e.buf = make([]byte, total+total/4)
	}
	e.buf = e.buf[:total]
}

func (e *rowEncoder) setNull(row, c int) {
	e.buf[e.starts[row]+rowHeader+c>>3] |= 1 << (c & 7)
}

// putDropped writes NULLs; the fixed-width values are zero already.
func (e *rowEncoder) putDropped(lay *rowLayout, c, n int) {
	for i := range n {
		e.setNull(i, c)
		if lay.cols[c].width == 0 {
			e.closeBytes(lay, c, i)
		}
	}
}

func (e *rowEncoder) putFixed(lay *rowLayout, c int, v *vector.Vector, n int) {
	offset := lay.cols[c].offset
	starts := e.starts[:n]
	switch lay.cols[c].width {
	case 1:
		values := vector.Of[uint8](v)[:n]
		for i, s := range starts {
			e.buf[s+offset] = values[i]
		}
	case 2:
		values := vector.Of[uint16](v)[:n]
		for i, s := range starts {
			binary.LittleEndian.PutUint16(e.buf[s+offset:], values[i])
		}
	case 4:
		values := vector.Of[uint32](v)[:n]
		for i, s := range starts {
			binary.LittleEndian.PutUint32(e.buf[s+offset:], values[i])
		}
	case 8:
		values := vector.Of[uint64](v)[:n]
		for i, s := range starts {
			binary.LittleEndian.PutUint64(e.buf[s+offset:], values[i])
		}
	case 16: // Int128 and Interval: two words, the first one first
		values := vector.Of[vector.Int128](v)[:n]
		for i, s := range starts {
			binary.LittleEndian.PutUint64(e.buf[s+offset:], values[i].Lo)
			binary.LittleEndian.PutUint64(e.buf[s+offset+8:], uint64(values[i].Hi))
		}
	}
	if v.Valid == nil {
		return
	}
	for i, s := range starts {
		if !v.Valid.Get(i) {
			e.setNull(i, c)
			clear(e.buf[s+offset : s+offset+lay.cols[c].width]) // equal rows have equal bytes
		}
	}
}

func (e *rowEncoder) putBytes(lay *rowLayout, c int, v *vector.Vector, n int) {
	offsets, heap := v.Offsets(), v.Heap()
	for i := range n {
		if v.Valid != nil && !v.Valid.Get(i) {
			e.setNull(i, c)
		} else {
			e.varPos[i] += copy(e.buf[e.varPos[i]:], heap[offsets[i]:offsets[i+1]])
		}
		e.closeBytes(lay, c, i)
	}
}

// closeBytes writes the end offset of a row's variable-length value.
func (e *rowEncoder) closeBytes(lay *rowLayout, c, row int) {
	at := e.varOff[row]
	if e.buf[e.starts[row]]&rowWide != 0 {
		end := e.varPos[row] - at - 4*lay.nVar
		binary.LittleEndian.PutUint32(e.buf[at+4*lay.cols[c].offset:], uint32(end))
		return
	}
	end := e.varPos[row] - at - 2*lay.nVar
	binary.LittleEndian.PutUint16(e.buf[at+2*lay.cols[c].offset:], uint16(end))
}
