package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/weftdb/weft"
)

// command runs a \ command and reports whether it succeeded.
func (sh *shell) command(ctx context.Context, line string) bool {
	name, arg, _ := strings.Cut(line, " ")
	arg = strings.TrimSuffix(strings.TrimSpace(arg), ";")
	switch strings.TrimSuffix(name, ";") {
	case `\q`:
		sh.quit = true
	case `\timing`:
		sh.toggle(&sh.timing, arg, "Timing is %s.")
	case `\x`:
		sh.toggle(&sh.expanded, arg, "Expanded display is %s.")
	case `\dt`:
		return sh.listRelations("table", arg)
	case `\dv`:
		return sh.listRelations("view", arg)
	case `\ds`:
		return sh.listRelations("sequence", arg)
	case `\d`, `\d+`:
		if arg == "" {
			return sh.listRelations("table view sequence", "")
		}
		return sh.describe(arg)
	case `\i`:
		return sh.include(ctx, arg)
	case `\pset`:
		option, value, _ := strings.Cut(arg, " ")
		if option != "null" {
			return sh.wrong(`\pset knows only: null TEXT`)
		}
		sh.null = strings.Trim(strings.TrimSpace(value), "'")
		fmt.Fprintf(sh.out, "Null display is \"%s\".\n", sh.null)
	case `\errverbose`:
		if sh.lastError == nil {
			fmt.Fprintln(sh.out, "There is no previous error.")
			return true
		}
		sh.printError(sh.lastError, sh.lastText, true)
	case `\echo`:
		fmt.Fprintln(sh.out, arg)
	case `\?`, `\h`, `\help`:
		fmt.Fprint(sh.out, helpText)
	default:
		return sh.wrong(fmt.Sprintf(`invalid command %s; try \? for help`, name))
	}
	return true
}

const helpText = `  \d [TABLE]       describe a table, or list tables
  \dt [TABLE]      list tables
  \i FILE          run the statements of a file
  \timing [on|off] print how long statements take
  \x [on|off]      print one column a line
  \pset null TEXT  what NULL prints as
  \echo TEXT       print a text
  \errverbose      print the last error with its code
  \q               quit
`

func (sh *shell) wrong(text string) bool {
	fmt.Fprintln(sh.errs, text)
	return false
}

func (sh *shell) toggle(flag *bool, arg, format string) {
	switch strings.ToLower(arg) {
	case "on":
		*flag = true
	case "off":
		*flag = false
	default:
		*flag = !*flag
	}
	word := "off"
	if *flag {
		word = "on"
	}
	fmt.Fprintf(sh.out, format+"\n", word)
}

func (sh *shell) include(ctx context.Context, name string) bool {
	f, err := os.Open(strings.Trim(name, "'"))
	if err != nil {
		return sh.wrong(err.Error())
	}
	defer f.Close()
	return sh.script(ctx, f) == nil
}

// listRelations prints the relations of some kinds.
func (sh *shell) listRelations(kinds, pattern string) bool {
	t := &table{title: "List of relations", names: []string{"Schema", "Name", "Type", "Owner"}, right: make([]bool, 4)}
	for _, d := range sh.session.Catalog().Relations() {
		if !sh.session.Sees(d) {
			continue
		}
		if strings.Contains(kinds, d.Kind.String()) && (pattern == "" || matches(pattern, d.Schema, d.Name)) {
			t.rows = append(t.rows, []string{d.Schema, d.Name, weft.RelationType(d), "weft"})
		}
	}
	if len(t.rows) == 0 {
		if pattern == "" {
			return sh.wrong("Did not find any relations.")
		}
		return sh.wrong(fmt.Sprintf("Did not find any relation named \"%s\".", pattern))
	}
	return t.printAligned(sh.out) == nil
}

// matches compares a name with a pattern of * and ?, with or without a schema.
func matches(pattern, schema, name string) bool {
	if n := len(pattern); n >= 2 && pattern[0] == '"' && pattern[n-1] == '"' { // as it stands
		return strings.ReplaceAll(pattern[1:n-1], `""`, `"`) == name
	}
	if s, n, ok := strings.Cut(pattern, "."); ok {
		return wildcard(s, schema) && wildcard(n, name)
	}
	return wildcard(pattern, name)
}

func wildcard(pattern, text string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '*':
			for j := i; j <= len(text); j++ {
				if wildcard(pattern[i+1:], text[j:]) {
					return true
				}
			}
			return false
		case '?':
			if i >= len(text) {
				return false
			}
		default:
			if i >= len(text) || text[i] != pattern[i] {
				return false
			}
		}
	}
	return len(pattern) == len(text)
}

// describe prints a table's columns, keys and column view.
func (sh *shell) describe(pattern string) bool {
	found := false
	for _, d := range sh.session.Catalog().Relations() {
		if !sh.session.Sees(d) {
			continue
		}
		if !matches(pattern, d.Schema, d.Name) {
			continue
		}
		found = true
		if q := d.Sequence; q != nil {
			t := &table{title: fmt.Sprintf("Sequence \"%s.%s\"", d.Schema, d.Name), footers: []string{}, right: []bool{false, true, true, true, true, false},
				names: []string{"Type", "Start", "Minimum", "Maximum", "Increment", "Cycles?"},
				rows:  [][]string{{q.Type.String(), fmt.Sprint(q.Start), fmt.Sprint(q.Min), fmt.Sprint(q.Max), fmt.Sprint(q.Increment), map[bool]string{false: "no", true: "yes"}[q.Cycle]}}}
			if t.printAligned(sh.out) != nil {
				return false
			}
			continue
		}
		kind := weft.RelationType(d)
		t := &table{title: fmt.Sprintf("%s \"%s.%s\"", strings.ToUpper(kind[:1])+kind[1:], d.Schema, d.Name), names: []string{"Column", "Type", "Collation", "Nullable", "Default"}, right: make([]bool, 5), footers: []string{}}
		var covered, distributed []string
		for _, c := range d.Columns {
			nullable := ""
			if c.NotNull {
				nullable = "not null"
			}
			value := c.Default
			if c.Generated != "" {
				value = "generated always as (" + c.Generated + ") stored"
			}
			t.rows = append(t.rows, []string{c.Name, c.Type.String(), "", nullable, value})
			if c.Covered {
				covered = append(covered, c.Name)
			}
		}
		before, after := weft.DescribePartitioning(sh.session.Catalog(), d)
		t.footers = append(append(t.footers, before...), weft.DescribeIndexes(d)...)
		if len(d.Checks) > 0 {
			t.footers = append(t.footers, "Check constraints:")
		}
		for _, c := range d.Checks {
			t.footers = append(t.footers, fmt.Sprintf("    \"%s\" CHECK (%s)", c.Name, c.Expr))
		}
		t.footers = append(t.footers, weft.DescribeForeignKeys(sh.session.Catalog(), d)...)
		for _, id := range d.DistributeBy {
			if i := d.ColumnByID(id); i >= 0 {
				distributed = append(distributed, d.Columns[i].Name)
			}
		}
		if len(d.Stores) > 1 {
			t.footers = append(t.footers, "Distribute by: HASH("+strings.Join(distributed, ", ")+")")
		}
		if d.View != nil {
			t.footers = append(t.footers, "View definition:", " "+d.View.Query+";")
		}
		if d.HasView {
			t.footers = append(t.footers, "Column view: "+strings.Join(covered, ", "))
		}
		t.footers = append(t.footers, after...)
		if t.printAligned(sh.out) != nil {
			return false
		}
	}
	if !found {
		return sh.wrong(fmt.Sprintf("Did not find any relation named \"%s\".", pattern))
	}
	return true
}
