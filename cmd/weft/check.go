package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/weftdb/weft"
	"golang.org/x/term"
)

// checkCommand is `weft check`.
type checkCommand struct {
	Dir string `arg:"" help:"Database directory, which no process has open."`
}

// Run checks a database and prints what is wrong, one line per finding.
func (c *checkCommand) Run(ctx context.Context, std *streams) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	if err := mustExist(c.Dir); err != nil {
		return err
	}
	db, err := weft.Open(ctx, c.Dir, weft.Options{NoMaintenance: true})
	var held *weft.Error
	if errors.As(err, &held) && held.Code == "55006" {
		return held.WithHint("Close it there, or check a copy: weft backup %s COPY, then weft check COPY.", c.Dir)
	}
	if err != nil {
		return err
	}
	line := newProgressLine(std.errs)
	findings := 0
	started := time.Now()
	summary, err := db.Check(ctx, weft.CheckOptions{
		Report: func(f weft.Finding) {
			findings++
			line.clear()
			fmt.Fprintln(std.out, f)
		},
		Progress: func(done, total int64) {
			line.draw(fmt.Sprintf("checking %3d %%  %d rows and index entries, %d findings", 100*done/max(total, 1), done, findings))
		}})
	line.clear()
	if cerr := db.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	result := "nothing is wrong"
	if summary.Findings > 0 {
		result = counted(summary.Findings, "finding")
	}
	fmt.Fprintf(std.out, "%s: %s with %s, %s with %s, %s, %s (%.1f s)\n", result,
		counted(int64(summary.Tables), "table"), counted(summary.Rows, "row"), counted(int64(summary.Indexes), "index"), counted(summary.Entries, "entry"),
		counted(int64(summary.Sequences), "sequence"), counted(int64(summary.Constraints), "check constraint"), time.Since(started).Seconds())
	if summary.Findings > 0 {
		return errReported
	}
	return nil
}

// counted writes a number with its noun.
func counted(n int64, noun string) string {
	switch {
	case n == 1:
	case noun == "index":
		noun = "indexes"
	case strings.HasSuffix(noun, "y"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// mustExist refuses a directory that Open would make a database of.
func mustExist(dir string) error {
	if dir != weft.InMemory && weft.Exists(dir) {
		return nil
	}
	return &commandLineError{"there is no database " + dir, "Name a directory that weft has created; it has a file FORMAT in it."}
}

// progressLine is one line on a terminal that is drawn again and again; elsewhere it is nothing.
type progressLine struct {
	out   io.Writer // nil = no terminal
	width int
	drawn time.Time
}

func newProgressLine(out io.Writer) *progressLine {
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &progressLine{out: out}
	}
	return &progressLine{}
}

func (p *progressLine) draw(text string) {
	const every = 100 * time.Millisecond // more often flickers
	if p.out == nil || time.Since(p.drawn) < every {
		return
	}
	p.drawn = time.Now()
	fmt.Fprintf(p.out, "\r%s%s", text, strings.Repeat(" ", max(0, p.width-len(text))))
	p.width = len(text)
}

// clear makes room for another line.
func (p *progressLine) clear() {
	if p.width > 0 {
		fmt.Fprintf(p.out, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}
