package weft

import (
	"context"
	"strings"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/storage"
)

// TestCheckConstraints adds constraints behind the back of ALTER TABLE, which would have looked for
// rows that violate them.
func TestCheckConstraints(t *testing.T) {
	ctx := context.Background()
	db, err := Open(ctx, InMemory, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, `create table t (a int check (a < 100)); insert into t select g from generate_series(1, 9) g; insert into t values (null)`); err != nil {
		t.Fatal(err)
	}
	x := db.engine.Begin(storage.TxnOptions{})
	tbl := x.Catalog().Lookup("public", "t").Clone()
	tbl.Columns[0].NotNull = true
	tbl.Checks = append(tbl.Checks, catalog.Check{Name: "small", Expr: "a <= 6"}, catalog.Check{Name: "broken", Expr: "b > 0"})
	if err := x.SetCatalog(ctx, x.Catalog().WithTable(tbl)); err != nil {
		t.Fatal(err)
	}
	if err := x.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	check := func(want ...string) {
		t.Helper()
		var found []string
		s, err := db.Check(ctx, CheckOptions{Report: func(f Finding) { found = append(found, f.String()) }})
		if err != nil || int(s.Findings) != len(want) {
			t.Fatalf("%+v, %v", s, err)
		}
		all := strings.Join(found, "\n")
		for _, w := range want {
			if !strings.Contains(all, w) {
				t.Errorf("found\n%s\nwant %s", all, w)
			}
		}
	}
	check("row 9: NULL in column a, which is NOT NULL")
	if _, err := db.Exec(ctx, "delete from t where a is null"); err != nil {
		t.Fatal(err)
	}
	check("public.t, constraint small: 3 rows violate it", `public.t, constraint broken: cannot be evaluated: column "b" does not exist`)
}
