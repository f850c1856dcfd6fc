package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// IndexExprs are the expressions and the condition of an index, bound over columns that stand for
// the table's.
type IndexExprs struct {
	Cols  []*expr.Col // as the table's Columns
	Exprs []expr.Expr // as the index's Exprs
	Where expr.Expr   // nil = none
}

// BindIndex binds the expressions of an index. They read the table's columns only and are immutable,
// so that they mean the same in every session.
func BindIndex(t *catalog.Table, index *catalog.Index) (*IndexExprs, error) {
	b := newBinder(Input{Catalog: catalog.NewSnapshot(1), Settings: DefaultSettings()})
	b.noParams = true
	return b.indexExprs(t, index)
}

func (b *binder) indexExprs(t *catalog.Table, index *catalog.Index) (*IndexExprs, error) {
	out := &IndexExprs{Cols: b.rowColumns(t)}
	for _, x := range index.Exprs {
		parsed, err := sql.ParseExpr(x.Expr)
		if err != nil {
			return nil, err
		}
		e, err := b.indexExpression(parsed, t, out.Cols)
		if err != nil {
			return nil, err
		}
		out.Exprs = append(out.Exprs, simplified(e))
	}
	if index.Where != "" {
		parsed, err := sql.ParseExpr(index.Where)
		if err != nil {
			return nil, err
		}
		cond, err := b.indexCondition(parsed, t, out.Cols)
		if err != nil {
			return nil, err
		}
		out.Where = simplified(cond)
	}
	return out, nil
}

// simplified brings an expression into the form that rules give those of queries, to be found equal
// to them. What cannot be computed stays, to fail when a row needs it.
func simplified(e expr.Expr) expr.Expr {
	out, err := expr.FoldConstants(e, nil)
	if err != nil {
		out = e
	}
	return expr.Transform(out, expr.SimplifyComparison)
}

// indexExpression binds an expression of an index's key.
func (b *binder) indexExpression(e sql.Expr, t *catalog.Table, cols []*expr.Col) (expr.Expr, error) {
	s := &scope{rels: []*scopeRel{relation(t.Name, columnNames(t), cols)}, noAggregates: "aggregate functions are not allowed in index expressions",
		noSubqueries: "cannot use subquery in index expression"}
	out, err := b.expr(e, s)
	if err != nil {
		return nil, err
	}
	if out.Type().ID == catalog.Unknown {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "data type unknown has no default operator class for access method \"btree\"").
			WithHint("You must specify an operator class for the index or define a default operator class for the data type.")
	}
	if expr.VolatilityOf(out) != expr.Immutable {
		return nil, sqlerr.New(sqlerr.InvalidObjectDefinition, "functions in index expression must be marked IMMUTABLE")
	}
	return out, nil
}

// indexCondition binds the condition of a partial index.
func (b *binder) indexCondition(e sql.Expr, t *catalog.Table, cols []*expr.Col) (expr.Expr, error) {
	s := &scope{rels: []*scopeRel{relation(t.Name, columnNames(t), cols)}, noAggregates: "aggregate functions are not allowed in index predicates",
		noSubqueries: "cannot use subquery in index predicate"}
	out, err := b.condition(e, s, "WHERE")
	if err != nil {
		return nil, err
	}
	if expr.VolatilityOf(out) != expr.Immutable {
		return nil, sqlerr.New(sqlerr.InvalidObjectDefinition, "functions in index predicate must be marked IMMUTABLE")
	}
	return out, nil
}

// keyExpressionText is how the catalog writes an expression of a key.
func keyExpressionText(e sql.Expr) string {
	text := indexText(e)
	switch e.(type) {
	case *sql.FuncCall, *sql.Extract:
		return text
	}
	return "(" + text + ")"
}

// indexText writes an expression without the table's name in it, which may change.
func indexText(e sql.Expr) string {
	own, err := sql.ParseExpr(sql.Format(e))
	if err != nil { // what Format writes can be parsed
		return sql.Format(e)
	}
	sql.Inspect(own, func(n sql.Node) bool {
		if c, ok := n.(*sql.ColumnRef); ok {
			c.Parts = c.Parts[len(c.Parts)-1:]
		}
		return true
	})
	return sql.Format(own)
}

// retypeIndexes binds the expressions and conditions of a table's indexes again after columns have got
// other types.
func (b *binder) retypeIndexes(t *catalog.Table) error {
	cols := b.rowColumns(t)
	for i := range t.Indexes {
		x := &t.Indexes[i]
		x.Exprs = slices.Clone(x.Exprs)
		for k := range x.Exprs {
			e, err := sql.ParseExpr(x.Exprs[k].Expr)
			if err != nil {
				return err
			}
			bound, err := b.indexExpression(e, t, cols)
			if err != nil {
				return err
			}
			x.Exprs[k].Type = bound.Type()
		}
		if x.Where == "" {
			continue
		}
		e, err := sql.ParseExpr(x.Where)
		if err == nil {
			_, err = b.indexCondition(e, t, cols)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keyExpressionName is the part of an index's name that stands for an expression.
func keyExpressionName(e sql.Expr) string {
	switch e := e.(type) {
	case *sql.FuncCall:
		return e.Name.Name
	case *sql.Extract:
		return "extract"
	case *sql.Case:
		return "case"
	}
	return "expr"
}
