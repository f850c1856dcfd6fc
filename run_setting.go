package weft

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/vector"
)

func (r *running) set(n *sql.Set) (*Rows, error) {
	if n.Local && r.s.txn == nil {
		r.warn("SET LOCAL can only be used in transaction blocks")
	}
	st, err := r.s.changeable(n.Name, n.Local)
	if err != nil {
		return nil, at(err, n)
	}
	if n.Default {
		return done("SET"), at(r.resetOne(st, n.Local), n)
	}
	text, err := st.joinValues(n.Values)
	if err == nil {
		err = r.s.set(st.name, text, n.Local)
	}
	if err == nil && st.transaction {
		err = r.setForTransaction(st, text)
	}
	return done("SET"), at(err, n)
}

// setForTransaction changes the open transaction by SET transaction_isolation and the like.
func (r *running) setForTransaction(st *setting, text string) error {
	value, err := st.check(st.name, text)
	if err != nil {
		return err
	}
	o := r.s.currentTxOptions()
	switch st.name {
	case setTransactionMode:
		o.Isolation = isolationNamed(value)
	case setTransactionDefer:
		o.Deferrable = value == "on"
	default:
		o.ReadOnly = value == "on"
	}
	return r.s.setTxOptions(o, st.name == setTransactionDefer)
}

func (r *running) resetOne(st *setting, local bool) error {
	switch st.name {
	case setTransactionMode:
		return r.setForTransaction(st, r.s.setting(setDefaultIsolation))
	case setTransactionReadOnly:
		return r.setForTransaction(st, r.s.setting(setDefaultReadOnly))
	case setTransactionDefer:
		return r.setForTransaction(st, r.s.setting(setDefaultDeferrable))
	}
	return r.s.reset(st.name, local)
}

// at gives an error the position of a node.
func at(err error, n sql.Node) error {
	if e, ok := err.(*Error); ok {
		return e.At(n.SourceSpan().Start)
	}
	return err
}

func (r *running) reset(n *sql.Reset) (*Rows, error) {
	if n.Name == "" {
		r.s.values = sessionValues{}
		return done("RESET"), nil
	}
	st, err := r.s.changeable(n.Name, false)
	if err == nil {
		err = r.resetOne(st, false)
	}
	return done("RESET"), at(err, n)
}

func (r *running) show(n *sql.Show) (*Rows, error) {
	if n.Name == "" {
		names := settingNames()
		rows := make([][]string, len(names))
		for i, name := range names {
			rows[i] = []string{displayName(name), r.s.shown(name), settings[name].doc}
		}
		return textRows([]string{"name", "setting", "description"}, rows, "SHOW"), nil
	}
	st, err := lookupSetting(n.Name)
	if err != nil {
		return nil, at(err, n)
	}
	return textRows([]string{displayName(st.name)}, [][]string{{r.s.shown(st.name)}}, "SHOW"), nil
}

// shown is a setting's value as SHOW prints it.
func (s *Session) shown(name string) string {
	switch name {
	case setTransactionMode:
		return s.currentTxOptions().Isolation.String()
	case setTransactionReadOnly:
		return onOff(s.currentTxOptions().ReadOnly)
	case setTransactionDefer:
		return onOff(s.currentTxOptions().Deferrable)
	}
	return settings[name].shownValue(s.setting(name))
}

// textRows is a result of text columns.
func textRows(names []string, rows [][]string, tag string) *Rows {
	out := &Rows{done: true, tag: tag}
	for _, name := range names {
		out.columns = append(out.columns, Column{name, catalog.Type{ID: catalog.Text}})
	}
	for from := 0; from < len(rows); from += vector.BatchCap {
		part := rows[from:min(from+vector.BatchCap, len(rows))]
		b := &vector.Batch{N: len(part)}
		for c := range names {
			v := vector.New(vector.Bytes, len(part))
			for _, row := range part {
				v.AppendString(row[c])
			}
			b.Vecs = append(b.Vecs, v)
		}
		out.kept = append(out.kept, b)
	}
	return out
}

func (r *running) prepare(n *sql.Prepare) (*Rows, error) {
	if r.s.prepared[n.Name.Name] != nil {
		return nil, sqlerr.New(sqlerr.DuplicatePreparedStatement, "prepared statement %q already exists", n.Name.Name).At(n.Name.Start)
	}
	types, err := declaredTypes(n)
	if err != nil {
		return nil, err
	}
	switch n.Stmt.(type) {
	case *sql.Select, *sql.Insert, *sql.Update, *sql.Delete, *sql.Merge: // wrong names and types are told now
		reading, err := r.s.beginReading(r.ctx)
		if err != nil {
			return nil, err
		}
		defer reading.abandon()
		in := r.s.input(reading.view.Catalog())
		in.ParamTypes = types
		plan, err := planner.Build(n.Stmt, in)
		if err != nil {
			return nil, err
		}
		types = plan.Params
	}
	r.s.prepared[n.Name.Name] = &preparedStatement{n, types}
	return done("PREPARE"), nil
}

// preparedStatement is a statement of PREPARE with the types of its parameters.
type preparedStatement struct {
	*sql.Prepare
	params []catalog.Type
}

// declaredTypes are the types that PREPARE gives its parameters.
func declaredTypes(n *sql.Prepare) ([]catalog.Type, error) {
	var types []catalog.Type
	for _, t := range n.Types {
		typ, err := bindType(t)
		if err != nil {
			return nil, err
		}
		types = append(types, typ)
	}
	return types, nil
}

// execute runs a prepared statement with constant arguments.
func (r *running) execute(n *sql.Execute) (*Rows, error) {
	inner, err := r.prepared(n)
	if err != nil {
		return nil, err
	}
	return inner.run()
}

// prepared returns a prepared statement with its arguments, ready to run.
func (r *running) prepared(n *sql.Execute) (*running, error) {
	p := r.s.prepared[n.Name.Name]
	if p == nil {
		return nil, sqlerr.New(sqlerr.UndefinedStatement, "prepared statement %q does not exist", n.Name.Name).At(n.Name.Start)
	}
	inner := *r
	inner.stmt, inner.text, inner.args = p.Stmt, sql.Format(p.Stmt), nil
	if len(n.Args) != len(p.params) {
		return nil, sqlerr.New(sqlerr.SyntaxError, "wrong number of parameters for prepared statement %q", n.Name.Name).
			WithDetail("Expected %d parameters but got %d.", len(p.params), len(n.Args))
	}
	inner.types = p.params
	for i, a := range n.Args {
		value, err := constant(a)
		if err != nil {
			return nil, err
		}
		if value, err = expr.Coerce(value, p.params[i], expr.AssignmentCast, a.SourceSpan().Start); err != nil {
			return nil, err
		}
		folded, err := expr.FoldConstants(value, nil)
		if err != nil {
			return nil, err
		}
		k, ok := folded.(*expr.Const)
		if !ok {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "EXECUTE takes constant arguments only").At(a.SourceSpan().Start)
		}
		inner.args = append(inner.args, argument{bound: &expr.Const{Value: k.Value, Typ: p.params[i]}, number: i + 1})
	}
	return &inner, nil
}

func (r *running) deallocate(n *sql.Deallocate) (*Rows, error) {
	if n.Name.Name == "" {
		clear(r.s.prepared)
		return done("DEALLOCATE ALL"), nil
	}
	if r.s.prepared[n.Name.Name] == nil {
		return nil, sqlerr.New(sqlerr.UndefinedStatement, "prepared statement %q does not exist", n.Name.Name).At(n.Name.Start)
	}
	delete(r.s.prepared, n.Name.Name)
	return done("DEALLOCATE"), nil
}

func (r *running) discard(n *sql.Discard) (*Rows, error) {
	if n.Kind == sql.DiscardAll {
		clear(r.s.prepared)
		r.s.values = sessionValues{}
	}
	if n.Kind == sql.DiscardAll || n.Kind == sql.DiscardSequences {
		r.s.drawn.forget()
	}
	if n.Kind == sql.DiscardAll || n.Kind == sql.DiscardTemp {
		if err := r.s.dropTemporaries(); err != nil {
			return nil, err
		}
	}
	return done("DISCARD " + map[sql.DiscardKind]string{sql.DiscardAll: "ALL", sql.DiscardPlans: "PLANS", sql.DiscardSequences: "SEQUENCES", sql.DiscardTemp: "TEMP"}[n.Kind]), nil
}
