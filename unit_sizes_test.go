package weft_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// TestUnitSizes compares column units with the rows that they were built from, as the row store encodes them,
// over all tables of both data sets: units should take at most half, together with all that views need
// besides.
func TestUnitSizes(t *testing.T) {
	skipSequential(t)
	for _, set := range []string{"tpch", "tpcds"} {
		t.Run(set, func(t *testing.T) {
			schema, err := os.ReadFile(filepath.Join(sharedData(t, set+"-queries"), "schema.sql"))
			if err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(sharedData(t, set+"-small"), "*.parquet"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no data: %v", err)
			}
			db, err := weft.Open(context.Background(), "", weft.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			s := db.Session()
			defer s.Close()
			mustExec(t, s, string(schema))
			var rows, units, view int64
			slices.Sort(files)
			for _, file := range files {
				table := strings.TrimSuffix(filepath.Base(file), ".parquet")
				path, err := filepath.Abs(file)
				if err != nil {
					t.Fatal(err)
				}
				mustExec(t, s, "copy "+table+" from '"+path+"' (format parquet); alter table "+table+" colview; select * from gs_imcv_flush('"+table+"')")
				number := func(query string) int64 {
					t.Helper()
					n, err := strconv.ParseInt(sortedRows(t, s, query)[0], 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					return n
				}
				r := number("select sum(row_size) from gs_table_row_size('" + table + "')")
				u := number("select sum(imcu_size) from gs_imcu_meta('" + table + "')")
				v := number("select cu_mem_size from gs_imcv_status where imcvstatus = 'F' and cu_num_in_disk = 0 and relname = '" + table + "'")
				t.Logf("%-24s rows %9d, units %9d: %.2f, with the view's bitmaps and filters %.2f", table, r, u, float64(u)/float64(r), float64(v)/float64(r))
				rows, units, view = rows+r, units+u, view+v
			}
			t.Logf("all tables: rows %d, units %d: %.3f, with the views' bitmaps and filters %.3f", rows, units, float64(units)/float64(rows), float64(view)/float64(rows))
			if 2*view > rows {
				t.Errorf("column views take %.3f of the rows", float64(view)/float64(rows))
			}
		})
	}
}

// TestTableRowSize asks for the size of rows by partition and data node.
func TestTableRowSize(t *testing.T) {
	db, err := weft.Open(context.Background(), "", weft.Options{DataNodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := db.Session()
	defer s.Close()
	mustExec(t, s, `create table p (id bigint primary key, v text) partition by range (id);
		create table p1 partition of p for values from (0) to (1000); create table p2 partition of p for values from (1000) to (2000);
		insert into p select g, repeat('x', 100) from generate_series(0, 999) g`)
	empty, full := "dn_6001_6002|p2|0", "select sum(row_size) between 100000 and 140000, count(*) from gs_table_row_size('p') where rel_name = 'p1'"
	if got := sortedRows(t, s, "select * from gs_table_row_size('public.p') where row_size = 0"); !slices.Contains(got, empty) || len(got) != 2 {
		t.Errorf("empty partitions: %q, want one of them %q", got, empty)
	}
	check := func(when string) {
		t.Helper()
		if got := sortedRows(t, s, full); !slices.Equal(got, []string{"t|2"}) {
			t.Errorf("%s: the full partition's size is within bounds on nodes: %q", when, got)
		}
	}
	check("single rows")
	mustExec(t, s, "begin; delete from p")
	check("what is not committed does not count")
	mustExec(t, s, "rollback; vacuum p")
	check("packed")
	for query, code := range map[string]string{
		"select * from gs_table_row_size('nowhere')":      "42P01",
		"select * from gs_table_row_size(null)":           "22023",
		"select * from gs_table_row_size('gs_imcv_info')": "42P01",
	} {
		if _, err := s.Exec(context.Background(), query); codeOf(err) != code {
			t.Errorf("%s: %v, want %s", query, err, code)
		}
	}
}
