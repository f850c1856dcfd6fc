package storage

import "testing"

// mustCheck fails the test with everything that is wrong in a database.
func mustCheck(t testing.TB, e *Engine) CheckSummary {
	t.Helper()
	s, err := e.Check(bg, CheckOptions{Report: func(f Finding) { t.Error(f) }})
	must(t, err)
	if t.Failed() {
		t.FailNow()
	}
	return s
}
