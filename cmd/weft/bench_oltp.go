package main

import (
	"context"
	"errors"
	"io"

	"github.com/weftdb/weft/bench"
)

// oltpCommand is `weft bench oltp`.
type oltpCommand struct {
	Rows    int     `default:"1000000" help:"Rows of the table that single rows are read from and written to."`
	Commits int     `default:"2000" help:"Measured commits of each kind."`
	Writers int     `default:"64" help:"Sessions that commit at a time."`
	SF      float64 `name:"sf" default:"0.1" help:"TPC-H scale factor of the table that is copied and scanned."`
	Dir     string  `type:"path" help:"Where a temporary directory is made; the disk is measured too. Default: the system's."`
	JSON    string  `name:"json" placeholder:"FILE" help:"Write the results as JSON; - is standard output, the text then goes to standard error."`
}

// Run runs the benchmark. Missed goals are shown; they are no error.
func (c *oltpCommand) Run(ctx context.Context) error {
	if c.Rows < 1 || c.Commits < 1 || c.Writers < 1 || c.SF <= 0 {
		return errors.New("--rows, --commits, --writers and --sf must be above 0")
	}
	return figures(ctx, c.JSON, func(ctx context.Context, text io.Writer) ([]bench.Figure, error) {
		return bench.OLTP(ctx, bench.OLTPOptions{Rows: c.Rows, Commits: c.Commits, Writers: c.Writers, Scale: c.SF, Dir: c.Dir, Out: text})
	})
}
