package sql

import "github.com/weftdb/weft/internal/sqlerr"

// kind is the kind of a token. Punctuation and one-character operators are their own character;
// keywords follow firstKeyword in the order of the table in keywords.go.
type kind uint16

const (
	tokEOF kind = 256 + iota
	tokError
	tokIdent   // an identifier that is no keyword, or any quoted one
	tokString  // '…', E'…', $$…$$: val is the value
	tokBits    // B'…': val is the digits
	tokHexBits // X'…'
	tokInteger // val is the digits without underscores, with a 0x, 0o or 0b prefix if there was one
	tokNumeric // val as written without underscores
	tokParam   // $n: val is the digits
	tokOp      // any operator without a kind of its own: val is its text
	tokTypecast
	tokColonEquals
	tokEqualsGreater
	tokLessEquals
	tokGreaterEquals
	tokNotEquals
	tokDotDot
	firstKeyword
)

// token is one lexical element: src[start:end].
type token struct {
	kind       kind
	quoted     bool // a quoted identifier
	hint       bool // a hint comment stands before it
	start, end int32
	val        string // identifiers: folded name; keywords: the lower-case word
}

// keywordClass says where a keyword may serve as a name, as in PostgreSQL.
type keywordClass uint8

const (
	unreserved   keywordClass = iota // anywhere
	colName                          // columns and tables, not functions or types
	typeFuncName                     // functions and types, not columns or tables
	reserved                         // only after AS
)

// isWord reports whether the token is an identifier or keyword.
func (k kind) isWord() bool { return k == tokIdent || k >= firstKeyword }

// isColID reports whether the token may name a column or table.
func (k kind) isColID() bool {
	return k == tokIdent || k >= firstKeyword && keywordTable[k-firstKeyword].class <= colName
}

// isTypeFunc reports whether the token may name a function or type.
func (k kind) isTypeFunc() bool {
	if k == tokIdent {
		return true
	}
	if k < firstKeyword {
		return false
	}
	c := keywordTable[k-firstKeyword].class
	return c == unreserved || c == typeFuncName
}

// keyword is a row of keywordTable.
type keyword struct {
	word  string
	class keywordClass
	// needsAs marks words that cannot follow an expression as its name without AS, because they
	// could continue the expression or the statement.
	needsAs bool
}

const keywordSlots = 2048

// keywordIndex is an open-addressing hash table over keywordTable: kinds by keywordHash.
var keywordIndex = buildKeywordIndex()

func buildKeywordIndex() *[keywordSlots]kind {
	var index [keywordSlots]kind
	for i, k := range keywordTable {
		var h uint32
		for j := range len(k.word) {
			h = keywordHash(h, k.word[j])
		}
		for index[h%keywordSlots] != 0 {
			h++
		}
		index[h%keywordSlots] = firstKeyword + kind(i)
	}
	return &index
}

// keywordHash adds one lower-case character to a hash; the lexer calls it while it reads a word.
func keywordHash(h uint32, c byte) uint32 { return h*31 + uint32(c) }

// lookupKeyword returns the kind of the lower-case word with the hash h, or tokIdent.
func lookupKeyword(h uint32, word string) kind {
	for {
		k := keywordIndex[h%keywordSlots]
		if k == 0 {
			return tokIdent
		}
		if keywordTable[k-firstKeyword].word == word {
			return k
		}
		h++
	}
}

// keywordOf returns the keyword kind of a lower-case word, or tokIdent.
func keywordOf(word string) kind {
	var h uint32
	for i := range len(word) {
		h = keywordHash(h, word[i])
	}
	return lookupKeyword(h, word)
}

// syntaxError makes the error for an unexpected token.
func syntaxError(src string, t *token) *sqlerr.Error {
	if t.kind == tokEOF {
		return sqlerr.New(sqlerr.SyntaxError, "syntax error at end of input").At(int(t.start))
	}
	return sqlerr.New(sqlerr.SyntaxError, "syntax error at or near \"%s\"", src[t.start:t.end]).At(int(t.start))
}
