package weft_test

import (
	"fmt"
	"testing"
)

// TestColumnViewExtremes compares columns with the first and last values of their types, by rows and by
// columns.
func TestColumnViewExtremes(t *testing.T) {
	db := openMemory(t)
	s := db.Session()
	defer s.Close()
	mustExec(t, s, `create table x (id int, a bigint, b int, c smallint, d timestamp, e date, f double precision, g numeric(18,0));
		insert into x values
			(1, -9223372036854775808, -2147483648, -32768, '-infinity', '-infinity', '-infinity', -999999999999999999),
			(2, 9223372036854775807, 2147483647, 32767, 'infinity', 'infinity', 'infinity', 999999999999999999),
			(3, 0, 0, 0, '2024-01-01', '2024-01-01', 'NaN', 0), (4, null, null, null, null, null, null, null);
		alter table x colview`)
	compare := func(condition string) {
		query := "select id from x where " + condition + " order by id"
		mustExec(t, s, "set htap_router_mode = row")
		want := outcome(s, query)
		mustExec(t, s, "set htap_router_mode = column")
		if got := outcome(s, query); got != want {
			t.Errorf("%s: by columns %q, by rows %q", query, got, want)
		}
	}
	values := map[string][]string{
		"a": {"-9223372036854775808", "9223372036854775807", "0", "5"}, "b": {"-2147483648", "2147483647", "0", "99999999999"},
		"c": {"-32768", "32767", "1", "70000"}, "d": {"'-infinity'", "'infinity'", "'2024-01-01'", "date 'infinity'"},
		"e": {"'-infinity'", "'infinity'", "'2023-01-01'"}, "f": {"'-infinity'", "'infinity'", "'NaN'", "0"},
		"g": {"-999999999999999999", "999999999999999999", "0.5", "1e30"},
	}
	for column, list := range values {
		for _, op := range []string{"=", "<>", "<", "<=", ">", ">="} {
			for _, value := range list {
				compare(fmt.Sprintf("%s %s %s", column, op, value))
			}
		}
		compare(fmt.Sprintf("%s in (%s, %s)", column, list[0], list[1]))
	}
}
