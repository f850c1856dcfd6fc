package sqlname

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestQuote(t *testing.T) {
	for name, want := range map[string]string{
		"a1_b": "a1_b", "A": `"A"`, "a b": `"a b"`, `a"b`: `"a""b"`, "order": `"order"`, "key": "key", "1a": `"1a"`, "a$": `"a$"`, "é": `"é"`, "": `""`,
	} {
		if got := Quote(name); got != want {
			t.Errorf("Quote(%q) = %s, want %s", name, got, want)
		}
	}
}

// TestMade compares with what PostgreSQL 15 made of the same parts.
func TestMade(t *testing.T) {
	long, wide := strings.Repeat("t", 60), strings.Repeat("é", 31)
	for _, c := range []struct{ table, column, label, want string }{
		{"t", "a", "key", "t_a_key"},
		{"t", "", "pkey", "t_pkey"},
		{long, "", "pkey", long[:58] + "_pkey"},
		{long, "a", "seq", long[:57] + "_a_seq"},
		{long, long, "key1", long[:29] + "_" + long[:28] + "_key1"},
		{wide, "", "pkey", strings.Repeat("é", 29) + "_pkey"},
		{wide, wide, "key", strings.Repeat("é", 14) + "_" + strings.Repeat("é", 14) + "_key"},
	} {
		got := Made(c.table, c.column, c.label)
		if got != c.want || len(got) > MaxBytes || !utf8.ValidString(got) {
			t.Errorf("Made(%q, %q, %q) = %q, want %q", c.table, c.column, c.label, got, c.want)
		}
	}
}
