package planner

import (
	"math"
	"strings"
	"testing"
	"time"
)

// TestFactFormats: text and JSON come from one description, whose values keep their types in JSON.
func TestFactFormats(t *testing.T) {
	e := &explainer{}
	f := Fact{Key: "Some Partition-wise Fact", Value: Parts{
		{"name", "x", "%s"}, {"count", int64(3), ", count %s"}, {"size", Bytes(1 << 20), ", %s"}, {"share", 2.25, ", %s%"}, {"on", true, ", on %s"},
		{"took", 1500 * time.Microsecond, ", took %s"}, {"list", []string{"a", "b"}, ", list %s"}, {"hidden", int64(9), ""},
		{"bound", RowsBound{12}, ", bound %s"}, {"unknown", RowsBound{math.Inf(1)}, ", bound %s"}, {"inner", Parts{{"PS1", int64(7), "PS1 %s"}}, " (%s)"},
		{"items", List{Separator: "; ", Items: []Parts{{{"n", int64(1), "%s"}}, {{"n", int64(2), "%s"}}}}, ", items %s"}}}
	const text = "x, count 3, 1 MB, 2.2%, on yes, took 1.50 ms, list a, b, bound 12, bound unknown (PS1 7), items 1; 2"
	if got := e.line(f.Value); got != text {
		t.Errorf("text is\n%s, want\n%s", got, text)
	}
	var b strings.Builder
	writeJSON(&b, e.withFacts(nil, []Fact{f}), "")
	const want = `{ "some_partition_wise_fact": { "name": "x", "count": 3, "size": 1048576, "share": 2.2, "on": true, "took": 1.500, "list": ["a", "b"], "hidden": 9, "bound": 12, "inner": { "PS1": 7 }, "items": [ { "n": 1 }, { "n": 2 } ] } }`
	if got := strings.Join(strings.Fields(b.String()), " "); got != want {
		t.Errorf("JSON is\n%s, want\n%s", got, want)
	}
}

func TestSizeText(t *testing.T) {
	for bytes, want := range map[float64]string{0: "0 B", 1023: "1023 B", 1024: "1 kB", 1025: "2 kB", 1 << 20: "1 MB", 2.25 * mebibyte: "2.2 MB", 3 << 30: "3 GB", 1.5 * gibibyte: "1.5 GB"} {
		if got := sizeText(bytes); got != want {
			t.Errorf("sizeText(%v) = %q, want %q", bytes, got, want)
		}
	}
}
