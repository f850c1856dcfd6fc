package planner

import "testing"

func TestWithoutOuterParens(t *testing.T) {
	for text, want := range map[string]string{
		"(a + b)":               "a + b",
		"((a + b))":             "(a + b)",
		"(a + b) * (c + d)":     "(a + b) * (c + d)",
		"length((a || b))":      "length((a || b))",
		"(a + b)::numeric(8,2)": "(a + b)::numeric(8,2)",
		"(a || ')(')":           "(a || ')(')",
		"n":                     "n",
		"":                      "",
	} {
		if got := withoutOuterParens(text); got != want {
			t.Errorf("withoutOuterParens(%q) = %q, want %q", text, got, want)
		}
	}
}
