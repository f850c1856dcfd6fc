package planner

import (
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/sql"
)

// TestImplied tries conditions of partial indexes against those of queries.
func TestImplied(t *testing.T) {
	types := map[string]catalog.TypeID{"a": catalog.Int4, "b": catalog.Int8, "c": catalog.Text, "f": catalog.Bool}
	b := newBinder(Input{Catalog: catalog.NewSnapshot(1), Settings: DefaultSettings()})
	rel := &scopeRel{name: "t"}
	for name, id := range types {
		rel.cols = append(rel.cols, scopeCol{name: name, expr: b.column(name, catalog.Type{ID: id}, false)})
	}
	bind := func(text string) []expr.Expr {
		parsed, err := sql.ParseExpr(text)
		if err != nil {
			t.Fatal(text, err)
		}
		e, err := b.condition(parsed, &scope{rels: []*scopeRel{rel}}, "WHERE")
		if err != nil {
			t.Fatal(text, err)
		}
		return expr.Conjuncts(simplified(e))
	}
	for _, c := range []struct {
		known, wanted string
		want          bool
	}{
		{"a > 5", "a > 5", true}, {"a > 5", "a > 3", true}, {"a > 5", "a > 6", false}, {"a > 5", "a >= 5", true}, {"a >= 5", "a > 5", false},
		{"a >= 6", "a > 5", true}, {"a < 5", "a <= 5", true}, {"a <= 5", "a < 5", false}, {"5 < a", "a > 3", true}, {"a = 5", "a > 3", true},
		{"a = 5", "a < 3", false}, {"a = 5", "a <> 3", true}, {"a = 5", "a <> 5", false}, {"a > 5", "a <> 5", true}, {"a >= 5", "a <> 5", false},
		{"a <> 5", "a <> 5", true}, {"a <> 5", "a <> 6", false}, {"a = 5", "a in (4, 5)", true}, {"a = 6", "a in (4, 5)", false},
		{"a in (4, 5)", "a in (3, 4, 5)", true}, {"a in (4, 6)", "a in (3, 4, 5)", false}, {"a in (4, 6)", "a > 3", true}, {"a in (4, 6)", "a > 4", false},
		{"a = 5", "a is not null", true}, {"a + 1 > b", "a is not null", true}, {"a + 1 > b", "b is not null", true}, {"a in (1, 2)", "a is not null", true},
		{"a is null", "a is not null", false}, {"not (a is not null)", "a is not null", false}, {"coalesce(a, 1) = 1", "a is not null", false},
		{"a = 1 or b = 1", "a is not null", false}, {"a = 1 or a = 2", "a is not null", true}, {"a = 1 or a = 2", "a < 3", true}, {"a = 1 or a = 5", "a < 3", false},
		{"a = 1", "a = 1 or b = 2", true}, {"a = 1 and c = 'x'", "c >= 'w' and a is not null", true}, {"a = 1", "a = 1 and b = 2", false},
		{"(a = 1 and b = 2) or (a = 3 and b = 4)", "a < 9 and b is not null", true}, {"(a = 1 and b = 2) or a = 3", "b is not null", false},
		{"f", "f", true}, {"not f", "f", false}, {"not f", "f is not null", true}, {"f", "f is not null", true}, {"a > 5", "b > 5", false},
		{"lower(c) = 'x'", "lower(c) = 'x'", true}, {"lower(c) = 'x'", "c is not null", true}, {"lower(c) = 'x'", "upper(c) = 'x'", false},
		{"b = 5", "b > 3", true}, {"a > 5 and a < 2", "a > 4", true}, {"c like 'x%'", "c is not null", true}, {"a is not null", "a > 0", false},
		{"a is distinct from 5", "a is not null", false}, {"case when a = 1 then true else true end", "a is not null", false},
	} {
		if got := implied(bind(c.wanted), bind(c.known)); got != c.want {
			t.Errorf("%s implies %s: %v, want %v", c.known, c.wanted, got, c.want)
		}
	}
}
