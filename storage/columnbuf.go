package storage

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/weftdb/weft/vector"
)

// columnBuf collects one column of a batch from rows, pages and constants. Its memory is reused
// for every batch.
type columnBuf struct {
	kind    vector.Kind
	width   int
	data    []byte  // fixed width: room for all rows, 8-byte aligned
	offsets []int32 // variable length: one more than rows
	heap    []byte
	valid   vector.Bitmap // all set but for NULLs
	nulls   bool          // some bit of valid is clear
	touched byte          // by putPlaceBytes, for the compiler to keep the loads
	starts  []int32       // scratch of putPlaces
}

// newColumnBuf makes a column with room for a number of rows.
func newColumnBuf(kind vector.Kind, rows int) *columnBuf {
	c := &columnBuf{kind: kind, width: kind.Width(), valid: vector.NewBitmap(rows)}
	if c.width > 0 {
		words := make([]uint64, (rows*c.width+7)/8)
		c.data = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
	} else {
		c.offsets = make([]int32, 1, rows+1)
	}
	c.nulls = true
	c.reset()
	return c
}

// reset empties the column.
func (c *columnBuf) reset() {
	if c.nulls {
		for i := range c.valid {
			c.valid[i] = ^uint64(0)
		}
		c.nulls = false
	}
	if c.width == 0 {
		c.offsets = c.offsets[:1]
		c.heap = c.heap[:0]
	}
}

// view makes v a flat vector of the n rows collected.
func (c *columnBuf) view(v *vector.Vector, n int) {
	var valid vector.Bitmap
	if c.nulls {
		valid = c.valid
	}
	if c.width > 0 {
		v.SetFixed(c.kind, c.data, n, valid)
		return
	}
	v.SetBytes(c.offsets[:n+1], c.heap, valid)
}

func (c *columnBuf) setNull(row int) {
	c.nulls = true
	c.valid.Clear(row)
}

// putConst appends n rows of the value of a constant vector behind the first `at`.
func (c *columnBuf) putConst(at, n int, one *vector.Vector) {
	switch c.width {
	case 0:
		for range n {
			c.heap = append(c.heap, one.BytesAt(0)...)
			c.offsets = append(c.offsets, int32(len(c.heap)))
		}
	case 1:
		fill(elems[uint8](c)[at:at+n], one)
	case 2:
		fill(elems[uint16](c)[at:at+n], one)
	case 4:
		fill(elems[uint32](c)[at:at+n], one)
	case 8:
		fill(elems[uint64](c)[at:at+n], one)
	case 16:
		fill(elems[vector.Int128](c)[at:at+n], one)
	}
	if one.IsNull(0) {
		for i := range n {
			c.setNull(at + i)
		}
	}
}

func fill[T vector.Elem](dst []T, one *vector.Vector) {
	x := vector.Of[T](one)[0]
	for i := range dst {
		dst[i] = x
	}
}

// putNull appends a NULL behind the first `at` rows.
func (c *columnBuf) putNull(at int) {
	if c.width == 0 {
		c.offsets = append(c.offsets, int32(len(c.heap)))
	} else {
		clear(c.data[at*c.width : (at+1)*c.width])
	}
	c.setNull(at)
}

func elems[T vector.Elem](c *columnBuf) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(c.data))), len(c.data)/int(unsafe.Sizeof(*new(T))))
}

// putRows appends column col of rows, which have passed check, behind the first `at`.
func (c *columnBuf) putRows(at int, lay *rowLayout, col int, rows [][]byte) {
	offset := lay.cols[col].offset
	switch c.width {
	case 0:
		c.putRowBytes(lay, offset, rows)
	case 1:
		dst := elems[uint8](c)[at : at+len(rows)]
		for i, row := range rows {
			dst[i] = row[offset]
		}
	case 2:
		dst := elems[uint16](c)[at : at+len(rows)]
		for i, row := range rows {
			dst[i] = binary.LittleEndian.Uint16(row[offset:])
		}
	case 4:
		dst := elems[uint32](c)[at : at+len(rows)]
		for i, row := range rows {
			dst[i] = binary.LittleEndian.Uint32(row[offset:])
		}
	case 8:
		dst := elems[uint64](c)[at : at+len(rows)]
		for i, row := range rows {
			dst[i] = binary.LittleEndian.Uint64(row[offset:])
		}
	case 16:
		dst := elems[vector.Int128](c)[at : at+len(rows)]
		for i, row := range rows {
			dst[i].Lo = binary.LittleEndian.Uint64(row[offset:])
			dst[i].Hi = int64(binary.LittleEndian.Uint64(row[offset+8:]))
		}
	}
	at0, bit := rowHeader+col>>3, byte(1)<<(col&7)
	for i, row := range rows {
		if row[at0]&bit != 0 {
			c.setNull(at + i)
		}
	}
}

func (c *columnBuf) putRowBytes(lay *rowLayout, num int, rows [][]byte) {
	for _, row := range rows {
		rest := row[lay.fixedEnd:]
		start, end := 0, 0
		if row[0]&rowWide == 0 {
			if num > 0 {
				start = int(binary.LittleEndian.Uint16(rest[2*num-2:]))
			}
			end = int(binary.LittleEndian.Uint16(rest[2*num:]))
			rest = rest[2*lay.nVar:]
		} else {
			if num > 0 {
				start = int(binary.LittleEndian.Uint32(rest[4*num-4:]))
			}
			end = int(binary.LittleEndian.Uint32(rest[4*num:]))
			rest = rest[4*lay.nVar:]
		}
		c.heap = append(c.heap, rest[start:end]...)
		c.offsets = append(c.offsets, int32(len(c.heap)))
	}
}

// putPage appends the rows of ranks [from, to) of a page behind the first `at`.
func (c *columnBuf) putPage(at int, p *page, col, from, to int) error {
	area := p.area(col)
	if area.hasNulls {
		nulls := area.nulls >> from
		if n := to - from; n < 64 {
			nulls &= 1<<n - 1
		}
		for ; nulls != 0; nulls &= nulls - 1 {
			c.setNull(at + bits.TrailingZeros64(nulls))
		}
	}
	if c.width > 0 {
		copy(c.data[at*c.width:], area.data[from*c.width:to*c.width])
		return nil
	}
	ends, bytes := area.data, area.data[2*p.n:]
	start := 0
	if from > 0 {
		start = int(binary.LittleEndian.Uint16(ends[2*from-2:]))
	}
	last := int(binary.LittleEndian.Uint16(ends[2*to-2:]))
	if start > last || last > len(bytes) {
		return errBadPage
	}
	base := int32(len(c.heap)) - int32(start)
	prev := start
	for r := from; r < to; r++ {
		end := int(binary.LittleEndian.Uint16(ends[2*r:]))
		if end < prev {
			return errBadPage
		}
		prev = end
		c.offsets = append(c.offsets, base+int32(end))
	}
	c.heap = append(c.heap, bytes[start:last]...)
	return nil
}
