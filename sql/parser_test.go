package sql

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseSeveral(t *testing.T) {
	const text = ";; SELECT 1 ; -- one\n INSERT INTO t VALUES (2);;COMMIT"
	stmts, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range stmts {
		sp := s.SourceSpan()
		got = append(got, text[sp.Start:sp.End])
	}
	want := []string{"SELECT 1", "INSERT INTO t VALUES (2)", "COMMIT"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if stmts, err := Parse(" -- nothing\n"); err != nil || stmts != nil {
		t.Errorf("got %v %v for a comment", stmts, err)
	}
	if _, err := ParseOne("SELECT 1;;"); err != nil {
		t.Error(err)
	}
	if _, err := ParseExpr("1; 2"); err == nil {
		t.Error("ParseExpr took a semicolon")
	}
}

// TestSpans checks that nodes know the text they came from.
func TestSpans(t *testing.T) {
	const text = `WITH a AS (SELECT 1) SELECT x.y + - f(z, 'q') AS s, CASE WHEN p THEN r END, (SELECT 2), (u + v) * w,
		k::numeric(3, 1), g IS NOT NULL, h IN (1, 2) FROM s.t AS x LEFT JOIN (VALUES (1)) q ON b = c WHERE d BETWEEN 1 AND 2`
	s, err := ParseOne(text)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]bool)
	Inspect(s, func(n Node) bool {
		sp := n.SourceSpan()
		found[text[sp.Start:sp.End]] = true
		return true
	})
	for _, want := range []string{
		text, "SELECT 1", "x.y + - f(z, 'q')", "- f(z, 'q')", "f(z, 'q')", "CASE WHEN p THEN r END", "(SELECT 2)", "SELECT 2",
		"k::numeric(3, 1)", "g IS NOT NULL", "h IN (1, 2)", "s.t AS x", "(VALUES (1)) q", "VALUES (1)", "b = c", "d BETWEEN 1 AND 2",
		"s.t AS x LEFT JOIN (VALUES (1)) q ON b = c",
	} {
		if !found[want] {
			t.Errorf("no node has the text %q", want)
		}
	}
}

func TestOperatorPosition(t *testing.T) {
	e, err := ParseExpr("abc  || $1")
	if err != nil {
		t.Fatal(err)
	}
	if b := e.(*Binary); b.OpPos != 5 || b.Op != "||" {
		t.Errorf("got %q at %d", b.Op, b.OpPos)
	}
}

func TestHintComments(t *testing.T) {
	for _, c := range []struct {
		text string
		want []Hint
	}{
		{"SELECT /*+ imcvscan(t) */ 1", []Hint{{Name: "imcvscan", Args: []string{"t"}}}},
		{"SELECT /*+ NO ImcvScan(T \"U\") set(a, 5) rows */ 1", []Hint{
			{No: true, Name: "imcvscan", Args: []string{"t", "U"}}, {Name: "set", Args: []string{"a", "5"}}, {Name: "rows"},
		}},
		{"SELECT /*+ a(b */ 1", nil},
		{"SELECT /*+ */ 1", nil},
		{"SELECT /*+a(b)*/ /* c */ /*+ d(e) */ 1", []Hint{{Name: "a", Args: []string{"b"}}, {Name: "d", Args: []string{"e"}}}},
		{"SELECT 1 /*+ a(b) */", nil},
		{"SELECT /* + a(b) */ 1", nil},
	} {
		s, err := ParseOne(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got := s.(*Select).Body.(*SelectCore).Hints
		for i := range got {
			got[i].Span = Span{}
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.text, got, c.want)
		}
	}
}

// TestTrees checks details of trees that a round trip cannot see.
func TestTrees(t *testing.T) {
	target := func(text string) Expr {
		t.Helper()
		s, err := ParseOne("SELECT " + text)
		if err != nil {
			t.Fatal(err)
		}
		return s.(*Select).Body.(*SelectCore).Targets[0].Expr
	}
	for _, c := range []struct {
		text string
		want Expr
	}{
		{"-9223372036854775808", &IntLit{Value: -1 << 63}},
		{"9223372036854775808", &NumericLit{Text: "9223372036854775808"}},
		{"007", &IntLit{Value: 7}},
		{"0x_ff", &IntLit{Value: 255}},
		{"1_000.5", &NumericLit{Text: "1000.5"}},
		{`E'a\'b\\''c'`, &StringLit{Value: `a'b\'c`}},
		{"'a\\'", &StringLit{Value: `a\`}},
		{`E'\uD83D\uDE00'`, &StringLit{Value: "😀"}},
		{"DATE '2020-01-01'", &TypedLit{Type: TypeName{Name: "date"}, Value: "2020-01-01"}},
		{"interval '3' month", &TypedLit{Type: TypeName{Name: "interval", Fields: "month"}, Value: "3"}},
		{"x::int4", &Cast{Expr: &ColumnRef{Parts: []Ident{{Name: "x"}}}, Type: TypeName{Name: "integer"}}},
		{"x::char", &Cast{Expr: &ColumnRef{Parts: []Ident{{Name: "x"}}}, Type: TypeName{Name: "char", Mods: []int{1}}}},
		{"x::timestamp(3) with time zone", &Cast{Expr: &ColumnRef{Parts: []Ident{{Name: "x"}}}, Type: TypeName{Name: "timestamptz", Mods: []int{3}}}},
		{"x::float(10)", &Cast{Expr: &ColumnRef{Parts: []Ident{{Name: "x"}}}, Type: TypeName{Name: "real"}}},
		{"trim(LEADING 'x' FROM 'y')", &FuncCall{Name: ObjectName{Name: "ltrim"}, Args: []Expr{&StringLit{Value: "y"}, &StringLit{Value: "x"}}}},
		{"position('a' IN 'b')", &FuncCall{Name: ObjectName{Name: "position"}, Args: []Expr{&StringLit{Value: "b"}, &StringLit{Value: "a"}}}},
		{"ÄbC", &ColumnRef{Parts: []Ident{{Name: "Äbc"}}}},
		{strings.Repeat("é", 40), &ColumnRef{Parts: []Ident{{Name: strings.Repeat("é", 31)}}}},
		{"SUBSTRING('x' FOR 2)", &FuncCall{Name: ObjectName{Name: "substring"}, Args: []Expr{&StringLit{Value: "x"}, &IntLit{Value: 1}, &IntLit{Value: 2}}}},
	} {
		if d := diff(target(c.text), c.want); d != "" {
			t.Errorf("%s: %s", c.text, d)
		}
	}
}

func TestNextStatement(t *testing.T) {
	for _, c := range []struct {
		text     string
		end      int
		complete bool
	}{
		{"SELECT 1;", 9, true},
		{"SELECT 1; SELECT 2;", 9, true},
		{"SELECT 1", 8, false},
		{"", 0, false},
		{"SELECT ';", 9, false},
		{"SELECT ';';", 11, true},
		{"SELECT ';'';';", 14, true},
		{"SELECT E'\\';';", 14, true},
		{"SELECT '\\';", 11, true},
		{`SELECT ";";`, 11, true},
		{"SELECT $a$;$a$;", 15, true},
		{"SELECT $a$;$b$;", 15, false},
		{"SELECT $1;", 10, true},
		{"SELECT a$b$;", 12, true},
		{"SELECT 1 -- ;\n;", 15, true},
		{"SELECT 1 -- ;", 13, false},
		{"/* ; /* ; */ ; */;", 18, true},
		{"/* ;", 4, false},
		{"(;", 2, true},
		{"SELECT 1abc;", 12, true},
	} {
		end, complete := NextStatement(c.text)
		if end != c.end || complete != c.complete {
			t.Errorf("%q: got %d %v, want %d %v", c.text, end, complete, c.end, c.complete)
		}
	}
}

func TestQuoting(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a", "a1_$": "a1_$", "A": `"A"`, "a b": `"a b"`, `a"b`: `"a""b"`, "select": `"select"`, "year": "year", "1a": `"1a"`, "é": `"é"`,
	} {
		if got := QuoteIdent(name); got != want {
			t.Errorf("QuoteIdent(%q) = %s, want %s", name, got, want)
		}
	}
	if got := QuoteString(`a'b\`); got != `'a''b\'` {
		t.Errorf("got %s", got)
	}
	if got := (ObjectName{Schema: "S", Name: "t"}).String(); got != `"S".t` {
		t.Errorf("got %s", got)
	}
}

// TestKeywords checks the order that the look-up and the constants rely on.
func TestKeywords(t *testing.T) {
	for i, k := range keywordTable {
		if got := keywordOf(k.word); got != firstKeyword+kind(i) {
			t.Errorf("%s: found %d, want %d", k.word, got, int(firstKeyword)+i)
		}
	}
	if keywordTable[kwAbort-firstKeyword].word != "abort" || keywordTable[kwZone-firstKeyword].word != "zone" {
		t.Error("constants and table are out of step")
	}
}

// TestPooledParser checks that a parser taken over from a failed or longer parse starts clean.
func TestPooledParser(t *testing.T) {
	for range 3 {
		if _, err := Parse("SELECT " + strings.Repeat("(", 5000)); err == nil {
			t.Fatal("no error")
		}
		s, err := ParseOne("SELECT 1")
		if err != nil || Format(s) != "SELECT 1" {
			t.Fatal(s, err)
		}
	}
}
