package tpch

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestQueries(t *testing.T) {
	for _, q := range Queries() {
		if q.Title == "" || len(q.SQL) < 200 {
			t.Errorf("query %d: title %q, text %q", q.Number, q.Title, q.SQL)
		}
	}
}

// TestRecordedAnswers compares the recorded answers with those that come with dbgen's data.
func TestRecordedAnswers(t *testing.T) {
	for _, scale := range RecordedScales() {
		for _, q := range Queries() {
			a, err := Recorded(scale, q.Number)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Rows) == 0 || len(a.Rows[0]) != len(a.Columns) {
				t.Errorf("scale factor %v, query %d: %d rows", scale, q.Number, len(a.Rows))
			}
		}
	}
	if a, err := Recorded(2, 1); a != nil || err != nil {
		t.Errorf("scale factor 2: %v, %v", a, err)
	}
	for scale, dir := range map[float64]string{0.01: smallData + "/answers", 1: smallData + "/../tpch-sf1-answers"} {
		if _, err := os.Stat(dir); err != nil {
			t.Skipf("SKIPPED: no answers to compare with: %v", err)
		}
		for _, q := range Queries() {
			have, err := Recorded(scale, q.Number)
			if err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(filepath.Join(dir, fmt.Sprintf("q%02d.csv", q.Number)))
			if err != nil {
				t.Fatal(err)
			}
			lines, err := csv.NewReader(f).ReadAll()
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
			want := NewAnswer(q.Number, lines[0])
			want.Rows, want.Approximate = lines[1:], have.Approximate
			if err := have.Compare(want); err != nil {
				t.Errorf("scale factor %v, query %d: %v", scale, q.Number, err)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	want := NewAnswer(5, []string{"a", "b", "~c"})
	want.Rows = [][]string{{"x", "2.50", "0.5"}, {"y", "2.50", "1"}, {"z", "1", Null}}
	for _, c := range []struct {
		rows [][]string
		same bool
	}{
		{[][]string{{"x", "2.50", "0.5"}, {"y", "2.50", "1"}, {"z", "1", Null}}, true},
		{[][]string{{"x  ", "2.5", "0.50000000001"}, {"y", "2.50", "1.0000"}, {"z", "1.00", Null}}, true},
		{[][]string{{"y", "2.50", "1"}, {"x", "2.50", "0.5"}, {"z", "1", Null}}, true},
		{[][]string{{"x", "2.50", "0.5"}, {"z", "1", Null}, {"y", "2.50", "1"}}, false},
		{[][]string{{"x", "2.51", "0.5"}, {"y", "2.50", "1"}, {"z", "1", Null}}, false},
		{[][]string{{"x", "2.50", "0.50001"}, {"y", "2.50", "1"}, {"z", "1", Null}}, false},
		{[][]string{{"x", "2.50", "0.5"}, {"y", "2.50", "1"}, {"z", "1", "0"}}, false},
		{[][]string{{"x", "2.50", "0.5"}, {"y", "2.50", "1"}}, false},
	} {
		have := NewAnswer(5, []string{"a", "b", "c"})
		have.Rows = c.rows
		if err := have.Compare(want); (err == nil) != c.same {
			t.Errorf("%v: %v", c.rows, err)
		}
	}
}
