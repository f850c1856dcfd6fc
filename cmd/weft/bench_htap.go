package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/weftdb/weft/bench"
)

// htapCommand is `weft bench htap`.
type htapCommand struct {
	Rows       int           `default:"1000000" help:"Rows of the tables of 20 columns."`
	WideRows   int           `default:"2000000" help:"Rows of the table of 50 columns."`
	FilterRows int           `default:"10000000" help:"Rows of the table that is filtered by one column."`
	Runs       int           `default:"5" help:"Measured runs of each query; medians count."`
	SF         float64       `name:"sf" default:"0.1" help:"TPC-H scale factor of the tables whose units are compared with their rows."`
	Seconds    float64       `default:"3" help:"How long a mix of readers and writers runs."`
	Idle       time.Duration `default:"5s" help:"How long a transaction stays open while rows are changed (storm)."`
	Step       []string      `help:"Parts to run: filter, sweep, wide, late, freshness, writes, ch, storm, sizes, budget, restart (default: all)."`
	Dir        string        `type:"path" help:"Where a temporary directory is made. Default: the system's."`
	JSON       string        `name:"json" placeholder:"FILE" help:"Write the results as JSON; - is standard output, the text then goes to standard error."`
}

// Run runs the benchmark. Missed goals are shown; they are no error.
func (c *htapCommand) Run(ctx context.Context) error {
	if c.Rows < 1 || c.WideRows < 1 || c.FilterRows < 1 || c.Runs < 1 || c.SF <= 0 || c.Seconds <= 0 || c.Idle <= 0 {
		return errors.New("--rows, --wide-rows, --filter-rows, --runs, --sf, --seconds and --idle must be above 0")
	}
	return figures(ctx, c.JSON, func(ctx context.Context, text io.Writer) ([]bench.Figure, error) {
		return bench.HTAP(ctx, bench.HTAPOptions{Rows: c.Rows, WideRows: c.WideRows, FilterRows: c.FilterRows, Runs: c.Runs, Scale: c.SF, Seconds: c.Seconds, Idle: c.Idle, Steps: c.Step, Dir: c.Dir, Out: text})
	})
}
