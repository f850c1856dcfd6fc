package sql

import (
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/internal/utf8text"
)

const (
	// maxDepth is how deep expressions, subqueries and joins may nest: parser and later passes
	// recurse, and hostile input must not exhaust the stack.
	maxDepth = 1000
	// freeChain is the length up to which a chain such as a + b + c costs nothing; maxChain bounds
	// what all chains of a statement have beyond that. Chains are parsed by a loop, but their trees
	// are as deep as they are long.
	freeChain = 64
	maxChain  = 50_000
	// maxText is the longest text: token offsets have 32 bits.
	maxText = math.MaxInt32 - 1
)

// Parse parses the statements of text, which are separated by semicolons. Empty statements are
// left out.
func Parse(text string) ([]Statement, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	p := newParser(text)
	defer p.free()
	var stmts []Statement
	for more := true; more; {
		more = p.load()
		if p.kind() == tokEOF {
			continue
		}
		s := p.statement()
		p.end()
		if p.err != nil {
			return nil, p.err
		}
		stmts = append(stmts, s)
	}
	return stmts, nil
}

// ParseOne parses text that holds exactly one statement; a semicolon may follow it.
func ParseOne(text string) (Statement, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	p := newParser(text)
	defer p.free()
	more := p.load()
	for more && p.kind() == tokEOF {
		more = p.load()
	}
	if p.kind() == tokEOF {
		return nil, sqlerr.New(sqlerr.SyntaxError, "the text holds no statement")
	}
	s := p.statement()
	p.end()
	for more && p.err == nil {
		if more = p.load(); p.kind() != tokEOF {
			p.fail(sqlerr.New(sqlerr.SyntaxError, "cannot run several statements in one call").At(p.start()))
		}
	}
	if p.err != nil {
		return nil, p.err
	}
	return s, nil
}

// ParseExpr parses a value expression.
func ParseExpr(text string) (Expr, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	p := newParser(text)
	defer p.free()
	if p.load() {
		t := p.toks[len(p.toks)-1]
		return nil, sqlerr.New(sqlerr.SyntaxError, "syntax error at or near \";\"").At(int(t.start))
	}
	e := p.expr()
	p.end()
	if p.err != nil {
		return nil, p.err
	}
	return e, nil
}

// checkText rejects text that no token may contain.
func checkText(text string) error {
	if len(text) > maxText {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "statement text is longer than %d bytes", maxText)
	}
	if i := utf8text.InvalidString(text); i >= 0 {
		return utf8text.Error(text, i).At(i)
	}
	return nil
}

// parser is a recursive-descent parser over the tokens of one statement.
//
// The first error is kept in err, and pos then stands on the final tokEOF, where every loop ends.
// So parse methods need no error results; after a failure they return nil or incomplete nodes,
// which their callers may store but not look into.
type parser struct {
	lexer
	toks  []token
	used  int // how many of the elements of toks were written
	pos   int
	err   error
	depth int
	chain int

	idents []Ident // unused rest of a block that short name lists are cut from
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

func newParser(text string) *parser {
	p := parsers.Get().(*parser)
	p.lexer = lexer{src: text, hints: p.hints[:0]}
	return p
}

// free hands p back for reuse, without references to the text.
func (p *parser) free() {
	toks := p.toks
	clear(toks[:max(p.used, len(toks))])
	if cap(toks) > 4096 {
		toks = nil
	}
	*p = parser{toks: toks[:0], lexer: lexer{hints: p.hints[:0]}}
	parsers.Put(p)
}

// load reads the tokens of the next statement. It reports whether a semicolon ended them, so that
// another statement may follow.
func (p *parser) load() (more bool) {
	p.used = max(p.used, len(p.toks))
	p.hints = p.hints[:0]
	p.toks, more = p.lexer.statement(p.toks[:0])
	p.pos, p.chain = 0, 0
	return more
}

// Looking at tokens.

func (p *parser) tok() *token { return &p.toks[p.pos] }
func (p *parser) kind() kind  { return p.toks[p.pos].kind }
func (p *parser) start() int  { return int(p.toks[p.pos].start) }

// peek returns the kind of the token n places ahead.
func (p *parser) peek(n int) kind {
	if p.pos+n >= len(p.toks) {
		return tokEOF
	}
	return p.toks[p.pos+n].kind
}

// spanFrom returns the span from start to the end of the last token read.
func (p *parser) spanFrom(start int) Span {
	if p.pos == 0 {
		return Span{start, start}
	}
	return Span{start, max(start, int(p.toks[p.pos-1].end))}
}

// Moving over tokens.

// next moves past the current token and returns it.
func (p *parser) next() *token {
	t := &p.toks[p.pos]
	if t.kind != tokEOF {
		p.pos++
	}
	return t
}

func (p *parser) accept(k kind) bool {
	if p.toks[p.pos].kind != k || k == tokEOF {
		return false
	}
	p.pos++
	return true
}

// accept2 moves past the two given tokens, or past none.
func (p *parser) accept2(a, b kind) bool {
	if p.kind() != a || p.peek(1) != b {
		return false
	}
	p.pos += 2
	return true
}

// accept3 moves past the three given tokens, or past none.
func (p *parser) accept3(a, b, c kind) bool {
	if p.kind() != a || p.peek(1) != b || p.peek(2) != c {
		return false
	}
	p.pos += 3
	return true
}

func (p *parser) expect(k kind) {
	if !p.accept(k) {
		p.unexpectedWanting(kindText(k))
	}
}

func (p *parser) expect2(a, b kind) {
	p.expect(a)
	p.expect(b)
}

// end fails unless the statement is read completely.
func (p *parser) end() {
	if p.err == nil && p.kind() != tokEOF {
		p.unexpected()
	}
}

// Errors.

// fail records the first error and moves to the end.
func (p *parser) fail(err *sqlerr.Error) {
	if p.err == nil {
		p.err = err
	}
	p.pos = len(p.toks) - 1
}

// unexpected fails at the current token.
func (p *parser) unexpected() { p.unexpectedWanting("") }

func (p *parser) unexpectedWanting(want string) {
	if p.err != nil {
		return
	}
	t := p.tok()
	if t.kind == tokError {
		p.fail(p.lexer.err)
		return
	}
	err := syntaxError(p.src, t)
	if t.kind == tokEOF && t.start < t.end {
		err = sqlerr.New(sqlerr.SyntaxError, "syntax error at or near \";\"").At(int(t.start))
	}
	if want != "" {
		err = err.WithHint("Expected %s.", want)
	}
	p.fail(err)
}

// unsupported fails with a feature that is recognised but not part of the grammar.
func (p *parser) unsupported(at int, what string) {
	p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "%s is not supported", what).At(at))
}

// enter counts a level of nesting; every true must be followed by leave.
func (p *parser) enter() bool {
	if p.depth >= maxDepth {
		p.tooComplex("The statement nests deeper than %d levels.", maxDepth)
		return false
	}
	p.depth++
	return true
}

func (p *parser) leave() { p.depth-- }

// link counts the n-th link of one chain.
func (p *parser) link(n int) {
	if n <= freeChain {
		return
	}
	if p.chain++; p.chain > maxChain {
		p.tooComplex("The statement chains more than %d operators.", maxChain)
	}
}

func (p *parser) tooComplex(hint string, limit int) {
	p.fail(sqlerr.New(sqlerr.StatementTooComplex, "statement too complex").At(p.start()).WithHint(hint, limit))
}

// kindText returns how a token kind is shown in hints.
func kindText(k kind) string {
	switch {
	case k >= firstKeyword:
		return strings.ToUpper(keywordTable[k-firstKeyword].word)
	case k < 256:
		return strconv.Quote(string(rune(k)))
	}
	switch k {
	case tokString:
		return "a string"
	case tokInteger:
		return "an integer"
	}
	return "an identifier"
}
