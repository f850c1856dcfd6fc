package tpch

import (
	"strings"
	"sync"
	"sync/atomic"
)

// choice picks an entry by weight: it is listed as often as its weight says.
type choice []uint8

func (c choice) pick(s *stream) uint8 { return c[below(s.next(), uint64(len(c)))] }

// phrase is a noun, verb or prepositional phrase: a choice among forms, each a sequence of word
// kinds. A preposition comes before the form is chosen.
type phrase struct {
	preposition choice
	form        choice
	forms       [][]choice
}

// grammar is how the pseudo text comes about.
type grammar struct {
	sentence   choice
	sentences  [][]*phrase // without the terminator, which all have
	terminator choice

	words  [256]word
	length [256]uint8
	count  int
}

func newGrammar() *grammar {
	g := &grammar{}
	kinds := map[rune]choice{
		'N': g.add(nouns, " ", ""),
		'V': g.add(verbs, " ", ""),
		'D': g.add(adverbs, " ", ""),
		'X': g.add(auxiliaries, " ", ""),
		'J': g.add(adjectives, " ", ""),
		'j': g.add(adjectives, " ", ","),
	}
	noun, verb := newPhrase(nounPhrases, kinds), newPhrase(verbPhrases, kinds)
	behind := *noun
	behind.preposition = g.add(prepositions, " ", " the")
	g.terminator = g.add(terminators, "", "")
	phrases := map[rune]*phrase{'N': noun, 'V': verb, 'P': &behind}
	var forms []string
	g.sentence, forms = unfold(sentences)
	for _, form := range forms {
		var s []*phrase
		for _, symbol := range strings.TrimSuffix(form, "T") {
			s = append(s, phrases[symbol])
		}
		g.sentences = append(g.sentences, s)
	}
	return g
}

func newPhrase(list []weighted, kinds map[rune]choice) *phrase {
	p := &phrase{}
	var forms []string
	p.form, forms = unfold(list)
	for _, form := range forms {
		var f []choice
		for _, symbol := range form {
			f = append(f, kinds[symbol])
		}
		p.forms = append(p.forms, f)
	}
	return p
}

// unfold lists a weighted list's entries and the choice among them.
func unfold(list []weighted) (choice, []string) {
	var c choice
	var all []string
	for _, group := range list {
		for entry := range strings.SplitSeq(group.words, ",") {
			for range group.weight {
				c = append(c, uint8(len(all)))
			}
			all = append(all, entry)
		}
	}
	return c, all
}

// add gives a list's words tokens, with something before and behind each.
func (g *grammar) add(list []weighted, before, behind string) choice {
	c, all := unfold(list)
	for i := range c {
		c[i] += uint8(g.count)
	}
	for _, w := range all {
		g.length[g.count] = uint8(copy(g.words[g.count][:], before+w+behind))
		g.count++
	}
	return c
}

// appendSentence adds the tokens of the next sentence.
func (g *grammar) appendSentence(dst []uint8, at *stream) []uint8 {
	s := *at // in a register
	for _, p := range g.sentences[g.sentence.pick(&s)] {
		if p.preposition != nil {
			dst = append(dst, p.preposition.pick(&s))
		}
		for _, kind := range p.forms[p.form.pick(&s)] {
			dst = append(dst, kind.pick(&s))
		}
	}
	dst = append(dst, g.terminator.pick(&s))
	*at = s
	return dst
}

// textPart is a state of the text's making from which it can go on: the random stream, the tokens
// and the positions so far.
type textPart struct {
	stream   stream
	token    uint32
	position uint32
}

// partSentences is the number of sentences of a part. Parts are made in parallel; textParts lists
// where they start.
const partSentences = 1 << 17

// newText makes the pool with several goroutines.
func newText(threads int) *text {
	g := newGrammar()
	end := textParts[len(textParts)-1]
	t := &text{
		words: g.words, length: g.length,
		tokens: make([]uint8, end.token),
		blocks: make([]uint32, end.position/blockBytes+1),
		marks:  make([]uint16, end.position/markBytes+1),
	}
	eachPart(threads, func(from, to textPart) {
		tokens, s := t.tokens[from.token:from.token:to.token], from.stream
		for len(tokens) < cap(tokens) {
			tokens = g.appendSentence(tokens, &s)
		}
	})
	eachPart(threads, t.index)
	return t
}

func eachPart(threads int, do func(from, to textPart)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(threads, len(textParts)-1) {
		wg.Go(func() {
			for i := next.Add(1); i < int64(len(textParts)); i = next.Add(1) {
				do(textParts[i-1], textParts[i])
			}
		})
	}
	wg.Wait()
}

// index makes the marks of the blocks that begin in a part; the last one may end in the next part.
func (t *text) index(from, to textPart) {
	firstBlock := (from.position + blockBytes - 1) / blockBytes
	endBlock := (to.position + blockBytes - 1) / blockBytes
	mark := firstBlock * (blockBytes / markBytes)
	endMark := min(endBlock*(blockBytes/markBytes), uint32(len(t.marks)))
	position, base := from.position, uint32(0)
	for number := from.token; mark < endMark; number++ {
		end := position + uint32(t.length[t.tokens[number]])
		if mark*markBytes < end {
			if mark%(blockBytes/markBytes) == 0 {
				base = number
				t.blocks[mark/(blockBytes/markBytes)] = base
			}
			t.marks[mark] = uint16((number-base)<<placeBits | (mark*markBytes - position))
			mark++
		}
		position = end
	}
}
