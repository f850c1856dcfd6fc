package main

import (
	"context"
	"errors"
	"io"

	"github.com/weftdb/weft/bench"
)

// dpeCommand is `weft bench dpe`.
type dpeCommand struct {
	Rows       int    `default:"4000000" help:"Rows of the partitioned table."`
	Partitions int    `default:"32" help:"Its partitions."`
	BuildRows  int    `default:"1000000" help:"Rows of the large build side."`
	Runs       int    `default:"7" help:"Measured runs of each query; medians count."`
	Dir        string `type:"path" help:"Where a temporary directory is made. Default: the system's."`
	JSON       string `name:"json" placeholder:"FILE" help:"Write the results as JSON; - is standard output, the text then goes to standard error."`
}

// Run runs the benchmark. Missed goals are shown; they are no error.
func (c *dpeCommand) Run(ctx context.Context) error {
	if c.Rows < 1 || c.Partitions < 4 || c.BuildRows < 1 || c.Runs < 1 {
		return errors.New("--rows, --build-rows and --runs must be above 0, --partitions at least 4")
	}
	return figures(ctx, c.JSON, func(ctx context.Context, text io.Writer) ([]bench.Figure, error) {
		return bench.DPE(ctx, bench.DPEOptions{Rows: c.Rows, Partitions: c.Partitions, BuildRows: c.BuildRows, Runs: c.Runs, Dir: c.Dir, Out: text})
	})
}
