package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
)

const usage = `weft is an embeddable HTAP SQL engine: a durable, transactional row store with
in-memory column views.

Usage:
  weft [DIR] [options]        SQL shell on a database directory; without DIR, or
                              with :memory:, on a database in memory
  weft check DIR              look for damage in a database
  weft backup DIR TARGET      copy a database, also while it is in use
  weft bench tpch [options]   the TPC-H benchmark
  weft bench oltp [options]   single rows: look-ups, writes, commits
  weft bench htap [options]   column views beside rows
  weft bench dpe [options]    joins of partitioned tables
  weft help [COMMAND]         this text, or a command's options
  weft version                version and build

A DIR with a path, such as ./mydb, is created if it does not exist; a bare name
must be a database already, so that a mistyped command does not create one.

Options:
`

const examples = `
Examples:
  weft ./mydb                           create or open a database and type SQL
  weft mydb -c 'SELECT 1' -c '\dt'      run statements and \ commands
  weft mydb -f load.sql --keep-going    run a file through all its errors
  weft ./mydb --datanodes 4 < load.sql  a new database of four data nodes
  weft backup mydb /disk2/mydb          copy a database; to restore, open it
  weft check /disk2/mydb                see that nothing is wrong with the copy
  weft bench tpch --sf 0.1              measure rows against columns

Exit status: 0 on success, 1 when a statement failed or a check found damage, 2
when the database could not be opened or the command line is wrong.
`

// printHelp prints what --help asks for. The shell's options belong to weft itself.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if node := ctx.Selected(); node != nil && node.Name != "shell" && node.Name != "help" {
		return kong.DefaultHelpPrinter(options, ctx)
	}
	return printUsage(ctx.Stdout, ctx.Model)
}

func printUsage(out io.Writer, app *kong.Application) error {
	var b strings.Builder
	b.WriteString(usage)
	flags := append([]*kong.Flag(nil), app.Flags...)
	for _, node := range app.Children {
		if node.Name == "shell" {
			flags = append(append([]*kong.Flag(nil), node.Flags...), flags...)
		}
	}
	for _, f := range flags {
		short, value := "    ", ""
		if f.Short != 0 {
			short = fmt.Sprintf("-%c, ", f.Short)
		}
		if !f.IsBool() {
			value = " " + f.PlaceHolder
		}
		fmt.Fprintf(&b, "  %-24s%s\n", short+"--"+f.Name+value, f.Help)
	}
	b.WriteString(examples)
	_, err := io.WriteString(out, b.String())
	return err
}

// helpCommand is `weft help`.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command to explain."`
}

// Run prints what COMMAND --help would.
func (c *helpCommand) Run(parser *kong.Kong) error {
	ctx, err := kong.Trace(parser, c.Command)
	if err != nil {
		return err
	}
	node := ctx.Selected()
	if len(c.Command) > 0 && (node == nil || node.Name != c.Command[len(c.Command)-1]) {
		return &commandLineError{"there is no command " + strings.Join(c.Command, " "), "weft help lists the commands."}
	}
	return printHelp(kong.HelpOptions{ValueFormatter: kong.DefaultHelpValueFormatter}, ctx)
}

// versionCommand is `weft version`.
type versionCommand struct{}

// Run prints what --version would.
func (versionCommand) Run(std *streams, vars kong.Vars) error {
	_, err := fmt.Fprintln(std.out, vars["version"])
	return err
}

// version tells which build this is; what the build did not record is left out.
func version(info *debug.BuildInfo, ok bool) string {
	text := "weft"
	if ok {
		text += " " + info.Main.Version
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				text += ", revision " + s.Value
			case s.Key == "vcs.time":
				text += " of " + s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				text += ", changed since"
			}
		}
	}
	return fmt.Sprintf("%s (%s %s/%s)", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
