package imcv

import "github.com/weftdb/weft/vector"

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

func (x *symbols) read(v *vector.Vector, from, n int, valid vector.Bitmap, sel vector.Sel, _ *scratch) {
	v.Reset(vector.Bytes, n)
	if sel == nil {
		x.decode(v, from, n)
	} else {
		next := 0
		for _, i := range sel {
			x.skip(v, int(i)-next)
			x.decode(v, from+int(i), 1)
			next = int(i) + 1
		}
		x.skip(v, n-next)
	}
	v.Valid = valid
}

// skip adds n rows that nobody looks at.
func (x *symbols) skip(v *vector.Vector, n int) {
	for range n {
		v.EndBytes(v.HeapBuf())
	}
}

// decode adds n strings from a position on. Each symbol is copied as 16 bytes, whatever its length: the
// heap has room for that behind its end, and what is too much is overwritten by the next.
func (x *symbols) decode(v *vector.Vector, from, n int) {
	heap := v.HeapBuf()
	start := x.start(from)
	if need := len(heap) + maxSymbol*(x.start(from+n)-start) + maxSymbol; cap(heap) < need {
		grown := make([]byte, len(heap), need+need/2)
		copy(grown, heap)
		heap = grown
	}
	text, ends := x.alphabet.text, x.alphabet.ends
	at, room := len(heap), heap[:cap(heap)]
	for i := from + 1; i <= from+n; i++ {
		end := x.start(i)
		for _, c := range x.codes[start:end] {
			low := int(ends[c])
			copy(room[at:at+maxSymbol], text[low:low+maxSymbol])
			at += int(ends[c+1]) - low
		}
		start = end
		v.EndBytes(room[:at])
	}
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
