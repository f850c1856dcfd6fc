package expr_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// With -rewrite the answers are fetched from a PostgreSQL 15 server, through psql and its usual
// PG… environment variables.
var rewrite = flag.Bool("rewrite", false, "fetch the golden answers from PostgreSQL")

// A golden line is an expression, its type and its value, or its SQLSTATE and message. A line that
// starts with "!" differs from PostgreSQL on purpose: -rewrite writes weft's own answer.
type goldenLine struct{ text, typ, value string }

// zoneOf is the session's time zone for the expressions of a file.
func zoneOf(path string) string {
	if strings.Contains(path, "zone") {
		return "America/New_York"
	}
	return "UTC"
}

func text(g goldenLine) string { return strings.TrimPrefix(g.text, "!") }

// ownAnswer splits weft's answer as a golden line is split.
func ownAnswer(text string) (typ, value string) {
	answer := ""
	if e, err := bindText(text); err != nil {
		answer = errorText(err)
	} else {
		answer = evaluate(e, "const", &expr.Env{})
		if typ := e.Type().Base().String(); strings.HasPrefix(answer, typ+" ") {
			return typ, answer[len(typ)+1:]
		}
	}
	return answer[:11], answer[12:]
}

func readGolden(t *testing.T, path string) []goldenLine {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []goldenLine
	for line := range strings.Lines(string(data)) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		g := goldenLine{text: parts[0]}
		if len(parts) == 3 {
			g.typ, g.value = parts[1], parts[2]
		}
		if g.text != "" {
			lines = append(lines, g)
		}
	}
	return lines
}

func fetchGolden(t *testing.T, path string, lines []goldenLine) {
	var script, out bytes.Buffer
	fmt.Fprintf(&script, "SET TimeZone = '%s';\n", zoneOf(path))
	script.WriteString("\\pset null NULL\n\\pset fieldsep '\\t'\n")
	for _, g := range lines {
		text := text(g)
		fmt.Fprintf(&script, "SELECT pg_typeof(%s), %s, '|';\n\\if :ERROR\n\\echo ERROR :LAST_ERROR_SQLSTATE :LAST_ERROR_MESSAGE\n\\endif\n", text, text)
	}
	cmd := exec.Command("psql", "-XqAt")
	cmd.Stdin = &script
	answers, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(answers), "\n"), "\n")
	if len(got) != len(lines) {
		t.Fatalf("%d answers for %d expressions", len(got), len(lines))
	}
	for i, g := range lines {
		if !strings.HasPrefix(g.text, "!") {
			parts := strings.Split(got[i], "\t")
			if len(parts) == 3 {
				g.typ, g.value = parts[0], parts[1]
			} else {
				code, message, _ := strings.Cut(strings.TrimPrefix(got[i], "ERROR "), " ")
				g.typ, g.value = "ERROR "+code, message
			}
		} else {
			g.typ, g.value = ownAnswer(text(g))
		}
		fmt.Fprintf(&out, "%s\t%s\t%s\n", g.text, g.typ, g.value)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestGolden replays PostgreSQL's answers: as constants, and with every constant in a column of
// each form.
func TestGolden(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*.golden")
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".golden"), func(t *testing.T) {
			lines := readGolden(t, path)
			if *rewrite {
				fetchGolden(t, path, lines)
				lines = readGolden(t, path)
			}
			zone := try(time.LoadLocation(zoneOf(path)))
			env := &expr.Env{Now: 1600000000000000, TimeZone: zone}
			for _, g := range lines {
				checkGolden(t, g, env)
			}
		})
	}
}

func checkGolden(t *testing.T, g goldenLine, env *expr.Env) {
	e, err := bindText(text(g))
	want := g.typ + " " + g.value
	if err != nil {
		if got := errorText(err); got != want {
			t.Errorf("%s\n got %s\nwant %s", g.text, got, want)
		}
		return
	}
	for _, form := range []string{"const", "fold", "flat", "dict", "sparse"} {
		got := evaluate(e, form, env)
		if got != want {
			t.Errorf("%s as %s\n got %s\nwant %s", g.text, form, got, want)
			return
		}
	}
}

func errorText(err error) string {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("ERROR %s %s", e.Code, e.Message)
	}
	return "ERROR " + err.Error()
}

// evaluate computes e with its constants in the given form.
func evaluate(e expr.Expr, form string, env *expr.Env) string {
	b := &vector.Batch{N: 1}
	var sel vector.Sel
	row := 0
	switch form {
	case "fold":
		var err error
		if e, err = expr.FoldConstants(e, env); err != nil {
			return errorText(err)
		}
	case "flat", "dict", "sparse":
		e = expr.Transform(e, func(e expr.Expr) expr.Expr {
			c, ok := e.(*expr.Const)
			if !ok {
				return e
			}
			b.Vecs = append(b.Vecs, constColumn(c, form))
			return &expr.Col{ID: expr.ColID(len(b.Vecs) - 1), Typ: c.Typ}
		})
		if form == "sparse" {
			b.N, sel, row = 4, vector.Sel{2}, 2
		}
	}
	ev, err := expr.Compile(e, func(id expr.ColID) int { return int(id) }, env)
	if err != nil {
		return errorText(err)
	}
	v, err := ev.Eval(b, sel)
	if err != nil {
		return errorText(err)
	}
	typ := e.Type().Base().String()
	if v.IsNull(row) {
		return typ + " NULL"
	}
	if v.Kind != e.Type().Kind() {
		return fmt.Sprintf("kind %s for type %s", v.Kind, e.Type())
	}
	return typ + " " + string(expr.AppendText(nil, e.Type(), v, row, env))
}

// constColumn puts a constant into a column: alone, by way of a dictionary, or as row 2 of 4 whose
// others are NULL or something else.
func constColumn(c *expr.Const, form string) *vector.Vector {
	d := c.Value
	d.Kind = c.Typ.Kind()
	v := vector.New(d.Kind, 4)
	zero := vector.Datum{Kind: d.Kind}
	switch {
	case form == "sparse":
		for _, x := range []vector.Datum{zero, vector.NullDatum(d.Kind), d, zero} {
			vector.AppendDatum(v, x)
		}
	case form == "dict" && !d.Null:
		dict := vector.New(d.Kind, 2)
		vector.AppendDatum(dict, zero)
		vector.AppendDatum(dict, d)
		v.SetDict([]uint32{1}, dict, nil)
	default:
		vector.AppendDatum(v, d)
	}
	return v
}
