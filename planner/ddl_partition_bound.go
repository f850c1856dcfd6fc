package planner

import (
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/prune"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/vector"
)

// bound reads the bound of a new partition of parent, and refuses one that others are in the way of.
func (d *DDL) bound(name string, parent *catalog.Table, n *sql.PartitionBound) (*catalog.PartitionBound, error) {
	b := &boundReader{d: d, parent: parent, node: n}
	out, err := b.read()
	if err != nil {
		return nil, err
	}
	return out, b.fits(name, out)
}

type boundReader struct {
	d      *DDL
	parent *catalog.Table
	node   *sql.PartitionBound
}

func (b *boundReader) read() (*catalog.PartitionBound, error) {
	n, p := b.node, b.parent.Partitioning
	out := &catalog.PartitionBound{}
	var err error
	switch {
	case n.Kind == sql.BoundDefault:
		if p.Strategy == catalog.PartitionByHash {
			return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "a hash-partitioned table may not have a default partition")
		}
		out.Default = true
	case n.Kind == sql.BoundLessThan:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "VALUES LESS THAN is not supported").At(n.Start).WithHint("Use FOR VALUES FROM ... TO.")
	case p.Strategy == catalog.PartitionByHash:
		if n.Kind != sql.BoundHash {
			return nil, b.invalid("hash")
		}
		out.Modulus, out.Remainder = n.Modulus, n.Remainder
	case p.Strategy == catalog.PartitionByList:
		if n.Kind != sql.BoundList {
			return nil, b.invalid("list")
		}
		for _, e := range n.In {
			v, _, err := b.value(e, 0)
			if err != nil {
				return nil, err
			}
			if !containsBound(out.In, v) {
				out.In = append(out.In, v)
			}
		}
	default:
		if n.Kind != sql.BoundRange {
			return nil, b.invalid("range")
		}
		for _, end := range []struct {
			word string
			list []sql.PartitionLimit
		}{{"FROM", n.From}, {"TO", n.To}} {
			if len(end.list) != len(p.Keys) {
				return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "%s must specify exactly one value per partitioning column", end.word)
			}
		}
		if out.From, err = b.limits(n.From); err != nil {
			return nil, err
		}
		out.To, err = b.limits(n.To)
	}
	return out, err
}

func containsBound(list []catalog.BoundValue, v catalog.BoundValue) bool {
	for _, o := range list {
		if o == v {
			return true
		}
	}
	return false
}

func (b *boundReader) invalid(strategy string) error {
	return sqlerr.New(sqlerr.InvalidTableDefinition, "invalid bound specification for a %s partition", strategy).At(b.node.Start)
}

// limits reads one end of a range.
func (b *boundReader) limits(list []sql.PartitionLimit) ([]catalog.BoundValue, error) {
	var out []catalog.BoundValue
	for i := range list {
		l := &list[i]
		var v catalog.BoundValue
		switch l.Kind {
		case sql.MinValue:
			v.Kind = catalog.BoundIsMin
		case sql.MaxValue:
			v.Kind = catalog.BoundIsMax
		default:
			var err error
			if v, _, err = b.value(l.Expr, i); err != nil {
				return nil, err
			}
			if v.Kind == catalog.BoundIsNull {
				return nil, sqlerr.New(sqlerr.InvalidObjectDefinition, "cannot specify NULL in range bound")
			}
		}
		if i > 0 && out[i-1].Kind != v.Kind && out[i-1].Kind != catalog.BoundIsValue {
			word := "MINVALUE"
			if out[i-1].Kind == catalog.BoundIsMax {
				word = "MAXVALUE"
			}
			return nil, sqlerr.New(sqlerr.DatatypeMismatch, "every bound following %s must also be %s", word, word).At(l.Start)
		}
		out = append(out, v)
	}
	return out, nil
}

// value computes a value of a bound, of the type of a key.
func (b *boundReader) value(e sql.Expr, key int) (catalog.BoundValue, vector.Datum, error) {
	k := &b.parent.Partitioning.Keys[key]
	fail := func(err error) (catalog.BoundValue, vector.Datum, error) {
		return catalog.BoundValue{}, vector.Datum{}, err
	}
	binder, pos := b.d.definitionBinder(), e.SourceSpan().Start
	if ref := columnIn(e); ref != nil {
		return fail(sqlerr.New(sqlerr.InvalidColumnReference, "cannot use column reference in partition bound expression").At(ref.Start))
	}
	s := &scope{noAggregates: "aggregate functions are not allowed in partition bound", noSubqueries: "cannot use subquery in partition bound"}
	bound, err := binder.expr(e, s)
	if err != nil {
		return fail(err)
	}
	coerced, err := binder.coerce(bound, k.Type, expr.AssignmentCast, pos)
	if code := sqlerr.CodeOf(err); err != nil && (code == sqlerr.DatatypeMismatch || code == sqlerr.CannotCoerce) {
		return fail(sqlerr.New(sqlerr.DatatypeMismatch, "specified value cannot be cast to type %s for column \"%s\"", k.Type.Base(), b.keyName(key)).At(pos))
	}
	if err != nil {
		return fail(err)
	}
	d, err := expr.EvalConst(coerced, b.d.Env)
	switch {
	case err != nil:
		return fail(at(err, pos))
	case d.Null:
		return catalog.BoundValue{Kind: catalog.BoundIsNull}, d, nil
	}
	return catalog.BoundValue{Text: expr.FormatDatum(k.Type, d, nil)}, d, nil
}

func columnIn(e sql.Expr) (found *sql.ColumnRef) {
	sql.Inspect(e, func(n sql.Node) bool {
		if c, ok := n.(*sql.ColumnRef); ok && found == nil {
			found = c
		}
		return found == nil
	})
	return found
}

func (b *boundReader) keyName(key int) string {
	k := &b.parent.Partitioning.Keys[key]
	if k.Column == 0 {
		return k.Expr
	}
	return b.parent.Columns[b.parent.ColumnByID(k.Column)].Name
}

// fits refuses a bound that overlaps with that of another partition.
func (b *boundReader) fits(name string, bound *catalog.PartitionBound) error {
	others := b.d.Catalog.Partitions(b.parent.ID)
	if bound.Default {
		for _, p := range others {
			if p.Bound.Default {
				return sqlerr.New(sqlerr.InvalidObjectDefinition, "partition %q conflicts with existing default partition %q", name, p.Name).At(b.node.Start)
			}
		}
		return nil
	}
	c, err := prune.NewBounds(b.parent, others)
	if err != nil {
		return err
	}
	switch b.parent.Partitioning.Strategy {
	case catalog.PartitionByHash:
		return b.fitsHash(name, c, bound)
	case catalog.PartitionByList:
		i, other, err := c.OverlapList(bound)
		if err != nil || other == nil {
			return err
		}
		return overlap(name, other, b.node.In[min(i, len(b.node.In)-1)].SourceSpan().Start)
	}
	empty, err := c.Empty(bound)
	if err != nil {
		return err
	}
	if empty {
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "empty range bound specified for partition %q", name).At(b.node.From[c.Decides(bound)].Start).
			WithDetail("Specified lower bound %s is greater than or equal to upper bound %s.", boundTuple(b.parent, bound.From), boundTuple(b.parent, bound.To))
	}
	other, inFrom, key, err := c.OverlapRange(bound)
	if err != nil || other == nil {
		return err
	}
	end := b.node.To
	if inFrom {
		end = b.node.From
	}
	return overlap(name, other, end[key].Start)
}

func overlap(name string, other *catalog.Table, pos int) error {
	return sqlerr.New(sqlerr.InvalidObjectDefinition, "partition %q would overlap partition %q", name, other.Name).At(pos)
}

// fitsHash checks that each modulus is a factor of the next larger one, so that remainders are parts of
// each other or apart.
func (b *boundReader) fitsHash(name string, c *prune.Bounds, bound *catalog.PartitionBound) error {
	factor := sqlerr.New(sqlerr.InvalidObjectDefinition, "every hash partition modulus must be a factor of the next larger modulus")
	below, above := c.Neighbours(bound)
	switch {
	case below != nil && bound.Modulus%below.Bound.Modulus != 0:
		return factor.WithDetail("The new modulus %d is not divisible by %d, the modulus of existing partition %q.", bound.Modulus, below.Bound.Modulus, below.Name)
	case above != nil && above.Bound.Modulus%bound.Modulus != 0:
		return factor.WithDetail("The new modulus %d is not a factor of %d, the modulus of existing partition %q.", bound.Modulus, above.Bound.Modulus, above.Name)
	}
	if other := c.OverlapHash(bound); other != nil {
		return overlap(name, other, b.node.Start)
	}
	return nil
}

// BoundText prints a partition's bound as FOR VALUES does.
func BoundText(parent, t *catalog.Table) string {
	return t.Bound.Definition(func(key int, v catalog.BoundValue) string {
		return boundValue(parent.Partitioning.Keys[key].Type, v)
	})
}

// boundValue prints a value of a bound: numbers as they are, other values quoted.
func boundValue(t catalog.Type, v catalog.BoundValue) string {
	digits := v.Text != "" && v.Text[0] >= '0' && v.Text[0] <= '9'
	switch {
	case t.ID == catalog.Int4 && digits, t.ID == catalog.Numeric && digits && strings.ContainsAny(v.Text, ".eE"):
		return v.Text
	case t.ID == catalog.Bool && v.Text == "t":
		return "true"
	case t.ID == catalog.Bool:
		return "false"
	}
	return sql.QuoteString(v.Text)
}

// boundTuple prints an end of a range.
func boundTuple(parent *catalog.Table, list []catalog.BoundValue) string {
	b := catalog.PartitionBound{From: list}
	text := b.Definition(func(key int, v catalog.BoundValue) string { return boundValue(parent.Partitioning.Keys[key].Type, v) })
	text = strings.TrimPrefix(text, "FOR VALUES FROM ")
	return text[:strings.LastIndex(text, " TO ")]
}
