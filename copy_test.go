package weft_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/weftdb/weft"
)

// copyInto writes a file and copies it into table t of two text columns.
func copyInto(t *testing.T, s *weft.Session, content, options string) error {
	t.Helper()
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := s.Exec(context.Background(), "copy t from '"+file+"' "+options)
	return err
}

// TestCopyInvalidText copies files whose bytes are no text. The errors are PostgreSQL's, its
// CONTEXT being the detail here.
func TestCopyInvalidText(t *testing.T) {
	many := strings.Repeat("one\ttwo\n", 3000)
	for _, test := range []struct{ content, options, bytes, where string }{
		{"a\tb\nc\xff\td\n", "", "0xff", "line 2"},
		{"a\tb\nc\tx\xc3(", "", "0xc3 0x28", "line 2"},
		{"a\tb\nc\tx\xe2\x82\n", "", "0xe2 0x82 0x0a", "line 2"},
		{"a\x00\tb\n", "", "0x00", "line 1"},
		{"a\\xff\tb\n", "", "0xff", "line 1"},
		{"a\\000\tb\n", "", "0x00", "line 1"},
		{"a\\303\tb\n", "", "0xc3", "line 1"},
		{"\xf0\x80\x80\x80\tb\n", "", "0xf0 0x80 0x80 0x80", "line 1"},
		{"\xed\xa0\x80\tb\n", "", "0xed 0xa0 0x80", "line 1"},
		{"a,\"b\nc\xff\"\n", "(format csv)", "0xff", "line 2"},
		{"x\xff,y\na,b\n", "(format csv, header)", "0xff", "line 1"},
		{"x,\"y\nz\"\na,b\nc,\xff\n", "(format csv, header)", "0xff", "line 4"},
		{many + "\xff\tb\n" + many, "", "0xff", "line 3001"},
	} {
		s := memorySession(t)
		mustExec(t, s, "create table t (a text, b text)")
		err := copyInto(t, s, test.content, test.options)
		var known *weft.Error
		if !errors.As(err, &known) || known.Code != "22021" {
			t.Errorf("%.30q: error %v, want 22021", test.content, err)
			continue
		}
		if want := `invalid byte sequence for encoding "UTF8": ` + test.bytes; known.Message != want {
			t.Errorf("%.30q: %s, want %s", test.content, known.Message, want)
		}
		if want := "COPY t, " + test.where; known.Detail != want {
			t.Errorf("%.30q: detail %q, want %q", test.content, known.Detail, want)
		}
		if got := oneRow(t, s, "select count(*) from t"); got != "0" {
			t.Errorf("%.30q: %s rows", test.content, got)
		}
	}
}

// TestCopyRecords copies files in which records are not lines.
func TestCopyRecords(t *testing.T) {
	for _, test := range []struct{ content, options, want string }{
		{"a\\x41\\101\\102\tb\n", "", "aAAB=b"},
		{"a\\x4\\1\\18\tb\\N\\8\\xyz\n", "", "a\x04\x01\x018=bN8xyz"},
		{"a\\\nb\tc\nd\te\n", "", "a\nb=c;d=e"},
		{"a\\\\\tc\nd\te\n", "", "a\\=c;d=e"},
		{strings.Repeat("a\\\nb\tc\n", 1500), "", strings.TrimSuffix(strings.Repeat("a\nb=c;", 1500), ";")},
		{"ä\\303\\244\t€\n", "", "ää=€"},
		{"a,b\n\\.\n\xff,c", "(format csv)", "a=b"},
		{"a\tb\n\\.\nmore\n", "", "a=b"},
		{"\"\\.\",b\n", "(format csv)", "\\.=b"},
		{"a,b\n", "(format csv, encoding 'utf-8')", "a=b"},
	} {
		s := memorySession(t)
		mustExec(t, s, "create table t (a text, b text)")
		if err := copyInto(t, s, test.content, test.options); err != nil {
			t.Errorf("%.30q: %v", test.content, err)
			continue
		}
		if got := oneRow(t, s, "select coalesce(string_agg(a || '=' || b, ';'), '') from t"); got != test.want {
			t.Errorf("%.30q: got %.60q, want %.60q", test.content, got, test.want)
		}
	}
}

// TestCopyErrorLines finds the physical line of errors behind records of several lines.
func TestCopyErrorLines(t *testing.T) {
	for _, test := range []struct{ content, options, message, where string }{
		{"\"a\nb\",c\n\"a\nb\",c,d\n", "(format csv)", "extra data after last expected column", "line 4"},
		{"a\tb\nc\nd\xff\te\n", "", `missing data for column "b"`, "line 2"},
		{"a\\\nb\tc\nd\n", "", `missing data for column "b"`, "line 3"},
		{"a,b\n", "(format csv, encoding 'latin1')", `encoding "latin1" is not supported`, ""},
	} {
		s := memorySession(t)
		mustExec(t, s, "create table t (a text, b text)")
		err := copyInto(t, s, test.content, test.options)
		var known *weft.Error
		if !errors.As(err, &known) || known.Message != test.message || test.where != "" && known.Detail != "COPY t, "+test.where {
			t.Errorf("%q: error %v, want %s in %s", test.content, err, test.message, test.where)
		}
	}
}

// TestCopyLoneEndMark writes and reads back the value that would end the data.
func TestCopyLoneEndMark(t *testing.T) {
	for _, format := range []string{"csv", "text"} {
		s := memorySession(t)
		mustExec(t, s, `create table t (a text); insert into t values ('x'), ('\.'), ('y')`)
		file := filepath.Join(t.TempDir(), "f")
		mustExec(t, s, "copy t to '"+file+"' (format "+format+")")
		mustExec(t, s, "truncate t")
		mustExec(t, s, "copy t from '"+file+"' (format "+format+")")
		if got := oneRow(t, s, "select string_agg(a, ',') from t"); got != `x,\.,y` {
			t.Errorf("%s: got %s", format, got)
		}
	}
}

// TestParquetText reads bytes that are no text, which only bytea takes.
func TestParquetText(t *testing.T) {
	type marked struct {
		A string `parquet:"a"`
		B int64  `parquet:"b"`
	}
	type plain struct {
		A []byte `parquet:"a"`
		B int64  `parquet:"b"`
	}
	dir := t.TempDir()
	text, raw := filepath.Join(dir, "text.parquet"), filepath.Join(dir, "raw.parquet")
	if err := parquet.WriteFile(text, []marked{{"good", 1}, {"bad \xc3(", 2}}); err != nil {
		t.Fatal(err)
	}
	if err := parquet.WriteFile(raw, []plain{{[]byte("gut: ä"), 1}, {[]byte("\xff\\\x00"), 2}}); err != nil {
		t.Fatal(err)
	}
	s := memorySession(t)
	mustExec(t, s, "create table t (a text, b bigint); create table r (a bytea, b bigint)")
	for file, bytes := range map[string]string{text: "0xc3 0x28", raw: "0xff"} {
		_, err := s.Exec(t.Context(), "copy t from '"+file+"' (format parquet)")
		var known *weft.Error
		if !errors.As(err, &known) || known.Code != "22021" || !strings.HasSuffix(known.Message, `"UTF8": `+bytes) || known.Detail != "COPY t, row 2" || known.ColumnName != "a" {
			t.Errorf("%s: error %v, detail %q", file, err, known.Detail)
		}
	}
	mustExec(t, s, "copy r from '"+raw+"' (format parquet)")
	if got := oneRow(t, s, "select string_agg(encode(a, 'hex'), ',') from r"); got != "6775743a20c3a4,ff5c00" {
		t.Errorf("bytea from plain bytes: %s", got)
	}
}

// TestCopyToWhatIsThere writes over files, through links and to devices: each stays what it is, and no other file is
// touched.
func TestCopyToWhatIsThere(t *testing.T) {
	db := openMemory(t)
	s := db.Session()
	defer s.Close()
	mustExec(t, s, "create table t (a int); insert into t values (1), (2)")
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.WriteFile(in(name), []byte(text), 0o600), os.Chmod(in(name), mode)); err != nil {
			t.Fatal(err)
		}
	}
	write("old", "old and longer than what comes\n", 0o604)
	write("old.part", "somebody's\n", 0o600)
	write("linked", "old\n", 0o640)
	if err := errors.Join(os.Symlink("linked", in("link")), os.Symlink("later", in("dangling")), os.Symlink("never", in("dangling2"))); err != nil {
		t.Skip(err) // a system without links
	}
	for _, name := range []string{"new", "old", "link", "dangling"} {
		mustExec(t, s, "copy t to '"+in(name)+"'")
	}
	if _, err := s.Exec(context.Background(), "copy (select 1 / (a - 2) from t) to '"+in("dangling2")+"'"); err == nil {
		t.Error("no error")
	}
	for name, mode := range map[string]os.FileMode{"new": 0, "old": 0o604, "linked": 0o640, "later": 0} {
		text, err := os.ReadFile(in(name))
		info, serr := os.Lstat(in(name))
		if err != nil || serr != nil || string(text) != "1\n2\n" || !info.Mode().IsRegular() || mode != 0 && info.Mode() != mode {
			t.Errorf("%s: %q %v %v %v", name, text, info, err, serr)
		}
	}
	for _, name := range []string{"link", "dangling"} {
		if info, err := os.Lstat(in(name)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v %v", name, info, err)
		}
	}
	if text, err := os.ReadFile(in("old.part")); err != nil || string(text) != "somebody's\n" {
		t.Errorf("another file has become %q %v", text, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 8 { // nothing is left of what failed
		t.Errorf("%d files %v", len(entries), err)
	}
	before, err := os.Stat(os.DevNull)
	if err != nil || before.Mode().IsRegular() {
		t.Fatalf("%s: %v %v", os.DevNull, before, err)
	}
	mustExec(t, s, "copy t to '"+os.DevNull+"'")
	if after, err := os.Stat(os.DevNull); err != nil || after.Mode() != before.Mode() {
		t.Errorf("%s has become %v %v", os.DevNull, after, err)
	}
	open, err := os.Create(in("open"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if name := fmt.Sprintf("/proc/self/fd/%d", open.Fd()); runtime.GOOS == "linux" {
		mustExec(t, s, "copy t to '"+name+"'")
		if text, err := os.ReadFile(in("open")); err != nil || string(text) != "1\n2\n" {
			t.Errorf("an open file has %q %v", text, err)
		}
		here, err1 := open.Stat()
		there, err2 := os.Stat(in("open"))
		if err1 != nil || err2 != nil || !os.SameFile(here, there) {
			t.Errorf("an open file was replaced: %v %v", err1, err2)
		}
	}
	_, err = s.Exec(context.Background(), "copy t to '"+dir+"'")
	var known *weft.Error
	if !errors.As(err, &known) || known.Code != "42809" || !strings.HasSuffix(known.Message, `for writing: is a directory`) {
		t.Errorf("to a directory: %v", err)
	}
	_, err = s.Exec(context.Background(), "copy t from '"+dir+"'")
	if !errors.As(err, &known) || known.Code != "42809" || known.Message != `"`+dir+`" is a directory` {
		t.Errorf("from a directory: %v", err)
	}
}

// TestCopyAsPostgreSQL copies files of which PostgreSQL 15 gave the rows and the errors listed here.
func TestCopyAsPostgreSQL(t *testing.T) {
	const lf, cr = `Use "\n" to represent newline.`, `Use "\r" to represent carriage return.`
	const csvLF, csvCR = "Use quoted CSV field to represent newline.", "Use quoted CSV field to represent carriage return."
	const csv, two, one, number = "(format csv)", "a text, b text", "a text", "a int, b text"
	const backslash = `(format csv, escape '\')`
	for _, test := range []struct{ columns, content, options, rows, code, message, hint, where string }{
		{two, "14,a\"b\"c\n", csv, "14=abc", "", "", "", ""},
		{two, "a\"b,c\"d,e\n", csv, "ab,cd=e", "", "", "", ""},
		{two, "x\"y z\"w,\"p\"q\n", csv, "xy zw=pq", "", "", "", ""},
		{two, "\"a\"b,c\n", csv, "ab=c", "", "", "", ""},
		{two, "5\" pipe,\"3\"\" rod\"\n", csv, "", "22P04", "unterminated CSV quoted field", "", "1"},
		{two, "a,b\"c\nd\"e\nf,g\n", csv, "a=bc\nde;f=g", "", "", "", ""},
		{two, "a,\"\"\nb,\n", csv, "a=;b=NULL", "", "", "", ""},
		{two, "a,N\"\"\nb,N\n", "(format csv, null 'N')", "a=N;b=NULL", "", "", "", ""},
		{two, "a,\"\\\"x\\\\\"y\nb,\\\"z\"\n", backslash, `a="x\y;b=\z`, "", "", "", ""},
		{two, "a,\"b\\\\\"\nc,\"d\\\"e\"\n", backslash, `a=b\;c=d"e`, "", "", "", ""},
		{two, "a'b,c'd,'e'''\n", "(format csv, quote '''')", "ab,cd=e'", "", "", "", ""},
		{two, "a,\"b\nc\n", csv, "", "22P04", "unterminated CSV quoted field", "", "1"},
		{two, "a,b,\n", csv, "", "22P04", "extra data after last expected column", "", "1"},
		{two, "a,b\n\n", csv, "", "22P04", `missing data for column "b"`, "", "2"},
		{two, "a\tb\t\n", "", "", "22P04", "extra data after last expected column", "", "1"},
		{two, "a\tb\n\\.x\n", "", "", "22P04", "end-of-copy marker corrupt", "", "2"},
		{two, "a\tb\n\\.", "", "", "22P04", "end-of-copy marker corrupt", "", "2"},
		{two, "a\tb\\.x\n", "", "", "22P04", "end-of-copy marker corrupt", "", "1"},
		{two, "a\tb\nc\td\\.\nzz", "", "", "22P04", `missing data for column "b"`, "", "3"},
		{two, "a\tb\nc\td\\.\n", "", "a=b;c=d", "", "", "", ""},
		{two, "a\tb\r\n\\.x\r\n", "", "", "22P04", "end-of-copy marker corrupt", "", "2"},
		{two, "a\tb\r\n\\.\rx", "", "", "22P04", "end-of-copy marker corrupt", "", "2"},
		{two, "a\tb\r\n\\.\n", "", "", "22P04", "end-of-copy marker does not match previous newline style", "", "2"},
		{two, "a\tb\n\\.\r\n", "", "", "22P04", "end-of-copy marker does not match previous newline style", "", "2"},
		{two, "a\tb\r\n\\.\r\nx", "", "a=b", "", "", "", ""},
		{two, "a\tb\r\\.\rx", "", "a=b", "", "", "", ""},
		{two, "\\.\r\nx", "", "", "", "", "", ""},
		{two, "a\tb\r\nc\td\n", "", "", "22P04", "literal newline found in data", lf, "2"},
		{two, "a\tb\rc\td\n", "", "", "22P04", "literal newline found in data", lf, "2"},
		{two, "a\tb\nc\td\r\n", "", "", "22P04", "literal carriage return found in data", cr, "2"},
		{two, "a\tb\nc\rd\te\n", "", "", "22P04", "literal carriage return found in data", cr, "2"},
		{two, "a\tb\r\nc\rd\te\r\n", "", "", "22P04", "literal carriage return found in data", cr, "2"},
		{two, "h\ti\r\na\tb\n", "(header)", "", "22P04", "literal newline found in data", lf, "2"},
		{two, "a\tb\rc\td\r", "", "a=b;c=d", "", "", "", ""},
		{two, "a\tb\r\nc\td\r\n", "", "a=b;c=d", "", "", "", ""},
		{two, "a,b\r\nc,d\n", csv, "", "22P04", "unquoted newline found in data", csvLF, "2"},
		{two, "a,b\nc,d\r\n", csv, "", "22P04", "unquoted carriage return found in data", csvCR, "2"},
		{two, "a,b\r\nc\rd,e\r\n", csv, "", "22P04", "unquoted carriage return found in data", csvCR, "2"},
		{two, "a,b\rc,d\r", csv, "a=b;c=d", "", "", "", ""},
		{two, "a,\"x\ry\"\r\nc,\"d\ne\"\r\n", csv, "a=x\ry;c=d\ne", "", "", "", ""},
		{one, "a\n\\.", csv, `a;\.`, "", "", "", ""},
		{one, "a\n\\.x\n", csv, `a;\.x`, "", "", "", ""},
		{one, "a\n\\.\r\n", csv, "", "22P04", "end-of-copy marker does not match previous newline style", "", "2"},
		{one, "a\r\n\\.\n", csv, "", "22P04", "unquoted newline found in data", csvLF, "2"},
		{one, "a\r\n\\.\r\nb", csv, "a", "", "", "", ""},
		{two, "a\tb\\", "", "a=b", "", "", "", ""},
		{two, "a\tb\\\\", "", `a=b\`, "", "", "", ""},
		{two, "a\tb\\\r\n", "", "a=b\r", "", "", "", ""},
		{two, "a\tb\r\nc\td\\\r\n", "", "", "22P04", "literal newline found in data", lf, "2"},
		{one, "\\\n", "", "\n", "", "", "", ""},
		{one, "x\n\\", "", "x;", "", "", "", ""},
		{one, "\n\nx\n", "", ";;x", "", "", "", ""},
		{one, "\n\"\"\n", csv, "NULL;", "", "", "", ""},
		{two, "a\tb\n\\N\t\\N\\N\n", "", "a=b;NULL=NN", "", "", "", ""},
		{two, "\n", "", "", "22P04", `missing data for column "b"`, "", "1"},
		{number, "\n", "", "", "22P02", `invalid input syntax for type integer: ""`, "", "1"},
		{number, "\n", csv, "", "22P04", `missing data for column "b"`, "", "1"},
		{number, "x\n", csv, "", "22P02", `invalid input syntax for type integer: "x"`, "", "1"},
		{number, "x\ty\tz\n", "", "", "22P04", "extra data after last expected column", "", "1"},
		{number, "x\t\\xff\n", "", "", "22021", `invalid byte sequence for encoding "UTF8": 0xff`, "", "1"},
		{number, "x,1,\"a\n", csv, "", "22P04", "unterminated CSV quoted field", "", "1"},
		{number, "1\t2\nx\t3\n4\t5\r\n", "", "", "22P02", `invalid input syntax for type integer: "x"`, "", "2"},
	} {
		s := memorySession(t)
		mustExec(t, s, "create table t ("+test.columns+")")
		err := copyInto(t, s, test.content, test.options)
		if test.code != "" {
			var known *weft.Error
			if !errors.As(err, &known) || string(known.Code) != test.code || known.Message != test.message || known.Hint != test.hint || !strings.HasSuffix(known.Detail, "COPY t, line "+test.where) {
				t.Errorf("%q: error %v (%+v), want %s %s, line %s", test.content, err, known, test.code, test.message, test.where)
			}
			continue
		}
		row := "coalesce(a::text, 'NULL')"
		if test.columns != one {
			row += " || '=' || coalesce(b, 'NULL')"
		}
		if err != nil {
			t.Errorf("%q: %v", test.content, err)
		} else if got := oneRow(t, s, "select coalesce(string_agg("+row+", ';'), '') from t"); got != test.rows {
			t.Errorf("%q: got %q, want %q", test.content, got, test.rows)
		}
	}
}

// TestCopyOptionErrors gives options that PostgreSQL 15 refuses, with its errors.
func TestCopyOptionErrors(t *testing.T) {
	const single, redundant = "must be a single one-byte character", "conflicting or redundant options"
	s := memorySession(t)
	mustExec(t, s, "create table t (a text, b text)")
	for _, test := range []struct{ options, code, message string }{
		{`(delimiter 'ab')`, "0A000", "COPY delimiter " + single},
		{`(delimiter '')`, "0A000", "COPY delimiter " + single},
		{`(delimiter 'ä')`, "0A000", "COPY delimiter " + single},
		{`(delimiter E'\n')`, "22023", "COPY delimiter cannot be newline or carriage return"},
		{`(format csv, delimiter E'\r')`, "22023", "COPY delimiter cannot be newline or carriage return"},
		{`(delimiter 'a')`, "22023", `COPY delimiter cannot be "a"`},
		{`(delimiter '\')`, "22023", `COPY delimiter cannot be "\"`},
		{`(delimiter '.')`, "22023", `COPY delimiter cannot be "."`},
		{`(quote 'a', delimiter 'b')`, "22023", `COPY delimiter cannot be "b"`},
		{`(delimiter 'A', null E'a\nb')`, "22023", "COPY null representation cannot use newline or carriage return"},
		{`(quote '"')`, "0A000", "COPY quote available only in CSV mode"},
		{`(quote '')`, "0A000", "COPY quote available only in CSV mode"},
		{`(format csv, quote 'ab')`, "0A000", "COPY quote " + single},
		{`(format csv, quote '')`, "0A000", "COPY quote " + single},
		{`(format csv, quote ',')`, "22023", "COPY delimiter and quote must be different"},
		{`(format csv, quote '|', delimiter '|')`, "22023", "COPY delimiter and quote must be different"},
		{`(escape '"')`, "0A000", "COPY escape available only in CSV mode"},
		{`(format csv, escape 'ab')`, "0A000", "COPY escape " + single},
		{`(format csv, escape '')`, "0A000", "COPY escape " + single},
		{`(format csv, format csv)`, "42601", redundant},
		{`(format csv, delimiter ',', delimiter ',')`, "42601", redundant},
		{`(header, header false)`, "42601", redundant},
		{`(null 'a', null 'b')`, "42601", redundant},
		{`(format csv, escape 'a', escape 'bc')`, "42601", redundant},
		{`(encoding 'utf8', encoding 'utf8')`, "42601", redundant},
		{`csv header header`, "42601", redundant},
		{`(delimiter ',', null 'a,b')`, "0A000", "COPY delimiter must not appear in the NULL specification"},
		{`(format csv, null 'a"b')`, "0A000", "CSV quote character must not appear in the NULL specification"},
		{`(delimiter)`, "42601", "delimiter requires a parameter"},
		{`(foo 1)`, "42601", `option "foo" not recognized`},
	} {
		err := copyInto(t, s, "", test.options)
		var known *weft.Error
		if !errors.As(err, &known) || string(known.Code) != test.code || known.Message != test.message {
			t.Errorf("%s: error %v, want %s %s", test.options, err, test.code, test.message)
		}
	}
	for _, statement := range []string{"copy t (a, a) from 'no such file'", "copy t (a, a) to 'no such file'"} {
		_, err := s.Exec(t.Context(), statement)
		var known *weft.Error
		if !errors.As(err, &known) || known.Code != "42701" || known.Message != `column "a" specified more than once` {
			t.Errorf("%s: error %v", statement, err)
		}
	}
}

// TestCopyLongRecords reads records that are longer than what is read at once, and newlines of two bytes of which
// only the first has been read.
func TestCopyLongRecords(t *testing.T) {
	long := strings.Repeat("xyz\n", 800_000)
	s := memorySession(t)
	mustExec(t, s, "create table t (a text, b text)")
	if err := copyInto(t, s, "a,\""+long+"\"\nb,"+strings.ReplaceAll(long, "\n", "")+"\n", "(format csv)"); err != nil {
		t.Fatal(err)
	}
	if got := oneRow(t, s, "select string_agg(a || length(b), ',') from t"); got != "a3200000,b2400000" {
		t.Errorf("got %s", got)
	}
	for _, first := range []int{1<<20 - 3, 1<<20 - 2, 1<<20 - 1, 1 << 20} {
		mustExec(t, s, "truncate t")
		if err := copyInto(t, s, strings.Repeat("a", first-2)+"\tb\r\n\\\\.\tc\r\n\\.\r\nd", ""); err != nil {
			t.Fatal(err)
		}
		if got := oneRow(t, s, "select string_agg(length(a) || b, ',') from t"); got != fmt.Sprintf("%db,2c", first-2) {
			t.Errorf("got %s", got)
		}
	}
}
