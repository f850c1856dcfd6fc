package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weftdb/weft/bench/tpch"
)

// TestTPCH runs the whole benchmark at a small scale factor: every answer must be right in every
// mode, with full and with partial views.
func TestTPCH(t *testing.T) {
	for _, partial := range []bool{false, true} {
		var out bytes.Buffer
		report, err := TPCH(context.Background(), Options{Scale: 0.01, Runs: 1, Partial: partial, Out: &out})
		if err != nil {
			t.Errorf("partial views %v: %v\n%s", partial, err, &out)
			continue
		}
		if n := len(report.Queries); n != tpch.QueryCount*len(Modes) || report.LoadRows != 86_805 {
			t.Errorf("partial views %v: %d measurements, %d rows\n%s", partial, n, report.LoadRows, &out)
		}
		for _, m := range report.Queries {
			if m.Verdict != OK || len(m.RunsMS) != 1 || m.MinMS != m.RunsMS[0] {
				t.Errorf("partial views %v: %+v", partial, m)
			}
		}
		if report.ViewGroupsLoaded != report.ViewGroups || report.ViewGroups == 0 {
			t.Errorf("partial views %v: %d of %d groups loaded", partial, report.ViewGroupsLoaded, report.ViewGroups)
		}
		var text bytes.Buffer
		if err := report.WriteJSON(&text); err != nil || !json.Valid(text.Bytes()) {
			t.Errorf("JSON: %v\n%s", err, &text)
		}
	}
}

// TestReuse loads into a given directory and measures what is there in a second run.
func TestReuse(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	if report, err := TPCH(ctx, Options{Scale: 0.01, Dir: dir, LoadOnly: true}); err != nil || report.Queries != nil {
		t.Fatalf("load: %v", err)
	}
	report, err := TPCH(ctx, Options{Scale: 0.01, Dir: dir, Modes: []string{"column"}, Queries: []int{6}, Runs: 2})
	if err != nil || len(report.Tables) != 0 || len(report.Queries) != 1 || report.Queries[0].Verdict != OK {
		t.Errorf("second run: %v, %+v", err, report)
	}
	if _, err := TPCH(ctx, Options{Scale: 0.02, Dir: dir}); err == nil || !strings.Contains(err.Error(), "scale factor 0.02") {
		t.Errorf("other scale factor: %v", err)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{Modes: []string{"rows"}}, {Queries: []int{0}}, {Queries: []int{23}}, {Threads: -1}, {Scale: 1e9}} {
		if _, err := TPCH(context.Background(), o); err == nil {
			t.Errorf("no error for %+v", o)
		}
	}
}

// TestTemporaryDirectory checks that nothing stays behind, whether the run succeeds or not.
func TestTemporaryDirectory(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := TPCH(ctx, Options{Scale: 0.01}); err == nil {
		t.Error("no error from a cancelled run")
	}
	if files, err := os.ReadDir(temp); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

func TestJudge(t *testing.T) {
	answer := func(revenue string) *tpch.Answer {
		a := tpch.NewAnswer(6, []string{"revenue"})
		a.Rows = [][]string{{revenue}}
		return a
	}
	const recorded = "123141078.2283"
	for _, c := range []struct {
		scale   float64
		answers []string // "" = failed
		want    []Verdict
	}{
		{1, []string{recorded, recorded, "1"}, []Verdict{OK, OK, Differs}},
		{1, []string{"1", "1"}, []Verdict{Differs, Differs}},
		{1, []string{"", recorded}, []Verdict{Failed, OK}},
		{2, []string{"1", "1.0", "1.00"}, []Verdict{Agrees, Agrees, Agrees}},
		{2, []string{"1", "2", "1"}, []Verdict{Agrees, Differs, Agrees}},
		{2, []string{"2", "1", "1"}, []Verdict{Differs, Agrees, Agrees}},
		{2, []string{"1"}, []Verdict{Unchecked}},
		{2, []string{"", "1"}, []Verdict{Failed, Unchecked}},
		{2, []string{"", "1", "1"}, []Verdict{Failed, Agrees, Agrees}},
		{2, []string{"1", "2"}, []Verdict{Differs, Differs}},
	} {
		gen, err := tpch.New(c.scale)
		if err != nil {
			t.Fatal(err)
		}
		r := &runner{gen: gen}
		var group []*Measurement
		for _, a := range c.answers {
			m := &Measurement{Query: 6, Verdict: Failed}
			if a != "" {
				m.Verdict, m.answer = "", answer(a)
			}
			group = append(group, m)
		}
		if err := r.judge(group); err != nil {
			t.Fatal(err)
		}
		for i, m := range group {
			if m.Verdict != c.want[i] {
				t.Errorf("scale factor %v, answers %q: verdict %d is %s, want %s", c.scale, c.answers, i, m.Verdict, c.want[i])
			}
		}
	}
}

func TestTotals(t *testing.T) {
	cpu := 5.0
	r := &Report{Queries: []*Measurement{
		{Query: 1, Mode: "row", MedianMS: 2, MinMS: 1, CPUMS: &cpu, Verdict: OK},
		{Query: 2, Mode: "row", MedianMS: 8, MinMS: 3, CPUMS: &cpu, Verdict: Differs},
		{Query: 3, Mode: "row", Verdict: Failed},
		{Query: 1, Mode: "column", MedianMS: 2, MinMS: 1, Verdict: OK},
	}}
	r.addTotals([]string{"row", "column"})
	row, column := r.Totals[0], r.Totals[1]
	if row.Queries != 2 || row.MedianMS != 10 || row.MinMS != 4 || *row.CPUMS != 10 || row.GeoMean < 3.99 || row.GeoMean > 4.01 {
		t.Errorf("row: %+v", row)
	}
	if have, want := row.verdicts(), "1 ok, 1 DIFFERS, 1 FAILED"; have != want {
		t.Errorf("verdicts %q, want %q", have, want)
	}
	if column.CPUMS != nil {
		t.Errorf("column: %+v", column)
	}
}

func TestProgress(t *testing.T) {
	var out bytes.Buffer
	p := startProgress(Options{Out: &out}, time.Now(), "lineitem", "rows", 10)
	p.done.Store(1_234_567)
	p.finish("note")
	if text := out.String(); !strings.HasPrefix(text, "lineitem      1,234,567 rows ") || !strings.HasSuffix(text, " s  note\n") || strings.Contains(text, "\r") {
		t.Errorf("%q", text)
	}
	if have, want := stepLine("part", 2000, "rows", 0.5), "part              2,000 rows       0.50 s        4,000 rows/s"; have != want {
		t.Errorf("%q, want %q", have, want)
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -123456: "-123,456", 12345678: "12,345,678"} {
		if have := grouped(n); have != want {
			t.Errorf("grouped(%d) = %s, want %s", n, have, want)
		}
	}
	if have := median([]float64{3, 1, 2}); have != 2 {
		t.Errorf("median: %v", have)
	}
	if have := median([]float64{4, 1, 2, 3}); have != 2.5 {
		t.Errorf("median: %v", have)
	}
	if used, known := cpuTime(); known && used <= 0 {
		t.Errorf("processor time %v", used)
	}
}
