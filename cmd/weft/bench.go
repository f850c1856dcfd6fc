package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/weftdb/weft/bench"
	"golang.org/x/term"
)

// benchCommand is `weft bench`.
type benchCommand struct {
	Dpe  dpeCommand  `cmd:"" help:"Partitions that joins leave out at run time, planning with 1,000 of them, and a join on disk."`
	Htap htapCommand `cmd:"" help:"Column views beside rows: hybrid scans by selectivity, late fetches, filters, freshness, writes, order entry, changed rows, sizes, little memory, restart."`
	Oltp oltpCommand `cmd:"" help:"Single rows: look-ups, writes and commits, compared with bare syncs of the disk; scans and COPY."`
	Tpch tpchCommand `cmd:"" help:"TPC-H: generate and load the data, measure the 22 queries by rows and by columns, check their answers."`
}

// tpchCommand is `weft bench tpch`.
type tpchCommand struct {
	SF       float64  `name:"sf" default:"0.1" help:"Scale factor: 1 is 8.7 million rows. Answers are recorded for 0.01, 0.1 and 1."`
	Dir      string   `type:"path" help:"Database directory; data in it are used again. Default: a temporary directory, removed at the end."`
	Mode     []string `help:"Ways of reading to measure: row, column, auto (default: all)."`
	Runs     int      `default:"3" help:"Measured runs of each query."`
	Warmup   int      `default:"1" help:"Runs before them."`
	Threads  int      `help:"Workers (default: the number of processors)."`
	Queries  []int    `help:"Numbers of the queries to run (default: all)."`
	Partial  bool     `help:"Give only some columns views, so that hybrid scans are used."`
	JSON     string   `name:"json" placeholder:"FILE" help:"Write the results as JSON; - is standard output, the text then goes to standard error."`
	LoadOnly bool     `help:"Stop when the data are loaded."`
	Keep     bool     `help:"Keep the temporary directory."`
}

// Run runs the benchmark.
func (c *tpchCommand) Run(ctx context.Context) error {
	if c.SF <= 0 || c.Runs < 1 || c.Warmup < 0 {
		return errors.New("--sf must be above 0, --runs at least 1, --warmup not negative")
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	text := textOutput(c.JSON)
	report, err := bench.TPCH(ctx, bench.Options{Scale: c.SF, Dir: c.Dir, Keep: c.Keep, Modes: c.Mode, Runs: c.Runs,
		Warmup: c.Warmup, Threads: c.Threads, Queries: c.Queries, Partial: c.Partial, LoadOnly: c.LoadOnly,
		Out: text, Redraw: term.IsTerminal(int(text.Fd()))})
	if err != nil && !errors.Is(err, bench.ErrWrong) {
		return err
	}
	if c.JSON != "" {
		if err := writeResults(c.JSON, report.WriteJSON); err != nil {
			return err
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "weft:", err)
		return errReported
	}
	return nil
}

// textOutput is where a benchmark's text goes when its results are written as JSON to a name, "" = nowhere.
func textOutput(json string) *os.File {
	if json == "-" {
		return os.Stderr
	}
	return os.Stdout
}

// figures runs a benchmark that yields figures, and writes them as JSON too where a name is given for that.
func figures(ctx context.Context, json string, run func(context.Context, io.Writer) ([]bench.Figure, error)) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	measured, err := run(ctx, textOutput(json))
	if err != nil || json == "" {
		return err
	}
	return writeResults(json, func(w io.Writer) error { return bench.WriteFigures(w, measured) })
}

// writeResults writes a benchmark's results to a file, or with - to standard output.
func writeResults(name string, write func(io.Writer) error) error {
	if name == "-" {
		return write(os.Stdout)
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
