package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/weftdb/weft/bench/tpch"
)

// Report is what a benchmark found.
type Report struct {
	Benchmark string    `json:"benchmark"`
	Time      time.Time `json:"time"`
	Go        string    `json:"go"`
	Platform  string    `json:"platform"`
	CPUs      int       `json:"cpus"`
	Scale     float64   `json:"scale"`
	Threads   int       `json:"threads"`
	Runs      int       `json:"runs"`
	Warmup    int       `json:"warmup"`
	Partial   bool      `json:"partial_views"`

	Tables      []Loaded `json:"tables,omitempty"` // empty when the data were loaded before
	LoadRows    int64    `json:"load_rows,omitempty"`
	LoadSeconds float64  `json:"load_seconds,omitempty"`
	DiskBytes   int64    `json:"disk_bytes"`

	ViewSeconds      float64 `json:"view_seconds"`
	ViewGroups       int64   `json:"view_groups"`
	ViewGroupsLoaded int64   `json:"view_groups_loaded"`
	ViewBytes        int64   `json:"view_bytes"`

	Queries []*Measurement `json:"queries,omitempty"`
	Totals  []Total        `json:"totals,omitempty"`
}

// Total sums up a mode. Queries that failed are not in it.
type Total struct {
	Mode     string          `json:"mode"`
	Queries  int             `json:"queries"`
	MedianMS float64         `json:"median_ms"`
	MinMS    float64         `json:"min_ms"`
	CPUMS    *float64        `json:"cpu_ms"`
	GeoMean  float64         `json:"geometric_mean_ms"`
	Verdicts map[Verdict]int `json:"verdicts"`
}

func newReport(o Options, scale float64, threads int) *Report {
	return &Report{Benchmark: "tpch", Time: time.Now().UTC().Truncate(time.Second), Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Scale: scale, Threads: threads,
		Runs: o.Runs, Warmup: o.Warmup, Partial: o.Partial}
}

// WriteJSON writes the report.
func (r *Report) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func (r *Report) addTotals(modes []string) {
	for _, mode := range modes {
		t := Total{Mode: mode, Verdicts: map[Verdict]int{}}
		cpu, known, logs := 0.0, true, 0.0
		for _, m := range r.Queries {
			if m.Mode != mode {
				continue
			}
			t.Verdicts[m.Verdict]++
			if m.Verdict == Failed {
				continue
			}
			t.Queries++
			t.MedianMS += m.MedianMS
			t.MinMS += m.MinMS
			logs += math.Log(max(m.MedianMS, 1e-3))
			if known = known && m.CPUMS != nil; known {
				cpu += *m.CPUMS
			}
		}
		if t.Queries > 0 {
			t.GeoMean = math.Exp(logs / float64(t.Queries))
		}
		if known {
			t.CPUMS = &cpu
		}
		r.Totals = append(r.Totals, t)
	}
}

const rowFormat = "%-5s  %-6s  %11s  %11s  %11s  %7s  %s\n"

func (r *runner) printHead() {
	fmt.Fprintf(r.o.Out, "\nScale factor %v, %d threads, %d runs each\n", r.gen.Scale(), r.threads, r.o.Runs)
	fmt.Fprintf(r.o.Out, rowFormat, "query", "mode", "median ms", "min ms", "CPU ms", "rows", "answer")
}

func (r *runner) printRow(m *Measurement) {
	verdict := string(m.Verdict)
	if m.Note != "" {
		verdict += ": " + m.Note
	}
	if m.Verdict == Failed {
		fmt.Fprintf(r.o.Out, rowFormat, fmt.Sprintf("q%02d", m.Query), m.Mode, "-", "-", "-", "-", verdict)
		return
	}
	fmt.Fprintf(r.o.Out, rowFormat, fmt.Sprintf("q%02d", m.Query), m.Mode, decimals(&m.MedianMS), decimals(&m.MinMS),
		decimals(m.CPUMS), grouped(int64(m.Rows)), verdict)
}

func (r *runner) printTotals() {
	fmt.Fprintln(r.o.Out)
	for _, t := range r.report.Totals {
		fmt.Fprintf(r.o.Out, rowFormat, "total", t.Mode, decimals(&t.MedianMS), decimals(&t.MinMS), decimals(t.CPUMS), "",
			t.verdicts()+fmt.Sprintf("; geometric mean %s ms", decimals(&t.GeoMean)))
	}
	if !slices.Contains(tpch.RecordedScales(), r.gen.Scale()) {
		checked := "modes were compared with each other"
		if len(r.o.Modes) == 1 {
			checked = "nothing was checked"
		}
		fmt.Fprintf(r.o.Out, "No answers are recorded for scale factor %v: %s.\n", r.gen.Scale(), checked)
	}
}

func (t *Total) verdicts() string {
	var parts []string
	for _, v := range []Verdict{OK, Agrees, Unchecked, Differs, Failed} {
		if n := t.Verdicts[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	return strings.Join(parts, ", ")
}

// decimals writes milliseconds, n/a where they are unknown.
func decimals(ms *float64) string {
	if ms == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.2f", *ms)
}
