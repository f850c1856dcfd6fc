package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/gofrs/flock"
)

func TestCheckAndBackup(t *testing.T) {
	t.Chdir(t.TempDir())
	expect := func(status int, out, errs string, args ...string) {
		t.Helper()
		gotStatus, gotOut, gotErrs := weftCommand(args...)
		if gotStatus != status || !strings.Contains(gotOut, out) || !strings.Contains(gotErrs, errs) || errs == "" && gotErrs != "" {
			t.Errorf("weft %v: status %d, output %q, errors %q", args, gotStatus, gotOut, gotErrs)
		}
	}
	expect(0, "", "", "./db", "-c", "create table t (a int primary key, b text check (b <> '')); insert into t select g, 'x' from generate_series(1, 10) g; create sequence s")
	expect(0, "nothing is wrong: 1 table with 10 rows, 1 index with 10 entries, 1 sequence, 1 check constraint (", "", "check", "db")
	expect(0, "copy is a copy of db; open it like any database\n", "", "backup", "db", "copy")
	expect(2, "", "weft: backup target is not empty: ", "backup", "db", "copy")
	expect(0, "nothing is wrong: ", "", "check", "copy")
	expect(0, "10", "", "copy", "-c", "select count(*) from t")

	loseIndexes(t, filepath.Join("copy", "rows"))
	expect(2, "", "is not what it was when the database was closed", "check", "copy")
	if err := os.Remove(filepath.Join("copy", "CLOSED")); err != nil {
		t.Fatal(err)
	}
	expect(1, "public.t, index t_pkey, store 1 row 0: has no entry: key (1)\n", "", "check", "copy")
	expect(1, "public.t, index t_pkey: 0 entries for 10 rows\n11 findings: 1 table with 10 rows, ", "", "check", "copy")
	expect(0, "nothing is wrong: ", "", "check", "db")

	held := flock.New(filepath.Join("db", "LOCK"))
	if ok, err := held.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer held.Close()
	expect(2, "", "weft: database is open in another process: ", "check", "db")
	expect(2, "", "hint: Close it there, or check a copy: weft backup db COPY", "check", "db")
	expect(2, "", "detail: That process does not answer requests: ", "backup", "db", "again")
}

// loseIndexes deletes all index entries behind weft's back.
func loseIndexes(t *testing.T, dir string) {
	t.Helper()
	db, err := pebble.Open(dir, &pebble.Options{FormatMajorVersion: pebble.FormatTableFormatV6})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.DeleteRange([]byte{0x50}, []byte{0x51}, pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestProgressLine(t *testing.T) {
	var out bytes.Buffer
	p := &progressLine{out: &out}
	p.draw("half")
	p.draw("too soon")
	p.clear()
	p.clear()
	if got := out.String(); got != "\rhalf\r    \r" {
		t.Errorf("%q", got)
	}
	newProgressLine(&out).draw("no terminal")
	if strings.Contains(out.String(), "no terminal") {
		t.Error("progress was drawn into a file")
	}
}
