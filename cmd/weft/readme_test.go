package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// TestReadmeTour types the tour of README.md into a shell on a new directory: each statement must
// succeed, and print what the tour shows where it shows anything.
func TestReadmeTour(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, tour, _ := strings.Cut(string(text), "## A tour of the shell\n\n```\n")
	tour, _, _ = strings.Cut(tour, "```\n")
	steps := strings.Split(tour, "weft=# ")
	words := strings.Fields(steps[0])
	if len(steps) < 5 || len(words) != 5 {
		t.Fatalf("no tour in README.md: %q", steps)
	}
	t.Chdir(t.TempDir())
	dir := words[4]
	if err := checkName(dir); err != nil {
		t.Fatal(err)
	}
	db, err := weft.Open(context.Background(), dir, weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var out bytes.Buffer
	sh := newShell(db, &out, &out)
	defer sh.session.Close()
	for _, step := range steps[1:] {
		statement, shown, _ := strings.Cut(step, "\n")
		out.Reset()
		if !sh.line(context.Background(), statement) {
			t.Errorf("%s: %s", statement, out.String())
		}
		if shown != "" && trimmed(out.String()) != trimmed(shown) {
			t.Errorf("%s printed\n%s\nREADME.md shows\n%s", statement, out.String(), shown)
		}
	}
	if !sh.quit {
		t.Error("the tour does not quit")
	}
}

// trimmed drops the blanks at the ends of lines, which editors do too.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
