package weft_test

import (
	"context"
	"testing"

	"github.com/weftdb/weft"
)

// TestWritesWithLeastMemory inserts, in one transaction, several times what the smallest memory_limit takes:
// the writes go to temporary files, whose cache fits into that limit, too.
func TestWritesWithLeastMemory(t *testing.T) {
	db, err := weft.Open(context.Background(), t.TempDir(), weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := db.Session()
	defer s.Close()
	mustExec(t, s, "create table m (a int, b text); set memory_limit = '16MB'")
	mustExec(t, s, "insert into m select g, repeat('x', 200) || g from generate_series(1, 100000) g")
	got, err := queryText(s, "select count(*), sum(length(b)) from m")
	if err != nil || len(got) != 1 || got[0][0] != "100000" || got[0][1] != "20488895" {
		t.Errorf("%v, %v", got, err)
	}
}
