package bench

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"
)

// progress shows how far a step has come: on a terminal in one line that is drawn anew, elsewhere
// as a line now and then.
type progress struct {
	out    io.Writer
	redraw bool
	label  string
	unit   string
	total  int64
	done   atomic.Int64
	start  time.Time
	quit   chan struct{}
	idle   chan struct{}
	width  int // of the line drawn last
}

// Redrawing more often only costs time; plain lines more often fill logs.
const (
	redrawEvery = 200 * time.Millisecond
	lineEvery   = 10 * time.Second
)

// startProgress shows a step that began at start.
func startProgress(o Options, start time.Time, label, unit string, total int64) *progress {
	p := &progress{out: o.Out, redraw: o.Redraw, label: label, unit: unit, total: total, start: start,
		quit: make(chan struct{}), idle: make(chan struct{})}
	go p.show()
	return p
}

func (p *progress) show() {
	defer close(p.idle)
	every := lineEvery
	if p.redraw {
		every = redrawEvery
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-ticker.C:
			p.print(fmt.Sprintf("%3d %%  ", 100*p.done.Load()/max(p.total, 1)), !p.redraw)
		}
	}
}

// print writes the line, over the one before it on a terminal.
func (p *progress) print(note string, end bool) {
	n, seconds := p.done.Load(), time.Since(p.start).Seconds()
	line := strings.TrimRight(stepLine(p.label, n, p.unit, seconds)+"  "+note, " ")
	if p.redraw {
		fmt.Fprintf(p.out, "\r%s%s", line, strings.Repeat(" ", max(0, p.width-len(line))))
		p.width = len(line)
	} else {
		fmt.Fprint(p.out, line)
	}
	if end {
		fmt.Fprintln(p.out)
		p.width = 0
	}
}

// stepLine tells how much was done in how many seconds, and how fast unless that is too short to say.
func stepLine(label string, n int64, unit string, seconds float64) string {
	line := fmt.Sprintf("%-10s %12s %-6s %8.2f s", label, grouped(n), unit, seconds)
	if seconds < 0.01 {
		return line
	}
	return line + fmt.Sprintf("  %11s %s/s", grouped(int64(float64(n)/seconds)), unit)
}

// finish ends the step and writes its last line; it returns the seconds the step took.
func (p *progress) finish(note string) float64 {
	seconds := time.Since(p.start).Seconds()
	close(p.quit)
	<-p.idle
	p.print(note, true)
	return seconds
}

// grouped writes a number with commas.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
