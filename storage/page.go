package storage

import (
	"encoding/binary"
	"math/bits"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// A packed page holds up to 64 rows of one page of row ids:
//
//	format u8 | rows u8 | columns u16 | schema version u32 | present slots u64 |
//	per column: end u16 | per column: [nulls u64] values
//
// Inside the page each column's values lie together: fixed-width values as an array, others as end
// offsets and bytes. A scan then copies columns instead of picking values out of rows, and a single
// row is still addressed directly, by the rank of its slot among the present ones.
const (
	pageFormat    = 1
	pageHeader    = 16
	maxPageBytes  = 1<<15 - 1 // a larger page's rows stay single; fits the 15 bits of an end
	areaHasNulls  = 1 << 15
	areaEndBits   = areaHasNulls - 1
	pageNullBytes = 8
)

var errBadPage = sqlerr.New(sqlerr.DataCorrupted, "malformed packed page")

// appendPage appends the packed page of n consecutive rows of dense vectors, one per column of the
// table, starting at row first; slot i of present belongs to them in order. It reports false, with
// dst unchanged, if the page would be too large.
func appendPage(dst []byte, l *tableLayout, vecs []*vector.Vector, first, n int, present uint64) ([]byte, bool) {
	lay := l.current.row
	for _, v := range vecs {
		if v.Kind == vector.Bytes && v.Offsets()[first+n]-v.Offsets()[first] > maxPageBytes {
			return dst, false
		}
	}
	return appendPageAreas(dst, lay, n, present, func(dst []byte, c int) (_ []byte, nulls uint64) {
		from := l.current.from[c]
		if from < 0 { // dropped columns are NULL
			nulls = ^uint64(0) >> (64 - n)
			dst = binary.LittleEndian.AppendUint64(dst, nulls)
			return append(dst, make([]byte, n*max(lay.cols[c].width, 2))...), nulls
		}
		if nulls = nullBits(vecs[from], first, n); nulls != 0 {
			dst = binary.LittleEndian.AppendUint64(dst, nulls)
		}
		return appendArea(dst, vecs[from], first, n, nulls), nulls
	})
}

// appendPageAreas appends the packed page of n rows, whose areas, each behind the word of its NULLs if it has
// any, are appended by area. It reports false, with dst unchanged, if the page would be too large.
func appendPageAreas(dst []byte, lay *rowLayout, n int, present uint64, area func(dst []byte, c int) (_ []byte, nulls uint64)) ([]byte, bool) {
	start := len(dst)
	dst = append(dst, pageFormat, byte(n))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(lay.cols)))
	dst = binary.LittleEndian.AppendUint32(dst, lay.version)
	dst = binary.LittleEndian.AppendUint64(dst, present)
	directory := len(dst)
	for range lay.cols {
		dst = append(dst, 0, 0)
	}
	for c := range lay.cols {
		var nulls uint64
		dst, nulls = area(dst, c)
		end := len(dst) - start
		if end > maxPageBytes {
			return dst[:start], false
		}
		if nulls != 0 {
			end |= areaHasNulls
		}
		binary.LittleEndian.PutUint16(dst[directory+2*c:], uint16(end))
	}
	return dst, true
}

// nullBits returns a bit per NULL among n ≤ 64 rows of a flat vector.
func nullBits(v *vector.Vector, first, n int) uint64 {
	if v.Valid == nil {
		return 0
	}
	word, shift := first>>6, uint(first)&63
	valid := v.Valid[word] >> shift
	if shift != 0 && word+1 < len(v.Valid) {
		valid |= v.Valid[word+1] << (64 - shift)
	}
	return ^valid & (^uint64(0) >> (64 - n))
}

// appendArea appends the values of one column. NULL rows are zero or empty, so that equal pages
// have equal bytes. It may run past maxPageBytes, which the caller checks.
func appendArea(dst []byte, v *vector.Vector, first, n int, nulls uint64) []byte {
	if width := v.Kind.Width(); width > 0 {
		at := len(dst)
		dst = append(dst, rawFixed(v)[first*width:(first+n)*width]...)
		for ; nulls != 0; nulls &= nulls - 1 {
			i := at + bits.TrailingZeros64(nulls)*width
			clear(dst[i : i+width])
		}
		return dst
	}
	offsets, heap := v.Offsets()[first:first+n+1], v.Heap()
	if nulls == 0 {
		base := offsets[0]
		for _, end := range offsets[1:] {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(end-base))
		}
		return append(dst, heap[base:offsets[n]]...)
	}
	at := len(dst)
	dst = append(dst, make([]byte, 2*n)...)
	begin := len(dst)
	for i := range n {
		if nulls>>i&1 == 0 {
			dst = append(dst, heap[offsets[i]:offsets[i+1]]...)
		}
		binary.LittleEndian.PutUint16(dst[at+2*i:], uint16(len(dst)-begin))
	}
	return dst
}

// rawFixed returns the values of a flat fixed-width vector as bytes.
func rawFixed(v *vector.Vector) []byte {
	return vector.Of[uint8](v)
}

// page is a parsed packed page; it views the bytes it was parsed from.
type page struct {
	data    []byte
	lay     *readLayout
	n       int
	present uint64
}

// pageArea is one column of a page.
type pageArea struct {
	data     []byte // without the null word
	nulls    uint64 // by rank
	hasNulls bool
}

// parse verifies a packed page, so that reading it needs no further checks but those of the
// variable-length columns that are read.
func (p *page) parse(data []byte, l *tableLayout) error {
	if len(data) < pageHeader || len(data) > maxPageBytes || data[0] != pageFormat {
		return errBadPage
	}
	version := binary.LittleEndian.Uint32(data[4:])
	if version > l.current.row.version {
		return errBadPage
	}
	p.data, p.lay = data, l.ofVersion(version)
	p.n, p.present = int(data[1]), binary.LittleEndian.Uint64(data[8:])
	cols := p.lay.row.cols
	if int(binary.LittleEndian.Uint16(data[2:])) != len(cols) || bits.OnesCount64(p.present) != p.n || p.n == 0 {
		return errBadPage
	}
	prev := pageHeader + 2*len(cols)
	if prev > len(data) {
		return errBadPage
	}
	for c := range cols {
		entry := int(binary.LittleEndian.Uint16(data[pageHeader+2*c:]))
		size := entry&areaEndBits - prev
		prev = entry & areaEndBits
		if entry&areaHasNulls != 0 {
			size -= pageNullBytes
		}
		if width := cols[c].width; width > 0 && size != p.n*width || width == 0 && size < 2*p.n || prev > len(data) {
			return errBadPage
		}
	}
	if prev != len(data) {
		return errBadPage
	}
	return nil
}

// adopt makes p a packed page that was parsed before.
func (p *page) adopt(data []byte, l *tableLayout) {
	p.data, p.lay = data, l.ofVersion(binary.LittleEndian.Uint32(data[4:]))
	p.n, p.present = int(data[1]), binary.LittleEndian.Uint64(data[8:])
}

// area returns a stored column's values.
func (p *page) area(col int) pageArea {
	start := pageHeader + 2*len(p.lay.row.cols)
	if col > 0 {
		start = int(binary.LittleEndian.Uint16(p.data[pageHeader+2*col-2:])) & areaEndBits
	}
	entry := int(binary.LittleEndian.Uint16(p.data[pageHeader+2*col:]))
	data := p.data[start : entry&areaEndBits]
	if entry&areaHasNulls == 0 {
		return pageArea{data: data}
	}
	return pageArea{data: data[pageNullBytes:], nulls: binary.LittleEndian.Uint64(data), hasNulls: true}
}

// rank returns the position of a present slot among the present ones.
func (p *page) rank(slot int) int { return bits.OnesCount64(p.present & (1<<slot - 1)) }

// appendRow appends row number rank in single-row form.
func (p *page) appendRow(dst []byte, rank int) ([]byte, error) {
	lay := p.lay.row
	start := len(dst)
	bytes := 0
	for c := range lay.cols {
		if lay.cols[c].width == 0 {
			from, to, ok := p.bytesAt(c, rank)
			if !ok {
				return nil, errBadPage
			}
			bytes += to - from
		}
	}
	// A page is smaller than 32 KB: offsets are never wide.
	size := lay.fixedEnd + 2*lay.nVar + bytes
	dst = append(dst, make([]byte, size)...)
	row := dst[start:]
	binary.LittleEndian.PutUint32(row, lay.version<<8)
	at := lay.fixedEnd + 2*lay.nVar
	for c := range lay.cols {
		col, area := &lay.cols[c], p.area(c)
		if area.hasNulls && area.nulls>>rank&1 != 0 {
			row[rowHeader+c>>3] |= 1 << (c & 7)
		}
		if col.width > 0 {
			copy(row[col.offset:col.offset+col.width], area.data[rank*col.width:])
			continue
		}
		from, to, _ := p.bytesAt(c, rank)
		at += copy(row[at:], area.data[2*p.n+from:2*p.n+to])
		binary.LittleEndian.PutUint16(row[lay.fixedEnd+2*col.offset:], uint16(at-lay.fixedEnd-2*lay.nVar))
	}
	return dst, nil
}

// bytesAt returns where a variable-length value lies behind the column's end offsets.
func (p *page) bytesAt(col, rank int) (from, to int, ok bool) {
	area := p.area(col)
	if rank > 0 {
		from = int(binary.LittleEndian.Uint16(area.data[2*rank-2:]))
	}
	to = int(binary.LittleEndian.Uint16(area.data[2*rank:]))
	return from, to, from <= to && to <= len(area.data)-2*p.n
}
