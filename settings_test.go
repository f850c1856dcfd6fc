package weft_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

func codeOf(err error) string {
	var known *weft.Error
	if errors.As(err, &known) {
		return string(known.Code)
	}
	return ""
}

// TestSerializableIsChosen asks for SERIALIZABLE in every way there is and looks what a transaction gets.
func TestSerializableIsChosen(t *testing.T) {
	for _, statement := range []string{
		"begin isolation level serializable",
		"start transaction isolation level serializable, read write, not deferrable",
		"set session characteristics as transaction isolation level serializable; begin",
		"set default_transaction_isolation = 'serializable'; begin",
		"set default_transaction_isolation = 'SERIALIZABLE'; begin read write",
		"begin; set transaction_isolation = 'serializable'",
		"begin; set transaction isolation level serializable",
		"begin; set local transaction_isolation to serializable",
		"begin; set transaction isolation level serializable; select 1; set transaction isolation level serializable",
		"begin; set local default_transaction_isolation = serializable; reset transaction_isolation",
	} {
		s := memorySession(t)
		mustExec(t, s, statement)
		if got := oneRow(t, s, "show transaction_isolation"); got != "serializable" {
			t.Errorf("%s: %s", statement, got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	db, err := sql.Open("weft", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelSerializable, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	wantSerializable(t, tx)
	if _, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelLinearizable}); codeOf(err) != "0A000" {
		t.Errorf("BeginTx: error %v, want 0A000", err)
	}
	strict, err := sql.Open("weft", ":memory:?default_transaction_isolation=serializable")
	if err != nil {
		t.Fatal(err)
	}
	defer strict.Close()
	wantSerializable(t, strict)
	native := openMemory(t)
	own, err := native.Begin(t.Context(), weft.TxOptions{Isolation: weft.Serializable, ReadOnly: true, Deferrable: true})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Rollback()
	for _, name := range []string{"transaction_deferrable", "transaction_read_only"} {
		rows, err := own.Query(t.Context(), "show "+name)
		if err != nil {
			t.Fatal(err)
		}
		if !rows.Next() {
			t.Fatal("no row")
		}
		if text, _ := rows.Text(0); text != "on" {
			t.Errorf("%s: %s, want on", name, text)
		}
		rows.Close()
	}
	if _, err := native.Begin(t.Context(), weft.TxOptions{Isolation: 7}); codeOf(err) != "22023" {
		t.Errorf("unknown level: error %v, want 22023", err)
	}
}

func wantSerializable(t *testing.T, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) {
	t.Helper()
	var got string
	if err := q.QueryRowContext(t.Context(), "show transaction_isolation").Scan(&got); err != nil || got != "serializable" {
		t.Errorf("transaction_isolation %q, %v", got, err)
	}
}

// TestDeferrableSettings checks what PostgreSQL says about [NOT] DEFERRABLE.
func TestDeferrableSettings(t *testing.T) {
	for _, c := range []struct{ statements, shown, code string }{
		{"begin deferrable", "on", ""},
		{"begin; set transaction deferrable", "on", ""},
		{"begin deferrable; set transaction_deferrable = off", "off", ""},
		{"set default_transaction_deferrable = on; begin", "on", ""},
		{"set session characteristics as transaction deferrable; begin; reset transaction_deferrable", "on", ""},
		{"begin; select 1; set transaction not deferrable", "", "25001"},
		{"begin; savepoint a; set transaction deferrable", "", "25001"},
		{"begin; select 1; set transaction_deferrable = on", "", "25001"},
	} {
		s := memorySession(t)
		_, err := s.Exec(t.Context(), c.statements)
		if codeOf(err) != c.code {
			t.Errorf("%s: %v, want %q", c.statements, err, c.code)
		}
		if c.code == "" {
			if got := oneRow(t, s, "show transaction_deferrable"); got != c.shown {
				t.Errorf("%s: %s", c.statements, got)
			}
		}
		s.Close()
	}
}

// TestUnsupportedValues sets what PostgreSQL knows and weft does not do.
func TestUnsupportedValues(t *testing.T) {
	s := memorySession(t)
	for _, statement := range []string{"set datestyle = 'german'", "set datestyle = 'ISO, DMY'", "set datestyle = ymd", "set datestyle to sql, mdy",
		"set intervalstyle = iso_8601", "set standard_conforming_strings = off", "set extra_float_digits = 0"} {
		_, err := s.Exec(t.Context(), statement)
		var known *weft.Error
		if !errors.As(err, &known) || known.Code != "0A000" || !strings.HasPrefix(known.Hint, "Supported: ") {
			t.Errorf("%s: error %v, want 0A000 with what is supported", statement, err)
		}
	}
}

// TestOwnSettings checks the values of settings that PostgreSQL has not.
func TestOwnSettings(t *testing.T) {
	s := memorySession(t)
	for _, test := range []struct{ name, value, want string }{
		{"htap_router_mode", "'COLUMN'", "column"}, {"htap_router_mode", "fast", "22023"},
		{"htap_max_mem_size", "204800", "200MB"}, {"htap_max_mem_size", "'2GB'", "2GB"}, {"htap_max_mem_size", "'2gb'", "2GB"},
		{"htap_max_mem_size", "'300000000'", "300000000kB"}, {"htap_max_mem_size", "5", "22023"}, {"htap_max_mem_size", "'5 parsecs'", "22023"},
		{"htap_memctl_policy", "escape", "escape"}, {"htap_memctl_policy", "lru", "22023"},
		{"htap_flush_workers", "100", "100"}, {"htap_flush_workers", "101", "22023"}, {"htap_flush_workers", "'3s'", "22023"},
		{"htap_flush_pagenum", "0", "22023"}, {"htap_flush_interval", "'90 s'", "90s"}, {"htap_flush_interval", "600", "10min"}, {"htap_flush_interval", "'11h'", "22023"},
		{"memory_limit", "'1GB'", "1GB"}, {"memory_limit", "1024", "22023"}, {"memory_limit", "'lots'", "22023"},
		{"threads", "4", "4"}, {"threads", "0", "22023"}, {"threads", "2.6", "3"},
		{"enable_imcvscan", "f", "off"}, {"enable_imcvscan", "of", "off"}, {"enable_hybrid_imcvscan", "2", "22023"}, {"enable_async_populate", "yes", "on"},
		{"disabled_rules", "'nothing of the kind'", "22023"}, {"disabled_rules", "''", ""},
		{"enable_htap", "off", "55P02"}, {"htap_rowgroup_pagenum", "1024", "55P02"}, {"server_version", "'9'", "55P02"},
	} {
		before := oneRow(t, s, "show "+test.name)
		_, err := s.Exec(t.Context(), "set "+test.name+" = "+test.value)
		if len(test.want) == 5 && err != nil {
			if codeOf(err) != test.want || !strings.Contains(err.Error(), `"`+test.name+`"`) {
				t.Errorf("%s = %s: error %v, want %s", test.name, test.value, err, test.want)
			}
			if now := oneRow(t, s, "show "+test.name); now != before {
				t.Errorf("%s = %s: failed, but is %s now", test.name, test.value, now)
			}
			continue
		}
		if got := oneRow(t, s, "show "+test.name); err != nil || got != test.want {
			t.Errorf("%s = %s: got %s, %v, want %s", test.name, test.value, got, err, test.want)
		}
		mustExec(t, s, "reset "+test.name)
		if test.name != "memory_limit" && test.name != "threads" && oneRow(t, s, "show "+test.name) != initialValue(t, test.name) {
			t.Errorf("%s: RESET leaves %s", test.name, oneRow(t, s, "show "+test.name))
		}
	}
}

func initialValue(t *testing.T, name string) string {
	return oneRow(t, memorySession(t), "show "+name)
}

// TestGlobalSettings sets what belongs to the database: other sessions see it, and a transaction's
// end does not undo it.
func TestGlobalSettings(t *testing.T) {
	db := openMemory(t)
	a, b := db.Session(), db.Session()
	defer a.Close()
	defer b.Close()
	mustExec(t, a, "begin; set htap_flush_workers = 7; rollback")
	if got := oneRow(t, b, "show htap_flush_workers"); got != "7" {
		t.Errorf("other session: %s", got)
	}
	if _, err := a.Exec(t.Context(), "begin; set local htap_flush_workers = 8"); codeOf(err) != "55P02" {
		t.Errorf("SET LOCAL: error %v, want 55P02", err)
	}
	mustExec(t, a, "rollback; reset all")
	if got := oneRow(t, b, "show htap_flush_workers"); got != "7" {
		t.Errorf("after RESET ALL: %s", got)
	}
	mustExec(t, a, "set htap_flush_workers to default")
	if got := oneRow(t, b, "show htap_flush_workers"); got != "3" {
		t.Errorf("after SET TO DEFAULT: %s", got)
	}
}

// TestSettingsOfFailedCommit makes a commit fail: its settings go with it.
func TestSettingsOfFailedCommit(t *testing.T) {
	db := openMemory(t)
	a, b := db.Session(), db.Session()
	defer a.Close()
	defer b.Close()
	mustExec(t, a, "create table t (a int primary key); set timezone = 'Europe/Berlin'")
	mustExec(t, a, "begin; set timezone = 'Asia/Tokyo'; set local threads = 3")
	if _, err := a.Exec(context.Background(), "commit"); err != nil {
		t.Fatal(err)
	}
	if got := oneRow(t, a, "show timezone"); got != "Asia/Tokyo" {
		t.Errorf("after COMMIT: %s", got)
	}
	mustExec(t, a, "begin; set timezone = 'UTC'; insert into t values (1)")
	if _, err := a.Exec(context.Background(), "insert into t values (1)"); err == nil {
		t.Fatal("a duplicate key was taken")
	}
	mustExec(t, a, "commit") // rolls back
	if got := oneRow(t, a, "show timezone"); got != "Asia/Tokyo" {
		t.Errorf("after a failed transaction: %s", got)
	}
}

// TestNotices drops notices below client_min_messages.
func TestNotices(t *testing.T) {
	s := memorySession(t)
	var seen []string
	s.OnNotice(func(text string) { seen = append(seen, text) })
	for level, want := range map[string]int{"debug5": 2, "notice": 2, "warning": 1, "error": 0} {
		seen = nil
		mustExec(t, s, "set client_min_messages = "+level)
		mustExec(t, s, "drop table if exists nowhere; commit")
		if len(seen) != want {
			t.Errorf("%s: %d messages, want %d: %q", level, len(seen), want, seen)
		}
	}
}
