package weft_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

func TestQueryArrow(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	s := db.Session()
	defer s.Close()
	mustExec(t, s, "create table t (a int primary key, b bigint, c numeric(10,2), d numeric(30,3), e numeric, f date, g timestamptz, h boolean, i text, j double precision, k interval)")
	mustExec(t, s, `insert into t select g, g * 2, g / 4.0, g * 1000.5, g / 3.0, date '2020-01-01' + g, timestamptz '2020-01-01 00:00:00+00', g % 2 = 0, 'text ' || g, g / 2.0, interval '1 month 2 days' from generate_series(1, 2500) g`)
	mustExec(t, s, "insert into t (a) values (3000)")
	r, err := db.QueryArrow(ctx, "select * from t where a > $1", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	want := map[string]string{"b": "int64", "c": "decimal(10, 2)", "d": "decimal(30, 3)", "e": "utf8", "f": "date32", "g": "timestamp[us, tz=UTC]", "h": "bool", "i": "utf8", "j": "float64", "k": "month_day_nano_interval"}
	for name, typ := range want {
		fields, _ := r.Schema().FieldsByName(name)
		if got := fields[0].Type.String(); got != typ {
			t.Errorf("column %s is %s, want %s", name, got, typ)
		}
	}
	rows := int64(0)
	found := false
	for r.Next() {
		rec := r.Record()
		for i := range int(rec.NumRows()) {
			var values []string
			for c := range int(rec.NumCols()) {
				values = append(values, rec.Column(c).ValueStr(i))
			}
			line := strings.Join(values, "|")
			switch values[0] {
			case "7":
				found = true
				if want := "7|14|1.75|7003.5|2.3333333333333333|2020-01-08|2020-01-01 00:00:00Z|false|text 7|3.5|"; !strings.HasPrefix(line, want) {
					t.Errorf("row 7: %s, want %s…", line, want)
				}
			case "3000":
				if want := "3000" + strings.Repeat("|(null)", 10); line != want {
					t.Errorf("row of NULLs: %s", line)
				}
			}
		}
		rows += rec.NumRows()
	}
	if r.Err() != nil || rows != 2500 || !found {
		t.Error(fmt.Sprint(rows, found), r.Err())
	}
}
