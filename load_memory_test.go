package weft_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// TestLoadManyPartitions: COPY into more partitions than are loaded at a time, with rows for all of them in
// turn, takes no memory for each row.
func TestLoadManyPartitions(t *testing.T) {
	skipSequential(t)
	db, err := weft.Open(t.Context(), filepath.Join(t.TempDir(), "db"), weft.Options{CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := db.Session()
	defer s.Close()
	const parts, rows = 100, 300_000
	mustExec(t, s, "create table p (id int, k int, t text, primary key (id, k)) partition by hash (k)")
	for i := range parts {
		mustExec(t, s, fmt.Sprintf("create table p%d partition of p for values with (modulus %d, remainder %d)", i, parts, i))
	}
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, "%d,%d,text of row %d\n", i, i%997, i)
	}
	file := filepath.Join(t.TempDir(), "p.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	mustExec(t, s, "set memory_limit = '16MB'")
	mustExec(t, s, fmt.Sprintf("copy p from '%s' (format csv)", file))
	wantRow(t, s, "select count(*), count(distinct k), sum(id) from p", int64(rows), int64(997), int64(rows)*(rows-1)/2)
}
