package weft_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// viewedTable makes a table of three row groups, not covered, with statistics.
func viewedTable(t *testing.T) *weft.Session {
	s := memorySession(t)
	mustExec(t, s, `create table t (id bigint primary key, k int, r int, u int, v text);
		insert into t select g, g / 2, g::bigint * 7919 % 100003, g, 'v' || g from generate_series(1, 150000) g; analyze t`)
	return s
}

// oneLine runs a query and returns its rows' fields with | and its rows with ; between them.
func oneLine(t *testing.T, s *weft.Session, query string) string {
	t.Helper()
	rows, err := queryText(s, query)
	if err != nil {
		var known *weft.Error
		if errors.As(err, &known) {
			return string(known.Code) + " " + known.Message
		}
		t.Fatal(err)
	}
	var lines []string
	for _, row := range rows {
		lines = append(lines, strings.Join(row, "|"))
	}
	return strings.Join(lines, ";")
}

// TestColumnViewForms defines views in every form and looks at the catalog.
func TestColumnViewForms(t *testing.T) {
	s := memorySession(t)
	var notices []string
	s.OnNotice(func(text string) { notices = append(notices, text) })
	for _, c := range []struct{ statement, key, notice string }{
		{"create table c (a int, b int nocolview, d int) colview", "1 3", ""},
		{"alter table c colview", "1 2 3", ""},
		{"alter table c colview (b)", "2", ""},
		{"alter table c nocolview colview (a, d)", "1 3", ""},
		{"alter table c colview nocolview (a)", "2 3", ""},
		{"alter table c imcstored", "1 2 3", ""},
		{"alter table c imcstored (a, b)", "1 2", ""},
		{"truncate c", "1 2", ""},
		{"alter table c alter column a type bigint", "1 2", ""},
		{"alter table c add column e int colview", "1 2 4", ""},
		{"alter table c drop column a", "2 4", `column "a" was dropped from the column view of "c"`},
		{"alter table c drop column e", "2", `column "e" was dropped from the column view of "c"`},
		{"alter table c drop column b", "", `column "b" was dropped from the column view of "c"; column view of "c" was dropped: it covered no other column`},
		{"alter table c imcstored", "3", ""},
		{"alter table c unimcstored", "", ""},
		{"drop table c; create table c (a int colview, b int, d int colview)", "1 3", ""},
		{"alter table c nocolview", "", ""},
		{"drop table c; create table c (a int colview, b int) nocolview", "1", ""},
		{"alter table c modify partition p colview", `42809 table "c" is not partitioned`, ""},
		{"alter table c modify partition p unimcstored", `42809 table "c" is not partitioned`, ""},
		{"alter table c colview auto", `55000 no column view of "c" would help the queries seen so far`, ""},
		{"alter table c colview (a, a)", `42701 column "a" specified more than once`, ""},
		{"alter table c colview (x)", `42703 column "x" of relation "c" does not exist`, ""},
		{"alter table c colview nocolview (a, b)", `42P16 `, ""},
	} {
		notices = nil
		got := ""
		if _, err := s.Exec(t.Context(), c.statement); err != nil {
			var known *weft.Error
			if !errors.As(err, &known) {
				t.Fatal(err)
			}
			got = string(known.Code) + " " + known.Message
		} else {
			got = oneLine(t, s, "select imcvkey from gs_imcv where relname = 'c'")
		}
		if got != c.key && (!strings.HasSuffix(c.key, " ") || !strings.HasPrefix(got, c.key)) {
			t.Errorf("%s: %q, want %q", c.statement, got, c.key)
		}
		if n := strings.Join(notices, "; "); n != c.notice {
			t.Errorf("%s: notices %q, want %q", c.statement, n, c.notice)
		}
	}
}

// TestColumnViewFunctions checks what the system's functions and relations tell of a view as it is
// loaded, changed, unloaded and flushed.
func TestColumnViewFunctions(t *testing.T) {
	s := viewedTable(t)
	mustExec(t, s, "set enable_async_populate = off; alter table t colview (k, u)")
	for _, c := range []struct{ query, want string }{
		{"select relname, schemaname, imcvnattr, imcvkey, imcvispart from gs_imcv", "t|public|2|2 4|f"},
		{"select reloid = (select rel_oid from gs_htap_tmu_chunk_meta((select reloid from gs_imcv)::oid, 0)) from gs_imcv", "0A000 a subquery as argument of a function in FROM is not supported yet"},
		{"select imcvstatus, rowgroup_num, populated_rowgroup_num, cu_num_in_mem, cu_num_in_disk from gs_imcv_status", "F|3|3|9|0"},
		{"select rowgroup_id, attnum, column_name, row_count, null_count, min, max, place from gs_imcu_meta('t', 1)", "1|2|k|65536|0|32768|65536|memory;1|4|u|65536|0|65537|131072|memory"},
		{"select count(*), min(imcu_data_size) from gs_global_imcu_meta('public.t', null)", "6|75712"},
		{"select count(*) from gs_imcu_meta('t') where imcu_size <= 0", "0"},
		{"update t set u = 0 where id in (5, 6, 70, 140000)", ""},
		{"select rowgroup_id, status, row_count, buffer_count from gs_htap_tmu_chunk_meta(1)", "0|touched|3|2;1|clean|0|0;2|touched|1|1"},
		{"select count(*), count(distinct ctid) from gs_htap_tmu_data(1, 0)", "3|3"},
		{"select count(*) from gs_htap_tmu_data(1, 1)", "0"},
		{"select * from gs_imcv_bgworker_status", "3|3|0|4"},
		{"select total from gs_imcv_flush('t', 2, 'missing')", "0"},
		{"select total from gs_imcv_flush('t', null, 'all')", "2"},
		{"select total from gs_imcv_flush('t')", "0"},
		{"select total from gs_imcv_flush('t', 0)", "22023 parallel degree 0 is outside the valid range (1 .. 100)"},
		{"select total from gs_imcv_flush('t', 1, 'some')", `22023 invalid mode "some"`},
		{"select total from gs_imcv_flush('x')", `42P01 relation "x" does not exist`},
		{"select total from gs_imcv_flush(null)", "22023 gs_imcv_flush takes a table name"},
		{"select total from gs_htap_data_maintenance('unload', 't')", "3"},
		{"select imcvstatus, populated_rowgroup_num, cu_mem_size from gs_imcv_status", "I|0|0"},
		{"select status from gs_htap_tmu_chunk_meta(1, 2)", "not loaded"},
		{"select sum(k) from t", "5625000000"},
		{"select total from gs_htap_data_maintenance('load', 't')", "3"},
		{"select total from gs_htap_data_maintenance('drop', 't')", `22023 invalid action "drop"`},
		{"select file_num, file_size from gs_htap_file_status", "0|0"},
		{"select memorytype from pg_total_memory_detail where memorytype like '%htap%'", "max_htap_memory;htap_used_memory"},
		{"select memorymbytes from pg_total_memory_detail where memorytype = 'max_htap_memory'", "1024"},
		{"select estimated_size between 1000000 and 3000000 from gs_imcu_size_estimation('t', 'k, r', null)", "t"},
		{"select estimated_size from gs_imcu_size_estimation('t', 'x')", `42703 column "x" of relation "t" does not exist`},
		{"select estimated_size from gs_imcu_size_estimation('t', null, 'p')", `42809 table "t" is not partitioned`},
		{"select * from gs_htap_tmu_data(99, 0)", "42P01 no table with a column view has number 99"},
		{"select * from gs_imcu_meta('gs_imcv')", `42P01 relation "gs_imcv" does not exist`},
		{"select * from gs_imcv_flush", `42P01 relation "gs_imcv_flush" does not exist`},
		{"begin; select * from gs_htap_data_maintenance('unload', 't')", "25001 gs_htap_data_maintenance cannot run inside a transaction block"},
		{"rollback", ""},
		{"create temp table tt (a int) colview; insert into tt values (3); select * from gs_imcv_flush('tt'); select count(*) from gs_imcu_meta('tt')", "1"},
		{"create table gs_imcv (a int); insert into gs_imcv values (7); select * from gs_imcv", "7"},
		{"select relname from pg_catalog.gs_imcv where relname <> 'tt'", "t"},
	} {
		if strings.Contains(c.query, "; ") {
			parts := strings.Split(c.query, "; ")
			mustExec(t, s, strings.Join(parts[:len(parts)-1], "; "))
			c.query = parts[len(parts)-1]
		}
		if got := oneLine(t, s, c.query); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}
	// The counters move with scans.
	before := oneLine(t, s, "select rowgroup_units + rowgroup_pruned from gs_htap_scan_hit_status")
	mustExec(t, s, "set htap_router_mode = 'column'; select sum(k) from t")
	if after := oneLine(t, s, "select rowgroup_units + rowgroup_pruned from gs_htap_scan_hit_status"); after == before {
		t.Errorf("a column scan left the counters at %s", after)
	}
}

// TestColumnViewAdvice runs queries, looks at the advice, follows it, and checks that it helps.
func TestColumnViewAdvice(t *testing.T) {
	skipSequential(t)
	s := viewedTable(t)
	if got := oneLine(t, s, "select count(*) from gs_imcv_advice"); got != "0" {
		t.Errorf("advice without queries: %s", got)
	}
	for i := range 5 {
		mustExec(t, s, fmt.Sprintf("select count(*) from t where r < %d; select u, v from t where k between %d and %d; select id from t where id = %d", 100+i, i, i+3, i))
	}
	if got, want := oneLine(t, s, "select filter_columns, output_columns, scans, rows_scanned from gs_imcv_advice_statistics order by 1"), "k|u, v|5|750000;r||5|750000"; got != want {
		t.Errorf("queries seen: %s, want %s", got, want)
	}
	if got, want := oneLine(t, s, "select scans, advised, saved_share > 0.5, statement from gs_imcv_advice"), `10|k, r|t|ALTER TABLE public.t NOCOLVIEW COLVIEW (k, r)`; got != want {
		t.Errorf("advice: %s, want %s", got, want)
	}
	var notices []string
	s.OnNotice(func(text string) { notices = append(notices, text) })
	mustExec(t, s, "set enable_async_populate = off; alter table t colview auto")
	if !slices.Contains(notices, `column view of "t" covers k, r`) {
		t.Errorf("notices %q", notices)
	}
	if plan := oneLine(t, s, "explain select u, v from t where k between 3 and 6"); !strings.Contains(plan, "Imcv Scan") {
		t.Errorf("the view advised is not used: %s", plan)
	}
	size := oneLine(t, s, "select max(a.estimated_size) >= max(i.cu_mem_size) * 0.7 and max(a.estimated_size) <= max(i.cu_mem_size) * 1.5 from gs_imcv_advice a, gs_htap_imcv_info() i")
	if size != "t" {
		t.Error("the size estimated is far from the view's")
	}
	// Another definition of the table forgets what was seen.
	mustExec(t, s, "alter table t add column w int")
	if got := oneLine(t, s, "select count(*) from gs_imcv_advice_statistics"); got != "0" {
		t.Errorf("queries seen of an older definition: %s", got)
	}
}

// TestColumnViewZeros: the two zeros of floats are one value for every comparison, on codes too.
func TestColumnViewZeros(t *testing.T) {
	s := openMemory(t).Session()
	mustExec(t, s, "create table t (id int, f float8, r real, g float8)")
	mustExec(t, s, "insert into t select g, case g % 3 when 0 then '-0'::float8 when 1 then 0 else 2.5 end, case g % 3 when 0 then '-0'::real when 1 then 0 else 2.5 end, case when g % 2 = 0 then '-0'::float8 else 0 end from generate_series(1, 300) g")
	mustExec(t, s, "insert into t values (0, null, null, null); alter table t colview; select * from gs_imcv_flush('t')")
	for _, column := range []string{"f", "r", "g"} {
		for _, condition := range []string{"%s = 0", "%s <> 0", "%s <> '-0'", "%s in (2.5, 0, 4.5)", "%s in ('-0', 7)", "%s not in (0, 4)", "%s < 0", "%s <= '-0'", "%s > '-0'", "%s >= 0", "%s between '-0' and 0", "%s <> 2.5"} {
			query := "select count(*) from t where " + strings.ReplaceAll(condition, "%s", column)
			mustExec(t, s, "set htap_router_mode = row")
			want := oneLine(t, s, query)
			mustExec(t, s, "set htap_router_mode = column")
			if got := oneLine(t, s, query); got != want {
				t.Errorf("%s: %s by columns, %s by rows", query, got, want)
			}
		}
	}
}
