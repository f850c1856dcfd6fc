package imcv

import (
	"unsafe"

	"github.com/weftdb/weft/vector"
)

// plainStrings is a column of strings as they are.
type plainStrings struct {
	offsets []int32
	heap    []byte
}

func (x *plainStrings) encoding() Encoding { return Plain }
func (x *plainStrings) sizeBytes() int     { return 4*len(x.offsets) + len(x.heap) }

func (x *plainStrings) read(v *vector.Vector, from, n int, valid vector.Bitmap, _ vector.Sel, _ *scratch) {
	v.SetBytes(x.offsets[from:from+n+1], x.heap, valid)
}

// symbols is a column of strings that are written with an alphabet of their own: the substrings that
// are frequent in the unit, two bytes each. Any string is decoded by itself, at a copy of 16 bytes per
// symbol, and equal strings have equal codes.
type symbols struct {
	alphabet *alphabet
	codes    []uint16
	// The codes of string i begin at blocks[i/64] + offsets[i].
	blocks  []int32
	offsets []uint16
	plain   int // bytes of all strings, decoded
}

// symbolBlock is the number of strings that share a block.
const symbolBlock = 64

func (x *symbols) encoding() Encoding { return Symbols }

func (x *symbols) sizeBytes() int {
	return 2*len(x.codes) + 4*len(x.blocks) + 2*len(x.offsets) + x.alphabet.sizeBytes()
}

// at returns the codes of a string.
func (x *symbols) at(i int) []uint16 {
	return x.codes[x.start(i):x.start(i+1)]
}

func (x *symbols) start(i int) int { return int(x.blocks[i/symbolBlock]) + int(x.offsets[i]) }

// read decodes the rows that will be looked at; others are empty. Each symbol is copied as 16 bytes,
// whatever its length: the heap has room for that behind its end, and what is too much is overwritten by
// the next.
func (x *symbols) read(v *vector.Vector, from, n int, valid vector.Bitmap, sel vector.Sel, _ *scratch) {
	offsets, heap := v.FillBytes(n, maxSymbol*(x.start(from+n)-x.start(from)+1))
	at := 0
	if sel == nil {
		start := x.start(from)
		for i := range n {
			end := x.start(from + i + 1)
			at = x.decode(heap, at, x.codes[start:end])
			offsets[i+1] = int32(at)
			start = end
		}
	} else {
		next := 0
		for _, i := range sel {
			for ; next < int(i); next++ {
				offsets[next+1] = int32(at)
			}
			at = x.decode(heap, at, x.at(from+int(i)))
			offsets[next+1] = int32(at)
			next++
		}
		for ; next < n; next++ {
			offsets[next+1] = int32(at)
		}
	}
	v.Valid = valid
}

// decode writes a string at a place of the heap and returns where it ends.
func (x *symbols) decode(heap []byte, at int, codes []uint16) int {
	if len(codes) == 0 {
		return at
	}
	// The bounds are checked once: no symbol is longer than 16 bytes, nor does one begin in the last 16.
	_ = heap[at+len(codes)*maxSymbol-1]
	text, to := unsafe.Pointer(&x.alphabet.text[0]), unsafe.Pointer(&heap[at])
	n := uint32(0)
	for _, c := range codes {
		p := x.alphabet.places[c%maxSymbols]
		*(*[2]uint64)(unsafe.Add(to, n)) = *(*[2]uint64)(unsafe.Add(text, p>>8))
		n += p & 0xff
	}
	return at + int(n)
}

// encodeSymbols writes strings with an alphabet made for them; nil when that does not save a quarter at
// least.
func encodeSymbols(v *vector.Vector) *symbols {
	plain := len(v.Heap())
	if plain < minSymbolBytes || plain < minSymbolLength*v.Len {
		return nil
	}
	t := trainSymbols(v)
	if t == nil {
		return nil
	}
	x := &symbols{alphabet: t.alphabet(), offsets: make([]uint16, 0, v.Len+1), codes: make([]uint16, 0, plain/4), plain: plain}
	for i := range v.Len {
		if !x.open(i) {
			return nil
		}
		x.codes = t.encode(x.codes, v.BytesAt(i))
	}
	if !x.open(v.Len) || 4*x.sizeBytes() > 3*(plain+4*(v.Len+1)) {
		return nil
	}
	x.codes = append(make([]uint16, 0, len(x.codes)), x.codes...)
	return x
}

// open notes where the codes of string i begin. It fails where strings are too long for two bytes an
// offset.
func (x *symbols) open(i int) bool {
	if i%symbolBlock == 0 {
		x.blocks = append(x.blocks, int32(len(x.codes)))
	}
	offset := len(x.codes) - int(x.blocks[i/symbolBlock])
	x.offsets = append(x.offsets, uint16(offset))
	return offset <= 1<<16-1
}
