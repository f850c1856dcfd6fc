package weft_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

// TestUnitsOnDisk limits the memory of units so that the last column's stay in their file: a scan reads them when a
// row passes its filter, not before, and reads the group by rows if the file is gone then. When there is room they
// come back by themselves.
func TestUnitsOnDisk(t *testing.T) {
	for _, c := range []struct{ covered, filter string }{{"k, pad", "k"}, {"k, pad", "late"}} {
		t.Run(c.filter, func(t *testing.T) {
			dir := t.TempDir()
			db, err := weft.Open(context.Background(), dir, weft.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			s := db.Session()
			defer s.Close()
			mustExec(t, s, "create table t (k int, late int, pad text)")
			mustExec(t, s, "insert into t select g * 7919 % 60000, g, md5(g::text) from generate_series(1, 60000) g")
			mustExec(t, s, "create table one (k int); insert into one values (77); analyze")
			mustExec(t, s, "alter table t colview (k, pad); select * from gs_imcv_flush('t')")
			full := db.LimitUnits(1 << 30)
			output := "pad"
			if c.filter == "late" {
				output = "pad, late" // a hybrid scan
			}
			few, none := "select "+output+" from t where k = 77", "select "+output+" from t where k * 2 = 9"
			mustExec(t, s, "set htap_router_mode = row")
			want, err := queryText(s, few)
			if err != nil || len(want) != 1 {
				t.Fatal(want, err)
			}
			mustExec(t, s, "set htap_router_mode = column")
			run := func(query string) string {
				t.Helper()
				plan, err := queryText(s, "explain analyze "+query)
				if err != nil {
					t.Fatal(err)
				}
				var text strings.Builder
				for _, line := range plan {
					text.WriteString(line[0] + "\n")
				}
				return text.String()
			}
			swap := func() {
				t.Helper()
				db.LimitUnits(1)
				before := db.UnitReads()
				db.LimitUnits(full + full/20)
				waitFor(t, "a unit comes back", func() bool { return db.UnitReads() == before+1 })
			}

			swap()
			before := db.UnitReads()
			if plan := run(none); db.UnitReads() != before || strings.Contains(plan, "from Disk") || !strings.Contains(plan, "Row Groups from Units: 1") {
				t.Errorf("no row passes: %d units read\n%s", db.UnitReads()-before, plan)
			}
			if plan := run(few); db.UnitReads() != before+1 || !strings.Contains(plan, "Row Groups from Disk: 1") {
				t.Errorf("a row passes: %d units read\n%s", db.UnitReads()-before, plan)
			}
			got, err := queryText(s, few)
			if err != nil || got[0][0] != want[0][0] {
				t.Errorf("%v, want %v, %v", got, want, err)
			}

			lose := func() {
				t.Helper()
				swap()
				files, err := filepath.Glob(filepath.Join(dir, "units", "*"))
				if err != nil || len(files) == 0 {
					t.Fatal(files, err)
				}
				for _, f := range files {
					if err := os.Remove(f); err != nil {
						t.Fatal(err)
					}
				}
			}
			lose()
			if plan := run(few); !strings.Contains(plan, "Row Groups from Rows: 1") || strings.Contains(plan, "from Units") || !strings.Contains(plan, "rows=1 ") {
				t.Errorf("the file is gone:\n%s", plan)
			}
			waitFor(t, "the group is built again", func() bool {
				return strings.Contains(run(few), "Row Groups from Units: 1")
			})
			if got, err = queryText(s, few); err != nil || got[0][0] != want[0][0] {
				t.Errorf("%v, want %v, %v", got, want, err)
			}
			lose() // a runtime filter counts rows once, though it tests them again
			join := "select /*+ HashJoin(t one) Leading((t one)) */ " + output + " from t join one using (k)"
			if plan := run(join); !strings.Contains(plan, "tested 60000, passed 1 ") || !strings.Contains(plan, "Row Groups from Rows: 1") {
				t.Errorf("the file is gone:\n%s", plan)
			}
			waitFor(t, "the group is built again", func() bool {
				return strings.Contains(run(join), "tested 60000, passed 1 ") && strings.Contains(run(join), "Row Groups from Units: 1")
			})

			db.LimitUnits(1)
			db.LimitUnits(2 * full)
			waitFor(t, "all units come back", func() bool { return db.LimitUnits(2*full) == full })
		})
	}
}

// waitFor waits until something that happens in the background has.
func waitFor(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !happened(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}
