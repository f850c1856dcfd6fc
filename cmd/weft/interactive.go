package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/reeflective/readline"
	"github.com/weftdb/weft"
)

// interactive reads statements at a prompt until end of input or \q.
func (sh *shell) interactive(ctx context.Context) error {
	fmt.Fprintln(sh.out, `weft: type \? for help, \q to quit.`)
	editor := readline.NewShell()
	editor.Prompt.Primary(sh.prompt)
	editor.Prompt.Secondary(func() string { return "weft-# " })
	editor.AcceptMultiline = func(line []rune) bool {
		text := strings.TrimSpace(string(line))
		if text == "" || strings.HasPrefix(text, `\`) {
			return true
		}
		_, complete := weft.NextStatement(text)
		return complete
	}
	if file := historyFile(); file != "" {
		editor.History.AddFromFile("weft", file)
	}
	for !sh.quit {
		line, err := editor.Readline()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, readline.ErrInterrupt):
			continue
		case err != nil:
			return fmt.Errorf("read line: %w", err)
		}
		sh.line(ctx, line)
		sh.buffer = ""
	}
	return nil
}

// prompt shows whether a transaction is open (*) or has failed (!), as psql does.
func (sh *shell) prompt() string {
	mark := ""
	if open, failed := sh.session.InTransaction(); failed {
		mark = "!"
	} else if open {
		mark = "*"
	}
	return "weft=" + mark + "# "
}

// historyFile returns where statements are remembered, created so that only its owner can read it;
// "" if there is no such place.
func historyFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	dir = filepath.Join(dir, "weft")
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	name := filepath.Join(dir, "history")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return ""
	}
	f.Close()
	return name
}
