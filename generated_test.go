package weft_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/weftdb/weft"
)

// TestGeneratedInLoads fills a table with generated columns by COPY and BulkLoad, into fresh stores
// and behind rows that are there, and copies it out again.
func TestGeneratedInLoads(t *testing.T) {
	ctx := context.Background()
	s := memorySession(t)
	mustExec(t, s, "create table t (g int generated always as (length(a)) stored unique, a text, h text generated always as (a || b) stored check (h <> 'bad'), b text default 'x')")
	if err := copyInto(t, s, "one two\n", "(delimiter ' ')"); err != nil {
		t.Fatal(err)
	}
	if err := copyInto(t, s, "fourfour\n", "(format csv)"); codeOf(err) != "22P04" {
		t.Errorf("too few columns: %v", err)
	}
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("fourfour\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustExec(t, s, "copy t (a) from '"+file+"'")
	for query, code := range map[string]string{
		"copy t (a) from '" + file + "'":        "23505",
		"copy t (g) from '" + file + "'":        "42P10",
		"copy t (h) to '" + file + ".2'":        "42P10",
		"insert into t values (1)":              "428C9",
		"insert into t (a,b) values ('ba','d')": "23514",
	} {
		if _, err := s.Exec(ctx, query); codeOf(err) != code {
			t.Errorf("%s: %v, want %s", query, err, code)
		}
	}
	mustExec(t, s, "copy t to '"+file+".2'")
	if text, err := os.ReadFile(file + ".2"); err != nil || string(text) != "one\ttwo\nfourfour\tx\n" {
		t.Errorf("copied out %q, %v", text, err)
	}
	load := func(table string, give bool) error {
		_, err := s.BulkLoad(ctx, table, 2, func(seq uint64, b *weft.LoadBatch) (int, error) {
			if seq > 0 {
				return 0, nil
			}
			l := newLetters("ab", "abcdefg")
			b.Bytes(1, l.offsets, l.heap)
			b.Bytes(3, l.offsets, l.heap)
			if give {
				b.Int32(0, []int32{1, 2})
			}
			return 2, nil
		})
		return err
	}
	if err := load("t", true); codeOf(err) != "428C9" {
		t.Errorf("a generated column was given: %v", err)
	}
	if err := load("t", false); err != nil {
		t.Fatal(err)
	}
	if got := oneRow(t, s, "select count(*), sum(g), max(h) from t"); got != "4|20|onetwo" {
		t.Error(got)
	}
	mustExec(t, s, "truncate t")
	if err := load("t", false); err != nil {
		t.Fatal(err)
	}
	if got := oneRow(t, s, "select count(*), sum(g), max(h) from t"); got != "2|9|abcdefgabcdefg" {
		t.Error(got)
	}
}
