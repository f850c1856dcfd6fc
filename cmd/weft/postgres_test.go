package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// TestLikePostgreSQL types each script of testdata/sql into the shell and compares everything it
// prints, errors included, with what psql printed for the same script on PostgreSQL 15. The golden
// files come from
//
//	psql -X -f NAME.sql 2>&1 | sed 's/^psql:[^:]*:[0-9]*: //' > NAME.golden
//
// on a database with C collation.
func TestLikePostgreSQL(t *testing.T) {
	dir := filepath.Join("..", "..", "testdata", "sql")
	scripts, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts in %s", dir)
	}
	for _, script := range scripts {
		name := strings.TrimSuffix(filepath.Base(script), ".sql")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(script)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(script, ".sql") + ".golden")
			if err != nil {
				t.Fatal(err)
			}
			got := keepGoing(t, string(text))
			compareLines(t, got, string(want))
		})
	}
}

// keepGoing runs a script through all its errors.
func keepGoing(t *testing.T, script string) string {
	db, err := weft.Open(context.Background(), "", weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var out bytes.Buffer
	sh := newShell(db, &out, &out)
	defer sh.session.Close()
	sh.keepGoing = true
	sh.script(context.Background(), strings.NewReader(script)) // fails where the script has errors
	return out.String()
}

var withoutPosition = regexp.MustCompile(`^ERROR:  (division by zero|.* out of range$|table ".*" does not exist|relation ".*" already exists|.* but default expression is of type|` +
	`invalid value for parameter|parameter ".*" requires|.* is outside the valid range for|unrecognized configuration|.* takes only one argument|` +
	`SET TRANSACTION ISOLATION LEVEL must|transaction read-write mode must|cannot execute .* in a read-only)`)

// withoutRuntimePositions drops the position of errors that PostgreSQL raises without one, because
// they arise while rows are computed or objects looked up: weft says where they come from.
func withoutRuntimePositions(lines []string) []string {
	var out []string
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		if withoutPosition.MatchString(lines[i]) {
			if i+2 < len(lines) && strings.HasPrefix(lines[i+1], "LINE ") {
				i += 2
			}
		}
	}
	return out
}

// compareLines reports the first places where two outputs differ.
func compareLines(t *testing.T, got, want string) {
	g, w := withoutRuntimePositions(strings.Split(got, "\n")), strings.Split(want, "\n")
	shown := 0
	for i := 0; i < max(len(g), len(w)) && shown < 5; i++ {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Errorf("line %d:\n got %q\nwant %q", i+1, a, b)
			shown++
		}
	}
}
