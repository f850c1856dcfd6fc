package sqlerr

import (
	"fmt"
	"runtime/debug"
	"strings"
	"unicode/utf8"
)

// maxStatement is how much of a statement's text the detail of a bug shows.
const maxStatement = 1000

// Panicked is the XX000 error of a recovered panic; it is called by the deferred function that
// recovered it. The stack is kept for Stack and %+v: it is for whoever repairs the bug, not for the
// statement's author.
func Panicked(value any, statement string) *Error {
	e := New(InternalError, "internal error: %v", value)
	if cause, ok := value.(error); ok {
		e.cause = cause
	}
	if len(statement) > maxStatement {
		end := maxStatement
		for !utf8.RuneStart(statement[end]) {
			end--
		}
		statement = statement[:end] + "…"
	}
	e.Detail = "Statement: " + statement
	e.Hint = `This is a bug in weft; please report it with its stack, which \errverbose prints in the shell and %+v in Go.`
	e.stack = string(debug.Stack())
	return e
}

// Stack returns the goroutine's stack at a bug, "" for any other error.
func (e *Error) Stack() string { return e.stack }

// Format prints an error as Error does, and with %+v everything known of it.
func (e *Error) Format(f fmt.State, verb rune) {
	if verb == 'v' && f.Flag('+') {
		fmt.Fprint(f, e.everything())
		return
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), e.Error())
}

func (e *Error) everything() string {
	lines := []string{e.Error()}
	if e.Position > 0 {
		lines = append(lines, fmt.Sprintf("position: %d", e.Position))
	}
	for _, part := range []struct{ name, text string }{{"detail: ", e.Detail}, {"hint: ", e.Hint}, {"", e.stack}} {
		if part.text != "" {
			lines = append(lines, part.name+part.text)
		}
	}
	return strings.Join(lines, "\n")
}
