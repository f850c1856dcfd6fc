package planner

import (
	"slices"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// scopeCol is a column that can be named.
type scopeCol struct {
	name string
	expr expr.Expr // a *expr.Col, or the merged value of a FULL JOIN USING column
	// hidden columns are found by qualified name only: the sides of a USING column.
	hidden bool
}

// scopeRel is a relation of a FROM clause.
type scopeRel struct {
	name   string // alias or table name
	schema string // of a table without alias
	table  string // what it is an alias of
	cols   []scopeCol
}

// scope is what names mean at one place. Names not found lead to the parent: the enclosing query.
type scope struct {
	parent *scope
	rels   []*scopeRel
	ctes   map[string]*boundCTE
	// merged lists the USING columns, which a bare name or * finds before the relations' own.
	merged []scopeCol
	// noAggregates explains why aggregates of this query are not allowed in the clause that is
	// being bound ("" = allowed).
	noAggregates string
	// noColumns and noSubqueries explain why those are not allowed here ("" = allowed).
	noColumns, noSubqueries string
	// unreachable are relations of the statement that cannot be named here, for errors that say so.
	unreachable []*scopeRel
	// barred are columns that cannot be referenced, though they are found, by their relation: those of the other
	// side of a join that may fill them with NULLs.
	barred map[expr.Expr]string
	// outerAggs are the aggregates of this query that stand in its subqueries.
	outerAggs []outerAggregate
}

// boundCTE is a query of a WITH clause. Every reference becomes a CTEScan; once the statement is
// bound, queries with one reference are put in its place.
type boundCTE struct {
	names []string
	cte   *CTE
}

// defaultScope is where the DEFAULT of a column is bound.
func defaultScope() *scope {
	return &scope{noAggregates: "aggregate functions are not allowed in DEFAULT expressions",
		noColumns: "cannot use column reference in DEFAULT expression", noSubqueries: "cannot use subquery in DEFAULT expression"}
}

func (s *scope) findCTE(name string) *boundCTE {
	for ; s != nil; s = s.parent {
		if c, ok := s.ctes[name]; ok {
			return c
		}
	}
	return nil
}

// resolve finds the column a name stands for.
func (s *scope) resolve(ref *sql.ColumnRef) (expr.Expr, error) {
	if s.noColumns != "" {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "%s", s.noColumns).At(ref.Start)
	}
	name := ref.Parts[len(ref.Parts)-1].Name
	table, schema := "", ""
	if n := len(ref.Parts); n >= 2 {
		table = ref.Parts[n-2].Name
		if n >= 3 {
			schema = ref.Parts[n-3].Name
		}
	}
	for at := s; at != nil; at = at.parent {
		e, count := at.lookup(schema, table, name)
		if count > 1 {
			return nil, sqlerr.New(sqlerr.AmbiguousColumn, "column reference %q is ambiguous", name).At(ref.Start)
		}
		if count == 1 {
			return e, at.refuseBarred(e, ref.Start)
		}
	}
	return nil, s.undefined(ref, table, name)
}

// bar lets the columns of relations be found and refused.
func (s *scope) bar(item *fromItem) {
	s.barred = map[expr.Expr]string{}
	for _, r := range item.rels {
		for _, c := range r.cols {
			s.barred[c.expr] = r.name
		}
	}
	for _, c := range item.merged {
		s.barred[c.expr] = item.rels[len(item.rels)-1].name
	}
}

func (s *scope) refuseBarred(e expr.Expr, pos int) error {
	table, barred := s.barred[e]
	if !barred {
		return nil
	}
	return errInvalidReference(sqlerr.InvalidColumnReference, table).At(pos).
		WithDetail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.")
}

func errInvalidReference(code sqlerr.Code, table string) *sqlerr.Error {
	return sqlerr.New(code, "invalid reference to FROM-clause entry for table %q", table)
}

// columns lists the columns of the relations in s.
func (s *scope) columns() []*expr.Col {
	var cols []*expr.Col
	for _, r := range s.rels {
		for _, c := range r.cols {
			if col, ok := c.expr.(*expr.Col); ok {
				cols = append(cols, col)
			}
		}
	}
	return cols
}

// lookup returns the column and how many columns the name fits.
func (s *scope) lookup(schema, table, name string) (expr.Expr, int) {
	var found expr.Expr
	count := 0
	if table == "" {
		for _, c := range s.merged {
			if c.name == name && !c.hidden {
				found = c.expr
				count++
			}
		}
	}
	for _, r := range s.rels {
		if table != "" && (r.name != table || schema != "" && r.schema != schema) {
			continue
		}
		for _, c := range r.cols {
			if c.name == name && (table != "" || !c.hidden) {
				found = c.expr
				count++
			}
		}
	}
	return found, count
}

func (s *scope) undefined(ref *sql.ColumnRef, table, name string) error {
	if table != "" {
		if err := s.missing(table); err != nil {
			return err.At(ref.Start)
		}
	}
	err := undefinedColumn(table, name).At(ref.Start)
	for _, r := range s.beyond() {
		if table == "" && slices.ContainsFunc(r.cols, func(c scopeCol) bool { return c.name == name }) {
			return err.WithHint("There is a column named %q in table %q, but it cannot be referenced from this part of the query.", name, r.name)
		}
	}
	if near := s.nearColumn(name); near != "" {
		return err.WithHint("Perhaps you meant to reference the column %q.", near)
	}
	return err
}

// missing says why no relation of a name can be referenced; nil: one can.
func (s *scope) missing(table string) *sqlerr.Error {
	var names []string
	alias := ""
	for at := s; at != nil; at = at.parent {
		for _, r := range at.rels {
			if r.name == table {
				return nil
			}
			if names = append(names, r.name); r.table == table && alias == "" {
				alias = r.name
			}
		}
	}
	if alias != "" {
		return errInvalidReference(sqlerr.UndefinedTable, table).WithHint("Perhaps you meant to reference the table alias %q.", alias)
	}
	if slices.ContainsFunc(s.beyond(), func(r *scopeRel) bool { return r.name == table || r.table == table }) {
		return errInvalidReference(sqlerr.UndefinedTable, table).
			WithHint("There is an entry for table %q, but it cannot be referenced from this part of the query.", table)
	}
	err := sqlerr.New(sqlerr.UndefinedTable, "missing FROM-clause entry for table %q", table)
	if near := nearest(table, names); near != "" {
		return err.WithHint("Perhaps you meant to reference the table alias %q.", near)
	}
	return err
}

// beyond lists the relations of the statement that cannot be referenced.
func (s *scope) beyond() (rels []*scopeRel) {
	for ; s != nil; s = s.parent {
		rels = append(rels, s.unreachable...)
	}
	return rels
}

// undefinedColumn is the error of a name, which PostgreSQL puts in quotes only when it stands alone.
func undefinedColumn(table, name string) *sqlerr.Error {
	if table != "" {
		return sqlerr.New(sqlerr.UndefinedColumn, "column %s.%s does not exist", table, name)
	}
	return sqlerr.New(sqlerr.UndefinedColumn, "column %q does not exist", name)
}

// nearColumn suggests the visible column whose name is closest, as table.column.
func (s *scope) nearColumn(name string) string {
	byName := map[string]string{}
	var names []string
	for at := s; at != nil; at = at.parent {
		for _, r := range at.rels {
			for _, c := range r.cols {
				if _, seen := byName[c.name]; !seen {
					byName[c.name] = r.name + "." + c.name
					names = append(names, c.name)
				}
			}
		}
	}
	for _, n := range names {
		if n == name {
			return byName[n]
		}
	}
	return byName[nearest(name, names)]
}

// expand lists the columns that * or t.* stands for.
func (s *scope) expand(star *sql.Star) ([]scopeCol, error) {
	if star.Table == nil {
		var all []scopeCol
		for _, c := range s.merged {
			if !c.hidden {
				all = append(all, c)
			}
		}
		for _, r := range s.rels {
			for _, c := range r.cols {
				if !c.hidden {
					all = append(all, c)
				}
			}
		}
		if len(s.rels) == 0 {
			return nil, sqlerr.New(sqlerr.SyntaxError, "SELECT * with no tables specified is not valid").At(star.Start)
		}
		return all, nil
	}
	table := star.Table[len(star.Table)-1].Name
	for at := s; at != nil; at = at.parent {
		for _, r := range at.rels {
			if r.name != table {
				continue
			}
			for _, c := range r.cols {
				if err := at.refuseBarred(c.expr, star.Start); err != nil {
					return nil, err
				}
			}
			return r.cols, nil
		}
	}
	return nil, s.missing(table).At(star.Start)
}
