package sql

import "testing"

func TestColumnLabel(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a", "t.b": "b", "1": "?column?", "'x'": "?column?", "NULL": "?column?", "a + 1": "?column?", "-a": "?column?", "(a)": "a",
		"count(*)": "count", "s.f(1)": "f", "coalesce(a, b)": "coalesce", "nullif(a, b)": "nullif", "current_date": "current_date",
		"a::int": "a", "1::int": "int4", "(a + 1)::float8": "float8", "CAST(f(1) AS text)": "f", "true": "bool", "true::text": "text",
		"date '2020-01-01'": "date", "interval '1' day": "interval", "a IS NULL": "?column?", "a LIKE 'x'": "?column?",
		"CASE WHEN a THEN b END": "case", "CASE WHEN a THEN b ELSE c END": "c", "CASE WHEN a THEN b ELSE 1::int END": "case",
		"EXISTS (SELECT 1)": "exists", "ARRAY[1]": "array", "ROW(1, 2)": "row", "(SELECT 1)": "?column?", "(SELECT a AS x)": "x",
		"(SELECT max(a) FROM t)": "max", "(VALUES (1))": "column1", "(SELECT a UNION SELECT b)": "a", "extract(year FROM a)": "extract",
		"a AT TIME ZONE 'utc'": "timezone", "trim(a)": "btrim", "substring(a FROM 1)": "substring", "a[1]": "a", "(a).f": "f", "a COLLATE \"C\"": "a",
	} {
		e, err := ParseExpr(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := ColumnLabel(e); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
