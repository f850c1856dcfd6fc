package exec

import (
	"math"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// function builds the scan of a set-returning function.
func (b *builder) function(n *planner.FuncScan) ([]*stream, error) {
	args := make([]vector.Datum, len(n.Args))
	null := false
	for i, e := range n.Args {
		var err error
		if args[i], err = constantValue(e, b.run.env); err != nil {
			return nil, err
		}
		args[i].Kind = e.Type().Kind()
		null = null || args[i].Null
	}
	if n.Name != "generate_series" {
		f := b.run.query.TableFunction
		if f == nil {
			return nil, sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", n.Name)
		}
		rows := func() ([][]vector.Datum, error) {
			rows, err := f(n.Name, args)
			if e, ok := err.(*sqlerr.Error); ok {
				err = e.At(n.Pos)
			}
			return rows, err
		}
		return one(&rowSource{kinds: kindsOf(n.Out), rows: rows}, nil), nil
	}
	if null {
		return one(&rowSource{rows: func() ([][]vector.Datum, error) { return nil, nil }}, nil), nil
	}
	switch t := n.Out[0].Typ; t.ID {
	case catalog.Int4, catalog.Int8:
		source, err := newIntSeries(args, t.Kind())
		return one(source, nil), err
	default:
		source, err := newStepSeries(n, args, b.run.env)
		return one(source, nil), err
	}
}

var errStepZero = sqlerr.New(sqlerr.InvalidParameterValue, "step size cannot equal zero")

// intSeries is generate_series over integers; morsels are ranges of it.
type intSeries struct {
	kind        vector.Kind
	start, step int64
	count       uint64
}

func newIntSeries(args []vector.Datum, kind vector.Kind) (*intSeries, error) {
	s := &intSeries{kind: kind, start: args[0].I, step: 1}
	if len(args) > 2 {
		s.step = args[2].I
	}
	switch stop := args[1].I; {
	case s.step == 0:
		return nil, errStepZero
	case s.step > 0 && stop >= s.start:
		s.count = (uint64(stop)-uint64(s.start))/uint64(s.step) + 1
	case s.step < 0 && stop <= s.start:
		s.count = (uint64(s.start)-uint64(stop))/(-uint64(s.step)) + 1
	}
	return s, nil
}

func (s *intSeries) Morsels(*Worker) (int, error) {
	return int(min((s.count+uint64(morselRows)-1)/uint64(morselRows), math.MaxInt32)), nil
}

type intSeriesScanner struct {
	source *intSeries
	w      *Worker
	batch  vector.Batch
	out    Pusher
}

func (s *intSeries) Open(w *Worker, out Pusher) (Scanner, error) {
	return &intSeriesScanner{source: s, w: w, batch: vector.Batch{Vecs: []*vector.Vector{{}}}, out: out}, nil
}

func (c *intSeriesScanner) Scan(morsel int) error {
	s := c.source
	from := uint64(morsel) * uint64(morselRows)
	to := min(from+uint64(morselRows), s.count)
	for from < to {
		n := min(to-from, uint64(vector.BatchCap))
		v := c.batch.Vecs[0]
		v.Reset(s.kind, int(n))
		value := s.start + int64(from)*s.step
		if s.kind == vector.I32 {
			out := vector.Of[int32](v)
			for i := range out {
				out[i] = int32(value)
				value += s.step
			}
		} else {
			out := vector.Of[int64](v)
			for i := range out {
				out[i] = value
				value += s.step
			}
		}
		c.batch.N = int(n)
		if err := c.w.Check(); err != nil {
			return err
		}
		if err := c.out.Push(&c.batch); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// stepSeries is generate_series over types whose values are added by an operator: timestamps with
// an interval step, numerics.
type stepSeries struct {
	typ     catalog.Type
	current *expr.Env // $1 is the value, $2 the step
	next    expr.Evaluator
	stop    *vector.Vector
	up      bool
}

func newStepSeries(n *planner.FuncScan, args []vector.Datum, env *expr.Env) (*stepSeries, error) {
	s := &stepSeries{typ: n.Out[0].Typ, stop: vector.ConstOf(args[1])}
	s.current = copyEnv(env, 2)
	s.current.Params = s.current.Params[:2]
	stepType := s.typ
	step := vector.StringDatum(string(decimal.AppendBytes(nil, decimal.FromInt64(1))))
	if len(args) > 2 {
		step, stepType = args[2], n.Args[2].Type()
	}
	sign := 0
	switch step.Kind {
	case vector.KindInterval:
		sign = step.Interval().Span().Sign()
	default:
		sign = decimal.FromBytes([]byte(step.S)).Sign()
		for i, name := range []string{"start", "stop", "step size"}[:len(args)] {
			d := decimal.FromBytes([]byte(args[i].S))
			if i < 2 {
				name += " value"
			}
			if d.IsNaN() {
				return nil, sqlerr.New(sqlerr.InvalidParameterValue, "%s cannot be NaN", name)
			}
			if d.IsInf() {
				return nil, sqlerr.New(sqlerr.InvalidParameterValue, "%s cannot be infinity", name)
			}
		}
	}
	if sign == 0 {
		return nil, errStepZero
	}
	s.up = sign > 0
	s.current.Params[0], s.current.Params[1] = args[0], step
	sum, err := expr.ResolveBinary("+", &expr.Param{Index: 1, Typ: s.typ}, &expr.Param{Index: 2, Typ: stepType}, 0)
	if err != nil {
		return nil, err
	}
	s.next, err = expr.Compile(sum, func(expr.ColID) int { return 0 }, s.current)
	return s, err
}

func (s *stepSeries) Morsels(*Worker) (int, error) { return 1, nil }

type stepSeriesScanner struct {
	source *stepSeries
	w      *Worker
	out    Pusher
}

func (s *stepSeries) Open(w *Worker, out Pusher) (Scanner, error) {
	return &stepSeriesScanner{s, w, out}, nil
}

func (c *stepSeriesScanner) Scan(int) error {
	s := c.source
	compare := expr.CompareValues(s.typ)
	b := &vector.Batch{Vecs: []*vector.Vector{vector.New(s.typ.Kind(), vector.BatchCap)}}
	value := vector.ConstOf(s.current.Params[0])
	for {
		if d := compare(value, 0, s.stop, 0); s.up && d > 0 || !s.up && d < 0 {
			break
		}
		current := vector.DatumAt(value, 0)
		vector.AppendDatum(b.Vecs[0], current)
		s.current.Params[0] = current
		var err error
		if value, err = s.next.Eval(&vector.Batch{N: 1}, nil); err != nil {
			return err
		}
		if b.Vecs[0].Len == vector.BatchCap {
			if err := c.flush(b); err != nil {
				return err
			}
		}
	}
	return c.flush(b)
}

func (c *stepSeriesScanner) flush(b *vector.Batch) error {
	if b.N = b.Vecs[0].Len; b.N == 0 {
		return nil
	}
	if err := c.w.Check(); err != nil {
		return err
	}
	err := c.out.Push(b)
	kind := b.Vecs[0].Kind
	b.Vecs[0] = vector.New(kind, vector.BatchCap)
	return err
}
