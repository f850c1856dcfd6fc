package planner

import (
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// binder resolves names and types of one statement and builds its unoptimised plan.
type binder struct {
	snapshot *catalog.Snapshot
	world    World
	settings *Settings
	path     []string // search path

	nextCol    expr.ColID
	paramTypes []catalog.Type // of $1…; Unknown until the context tells
	statement  int            // number of $n parameters
	numbered   int            // scans below joins that may select what they read
	selectors  int            // of their partitions
	paramSlots int            // including those made for init plans
	initPlans  []InitPlan
	ctes       []*CTE
	noParams   bool        // $n is not allowed
	refs       []columnUse // columns named so far, but for those in aggregates of their query
	depth      int         // of nested queries, for the complexity limit
	failed     error       // first error of a rule
	failing    bool        // a constant in a column of a projection fails, which counts if the column is needed
	notices    []string
	view       *viewText // while a view's definition is bound
	closed     bool      // while the text of a view is bound that is closed
	locks      int       // scans whose rows are locked
	uses       []RelationUse
	known      map[Node]*relFacts // estimates made so far; nodes never change
	sampled    []sampledFilter
	viewStates map[catalog.TableID]ViewState
	proofs     *prover
	indexes    map[*catalog.Index]*IndexExprs
	phases     *Phases // nil: nobody asks
	shared     bool    // rules are applied to what other parts of the plan read
}

// columnUse is a place in the statement where a column is named.
type columnUse struct {
	id  expr.ColID
	pos int
}

// maxQueryDepth bounds nested subqueries, so that recursion over them cannot exhaust the stack.
const maxQueryDepth = 200

func newBinder(in Input) *binder {
	b := &binder{snapshot: in.Catalog, world: in.World, settings: in.Settings, path: in.Settings.LookupPath(), nextCol: 1, known: map[Node]*relFacts{}, viewStates: map[catalog.TableID]ViewState{}, proofs: newProver(nil), phases: in.Phases}
	if len(b.path) == 0 {
		b.path = []string{catalog.DefaultSchema}
	}
	b.paramTypes = append(b.paramTypes, in.ParamTypes...)
	return b
}

// column makes a column with a fresh id.
func (b *binder) column(name string, t catalog.Type, notNull bool) *expr.Col {
	c := &expr.Col{ID: b.nextCol, Typ: t, Name: name, NotNull: notNull}
	b.nextCol++
	return c
}

// columnLike makes a fresh column with the name and type of another.
func (b *binder) columnLike(c *expr.Col) *expr.Col { return b.column(c.Name, c.Typ, c.NotNull) }

// param returns statement parameter $n.
func (b *binder) param(n *sql.Param) (expr.Expr, error) {
	if n.Number < 1 || n.Number > 65535 || b.noParams {
		return nil, sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $%d", n.Number).At(n.Start)
	}
	for len(b.paramTypes) < n.Number {
		b.paramTypes = append(b.paramTypes, catalog.Type{})
	}
	b.statement = max(b.statement, n.Number)
	return &expr.Param{Index: n.Number, Typ: b.paramTypes[n.Number-1]}, nil
}

// noteParams records the types that the context gave to parameters directly below e.
func (b *binder) noteParams(e expr.Expr) expr.Expr {
	note := func(e expr.Expr) {
		for {
			c, ok := e.(*expr.Cast)
			if !ok {
				break
			}
			e = c.Arg
		}
		p, ok := e.(*expr.Param)
		if ok && p.Index <= len(b.paramTypes) && b.paramTypes[p.Index-1].ID == catalog.Unknown {
			b.paramTypes[p.Index-1] = p.Typ.Base()
		}
	}
	note(e)
	for _, kid := range expr.Children(e) {
		note(kid)
	}
	return e
}

// newInitParam reserves a parameter slot for an init plan; they are numbered behind the
// statement's own when binding ends, so until then they carry negative numbers.
func (b *binder) newInitParam() int {
	b.paramSlots++
	return -b.paramSlots
}

// coerce converts e to a type in the given context and notes parameter types.
func (b *binder) coerce(e expr.Expr, to catalog.Type, ctx expr.CastContext, pos int) (expr.Expr, error) {
	if c, ok := e.(*expr.Col); ok && c.Typ.ID == catalog.Unknown && to.ID != catalog.Unknown {
		// The column holds bare literals: they are read as the type asked for, as they would be
		// had they stood here themselves. Only a cast cuts what is too long for it.
		read := to
		if ctx != expr.ExplicitCast {
			read = to.Base()
		}
		var err error
		if e, err = expr.Coerce(textColumn(c), read, expr.ExplicitCast, pos); err != nil {
			return nil, err
		}
	}
	out, err := expr.Coerce(e, to, ctx, pos)
	if err != nil {
		return nil, err
	}
	return b.noteParams(out), nil
}

// textColumn is a column of bare literals taken as text.
func textColumn(c *expr.Col) *expr.Col {
	t := *c
	t.Typ = catalog.Type{ID: catalog.Text}
	return &t
}

// settle makes text of the columns whose literals have found no other type.
func (b *binder) settle(q *bound) *bound {
	cols := q.cols()
	items := make([]expr.Expr, len(cols))
	changed := false
	for i, c := range cols {
		items[i] = c
		if c.Typ.ID == catalog.Unknown {
			items[i], changed = textColumn(c), true
		}
	}
	if !changed {
		return q
	}
	return &bound{plan: b.projectChanged(q.plan, items), names: q.names}
}

func (b *binder) unsupported(n sql.Node, what string) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not supported yet", what).At(n.SourceSpan().Start)
}

// lookupTable finds a table by name along the search path, or reports 42P01 with a near name.
func (b *binder) lookupTable(name sql.ObjectName) (*catalog.Table, error) {
	if t := findTable(b.snapshot, b.path, name.Schema, name.Name); t != nil {
		return t, nil
	}
	if r := findRelation(b.snapshot, b.path, name.Schema, name.Name); r != nil {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is not a table", r.Name).At(name.Start)
	}
	err := sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", name.Raw()).At(name.Start)
	var names []string
	for _, t := range b.snapshot.TableDefinitions() {
		if b.settings.sees(t) {
			names = append(names, t.Name)
		}
	}
	if near := nearest(name.Name, names); near != "" {
		return nil, err.WithHint("Perhaps you meant the table %q.", near)
	}
	return nil, err
}

// WrongKind is the error for a relation of another kind than the statement is about.
func WrongKind(r *catalog.Table, want catalog.RelationKind) *sqlerr.Error {
	kind := r.Kind.String()
	return sqlerr.New(sqlerr.WrongObjectType, "%q is not a %s", r.Name, want).WithHint("Use DROP %s to remove a %s.", strings.ToUpper(kind), kind)
}

// FindRelation finds a relation of any kind along the search path; nil if there is none.
func (d *DDL) FindRelation(name sql.ObjectName) *catalog.Table {
	return findRelation(d.Catalog, newBinder(d.Input).path, name.Schema, name.Name)
}

// findTable finds a table, partitioned or not.
func findTable(s *catalog.Snapshot, path []string, schema, name string) *catalog.Table {
	if t := findRelation(s, path, schema, name); t != nil && t.IsTable() {
		return t
	}
	return nil
}

func findRelation(s *catalog.Snapshot, path []string, schema, name string) *catalog.Table {
	if schema != "" {
		return s.Lookup(namedSchema(path, schema), name)
	}
	for _, p := range path {
		if t := s.Lookup(p, name); t != nil {
			return t
		}
	}
	return nil
}

// nearest returns the candidate within a small edit distance of name, "" if there is none.
func nearest(name string, candidates []string) string {
	best, bestDistance := "", len(name)/3+2
	for _, c := range candidates {
		if d := editDistance(name, c, bestDistance); d < bestDistance && d > 0 {
			best, bestDistance = c, d
		}
	}
	return best
}

// editDistance is Levenshtein's, cut off at limit.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
