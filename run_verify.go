package weft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// verifyCounts counts what htap_verify did since the database was opened.
type verifyCounts struct {
	compared atomic.Int64 // all rows
	counted  atomic.Int64 // their number only
	skipped  atomic.Int64
	same     atomic.Int64 // no table has a view that could serve: there is one way only
}

var verifyColumns = []planner.ResultColumn{column("compared", int8Type), column("counted", int8Type), column("skipped", int8Type), column("one_way", int8Type)}

// verifyStatus is gs_htap_verify_status.
func verifyStatus(c *functionCall, _ []vector.Datum) ([][]vector.Datum, error) {
	v := &c.db.verified
	return [][]vector.Datum{{int8(v.compared.Load()), int8(v.counted.Load()), int8(v.skipped.Load()), int8(v.same.Load())}}, nil
}

// verify runs a query by a plan that reads columns and by one that reads rows, through one view, and
// fails if the results differ. The statement's own plan is one of the two; its rows are returned.
// The other plan is made as if htap_router_mode or enable_htap were set otherwise.
func (r *running) verify(ctx context.Context, in *reading, plan *cachedPlan, env *expr.Env) ([]*vector.Batch, error) {
	mine, err := r.readAll(ctx, in, plan.Plan, env)
	if err != nil {
		return nil, err
	}
	counts := &r.s.db.verified
	how, why := plan.Comparison()
	if how == planner.CompareNothing {
		counts.skipped.Add(1)
		r.s.notices([]string{"htap_verify: results are not compared: " + why})
		return mine, nil
	}
	other, err := r.otherPlan(in, plan.Plan)
	if err != nil {
		return nil, err
	}
	if other == nil {
		counts.same.Add(1)
		return mine, nil
	}
	otherEnv, err := r.planEnv(other)
	if err != nil {
		return nil, err
	}
	theirs, err := r.readAll(ctx, in, other, otherEnv)
	if err != nil {
		var known *sqlerr.Error
		if !errors.As(err, &known) || !known.Code.OfData() {
			return nil, err
		}
		return nil, differs(plan.Plan, "one way gives rows, the other the error %q", known.Message)
	}
	byRows, byColumns := mine, theirs
	if plan.ReadsColumns() {
		byRows, byColumns = theirs, mine
	}
	if how == planner.CompareCount {
		counts.counted.Add(1)
		r.s.notices([]string{"htap_verify: only the number of rows is compared: " + why})
		if a, b := liveRows(byRows), liveRows(byColumns); a != b {
			return nil, differs(plan.Plan, "by rows there are %d rows, by columns %d", a, b)
		}
		return mine, nil
	}
	counts.compared.Add(1)
	return mine, r.compareRows(plan, byRows, byColumns, env)
}

// differs is the error of two results that do not agree.
func differs(p *planner.Plan, format string, args ...any) error {
	return sqlerr.New(sqlerr.InternalError, "htap_verify: reading by rows and by columns differs: "+format, args...).
		WithDetail("The statement's plan was:\n%s", strings.Join(planner.Explain(p, planner.ExplainOptions{Verbose: true}), "\n")).
		WithHint("This is a bug in weft, or a damaged column view: gs_imcv_flush rebuilds it, weft check compares it with its table.")
}

// otherPlan plans the statement to read rows where plan reads columns, and the other way round; nil if
// there is no such way.
func (r *running) otherPlan(in *reading, plan *planner.Plan) (*planner.Plan, error) {
	input := r.s.input(in.view.Catalog())
	input.ParamTypes = r.types
	columns := plan.ReadsColumns()
	if columns {
		input.Settings.EnableHTAP = false // beats hints, too
	} else {
		input.Settings.Router, input.Settings.EnableImcvScan, input.Settings.EnableHybrid = planner.RouterColumn, true, true
	}
	other, err := planner.Build(r.stmt, input)
	if err != nil || other.ReadsColumns() == columns {
		return nil, err
	}
	return other, nil
}

// readAll runs a plan to its end.
func (r *running) readAll(ctx context.Context, in *reading, plan *planner.Plan, env *expr.Env) ([]*vector.Batch, error) {
	cursor, err := exec.Start(ctx, r.execQuery(ctx, plan, in.view, nil, env))
	if err != nil {
		return nil, contextError(ctx, err)
	}
	rows := &Rows{ctx: ctx}
	if err := rows.collect(cursor); err != nil {
		return nil, contextError(ctx, err)
	}
	return rows.kept, nil
}

func liveRows(batches []*vector.Batch) (n int) {
	for _, b := range batches {
		n += b.Live()
	}
	return n
}

// comparedRow is a row as text, but for floats, which may be summed up in any order.
type comparedRow struct {
	text   string
	floats []float64
}

// compareRows compares two results as multisets.
func (r *running) compareRows(plan *cachedPlan, byRows, byColumns []*vector.Batch, env *expr.Env) error {
	a, b := comparable(plan.columns, byRows, env), comparable(plan.columns, byColumns, env)
	if len(a) != len(b) {
		return differs(plan.Plan, "by rows there are %d rows, by columns %d", len(a), len(b))
	}
	for i := range a {
		if a[i].text != b[i].text || !slices.EqualFunc(a[i].floats, b[i].floats, closeTo) {
			return differs(plan.Plan, "by rows there is a row %s, by columns %s in its place", a[i], b[i])
		}
	}
	return nil
}

func (c comparedRow) String() string { return fmt.Sprint("(", c.text, c.floats, ")") }

// comparable lists a result's rows in an order that does not depend on how they were read.
func comparable(columns []Column, batches []*vector.Batch, env *expr.Env) []comparedRow {
	var out []comparedRow
	for _, batch := range batches {
		for k := range batch.Live() {
			at := k
			if batch.Sel != nil {
				at = int(batch.Sel[k])
			}
			out = append(out, comparableRow(columns, batch, at, env))
		}
	}
	slices.SortFunc(out, func(a, b comparedRow) int {
		return cmp.Or(strings.Compare(a.text, b.text), slices.Compare(a.floats, b.floats))
	})
	return out
}

func comparableRow(columns []Column, batch *vector.Batch, at int, env *expr.Env) comparedRow {
	var text []byte
	var floats []float64
	for i, c := range columns {
		v := batch.Vecs[i]
		switch {
		case v.IsNull(at):
			text = append(text, `\N`...)
		case c.Type.ID == catalog.Float4 || c.Type.ID == catalog.Float8:
			floats = append(floats, vector.DatumAt(v, at).F)
		default:
			text = expr.AppendText(text, c.Type, v, at, env)
		}
		text = append(text, '|')
	}
	return comparedRow{string(text), floats}
}

// closeTo compares floats that may have been added up in another order.
func closeTo(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))
}
