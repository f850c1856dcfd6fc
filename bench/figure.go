package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Figure is something that was measured.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Goal is what the value should be at most, or at least; 0 = it is there to compare with.
	Goal    float64 `json:"goal,omitempty"`
	AtLeast bool    `json:"at_least,omitempty"`
}

// WriteFigures writes figures as JSON.
func WriteFigures(w io.Writer, figures []Figure) error { return writeJSON(w, figures) }

// Met reports whether the goal, if there is one, is met.
func (f *Figure) Met() bool {
	return f.Goal == 0 || f.AtLeast && f.Value >= f.Goal || !f.AtLeast && f.Value <= f.Goal
}

// line is a figure as text, with its goal.
func (f *Figure) line() string {
	line := fmt.Sprintf("%-62s %12.2f %-8s", f.Name, f.Value, f.Unit)
	if f.Goal == 0 {
		return line
	}
	sign, verdict := "≤", "met"
	if f.AtLeast {
		sign = "≥"
	}
	if !f.Met() {
		verdict = "MISSED"
	}
	return line + fmt.Sprintf("  goal %s %g: %s", sign, f.Goal, verdict)
}

// figureList prints figures and keeps them.
type figureList struct {
	out     io.Writer
	figures []Figure
}

func (l *figureList) add(f Figure) {
	fmt.Fprintln(l.out, f.line())
	l.figures = append(l.figures, f)
}

// inTempDir calls f with a new directory below dir, "" = the system's for temporary files, and removes it.
func inTempDir(dir, prefix string, f func(dir string) error) error {
	dir, err := os.MkdirTemp(dir, prefix)
	if err != nil {
		return err
	}
	return errors.Join(f(dir), os.RemoveAll(dir))
}
