package tpch

// textSize is the length of dbgen's pool of pseudo text, which all comments are cut from.
const textSize = 300 << 20

// text is the pool in a sixth of its size: one byte stands for a word.
//
// Every word is stored with the blank before it, so that words follow each other without anything
// between. Position 0 is the blank before the first word: dbgen's pool begins at position 1.
type text struct {
	words  [256]word
	length [256]uint8
	tokens []uint8
	blocks []uint32 // number of the first token of each block of blockBytes positions
	// marks has an entry per markBytes positions: the token that holds the position, counted from
	// the block's first token, and the position's place in the token.
	marks []uint16
}

// word is padded so that it is copied by a few fixed moves; only length bytes of it count.
type word [wordBytes]byte

const (
	wordBytes = 24
	// blockBytes keeps the number of a block's tokens below 1<<(16-placeBits): the shortest
	// sentence, noun, verb and terminator, has 11 bytes.
	blockBytes = 4096
	markBytes  = 64
	placeBits  = 5 // no word is longer than 1<<placeBits
)

// comment gives the range of a comment's length: from 0.4 to 1.6 times the specification's average.
type comment struct{ least, most int }

var (
	partComment     = comment{5, 22}
	partSuppComment = comment{49, 198}
	supplierComment = comment{25, 100}
	customerComment = comment{29, 116}
	orderComment    = comment{19, 78}
	lineComment     = comment{10, 43}
	nationComment   = comment{28, 115}
	regionComment   = comment{28, 115}
)

// draw draws a comment's start and length.
func (c comment) draw(s *stream) (start uint32, length uint8) {
	start = uint32(belowWide(s.next(), uint64(textSize-c.most+1))) + 1
	return start, uint8(c.least + int(below(s.next(), uint64(c.most-c.least+1))))
}

// cutGroup is the number of comments that are looked up before the first is written: the look-ups
// miss the processor's caches, but many misses are served at once when no branch depends on them.
const cutGroup = 64

// cut appends comments. c.Bytes needs room for wordBytes bytes more than they take.
func (t *text) cut(c *Column, starts []uint32, lengths []uint8) {
	var first [cutGroup]uint32
	var skip, token [cutGroup]uint8
	for len(starts) > 0 {
		n := min(len(starts), cutGroup)
		for i, start := range starts[:n] {
			mark := t.marks[start/markBytes]
			first[i] = t.blocks[start/blockBytes] + uint32(mark>>placeBits)
			skip[i] = uint8(mark&(1<<placeBits-1)) + uint8(start%markBytes)
		}
		for i, number := range first[:n] {
			token[i] = t.tokens[number]
		}
		for i, length := range lengths[:n] {
			c.Bytes = t.append(c.Bytes, token[i], first[i], skip[i], length)
			c.endText()
		}
		starts, lengths = starts[n:], lengths[n:]
	}
}

// append adds length bytes of the text that begin skip bytes behind the start of a token, given with
// its number. dst needs room for wordBytes bytes more.
func (t *text) append(dst []byte, token uint8, number uint32, skip, length uint8) []byte {
	for skip >= t.length[token] {
		skip -= t.length[token]
		number++
		token = t.tokens[number]
	}
	start := len(dst)
	end := start + int(length)
	dst = dst[:end+wordBytes]
	at := start + copy(dst[start:], t.words[token][skip:t.length[token]])
	for at < end {
		number++
		token = t.tokens[number]
		*(*word)(dst[at:]) = t.words[token]
		at += int(t.length[token])
	}
	return dst[:end]
}
