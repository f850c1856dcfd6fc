// Command weft is the shell of the weft database and the home of its tools.
//
//	weft [DIR]            SQL shell on a database directory, or in memory without one
//	weft bench tpch       the TPC-H benchmark
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/weftdb/weft"
)

type commands struct {
	Shell shellCommand `cmd:"" default:"withargs" help:"Run SQL: interactively, from -c, from -f, or from standard input."`
	Bench benchCommand `cmd:"" help:"Run benchmarks."`
}

const description = `weft is an embeddable HTAP SQL engine: a durable, transactional row store with in-memory column views.

Exit status: 0 on success, 1 when a statement failed, 2 when the database could not be opened or the command line is wrong.`

func main() { os.Exit(run(os.Args[1:])) }

// errReported is an error that the user has seen already.
var errReported = errors.New("failed")

func run(args []string) int {
	var c commands
	parser, err := kong.New(&c, kong.Name("weft"), kong.Description(description), kong.UsageOnError())
	if err != nil {
		fmt.Fprintln(os.Stderr, "weft:", err)
		return 2
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "weft:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run()
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errReported):
		return 1
	}
	fmt.Fprintln(os.Stderr, "weft:", err)
	var known *weft.Error
	if errors.As(err, &known) && known.Hint != "" {
		fmt.Fprintln(os.Stderr, "hint:", known.Hint)
	}
	return 2
}
