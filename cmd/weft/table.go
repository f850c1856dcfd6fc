package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/weftdb/weft"
	"golang.org/x/text/width"
)

// table is a result in memory, to be printed in psql's layouts.
type table struct {
	title   string
	names   []string
	right   []bool // numbers stand to the right
	rows    [][]string
	footers []string // instead of the row count
}

func readTable(rows *weft.Rows, null string) (*table, error) {
	t := &table{}
	cols := rows.Columns()
	for _, c := range cols {
		t.names = append(t.names, c.Name)
		t.right = append(t.right, c.IsNumber())
	}
	for rows.Next() {
		row := make([]string, len(cols))
		for i := range cols {
			text, ok := rows.Text(i)
			if !ok {
				text = null
			}
			row[i] = text
		}
		t.rows = append(t.rows, row)
	}
	return t, rows.Err()
}

// displayWidth is the number of terminal cells a text takes.
func displayWidth(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r) || r < ' ':
		default:
			switch width.LookupRune(r).Kind() {
			case width.EastAsianWide, width.EastAsianFullwidth:
				n += 2
			default:
				n++
			}
		}
	}
	return n
}

// cell is a value cut into lines.
type cell struct {
	lines []string
	width int
}

func cellOf(s string) cell {
	c := cell{lines: strings.Split(s, "\n")}
	for _, l := range c.lines {
		c.width = max(c.width, displayWidth(l))
	}
	return c
}

// printAligned prints psql's default layout.
func (t *table) printAligned(out io.Writer) error {
	w := bufio.NewWriter(out)
	widths := make([]int, len(t.names))
	for i, name := range t.names {
		widths[i] = displayWidth(name)
	}
	cells := make([][]cell, len(t.rows))
	for r, row := range t.rows {
		cells[r] = make([]cell, len(row))
		for i, s := range row {
			cells[r][i] = cellOf(s)
			widths[i] = max(widths[i], cells[r][i].width)
		}
	}
	t.printHeader(w, widths)
	for _, row := range cells {
		t.printRow(w, row, widths)
	}
	if t.footers == nil {
		fmt.Fprintln(w, rowCount(len(t.rows)))
	}
	for _, f := range t.footers {
		fmt.Fprintln(w, f)
	}
	fmt.Fprintln(w)
	return w.Flush()
}

func rowCount(n int) string {
	if n == 1 {
		return "(1 row)"
	}
	return fmt.Sprintf("(%d rows)", n)
}

func (t *table) printHeader(w *bufio.Writer, widths []int) {
	if t.title != "" {
		total := len(widths) - 1
		for _, n := range widths {
			total += n + 2
		}
		fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", max((total-displayWidth(t.title))/2, 0)), t.title)
	}
	for i, name := range t.names {
		if i > 0 {
			w.WriteByte('|')
		}
		space := widths[i] - displayWidth(name)
		fmt.Fprintf(w, " %s%s%s ", strings.Repeat(" ", space/2), name, strings.Repeat(" ", space-space/2))
	}
	w.WriteByte('\n')
	for i, n := range widths {
		if i > 0 {
			w.WriteByte('+')
		}
		w.WriteString(strings.Repeat("-", n+2))
	}
	w.WriteByte('\n')
}

// printRow prints a row; values of several lines continue below, marked by a plus.
func (t *table) printRow(w *bufio.Writer, row []cell, widths []int) {
	height := 1
	for _, c := range row {
		height = max(height, len(c.lines))
	}
	for l := range height {
		for i, c := range row {
			if i > 0 {
				w.WriteByte('|')
			}
			text := ""
			if l < len(c.lines) {
				text = c.lines[l]
			}
			space := widths[i] - displayWidth(text)
			more := l+1 < len(c.lines)
			last := i == len(row)-1
			w.WriteByte(' ')
			if t.right[i] {
				w.WriteString(strings.Repeat(" ", space))
				space = 0
			}
			w.WriteString(text)
			if !last || more {
				w.WriteString(strings.Repeat(" ", space))
			}
			switch {
			case more:
				w.WriteByte('+')
			case !last:
				w.WriteByte(' ')
			}
		}
		w.WriteByte('\n')
	}
}

// printExpanded prints one line per column.
func (t *table) printExpanded(out io.Writer) error {
	w := bufio.NewWriter(out)
	if len(t.rows) == 0 {
		fmt.Fprintf(w, "%s\n\n", rowCount(0))
		return w.Flush()
	}
	names, values := 0, 0
	for _, name := range t.names {
		names = max(names, displayWidth(name))
	}
	for _, row := range t.rows {
		for _, s := range row {
			values = max(values, cellOf(s).width)
		}
	}
	for r, row := range t.rows {
		label := fmt.Sprintf("-[ RECORD %d ]", r+1)
		line := strings.Repeat("-", names+1) + "+" + strings.Repeat("-", values+1)
		if len(label) < len(line) {
			cut := []byte(line)
			copy(cut, label)
			if len(label) <= names+1 {
				cut[names+1] = '+'
			}
			label = string(cut)
		}
		fmt.Fprintln(w, label)
		for i, name := range t.names {
			for l, text := range strings.Split(row[i], "\n") {
				if l > 0 {
					name = ""
				}
				fmt.Fprintf(w, "%s%s | %s\n", name, strings.Repeat(" ", names-displayWidth(name)), text)
			}
		}
	}
	fmt.Fprintln(w)
	return w.Flush()
}
