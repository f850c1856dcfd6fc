package main

import (
	"strings"
	"testing"
)

// TestKeepGoingOverInputs fails in the first of several -c: the next one runs only with --keep-going, and
// the status tells of the failure in either case.
func TestKeepGoingOverInputs(t *testing.T) {
	for _, keep := range []bool{false, true} {
		args := []string{"-c", "select 1/0", "-c", "select 'second'"}
		if keep {
			args = append(args, "--keep-going")
		}
		status, out, errs := weftCommand(args...)
		if status != 1 || strings.Contains(out, "second") != keep || !strings.Contains(errs, "division by zero") {
			t.Errorf("--keep-going %v: status %d, output %q, errors %q", keep, status, out, errs)
		}
	}
}
