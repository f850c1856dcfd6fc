package weft_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftdb/weft"
	"github.com/weftdb/weft/sql"
)

// TestBugIsAnError runs a statement that no parser makes and that panics: its stack is in the Go
// error, not in what a user gets to read.
func TestBugIsAnError(t *testing.T) {
	s := memorySession(t)
	_, err := s.Run(context.Background(), &sql.Select{Span: sql.Span{Start: 0, End: 13}}, "select broken, and more")
	var e *weft.Error
	if !errors.As(err, &e) || e.Code != "XX000" {
		t.Fatalf("%v, want XX000", err)
	}
	if e.Detail != "Statement: select broken" || !strings.Contains(e.Hint, "report it") {
		t.Errorf("detail %q, hint %q", e.Detail, e.Hint)
	}
	for _, text := range []string{err.Error(), fmt.Sprintf("%v|%s", err, err), e.Message, e.Detail, e.Hint} {
		if strings.Contains(text, "goroutine") || strings.Contains(text, "\n") {
			t.Errorf("a stack, or several lines: %s", text)
		}
	}
	if !strings.Contains(e.Stack(), "goroutine") || !strings.Contains(fmt.Sprintf("%+v", err), e.Stack()) {
		t.Errorf("no stack: %+v", err)
	}
	if got := oneRow(t, s, "select 1"); got != "1" {
		t.Errorf("the session does not go on: %s", got)
	}
}

// damaged makes a database of a loaded table t and a small table u, and lets break change its
// largest file.
func damaged(t *testing.T, change func(file string)) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "db")
	csv := filepath.Join(t.TempDir(), "t.csv")
	db, err := weft.Open(context.Background(), dir, weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := db.Session()
	mustExec(t, s, fmt.Sprintf(`copy (select g, 'text ' || g * 7919 %% 100003 from generate_series(1, 200000) g) to '%s' (format csv);
		create table t (id bigint, b text); copy t from '%s' (format csv);
		create table u (id int); insert into u values (1)`, csv, csv))
	s.Close()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "rows", "*.sst"))
	largest, size := "", int64(0)
	for _, f := range files {
		if info, err := os.Stat(f); err == nil && info.Size() > size {
			largest, size = f, info.Size()
		}
	}
	change(largest)
	return dir
}

// isCorrupt checks the error about a damaged file.
func isCorrupt(t *testing.T, err error) {
	t.Helper()
	var e *weft.Error
	if !errors.As(err, &e) || e.Code != "XX001" || !strings.Contains(e.Hint, "restore a backup") {
		t.Fatalf("%+v, want XX001 with a hint", err)
	}
	if strings.Contains(e.Error()+e.Detail+e.Hint, "\n") {
		t.Errorf("several lines: %v", err)
	}
	if !strings.Contains(e.Message+e.Detail, ".sst") {
		t.Errorf("no file is named: %v", err)
	}
}

// TestDamagedFile changes bytes of a table's file: what reads them fails with one line, the rest
// can be read, and nothing is written any more.
func TestDamagedFile(t *testing.T) {
	dir := damaged(t, func(file string) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := len(b) / 4; i < len(b)*3/4; i += 1000 {
			b[i] ^= 0xff
		}
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
	})
	db, err := weft.Open(context.Background(), dir, weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := db.Session()
	defer s.Close()
	_, err = queryText(s, "select sum(length(b)) from t")
	isCorrupt(t, err)
	if got := oneRow(t, s, "select id from u"); got != "1" {
		t.Errorf("u holds %s", got)
	}
	found := 0
	summary, err := db.Check(context.Background(), weft.CheckOptions{Report: func(f weft.Finding) {
		if f.Table != "public.t" || strings.Contains(f.String(), "\n") {
			t.Errorf("finding: %s", f)
		}
		if strings.Contains(f.What, "cannot be read") {
			found++
		}
	}})
	if err != nil || found == 0 || summary.Tables != 2 || summary.Rows < 50000 {
		t.Errorf("%d parts of the damaged table cannot be read; %+v, %v", found, summary, err)
	}
	_, err = s.Exec(context.Background(), "insert into u values (2)")
	isCorrupt(t, err)
	if !strings.Contains(fmt.Sprintf("%+v", err), "Writing has stopped") {
		t.Errorf("%+v", err)
	}
}

func TestMissingAndShortFiles(t *testing.T) {
	for name, damage := range map[string]func(string) error{
		"missing": os.Remove,
		"short":   func(file string) error { return os.Truncate(file, 1000) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := damaged(t, func(file string) {
				if err := damage(file); err != nil {
					t.Fatal(err)
				}
			})
			db, err := weft.Open(context.Background(), dir, weft.Options{})
			if err == nil {
				db.Close()
				t.Fatal("opened")
			}
			var e *weft.Error
			if !errors.As(err, &e) || e.Code != "XX001" || e.Hint == "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("%+v", err)
			}
		})
	}
}

// TestPanicGivesLocksBack lets a statement panic in the middle of its work: its locks and its view
// must be gone, inside a transaction block and outside.
func TestPanicGivesLocksBack(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	s, other := db.Session(), db.Session()
	defer s.Close()
	defer other.Close()
	mustExec(t, s, "create table t (a int); insert into t values (1)")
	broken := func() {
		t.Helper()
		stmt, err := sql.ParseOne("alter table t add constraint k check (a > 0)")
		if err != nil {
			t.Fatal(err)
		}
		stmt.(*sql.AlterTable).Actions = append(stmt.(*sql.AlterTable).Actions, nil) // no parser makes this
		if _, err := s.Run(ctx, stmt, "alter"); codeOf(err) != "XX000" {
			t.Fatalf("%v, want XX000", err)
		}
	}
	broken()
	mustExec(t, other, "set lock_timeout = 1000; insert into t values (2); alter table t add b int")
	mustExec(t, s, "begin")
	broken()
	mustExec(t, s, "rollback")
	mustExec(t, other, "insert into t values (3, 3)")
}
