package decimal

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// With -rewrite the answers are fetched from a PostgreSQL 15 server, through psql and its usual
// PG… environment variables.
var rewrite = flag.Bool("rewrite", false, "fetch the golden answers from PostgreSQL")

const goldenPath = "testdata/numeric.golden"

// goldenCases makes the cases: op, operands.
func goldenCases() [][]string {
	r := rand.New(rand.NewPCG(7, 11))
	number := func() string {
		n := r.IntN(20)
		if r.IntN(4) == 0 {
			n = r.IntN(60)
		}
		var b strings.Builder
		if r.IntN(3) == 0 {
			b.WriteByte('-')
		}
		for range n {
			b.WriteByte(byte('0' + r.IntN(10)))
		}
		if n == 0 {
			b.WriteByte('0')
		}
		if r.IntN(3) > 0 {
			b.WriteByte('.')
			if r.IntN(3) == 0 {
				b.WriteString("0000"[:r.IntN(5)])
			}
			for range r.IntN(14) {
				b.WriteByte(byte('0' + r.IntN(10)))
			}
			b.WriteByte('0' + byte(r.IntN(10)))
		}
		return b.String()
	}
	small := func() string { return fmt.Sprintf("%.*f", r.IntN(6), (r.Float64()-0.5)*40) }
	specials := []string{"NaN", "Infinity", "-Infinity", "0", "0.00", "1", "-1", "1.000", "-2.5", "3", "0.5", "1e10", "1e-5", "-0.5", "2"}
	var cases [][]string
	for _, op := range []string{"+", "-", "*", "/", "%", "cmp", "div"} {
		for range 60 {
			cases = append(cases, []string{op, number(), number()})
		}
		for _, a := range specials {
			for _, b := range specials {
				cases = append(cases, []string{op, a, b})
			}
		}
	}
	for _, op := range []string{"power", "log"} {
		for range 80 {
			cases = append(cases, []string{op, small(), small()}, []string{op, strings.TrimPrefix(number(), "-"), small()})
		}
		for _, a := range specials {
			for _, b := range specials {
				cases = append(cases, []string{op, a, b})
			}
		}
	}
	for _, op := range []string{"sqrt", "ln", "exp", "ceil", "floor", "float8", "trim_scale", "int8", "-u", "abs"} {
		for range 40 {
			cases = append(cases, []string{op, number()}, []string{op, small()})
		}
		for _, a := range specials {
			cases = append(cases, []string{op, a})
		}
	}
	for _, op := range []string{"round", "trunc"} {
		for range 80 {
			cases = append(cases, []string{op, number(), fmt.Sprint(r.IntN(20) - 8)})
		}
	}
	for range 60 {
		cases = append(cases, []string{"fromfloat8", fmt.Sprint((r.Float64() - 0.5) * 1e6)}, []string{"fromfloat8", fmt.Sprint(r.NormFloat64() * 1e-9)})
		cases = append(cases, []string{"parse", number() + "e" + fmt.Sprint(r.IntN(30)-15)})
	}
	for _, bad := range []string{"", " ", ".", "1.", ".5", "  7 ", "1e", "1e+3", "--1", "1 2", "nan", "inf", "+inf", "-infinity", "+5", "0x1", "1_000", "1e131071", "1e131072", "0e-3", "-0", "-0.00"} {
		cases = append(cases, []string{"parse", bad})
	}
	return cases
}

// goldenSQL is the expression that asks PostgreSQL.
func goldenSQL(c []string) string {
	q := func(s string) string { return "'" + s + "'::numeric" }
	switch c[0] {
	case "cmp":
		return fmt.Sprintf("numeric_cmp(%s,%s)", q(c[1]), q(c[2]))
	case "power", "div":
		return fmt.Sprintf("%s(%s,%s)", c[0], q(c[1]), q(c[2]))
	case "log":
		return fmt.Sprintf("log(%s,%s)", q(c[1]), q(c[2]))
	case "round", "trunc":
		return fmt.Sprintf("%s(%s,(%s))", c[0], q(c[1]), c[2])
	case "float8", "int8":
		return q(c[1]) + "::" + c[0]
	case "fromfloat8":
		return fmt.Sprintf("'%s'::float8::numeric", c[1])
	case "parse":
		return q(c[1])
	case "-u":
		return "-(" + q(c[1]) + ")"
	}
	if len(c) == 2 {
		return fmt.Sprintf("%s(%s)", c[0], q(c[1]))
	}
	return fmt.Sprintf("(%s) %s (%s)", q(c[1]), c[0], q(c[2]))
}

func fetchGolden(t *testing.T) {
	var script, out bytes.Buffer
	cases := goldenCases()
	for _, c := range cases {
		fmt.Fprintf(&script, "SELECT (%s)::text;\n\\if :ERROR\n\\echo ERROR :LAST_ERROR_SQLSTATE :LAST_ERROR_MESSAGE\n\\endif\n", goldenSQL(c))
	}
	cmd := exec.Command("psql", "-XqAt")
	cmd.Stdin, cmd.Stderr = &script, nil
	answers, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(answers), "\n"), "\n")
	if len(lines) != len(cases) {
		t.Fatalf("%d answers for %d cases", len(lines), len(cases))
	}
	for i, c := range cases {
		if len(lines[i]) > 400 {
			lines[i] = fmt.Sprintf("%s… %d", lines[i][:60], len(lines[i]))
		}
		fmt.Fprintf(&out, "%s\t%s\n", strings.Join(c, "\t"), lines[i])
	}
	if err := os.WriteFile(goldenPath, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestGolden replays PostgreSQL's answers.
func TestGolden(t *testing.T) {
	if *rewrite {
		fetchGolden(t)
	}
	data, err := os.ReadFile(goldenPath)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		want := c[len(c)-1]
		got := answer(c[:len(c)-1])
		if len(got) > 400 && !strings.HasPrefix(got, "ERROR") {
			got = fmt.Sprintf("%s… %d", got[:60], len(got))
		}
		if c[0] == "float8" { // compared by value: printing floats is not this package's business
			f, _ := strconv.ParseFloat(want, 64)
			want = fmt.Sprint(f)
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", goldenSQL(c), got, want)
		}
	}
}
