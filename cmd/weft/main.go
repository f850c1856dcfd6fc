// Command weft is the shell of the weft database and the home of its tools.
//
//	weft [DIR]            SQL shell on a database directory, or in memory without one
//	weft check DIR        look for damage in a database
//	weft backup DIR DIR   copy a database, also while it is in use
//	weft bench …          TPC-H, single rows, column views, partitions
//	weft help, version    what there is, and which build
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/weftdb/weft"
)

type commands struct {
	Shell       shellCommand     `cmd:"" default:"withargs" help:"Run SQL: interactively, from -c, from -f, or from standard input."`
	Check       checkCommand     `cmd:"" help:"Look for damage: every row, index entry and number of a database is compared with the others. Findings are printed one a line; the status is 1 when there are any."`
	Backup      backupCommand    `cmd:"" help:"Copy a database into a new directory, consistently, also while another process writes to it."`
	Bench       benchCommand     `cmd:"" help:"Run benchmarks."`
	Help        helpCommand      `cmd:"" help:"Print this text, or a command's options."`
	Version     versionCommand   `cmd:"" help:"Print version and build."`
	VersionFlag kong.VersionFlag `name:"version" help:"Print version and build."`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// errReported is an error that the user has seen already.
var errReported = errors.New("failed")

// commandLineError is a command line that cannot be right, with a word about a better one.
type commandLineError struct{ text, hint string }

func (e *commandLineError) Error() string { return e.text }

// Exit statuses.
const (
	statusFailed = 1 // a statement failed, or a check has findings
	statusWrong  = 2 // the database could not be opened, or the command line is wrong
)

// streams are where commands print.
type streams struct{ out, errs io.Writer }

func run(args []string, out, errs io.Writer) int {
	var c commands
	printed := false // help or version, which end the run
	parser, err := kong.New(&c, kong.Name("weft"), kong.Writers(out, errs), kong.Help(printHelp), kong.Exit(func(int) { printed = true }),
		kong.Vars{"version": version(debug.ReadBuildInfo())})
	if err != nil {
		return report(errs, err)
	}
	parser.Model.HelpFlag.Help = "Print this text, or a command's options."
	parsed, err := parser.Parse(args)
	if printed {
		return 0
	}
	if err != nil {
		return report(errs, parseError(err))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.Bind(&streams{out, errs})
	err = parsed.Run()
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errReported):
		return statusFailed
	}
	return report(errs, err)
}

// parseError says where to look after a command line that the parser refused.
func parseError(err error) error {
	hint := "weft --help lists commands and options."
	if strings.HasPrefix(err.Error(), "unexpected argument") {
		hint = "weft takes one database directory, or a command: backup, bench, check, help, version. " + hint
	}
	return &commandLineError{err.Error(), hint}
}

// report prints an error and returns the status to exit with.
func report(errs io.Writer, err error) int {
	fmt.Fprintln(errs, "weft:", err)
	var wrong *commandLineError
	var known *weft.Error
	detail, hint := "", ""
	if errors.As(err, &wrong) {
		hint = wrong.hint
	} else if errors.As(err, &known) {
		detail, hint = known.Detail, known.Hint
	}
	if detail != "" {
		fmt.Fprintln(errs, "detail:", detail)
	}
	if hint != "" {
		fmt.Fprintln(errs, "hint:", hint)
	}
	return statusWrong
}
