package exec

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// valuesSource yields rows of expressions without columns.
type valuesSource struct {
	run  *run
	node *planner.Values
}

func (s *valuesSource) Morsels(*Worker) (int, error) { return min(len(s.node.Rows), 1), nil }

type valuesScanner struct {
	source *valuesSource
	kinds  []vector.Kind
	vecs   []*vector.Vector
	batch  vector.Batch
	out    Pusher
}

func (s *valuesSource) Open(_ *Worker, out Pusher) (Scanner, error) {
	c := &valuesScanner{source: s, kinds: kindsOf(s.node.Out), out: out}
	for _, k := range c.kinds {
		c.vecs = append(c.vecs, vector.New(k, min(len(s.node.Rows), vector.BatchCap)))
	}
	return c, nil
}

func (c *valuesScanner) Scan(int) error {
	rows := c.source.node.Rows
	for from := 0; from < len(rows); from += vector.BatchCap {
		part := rows[from:min(from+vector.BatchCap, len(rows))]
		b := &c.batch
		*b = vector.Batch{N: len(part), Vecs: c.vecs}
		for i, k := range c.kinds {
			v := b.Vecs[i]
			v.Reset(k, 0)
			for _, row := range part {
				d, err := constantValue(row[i], c.source.run.env)
				if err != nil {
					return err
				}
				d.Kind = k
				vector.AppendDatum(v, d)
			}
		}
		if err := c.out.Push(b); err != nil {
			return err
		}
	}
	return nil
}

// constantValue evaluates an expression without columns; literals and parameters, of which a long
// VALUES list consists, are not compiled.
func constantValue(e expr.Expr, env *expr.Env) (vector.Datum, error) {
	switch e := e.(type) {
	case *expr.Const:
		return e.Value, nil
	case *expr.Param:
		return env.Param(e.Index)
	}
	return expr.EvalConst(e, env)
}

// rowSource yields rows computed by a function when the scan starts.
type rowSource struct {
	kinds []vector.Kind
	rows  func() ([][]vector.Datum, error)
}

func (s *rowSource) Morsels(*Worker) (int, error) { return 1, nil }

type rowScanner struct {
	source *rowSource
	out    Pusher
}

func (s *rowSource) Open(_ *Worker, out Pusher) (Scanner, error) { return &rowScanner{s, out}, nil }

func (c *rowScanner) Scan(int) error {
	rows, err := c.source.rows()
	if err != nil {
		return err
	}
	for len(rows) > 0 {
		part := rows[:min(len(rows), vector.BatchCap)]
		rows = rows[len(part):]
		b := &vector.Batch{N: len(part)}
		for i, k := range c.source.kinds {
			v := vector.New(k, len(part))
			for _, row := range part {
				d := row[i]
				d.Kind = k
				vector.AppendDatum(v, d)
			}
			b.Vecs = append(b.Vecs, v)
		}
		if err := c.out.Push(b); err != nil {
			return err
		}
	}
	return nil
}
