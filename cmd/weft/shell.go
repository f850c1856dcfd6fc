package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/weftdb/weft"
	"golang.org/x/term"
)

// shellCommand is `weft [DIR]`.
type shellCommand struct {
	Dir       string   `arg:"" optional:"" help:"Database directory."`
	Command   []string `short:"c" sep:"none" placeholder:"SQL" help:"Run SQL or a \\ command, then exit; may be repeated."`
	File      []string `short:"f" type:"existingfile" placeholder:"FILE" help:"Run a file of statements, then exit; may be repeated."`
	KeepGoing bool     `help:"Go on after an error in -c, -f or standard input."`
	DataNodes int      `name:"datanodes" placeholder:"N" help:"Data nodes of a new database (default: 1)."`
	Threads   int      `placeholder:"N" help:"Workers a statement may use (default: processors)."`
}

// Run opens the database and runs its input.
func (c *shellCommand) Run(ctx context.Context, std *streams) error {
	if c.DataNodes < 0 || c.Threads < 0 {
		return &commandLineError{text: "--datanodes and --threads take positive numbers"}
	}
	if err := checkName(c.Dir); err != nil {
		return err
	}
	db, err := weft.Open(ctx, c.Dir, weft.Options{DataNodes: c.DataNodes, Threads: c.Threads, LimitRuntime: true})
	if err != nil {
		return err
	}
	if c.DataNodes > 0 && c.DataNodes != db.Nodes() {
		fmt.Fprintf(std.errs, "NOTICE:  the database keeps its %d data node(s); --datanodes is for new databases\n", db.Nodes())
	}
	sh := newShell(db, std.out, std.errs)
	sh.keepGoing = c.KeepGoing
	err = c.input(ctx, sh)
	sh.session.Close()
	if cerr := db.Close(); err == nil {
		err = cerr
	}
	return err
}

// checkName refuses to create a database under a bare name: it may be a mistyped command.
func checkName(dir string) error {
	bare := dir == filepath.Base(dir) && dir != "." && dir != ".."
	if !bare || dir == weft.InMemory || weft.Exists(dir) {
		return nil
	}
	path := "." + string(filepath.Separator) + dir
	return &commandLineError{fmt.Sprintf("there is no database %s, and no command of that name", dir),
		fmt.Sprintf("To create the database, write a path: weft %s. weft --help lists the commands.", path)}
}

// input runs what the command line names, one after the other, or else standard input. With --keep-going
// the errors of one input do not keep the next from running.
func (c *shellCommand) input(ctx context.Context, sh *shell) error {
	var failed error
	ends := func(err error) bool {
		if errors.Is(err, errReported) && sh.keepGoing {
			failed, err = err, nil
		}
		return err != nil || sh.quit
	}
	for _, command := range c.Command {
		if err := sh.script(ctx, strings.NewReader(command)); ends(err) {
			return err
		}
	}
	for _, name := range c.File {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		err = sh.script(ctx, f)
		f.Close()
		if ends(err) {
			return err
		}
	}
	if len(c.Command)+len(c.File) > 0 {
		return failed
	}
	if term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) {
		sh.timing = true
		return sh.interactive(ctx)
	}
	return sh.script(ctx, os.Stdin)
}

// shell runs statements and \ commands in one session and prints what they give.
type shell struct {
	db        *weft.DB
	session   *weft.Session
	out       io.Writer
	errs      io.Writer
	timing    bool
	expanded  bool
	keepGoing bool
	quit      bool
	null      string
	buffer    string // input of a statement that is not complete
	lastError error  // for \errverbose
	lastText  string // the statement that failed with it
}

func newShell(db *weft.DB, out, errs io.Writer) *shell {
	sh := &shell{db: db, session: db.Session(), out: out, errs: errs}
	sh.session.OnNotice(func(text string) { fmt.Fprintf(errs, "NOTICE:  %s\n", text) })
	return sh
}

// script runs input that is not typed at a prompt: the first error ends it, unless --keep-going.
func (sh *shell) script(ctx context.Context, in io.Reader) error {
	failed := false
	lines := bufio.NewReaderSize(in, 1<<16)
	for !sh.quit {
		line, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("read input: %w", err)
		}
		if !sh.line(ctx, strings.TrimSuffix(line, "\n")) {
			failed = true
			if !sh.keepGoing {
				return errReported
			}
		}
		if err == io.EOF {
			break
		}
	}
	if !onlyComments(sh.buffer) && !sh.quit {
		if !sh.statement(ctx, sh.buffer) {
			failed = true
		}
		sh.buffer = ""
	}
	if failed {
		return errReported
	}
	return nil
}

// line takes a line of input and runs what it completes. It reports whether all of that succeeded.
func (sh *shell) line(ctx context.Context, line string) bool {
	if onlyComments(sh.buffer) && strings.HasPrefix(strings.TrimSpace(line), `\`) {
		sh.buffer = ""
		return sh.command(ctx, strings.TrimSpace(line))
	}
	if sh.buffer != "" {
		sh.buffer += "\n"
	}
	sh.buffer += line
	ok := true
	for {
		end, complete := weft.NextStatement(sh.buffer)
		if !complete {
			return ok
		}
		text := sh.buffer[:end]
		sh.buffer = strings.TrimLeft(sh.buffer[end:], " \t\r\n")
		if !sh.statement(ctx, strings.TrimLeft(text, " \t\r\n")) {
			ok = false
			if !sh.keepGoing {
				sh.buffer = ""
				return false
			}
		}
	}
}

// onlyComments reports whether text holds no part of a statement: blanks and -- comments only.
func onlyComments(text string) bool {
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			return false
		}
	}
	return true
}

// statement runs one statement's text and prints its result. Interrupts cancel it.
func (sh *shell) statement(ctx context.Context, text string) bool {
	if onlyComments(strings.Trim(text, "; \t\r\n")) {
		return true
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	started := time.Now()
	err := sh.show(ctx, text)
	if err != nil {
		sh.lastError, sh.lastText = err, text
		sh.printError(err, text, false)
	}
	if sh.timing {
		fmt.Fprintf(sh.out, "Time: %.3f ms\n", float64(time.Since(started).Microseconds())/1000)
	}
	return err == nil
}

func (sh *shell) show(ctx context.Context, text string) error {
	rows, err := sh.session.Query(ctx, text)
	if err != nil {
		return err
	}
	if len(rows.Columns()) == 0 {
		for rows.Next() {
		}
		err := rows.Close()
		if tag := rows.Result().Tag; err == nil && tag != "" {
			fmt.Fprintln(sh.out, tag)
		}
		return err
	}
	t, err := readTable(rows, sh.null)
	if cerr := rows.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if sh.expanded {
		err = t.printExpanded(sh.out)
	} else {
		err = t.printAligned(sh.out)
	}
	if tag := rows.Result().Tag; err == nil && isWriteTag(tag) {
		fmt.Fprintln(sh.out, tag)
	}
	return err
}

func isWriteTag(tag string) bool {
	return strings.HasPrefix(tag, "INSERT") || strings.HasPrefix(tag, "UPDATE") || strings.HasPrefix(tag, "DELETE")
}

// printError prints an error the way psql does, with the line and a caret at the position; verbose
// with its code and, after a bug, the stack.
func (sh *shell) printError(err error, text string, verbose bool) {
	var e *weft.Error
	if !errors.As(err, &e) {
		fmt.Fprintf(sh.errs, "ERROR:  %v\n", err)
		return
	}
	code := ""
	if verbose {
		code = string(e.Code) + ": "
	}
	fmt.Fprintf(sh.errs, "ERROR:  %s%s\n", code, e.Message)
	if e.Position > 0 && e.Position <= len(text)+1 {
		before := text[:e.Position-1]
		number := strings.Count(before, "\n") + 1
		start := strings.LastIndexByte(before, '\n') + 1
		line := text[start:]
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		prefix := fmt.Sprintf("LINE %d: ", number)
		fmt.Fprintf(sh.errs, "%s%s\n%s^\n", prefix, line, strings.Repeat(" ", len(prefix)+displayWidth(before[start:])))
	}
	if e.Detail != "" {
		fmt.Fprintf(sh.errs, "DETAIL:  %s\n", e.Detail)
	}
	if e.Hint != "" {
		fmt.Fprintf(sh.errs, "HINT:  %s\n", e.Hint)
	}
	if verbose && e.Stack() != "" {
		fmt.Fprintf(sh.errs, "STACK:  %s\n", e.Stack())
	}
}
