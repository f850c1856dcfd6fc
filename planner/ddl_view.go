package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// viewText collects what makes the text of a view's query stand on its own: the tables it reads,
// which get their schemas, and what each * stands for.
type viewText struct {
	uses  []catalog.TableID
	from  map[*sql.TableName]*catalog.Table
	stars map[*sql.Star][]sql.Target
}

// CreateView describes the view of a CREATE VIEW statement; with OR REPLACE it may be an existing one
// changed. The statement's query is rewritten.
func (d *DDL) CreateView(n *sql.CreateView) (*catalog.Table, error) {
	if n.Recursive || n.CheckOption != "" || len(n.Options) > 0 {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "recursive views, WITH and CHECK OPTION are not supported yet").At(n.Start)
	}
	b := d.definitionBinder()
	b.view = &viewText{from: map[*sql.TableName]*catalog.Table{}, stars: map[*sql.Star][]sql.Target{}}
	q, err := b.query(n.Query, nil)
	if err != nil {
		return nil, err
	}
	q = b.settle(q)
	names, err := renamed(q.names, n.Columns, n.Name.Name)
	if err != nil {
		return nil, err
	}
	closed := b.view.rewrite(n.Query)
	view := &catalog.Table{Kind: catalog.ViewRelation, Name: n.Name.Name, SchemaVersion: 1, NextColumn: 1,
		View: &catalog.View{Query: sql.Format(n.Query), Uses: b.view.uses, Closed: closed}}
	declared := declaredTypes(q.plan)
	for i := range names {
		if view.ColumnIndex(names[i]) >= 0 {
			return nil, sqlerr.New(sqlerr.DuplicateColumn, "column %q specified more than once", names[i])
		}
		view.Columns = append(view.Columns, catalog.Column{ID: view.NextColumn, Name: names[i], Type: declared[i], AddedIn: 1})
		view.NextColumn++
	}
	return view, d.placeView(view, n)
}

// placeView gives a view its schema and id: new ones, or those of the view it replaces. A view that
// reads something temporary is temporary itself.
func (d *DDL) placeView(view *catalog.Table, n *sql.CreateView) (err error) {
	temporary := n.Temporary
	for _, id := range view.View.Uses {
		if r := d.Catalog.Table(id); r.Temp && !temporary && n.Name.Schema == "" {
			temporary = true
			d.Notices = append(d.Notices, `view "`+view.Name+`" will be a temporary view`)
		}
	}
	if view.Schema, err = d.creationSchema(n.Name, temporary); err != nil {
		return err
	}
	view.Temp = isTempSchema(view.Schema)
	if old := d.Catalog.Lookup(view.Schema, view.Name); n.OrReplace && old != nil {
		if old.Kind != catalog.ViewRelation {
			return sqlerr.New(sqlerr.WrongObjectType, "%q is not a view", old.Name)
		}
		view.ID = old.ID
		if slices.Contains(view.View.Uses, old.ID) {
			return sqlerr.New(sqlerr.InvalidObjectDefinition, "infinite recursion detected in rules for relation %q", old.Name)
		}
		return replaceable(old, view)
	}
	view.ID = d.IDs.NewTableID()
	_, _, err = d.newName(n.Name, temporary, false)
	return err
}

// replaceable reports whether a view may take the place of another: what reads that one must find
// its columns.
func replaceable(old, view *catalog.Table) error {
	if len(view.Columns) < len(old.Columns) {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot drop columns from view")
	}
	for i := range old.Columns {
		a, b := &old.Columns[i], &view.Columns[i]
		if a.Name != b.Name {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot change name of view column %q to %q", a.Name, b.Name).
				WithHint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.")
		}
		if a.Type != b.Type {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot change data type of view column %q from %s to %s", a.Name, a.Type, b.Type)
		}
	}
	return nil
}

// rewrite replaces each * of a query by the columns it stands for now, and names the columns of the
// relations it reads. It returns whether it could do the latter: two relations that only their schemas
// tell apart keep it from that.
func (v *viewText) rewrite(q *sql.Select) (closed bool) {
	closed = v.distinctNames()
	if closed {
		for n, r := range v.from {
			keepNames(n, r)
		}
	}
	sql.Inspect(q, func(n sql.Node) bool {
		if c, ok := n.(*sql.ColumnRef); ok && closed && len(c.Parts) == 3 {
			c.Parts = c.Parts[1:]
		}
		core, ok := n.(*sql.SelectCore)
		if !ok {
			return true
		}
		var targets []sql.Target
		for _, t := range core.Targets {
			if star, ok := t.Expr.(*sql.Star); ok {
				targets = append(targets, v.stars[star]...)
			} else {
				targets = append(targets, t)
			}
		}
		core.Targets = targets
		return true
	})
	return closed
}

// distinctNames reports whether no two relations of the query are told apart by their schemas only.
func (v *viewText) distinctNames() bool {
	schemas := map[string]string{}
	for n, r := range v.from {
		if n.Alias.Name.Name != "" {
			continue
		}
		if schema, known := schemas[r.Name]; known && schema != r.Schema {
			return false
		}
		schemas[r.Name] = r.Schema
	}
	return true
}

// noteStar remembers what a * stands for.
func (v *viewText) noteStar(star *sql.Star, s *scope) {
	var targets []sql.Target
	add := func(parts ...string) {
		ref := &sql.ColumnRef{Span: star.Span}
		for _, p := range parts {
			ref.Parts = append(ref.Parts, sql.Ident{Span: star.Span, Name: p})
		}
		targets = append(targets, sql.Target{Span: star.Span, Expr: ref})
	}
	column := func(r *scopeRel, c *scopeCol) {
		if r.name == "" {
			add(c.name)
		} else {
			add(r.name, c.name)
		}
	}
	if star.Table == nil {
		for i := range s.merged {
			if !s.merged[i].hidden {
				add(s.merged[i].name)
			}
		}
	}
	for _, r := range s.rels {
		for i := range r.cols {
			if star.Table == nil && !r.cols[i].hidden || star.Table != nil && r.name == star.Table[len(star.Table)-1].Name {
				column(r, &r.cols[i])
			}
		}
	}
	v.stars[star] = targets
}

// useInView notes that the view under definition reads a relation.
func (b *binder) useInView(r *catalog.Table, n *sql.TableName) {
	if b.view == nil {
		return
	}
	n.Name.Schema = r.Schema
	b.view.from[n] = r
	if !slices.Contains(b.view.uses, r.ID) {
		b.view.uses = append(b.view.uses, r.ID)
	}
}

// fromView binds a view in FROM: its query, in place.
func (b *binder) fromView(view *catalog.Table, n *sql.TableName, name string) (*fromItem, error) {
	stmt, err := sql.ParseOne(view.View.Query)
	if err != nil {
		return nil, err
	}
	text, closed := b.view, b.closed // a view's own text is left as it is
	b.view, b.closed = nil, view.View.Closed
	q, err := b.query(stmt.(*sql.Select), nil)
	b.view, b.closed = text, closed
	if err != nil {
		if e, ok := unplaced(err).(*sqlerr.Error); ok {
			return nil, e.WithDetail("While reading view %q.", view.Name)
		}
		return nil, err
	}
	q = b.settle(q)
	names, err := renamed(columnNames(view), n.Alias.Columns, name)
	if err != nil {
		return nil, err
	}
	plan, cols := distinctCols(b, q.plan)
	cols = b.visible(n, cols)
	rel := relation(name, names, cols)
	if n.Alias.Name.Name == "" {
		rel.schema = view.Schema
	}
	return &fromItem{plan: plan, rels: []*scopeRel{rel}}, nil
}

// visible are the columns of a relation in FROM that can be named.
func (b *binder) visible(n *sql.TableName, cols []*expr.Col) []*expr.Col {
	if b.closed {
		return cols[:len(n.Alias.Columns)]
	}
	return cols
}

// unplaced takes the position out of an error about the text of a definition: that is none of the
// statement's.
func unplaced(err error) error {
	e, ok := err.(*sqlerr.Error)
	if !ok {
		return err
	}
	plain := *e
	plain.Position = 0
	return &plain
}

// DependentViews lists the views that read a relation in the order they were made in, with column not empty those that also name a
// column of that name.
func (d *DDL) DependentViews(id catalog.TableID, column string) []*catalog.Table {
	var views []*catalog.Table
	for _, r := range d.Catalog.Relations() {
		if r.Kind != catalog.ViewRelation || !slices.Contains(r.View.Uses, id) {
			continue
		}
		if column == "" || namesColumn(r.View.Query, d.Catalog.Table(id), column) {
			views = append(views, r)
		}
	}
	slices.SortFunc(views, func(a, b *catalog.Table) int { return int(a.ID) - int(b.ID) })
	return views
}

// namesColumn reports whether a query that reads a relation names one of its columns, or one of that
// name of another.
func namesColumn(query string, r *catalog.Table, column string) bool {
	stmt, err := sql.ParseOne(query)
	if err != nil {
		return true
	}
	found, names := false, namesIn(stmt, r, column)
	sql.Inspect(stmt, func(n sql.Node) bool {
		switch n := n.(type) {
		case *sql.ColumnRef:
			found = found || names[n.Parts[len(n.Parts)-1].Name]
		case *sql.Join:
			found = found || n.Natural || slices.ContainsFunc(n.Using, func(id sql.Ident) bool { return names[id.Name] })
		}
		return !found
	})
	return found
}
