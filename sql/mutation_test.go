package sql

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// lexemes splits a text into its tokens' source texts.
func lexemes(text string) []string {
	var out []string
	l := lexer{src: text}
	toks, _ := l.statement(nil)
	for _, t := range toks {
		if t.kind != tokEOF && t.kind != tokError {
			out = append(out, text[t.start:t.end])
		}
	}
	return out
}

// TestTokenMutations parses statements with tokens dropped, doubled, swapped and taken from other
// statements. It finds more than mutated bytes do, since most results are close to the grammar.
// WEFT_MUTATIONS sets the number of texts.
func TestTokenMutations(t *testing.T) {
	n := 20_000
	if s := os.Getenv("WEFT_MUTATIONS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	var all [][]string
	for _, text := range accepted {
		all = append(all, lexemes(text))
	}
	parsed := 0
	for range n {
		toks := mutate(rnd, all)
		text := strings.Join(toks, " ")
		stmts, err := Parse(text)
		if err != nil {
			continue
		}
		parsed++
		checkRoundTrip(t, stmts)
		if t.Failed() {
			t.Fatalf("from %s", text)
		}
	}
	if parsed < n/20 {
		t.Errorf("only %d of %d texts parsed", parsed, n)
	}
}

// mutate changes a few tokens of one of the statements.
func mutate(rnd *rand.Rand, all [][]string) []string {
	pick := func() []string {
		for {
			if s := all[rnd.IntN(len(all))]; len(s) > 0 {
				return s
			}
		}
	}
	toks := append([]string(nil), pick()...)
	for range 1 + rnd.IntN(3) {
		i := rnd.IntN(len(toks))
		other := pick()
		from := rnd.IntN(len(other))
		switch rnd.IntN(5) {
		case 0:
			toks = append(toks[:i], toks[i+1:]...)
		case 1:
			toks[i] = other[from]
		case 2:
			j := rnd.IntN(len(toks))
			toks[i], toks[j] = toks[j], toks[i]
		case 3:
			to := min(len(other), from+1+rnd.IntN(6))
			toks = append(toks[:i:i], append(append([]string(nil), other[from:to]...), toks[i:]...)...)
		case 4: // a name instead of a name, often a keyword
			toks[i] = keywordTable[rnd.IntN(len(keywordTable))].word
		}
		if len(toks) == 0 {
			return pick()
		}
	}
	return toks
}
