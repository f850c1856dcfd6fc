package sql

import (
	"errors"
	"strings"
	"testing"

	"github.com/weftdb/weft/internal/sqlerr"
)

func TestRejected(t *testing.T) {
	for _, c := range []struct {
		text    string
		pos     int // 1-based; 0 when the error has none
		message string
	}{
		{"", 0, "the text holds no statement"},
		{" ; -- nothing", 0, "the text holds no statement"},
		{"SELEC 1", 1, `syntax error at or near "SELEC"`},
		{"SELECT 1 +", 11, "syntax error at end of input"},
		{"SELECT 1 +;", 11, `syntax error at or near ";"`},
		{"SELECT 1; SELECT 2", 11, "cannot run several statements in one call"},
		{"SELECT FROM WHERE", 13, `syntax error at or near "WHERE"`},
		{"SELECT a b c", 12, `syntax error at or near "c"`},
		{"SELECT a FROM t WHERE", 22, "syntax error at end of input"},
		{"SELECT * FROM t t2 t3", 20, `syntax error at or near "t3"`},
		{"SELECT * FROM end", 15, `syntax error at or near "end"`},
		{"SELECT * FROM a JOIN b", 23, "syntax error at end of input"},
		{"SELECT * FROM a CROSS JOIN b ON true", 30, `syntax error at or near "ON"`},
		{"SELECT * FROM (a)", 17, `syntax error at or near ")"`},
		{"SELECT * FROM a NATURAL CROSS JOIN b", 25, `syntax error at or near "CROSS"`},
		{"SELECT (1", 10, "syntax error at end of input"},
		{"SELECT 1)", 9, `syntax error at or near ")"`},
		{"SELECT a = b = c", 14, `syntax error at or near "="`},
		{"SELECT a < b > c", 14, `syntax error at or near ">"`},
		{"SELECT a LIKE b LIKE c", 17, `syntax error at or near "LIKE"`},
		{"SELECT a BETWEEN 1 AND 2 BETWEEN 3 AND 4", 26, `syntax error at or near "BETWEEN"`},
		{"SELECT a IS DISTINCT FROM b IS NULL", 29, `syntax error at or near "IS"`},
		{"SELECT a IS 5", 13, `syntax error at or near "5"`},
		{"SELECT a NOT b", 14, `syntax error at or near "b"`},
		{"SELECT count(*) filter", 17, `syntax error at or near "filter"`},
		{"SELECT a IN ()", 14, `syntax error at or near ")"`},
		{"SELECT f(DISTINCT)", 18, `syntax error at or near ")"`},
		{"SELECT CASE END", 13, `syntax error at or near "END"`},
		{"SELECT CASE WHEN 1 END", 20, `syntax error at or near "END"`},
		{"SELECT int(5)", 11, `syntax error at or near "("`},
		{"SELECT nullif(1)", 16, `syntax error at or near ")"`},
		{"SELECT (1, 2) OVERLAPS 3", 15, `syntax error at or near "OVERLAPS"`},
		{"SELECT (1, 2) OVERLAPS (1, 2, 3)", 15, "wrong number of parameters on OVERLAPS expression"},
		{"SELECT 'abc", 8, `unterminated quoted string at or near "'abc"`},
		{"SELECT \"abc", 8, `unterminated quoted identifier at or near ""abc"`},
		{"SELECT \"\"", 8, `zero-length delimited identifier at or near """"`},
		{"SELECT $x$abc", 8, `unterminated dollar-quoted string at or near "$x$abc"`},
		{"SELECT /* abc", 8, `unterminated /* comment at or near "/* abc"`},
		{"SELEC 'abc", 1, `syntax error at or near "SELEC"`},
		{"SELECT 123abc", 8, `trailing junk after numeric literal at or near "123abc"`},
		{"SELECT 1.5e", 8, `trailing junk after numeric literal at or near "1.5e"`},
		{"SELECT 1__0", 8, `trailing junk after numeric literal at or near "1__0"`},
		{"SELECT 0x", 8, `invalid integer constant at or near "0x"`},
		{"SELECT $1a", 8, `trailing junk after parameter at or near "$1a"`},
		{"SELECT $0", 8, "there is no parameter $0"},
		{"SELECT $99999999999", 8, "there is no parameter $99999999999"},
		{"SELECT B'102'", 8, `"2" is not a valid binary digit`},
		{"SELECT X'1G'", 8, `"G" is not a valid hexadecimal digit`},
		{`SELECT E'\u12'`, 8, "invalid Unicode escape"},
		{`SELECT E'\000'`, 8, `invalid byte sequence for encoding "UTF8": 0x00`},
		{`SELECT E'\377'`, 8, `invalid byte sequence for encoding "UTF8": 0xff`},
		{"SELECT '\xff'", 9, `invalid byte sequence for encoding "UTF8": 0xff`},
		{"SELECT 1\x00", 9, `invalid byte sequence for encoding "UTF8": 0x00`},
		{"SELECT # 1 {", 12, `syntax error at or near "{"`},
		{"SELECT a FROM t LIMIT 1, 2", 17, "LIMIT #,# syntax is not supported"},
		{"SELECT a FROM t LIMIT 1 LIMIT 2", 25, "multiple LIMIT clauses not allowed"},
		{"(SELECT 1 ORDER BY 1) ORDER BY 1", 23, "multiple ORDER BY clauses not allowed"},
		{"WITH a AS (SELECT 1) (WITH b AS (SELECT 2) SELECT 3)", 1, "multiple WITH clauses not allowed"},
		{"SELECT a FROM t FETCH FIRST 1 ROWS WITH TIES", 17, "WITH TIES cannot be specified without ORDER BY clause"},
		{"SELECT a INTO b FROM t", 10, "SELECT INTO is not supported"},
		{"SELECT a FROM t ORDER BY a USING <", 28, "ORDER BY … USING is not supported"},
		{"SELECT a FROM t ORDER BY a UNION SELECT 1", 28, `syntax error at or near "UNION"`},
		{"VALUES (1), (2, 3)", 13, "VALUES lists must all be the same length"},
		{"SELECT sum(a) OVER (ROWS UNBOUNDED FOLLOWING)", 21, "frame start cannot be UNBOUNDED FOLLOWING"},
		{"SELECT a.b.c.d.e", 8, "improper qualified name (too many dotted names)"},
		{"CREATE TABLE t (a int REFERENCES u ON UPDATE SET NULL (a))", 55, `a column list with SET NULL is only supported for ON DELETE actions`},
		{"SELECT * FROM a.b.c", 15, `cross-database references are not implemented: "a.b.c"`},
		{"INSERT INTO t", 14, "syntax error at end of input"},
		{"INSERT INTO t (a) DEFAULT VALUES", 19, `syntax error at or near "DEFAULT"`},
		{"INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE SET a = 1", 26, "ON CONFLICT DO UPDATE requires inference specification or constraint name"},
		{"UPDATE t SET (a, b) = (1, 2, 3)", 23, "number of columns does not match number of values"},
		{"UPDATE t SET (a, b) = 1", 23, "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression"},
		{"DELETE t", 8, `syntax error at or near "t"`},
		{"MERGE INTO t USING u ON true", 29, "syntax error at end of input"},
		{"CREATE TABLE t (a int COLVIEW NOCOLVIEW)", 31, `conflicting COLVIEW/NOCOLVIEW declarations for column "a"`},
		{"CREATE TABLE t (a int) NOCOLVIEW COLVIEW", 34, `conflicting COLVIEW/NOCOLVIEW declarations for table "t"`},
		{"CREATE TABLE t (a int) COLVIEW NOCOLVIEW (a)", 32, `conflicting COLVIEW/NOCOLVIEW declarations for table "t"`},
		{"CREATE TABLE t COLVIEW NOCOLVIEW AS SELECT 1", 24, `conflicting COLVIEW/NOCOLVIEW declarations for table "t"`},
		{"CREATE MATERIALIZED VIEW t COLVIEW NOCOLVIEW AS SELECT 1", 36, `conflicting COLVIEW/NOCOLVIEW declarations for table "t"`},
		{"ALTER TABLE t ADD a int NOCOLVIEW COLVIEW", 35, `conflicting COLVIEW/NOCOLVIEW declarations for column "a"`},
		{"COPY (SELECT 1) FROM 'x'", 17, `syntax error at or near "FROM"`},
		{"COPY t TO 'x' WHERE true", 15, "WHERE clause not allowed with COPY TO"},
		{"CREATE TABLE t", 15, "syntax error at end of input"},
		{"CREATE TABLE t (a int,)", 23, `syntax error at or near ")"`},
		{"CREATE TABLE t (a int DEFAULT 1 DEFAULT 2)", 33, `multiple default values specified for column "a"`},
		{"CREATE TABLE t (a int NULL NOT NULL)", 28, `conflicting NULL/NOT NULL declarations for column "a"`},
		{"CREATE TABLE t (a float(54))", 24, "precision for type float must be less than 54 bits"},
		{"CREATE TABLE t (a int8(3))", 19, `type modifier is not allowed for type "bigint"`},
		{"CREATE TABLE t (a int) DISTRIBUTE BY magic", 24, `unrecognized distribution "magic"`},
		{"CREATE TABLE t (a int) PARTITION BY magic (a)", 37, `unrecognized partitioning strategy "magic"`},
		{"CREATE TABLE p PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 2)", 31, "remainder for hash partition must be less than modulus"},
		{"CREATE FUNCTION f()", 1, `this kind of object ("function") is not supported`},
		{"CREATE OR REPLACE TABLE t (a int)", 19, `syntax error at or near "TABLE"`},
		{"CREATE TABLE t (a int UNIQUE INITIALLY NEVER)", 40, `syntax error at or near "NEVER"`},
		{"ALTER TABLE t", 14, "syntax error at end of input"},
		{"ALTER TABLE t MODIFY PARTITION p COVLIEW", 34, `syntax error at or near "COVLIEW"`},
		{"ALTER TABLE t RENAME a TO b, ADD c int", 28, `syntax error at or near ","`},
		{"DROP t", 6, `syntax error at or near "t"`},
		{"GRANT ALL ON t TO u", 1, `statement "GRANT" is not supported`},
		{"BEGIN READ", 7, `syntax error at or near "READ"`},
		{"SET x", 6, "syntax error at end of input"},
		{"SET x = user", 9, `syntax error at or near "user"`},
		{"EXPLAIN EXPLAIN SELECT 1", 9, `syntax error at or near "EXPLAIN"`},
		{"EXPLAIN CREATE SCHEMA s", 9, "EXPLAIN cannot explain this statement"},
		{"LOCK t IN MAGIC MODE", 17, `syntax error at or near "MODE"`},
	} {
		_, err := ParseOne(c.text)
		var e *sqlerr.Error
		if !errors.As(err, &e) {
			t.Errorf("%q: got %v, want %s", c.text, err, c.message)
			continue
		}
		if e.Message != c.message || e.Position != c.pos {
			t.Errorf("%q:\n got %d %s\nwant %d %s", c.text, e.Position, e.Message, c.pos, c.message)
		}
	}
}

// TestDepthLimit checks that nesting of every kind ends in an error and not in a stack overflow.
func TestDepthLimit(t *testing.T) {
	const n = 10_000
	const long = maxChain + 1000
	for _, c := range []struct{ before, middle, after string }{
		{"(", "1", ")"}, {"- ", "1", ""}, {"NOT ", "a", ""}, {"@ ", "a", ""}, {"f(", "1", ")"}, {"CASE WHEN ", "1", " THEN 1 END"},
		{"(SELECT ", "1", ")"}, {"ARRAY[", "1", "]"}, {"ARRAY[[", "1", "]]"}, {"a IN (", "1", ")"}, {"a = (", "1", ")"},
		{"(1, ", "1", ")"}, {"EXISTS (SELECT ", "1", ")"}, {"a[", "1", "]"}, {"a BETWEEN (", "1", ") AND 2"},
		{"((SELECT 1) + ", "1", ")"},
	} {
		checkTooComplex(t, "SELECT "+strings.Repeat(c.before, n)+c.middle+strings.Repeat(c.after, n))
	}
	for _, c := range []struct{ before, middle, after string }{
		{"(", "SELECT 1", ")"}, {"((SELECT 1) UNION ", "SELECT 1", ")"}, {"SELECT * FROM (", "SELECT 1", ") x"},
		{"WITH a AS (", "SELECT 1", ") SELECT 1"}, {"SELECT 1 UNION (", "SELECT 1", ")"},
	} {
		checkTooComplex(t, strings.Repeat(c.before, n)+c.middle+strings.Repeat(c.after, n))
	}
	checkTooComplex(t, "SELECT * FROM "+strings.Repeat("(", n)+"SELECT 1"+strings.Repeat(")", n))
	checkTooComplex(t, "SELECT * FROM "+strings.Repeat("(", n)+"a JOIN b ON true"+strings.Repeat(")", n))
	checkTooComplex(t, "SELECT * FROM "+strings.Repeat("a JOIN ", n)+"b"+strings.Repeat(" ON true", n))
	checkTooComplex(t, "SELECT 1 FROM t GROUP BY "+strings.Repeat("ROLLUP (", n)+"a"+strings.Repeat(")", n))
	// Chains are loops for the parser, but their trees are deep.
	for _, link := range []string{" + 1", " || a", "::int", "[1]", " IS NULL", " COLLATE x", " AT TIME ZONE a"} {
		checkTooComplex(t, "SELECT a"+strings.Repeat(link, long))
	}
	checkTooComplex(t, "SELECT 1"+strings.Repeat(" UNION SELECT 1", long))
	checkTooComplex(t, "SELECT 1 FROM t"+strings.Repeat(" CROSS JOIN t", long))
	// AND and OR are flat, so a long chain of them is fine.
	if _, err := Parse("SELECT a" + strings.Repeat(" OR a", long)); err != nil {
		t.Error(err)
	}
	if _, err := Parse("SELECT " + strings.Repeat("(", 900) + "1" + strings.Repeat(")", 900)); err != nil {
		t.Error(err)
	}
}

func checkTooComplex(t *testing.T, text string) {
	t.Helper()
	_, err := Parse(text)
	if sqlerr.CodeOf(err) != sqlerr.StatementTooComplex {
		t.Errorf("%.60q…: %v", text, err)
	}
}

func TestHints(t *testing.T) {
	_, err := ParseOne("SELECT * FROM end")
	var e *sqlerr.Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint, "double quotes") {
		t.Errorf("no hint about a reserved word: %+v", e)
	}
	_, err = ParseOne("SELECT (1")
	if !errors.As(err, &e) || e.Hint != `Expected ")".` {
		t.Errorf("no hint about a parenthesis: %+v", e)
	}
}
