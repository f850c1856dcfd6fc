package sql

import (
	"strings"
	"testing"
)

// nested writes an expression with parentheses around every operator.
func nested(e Expr) string {
	switch e := e.(type) {
	case *Logic:
		parts := make([]string, len(e.Args))
		for i, a := range e.Args {
			parts[i] = nested(a)
		}
		return "(" + strings.Join(parts, []string{" AND ", " OR "}[e.Op]) + ")"
	case *Not:
		return "(NOT " + nested(e.Expr) + ")"
	case *Unary:
		return "(" + e.Op + nested(e.Expr) + ")"
	case *Binary:
		return "(" + nested(e.Left) + " " + e.Op + " " + nested(e.Right) + ")"
	case *IsNull:
		return "(" + nested(e.Expr) + " IS NULL)"
	case *IsDistinct:
		return "(" + nested(e.Left) + " IS DISTINCT FROM " + nested(e.Right) + ")"
	case *Between:
		return "(" + nested(e.Expr) + " BETWEEN " + nested(e.Low) + " AND " + nested(e.High) + ")"
	case *In:
		return "(" + nested(e.Expr) + " IN " + nested(e.List[0]) + ")"
	case *Like:
		s := "(" + nested(e.Expr) + " LIKE " + nested(e.Pattern)
		if e.Escape != nil {
			s += " ESCAPE " + nested(e.Escape)
		}
		return s + ")"
	case *AtTimeZone:
		return "(" + nested(e.Expr) + " AT " + nested(e.Zone) + ")"
	case *Collate:
		return "(" + nested(e.Expr) + " COLLATE " + e.Collation.Name + ")"
	case *Cast:
		return "(" + nested(e.Expr) + "::" + e.Type.Name + ")"
	case *Subscript:
		return "(" + nested(e.Expr) + "[" + nested(e.Index) + "])"
	}
	return Format(e)
}

func TestPrecedence(t *testing.T) {
	for _, c := range [][2]string{
		{"a OR b AND c OR d", "(a OR (b AND c) OR d)"},
		{"a AND b AND c", "(a AND b AND c)"},
		{"a AND (b AND c)", "(a AND (b AND c))"},
		{"(a AND b) AND c", "(a AND b AND c)"},
		{"NOT a = b AND c", "((NOT (a = b)) AND c)"},
		{"NOT a IS NULL", "(NOT (a IS NULL))"},
		{"a = b IS NULL", "((a = b) IS NULL)"},
		{"a IS NULL = b", "((a IS NULL) = b)"},
		{"a = NOT b = c", "(a = (NOT (b = c)))"},
		{"a IS DISTINCT FROM b = c", "(a IS DISTINCT FROM (b = c))"},
		{"a = b LIKE c", "(a = (b LIKE c))"},
		{"a LIKE b = c", "((a LIKE b) = c)"},
		{"a LIKE b || c ESCAPE d || e", "(a LIKE (b || c) ESCAPE (d || e))"},
		{"a BETWEEN b AND c AND d", "((a BETWEEN b AND c) AND d)"},
		{"a BETWEEN b + 1 AND c || d", "(a BETWEEN (b + 1) AND (c || d))"},
		{"a BETWEEN b AND c = d", "((a BETWEEN b AND c) = d)"},
		{"a < b IN (c)", "(a < (b IN c))"},
		{"a || b + c", "(a || (b + c))"},
		{"a + b || c", "((a + b) || c)"},
		{"a || b || c", "((a || b) || c)"},
		{"a ~ b || c", "((a ~ b) || c)"},
		{"@ a + b", "(@(a + b))"},
		{"@ a || b", "((@a) || b)"},
		{"a - b - c", "((a - b) - c)"},
		{"a - b * c / d % e", "(a - (((b * c) / d) % e))"},
		{"a * b ^ c ^ d", "(a * ((b ^ c) ^ d))"},
		{"-a ^ b", "((-a) ^ b)"},
		{"-2 ^ 2", "(-2 ^ 2)"},
		{"- a * b", "((-a) * b)"},
		{"-a::int", "(-(a::integer))"},
		{"-1::int", "(-(1::integer))"},
		{"- a[1]", "(-(a[1]))"},
		{"- a COLLATE x", "((-a) COLLATE x)"},
		{"a + b AT TIME ZONE c", "(a + (b AT c))"},
		{"a AT TIME ZONE b COLLATE x", "(a AT (b COLLATE x))"},
		{"a ^ b AT TIME ZONE c", "(a ^ (b AT c))"},
		{"a::int::text", "((a::integer)::text)"},
		{"a = b::text || c", "(a = ((b::text) || c))"},
		{"a >= b AND c <> d OR e", "(((a >= b) AND (c <> d)) OR e)"},
		{"a OPERATOR(*) b + c", "(a * (b + c))"},
		{"a=-1", "(a = -1)"},
		{"a*-b", "(a * (-b))"},
		{"a<-b", "(a < (-b))"},
		{"a->b", "(a -> b)"},
		{"a@-b", "(a @- b)"},
		{"a-- comment\n-b", "(a - b)"},
		{"1 ISNULL AND 2 NOTNULL", ""},
	} {
		e, err := ParseExpr(c[0])
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
			continue
		}
		if got := nested(e); c[1] != "" && got != c[1] {
			t.Errorf("%s: got %s, want %s", c[0], got, c[1])
		}
		again, err := ParseExpr(Format(e))
		if err != nil || diff(e, again) != "" {
			t.Errorf("%s: formatted as %s: %v %s", c[0], Format(e), err, diff(e, again))
		}
	}
}
