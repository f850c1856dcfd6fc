package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

var rewrite = flag.Bool("rewrite", false, "write golden files instead of comparing with them")

// runScript types a script into a shell on a fresh database and returns what it prints.
func runScript(t *testing.T, script string, o weft.Options) (string, error) {
	t.Helper()
	db, err := weft.Open(context.Background(), "", o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	var out bytes.Buffer
	sh := newShell(db, &out, &out)
	defer sh.session.Close()
	err = sh.script(context.Background(), strings.NewReader(script))
	return out.String(), err
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}

// TestReferenceSession is the session of the reference system's manual for the column-to-row hybrid
// scan, on two data nodes. Only the size of the units is weft's own.
func TestReferenceSession(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("testdata", "reference.sql"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := runScript(t, string(script), weft.Options{DataNodes: 2})
	if err != nil {
		t.Errorf("%v", err)
	}
	size := regexp.MustCompile(`(dn_6001_6002 .*\| {13}3 \|) +[1-9][0-9]+ \|`)
	compareGolden(t, "reference.golden", size.ReplaceAllString(got, "$1 <size> |"))
}

// TestReferenceRows runs the reference session's query by each kind of scan.
func TestReferenceRows(t *testing.T) {
	setup := `CREATE TABLE t (a bigint NOT NULL, b bigint, c nvarchar2(30), d text) DISTRIBUTE BY HASH(a);
INSERT INTO t VALUES (200, 100, 'CNY', 'x'), (300, 200, 'EUR', 'y'), (200, 300, 'US', NULL);
ALTER TABLE t COLVIEW(b, c);
`
	query := "SELECT * FROM t WHERE b >= 200 ORDER BY b;\n"
	want := ` a  |  b  |  c  | d 
-----+-----+-----+---
 300 | 200 | EUR | y
 200 | 300 | US  | 
(2 rows)
`
	for _, mode := range []string{"row", "column", "auto"} {
		got, err := runScript(t, setup+"SET htap_router_mode='"+mode+"';\n"+query, weft.Options{DataNodes: 2})
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("mode %s: %v\n%s", mode, err, got)
		}
	}
}

func TestShellErrors(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"select 1;\nselct 2;\nselect 3;\n", "ERROR:  syntax error at or near \"selct\"\nLINE 1: selct 2;\n        ^\n"},
		{"create table t (aa int);\nselect ab from t;\n", "ERROR:  column \"ab\" does not exist\nLINE 1: select ab from t;\n               ^\nHINT:  Perhaps you meant to reference the column \"t.aa\".\n"},
		{"select * from\n  nowhere;\n", "ERROR:  relation \"nowhere\" does not exist\nLINE 2:   nowhere;\n          ^\n"},
	} {
		got, err := runScript(t, c.script, weft.Options{})
		if err == nil {
			t.Errorf("%q succeeded", c.script)
		}
		if !strings.HasSuffix(got, c.want) {
			t.Errorf("%q printed\n%s\nwant the end\n%s", c.script, got, c.want)
		}
	}
}

func TestErrorVerbose(t *testing.T) {
	got, err := runScript(t, "\\errverbose\nselect 1;\n", weft.Options{})
	if err != nil || !strings.HasPrefix(got, "There is no previous error.\n") {
		t.Errorf("%v\n%s", err, got)
	}
	got = keepGoing(t, "select aa from\n  generate_series(1, 2) a;\n\\errverbose\n")
	if want := "ERROR:  42703: column \"aa\" does not exist\nLINE 1: select aa from\n               ^\n"; !strings.Contains(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
