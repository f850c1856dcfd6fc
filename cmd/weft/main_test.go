package main

import (
	"bytes"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"unicode/utf8"
)

// weftCommand runs a command line in the current directory.
func weftCommand(args ...string) (status int, out, errs string) {
	var o, e bytes.Buffer
	status = run(args, &o, &e)
	return status, o.String(), e.String()
}

func TestCommandLine(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("notes", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   string
		status int
		out    string
		errs   string
	}{
		{"chekc", 2, "", "weft: there is no database chekc, and no command of that name\nhint: To create the database, write a path: weft ./chekc."},
		{"check", 2, "", "hint: weft --help lists commands and options."},
		{"check ./nothing", 2, "", "weft: there is no database ./nothing\nhint: "},
		{"check :memory:", 2, "", "there is no database"},
		{"chekc ./nothing", 2, "", "hint: weft takes one database directory, or a command: "},
		{"backup", 2, "", "hint: "},
		{"backup ./nothing ./copy", 2, "", "weft: there is no database ./nothing\nhint: "},
		{"help check", 0, "Look for damage", ""},
		{"backup --help", 0, "Copy a database", ""},
		{"shell check", 2, "", "no database check"},
		{"notes -c \\q", 2, "", "weft ./notes"},
		{"bnech tpch", 2, "", "hint: weft takes one database directory, or a command: backup, bench, check, help, version."},
		{"--bogus", 2, "", "weft: unknown flag --bogus\nhint: weft --help lists commands and options.\n"},
		{"--keepgoing", 2, "", `did you mean "--keep-going"?`},
		{"./mydb --datanodes=-1", 2, "", "take positive numbers"},
		{"-f nothing.sql", 2, "", "no such file"},
		{"help nothing", 2, "", "weft: there is no command nothing\nhint: "},
		{"help bench tpch", 0, "--sf=0.1", ""},
		{"bench tpch --help", 0, "--sf=0.1", ""},
		{"bench tpch --bogus", 2, "", "hint: "},
		{"version", 0, "weft ", ""},
		{"--version", 0, "weft ", ""},
		{"-c \\echo:hello", 1, "", "invalid command"},
		{"-c select:1", 1, "", "syntax error"},
		{"./mydb -c \\q", 0, "", ""},
		{"./mydb --datanodes=3 -c \\q", 0, "", "keeps its 1 data node(s)"},
		{"./mydb --datanodes=1 -c \\q", 0, "", ""},
		{"mydb -c \\dt", 1, "", "Did not find any relations.\n"},
		{"./mydb/ -c \\timing", 0, "Timing is on.\n", ""},
	} {
		status, out, errs := weftCommand(strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(out, c.out) || !strings.Contains(errs, c.errs) {
			t.Errorf("weft %s: status %d, output %q, errors %q", c.args, status, out, errs)
		}
		if c.errs == "" && errs != "" {
			t.Errorf("weft %s: unexpected errors %q", c.args, errs)
		}
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "mydb notes" {
		t.Errorf("the directory holds %s, want mydb and notes only", got)
	}
}

func TestHelpListsEverything(t *testing.T) {
	_, want, _ := weftCommand("--help")
	for _, args := range [][]string{{"-h"}, {"help"}, {"shell", "--help"}, {"help", "shell"}} {
		if status, out, errs := weftCommand(args...); status != 0 || out != want || errs != "" {
			t.Errorf("weft %v: status %d, output\n%s%s", args, status, out, errs)
		}
	}
	for _, option := range []string{"-c, --command SQL ", "-f, --file FILE ", "--keep-going ", "--datanodes N ", "--threads N ", "-h, --help ", "--version ",
		"weft check DIR", "weft backup DIR TARGET", "weft bench tpch", "weft help", "weft version", "Examples:\n", "Exit status:"} {
		if !strings.Contains(want, option) {
			t.Errorf("help does not tell of %q", option)
		}
	}
	for _, line := range strings.Split(want, "\n") {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("line is longer than 80 characters: %s", line)
		}
	}
}

func TestVersion(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc123"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"}}}
	if got := version(info, true); !strings.HasPrefix(got, "weft v1.2.3, revision abc123 of 2026-01-02T03:04:05Z, changed since (go") {
		t.Error(got)
	}
	if got := version(nil, false); !strings.HasPrefix(got, "weft (go") {
		t.Error(got)
	}
}
