package imcv

import (
	"encoding/binary"

	"github.com/weftdb/weft/vector"
)

const (
	maxSymbol  = 16      // bytes of a symbol
	maxSymbols = 1 << 12 // symbols of an alphabet: their texts stay in the processor's nearest cache

	minSymbolBytes  = 16 << 10 // of all strings: less does not pay for an alphabet
	minSymbolLength = 6        // of a string on average

	sampleBytes = 128 << 10 // strings that an alphabet is made from
	// A pair of symbols that meets this often becomes one.
	pairThreshold = 6
)

// alphabet is the texts of symbols, one behind the other. The first 256 are the single bytes. 16 bytes
// follow the last, so that any symbol may be read as 16.
type alphabet struct {
	text  []byte
	count int // symbols
	// places say where symbols begin, in the upper 24 bits, and how long they are. Those beyond count are
	// empty: whatever a code is, decoding it stays within the memory that is there.
	places [maxSymbols]uint32
}

func (a *alphabet) sizeBytes() int { return len(a.text) + 4*maxSymbols }

// symbol returns a symbol's text.
func (a *alphabet) symbol(c int) []byte {
	p := a.places[c]
	return a.text[p>>8 : p>>8+p&0xff]
}

// trainer finds symbols and replaces text by them: always the longest one that fits, so that a string
// has one spelling only.
//
// Symbols are looked up by their first 8 bytes (or all, if they have fewer) and length; the second
// halves of longer ones are listed with their first halves.
type trainer struct {
	texts  [][]byte
	longer [][]uint16 // symbols of more than 8 bytes by the symbol of their first 8, longest first
	table  []symbolSlot
	// reach is the length of the longest short symbol that begins with two bytes.
	reach []uint8
}

type symbolSlot struct {
	key    uint64
	length uint8 // 0 = free
	symbol uint16
}

const symbolTableBits = 14

func newTrainer() *trainer {
	t := &trainer{table: make([]symbolSlot, 1<<symbolTableBits), reach: make([]uint8, 1<<16)}
	for c := range 256 {
		t.texts = append(t.texts, []byte{byte(c)})
		t.longer = append(t.longer, nil)
	}
	return t
}

func symbolHash(key uint64, length int) uint64 {
	return (key ^ uint64(length)<<57) * 0x9E3779B97F4A7C15 >> (64 - symbolTableBits)
}

// find returns the symbol of a short text given as a little-endian number.
func (t *trainer) find(key uint64, length int) (uint16, bool) {
	for h := symbolHash(key, length); ; h = (h + 1) & (1<<symbolTableBits - 1) {
		s := &t.table[h]
		if s.length == 0 {
			return 0, false
		}
		if s.key == key && int(s.length) == length {
			return s.symbol, true
		}
	}
}

// load reads up to 8 bytes as a little-endian number.
func load(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b)
	}
	x := uint64(0)
	for i, c := range b {
		x |= uint64(c) << (8 * i)
	}
	return x
}

func firstBytes(x uint64, n int) uint64 { return x & (^uint64(0) >> (64 - 8*n)) }

// add makes a text a symbol, unless there is one already or no room for it.
func (t *trainer) add(text []byte) bool {
	if len(t.texts) >= maxSymbols {
		return false
	}
	x := load(text)
	if len(text) <= 8 {
		if _, ok := t.find(x, len(text)); ok {
			return false
		}
		t.insert(text, x)
		return true
	}
	first, ok := t.find(x, 8)
	if !ok {
		if len(t.texts)+1 >= maxSymbols {
			return false
		}
		first = t.insert(text[:8], x)
	}
	list := t.longer[first]
	at := 0
	for ; at < len(list) && len(t.texts[list[at]]) >= len(text); at++ {
		if string(t.texts[list[at]]) == string(text) {
			return false
		}
	}
	list = append(list, 0)
	copy(list[at+1:], list[at:])
	list[at] = uint16(len(t.texts))
	t.longer[first] = list
	t.append(text)
	return true
}

func (t *trainer) append(text []byte) {
	t.texts = append(t.texts, append([]byte(nil), text...))
	t.longer = append(t.longer, nil)
}

// insert adds a symbol of 2 to 8 bytes.
func (t *trainer) insert(text []byte, x uint64) uint16 {
	symbol := uint16(len(t.texts))
	t.append(text)
	h := symbolHash(x, len(text))
	for t.table[h].length != 0 {
		h = (h + 1) & (1<<symbolTableBits - 1)
	}
	t.table[h] = symbolSlot{x, uint8(len(text)), symbol}
	two := uint16(x)
	t.reach[two] = max(t.reach[two], uint8(len(text)))
	return symbol
}

// match returns the longest symbol that b, which is not empty, begins with.
func (t *trainer) match(b []byte) (uint16, int) {
	if len(b) == 1 {
		return uint16(b[0]), 1
	}
	x := load(b)
	for n := min(int(t.reach[uint16(x)]), len(b)); n >= 2; n-- {
		symbol, ok := t.find(firstBytes(x, n), n)
		if !ok {
			continue
		}
		if n == 8 {
			if s, length, ok := t.matchLonger(t.longer[symbol], b); ok {
				return s, length
			}
		}
		return symbol, n
	}
	return uint16(b[0]), 1
}

func (t *trainer) matchLonger(list []uint16, b []byte) (uint16, int, bool) {
	for _, s := range list {
		text := t.texts[s]
		if len(text) <= len(b) && string(b[8:len(text)]) == string(text[8:]) {
			return s, len(text), true
		}
	}
	return 0, 0, false
}

// encode appends the symbols of a string.
func (t *trainer) encode(dst []uint16, b []byte) []uint16 {
	for len(b) > 0 {
		s, n := t.match(b)
		dst = append(dst, s)
		b = b[n:]
	}
	return dst
}

// trainSymbols makes an alphabet from a sample of strings spread over the unit: neighbours in the text
// that meet often enough become one symbol, which may grow further. It returns nil when the sample
// would not shrink to three quarters.
func trainSymbols(v *vector.Vector) *trainer {
	t := newTrainer()
	pairs := make(map[uint32]uint8, 1<<14)
	rows := max(1, min(v.Len, sampleBytes/max(1, len(v.Heap())/v.Len)))
	// A stride without a common divisor with the number of rows visits all of them in a scattered order.
	stride := max(1, v.Len*5/8)
	for gcd(uint64(stride), uint64(v.Len)) != 1 {
		stride++
	}
	var joined []byte
	for k, i := 0, 0; k < rows; k, i = k+1, (i+stride)%v.Len {
		b := v.BytesAt(i)
		prev, length := uint16(0), 0
		for len(b) > 0 {
			s, n := t.match(b)
			if length > 0 && length+n <= maxSymbol {
				pair := uint32(prev)<<16 | uint32(s)
				if pairs[pair]++; pairs[pair] >= pairThreshold {
					delete(pairs, pair)
					joined = append(append(joined[:0], t.texts[prev]...), t.texts[s]...)
					t.add(joined)
				}
			}
			prev, length = s, n
			b = b[n:]
		}
		if len(t.texts) >= maxSymbols {
			break
		}
	}
	if !t.pays(v, stride) {
		return nil
	}
	return t
}

// pays tries the alphabet on strings that it was mostly not made from.
func (t *trainer) pays(v *vector.Vector, stride int) bool {
	plain := 0
	var codes []uint16
	for k, i := 0, v.Len/2; k < min(v.Len, 1000); k, i = k+1, (i+stride)%v.Len {
		b := v.BytesAt(i)
		plain += len(b)
		codes = t.encode(codes, b)
	}
	return 4*2*len(codes) <= 3*plain
}

// alphabet returns the symbols' texts.
func (t *trainer) alphabet() *alphabet {
	a := &alphabet{count: len(t.texts)}
	for c, text := range t.texts {
		a.places[c] = uint32(len(a.text)<<8 | len(text))
		a.text = append(a.text, text...)
	}
	a.text = append(a.text, make([]byte, maxSymbol)...)
	return a
}

// trainer returns what encodes strings with the alphabet again.
func (a *alphabet) trainer() *trainer {
	t := newTrainer()
	for c := 256; c < a.count; c++ {
		text := a.symbol(c)
		if len(text) <= 8 {
			t.insert(text, load(text))
			continue
		}
		first, _ := t.find(load(text), 8)
		t.longer[first] = append(t.longer[first], uint16(c))
		t.append(text)
	}
	for _, list := range t.longer {
		sortLongest(list, t.texts)
	}
	return t
}

// sortLongest puts longer symbols first; the lists are short.
func sortLongest(list []uint16, texts [][]byte) {
	for i := 1; i < len(list); i++ {
		for j := i; j > 0 && len(texts[list[j]]) > len(texts[list[j-1]]); j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
}
