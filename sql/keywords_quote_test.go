package sql

import (
	"testing"

	"github.com/weftdb/weft/internal/sqlname"
)

// TestQuotedKeywords compares the keywords that messages quote with those of the grammar.
func TestQuotedKeywords(t *testing.T) {
	for _, k := range keywordTable {
		if got, want := sqlname.Keyword(k.word), k.class != unreserved; got != want {
			t.Errorf("%s: quoted %v, in the grammar %v", k.word, got, want)
		}
	}
}
