package bench

import (
	"fmt"
	"io"
	"slices"

	"github.com/weftdb/weft/bench/tpch"
)

// Modes lists the ways of reading: values of the setting htap_router_mode.
var Modes = []string{"row", "column", "auto"}

// Options say what TPCH does. Zero values mean the defaults.
type Options struct {
	// Scale is the scale factor. Default 0.1.
	Scale float64
	// Dir is the database's directory. It is kept; data of the same scale factor that it holds
	// already are used again. Default: a temporary directory, removed at the end.
	Dir string
	// Keep leaves the temporary directory behind.
	Keep bool
	// Modes are the ways of reading to measure. Default: all.
	Modes []string
	// Runs is the number of measured runs of each query. Default 3.
	Runs int
	// Warmup is the number of runs before them; with none, one more run checks the answer.
	Warmup int
	// Threads is the number of workers. Default: the number of processors.
	Threads int
	// Queries are the queries' numbers. Default: all.
	Queries []int
	// Partial gives only some columns views, so that queries mix both ways of reading.
	Partial bool
	// LoadOnly stops when the data are loaded.
	LoadOnly bool
	// Out receives progress and results as text.
	Out io.Writer
	// Redraw lets progress redraw its line: Out is a terminal.
	Redraw bool
}

func (o Options) withDefaults() (Options, error) {
	if o.Scale == 0 {
		o.Scale = 0.1
	}
	if o.Runs <= 0 {
		o.Runs = 3
	}
	if o.Warmup < 0 || o.Threads < 0 {
		return o, fmt.Errorf("bench: warm-up runs and threads cannot be negative")
	}
	if len(o.Modes) == 0 {
		o.Modes = Modes
	}
	for _, m := range o.Modes {
		if !slices.Contains(Modes, m) {
			return o, fmt.Errorf("bench: there is no mode %q, only %v", m, Modes)
		}
	}
	if len(o.Queries) == 0 {
		for i := range tpch.QueryCount {
			o.Queries = append(o.Queries, i+1)
		}
	}
	for _, q := range o.Queries {
		if q < 1 || q > tpch.QueryCount {
			return o, fmt.Errorf("bench: there is no query %d, only 1 to %d", q, tpch.QueryCount)
		}
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	return o, nil
}
