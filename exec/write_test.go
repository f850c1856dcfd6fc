package exec

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// database is a table t(id bigint primary key, v text not null, n integer) on two data nodes.
type database struct {
	*plans
	engine *storage.Engine
	table  *catalog.Table
	txn    *storage.Txn
}

var tableTypes = []catalog.Type{bigint, text, smaller}

func newDatabase(t *testing.T) *database {
	e, err := storage.Open(storage.Options{InMemory: true, Nodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	tbl := &catalog.Table{ID: e.NewTableID(), Schema: catalog.DefaultSchema, Name: "t", SchemaVersion: 1, NextColumn: 4,
		Columns: []catalog.Column{
			{ID: 1, Name: "id", Type: bigint, NotNull: true, AddedIn: 1},
			{ID: 2, Name: "v", Type: text, NotNull: true, AddedIn: 1},
			{ID: 3, Name: "n", Type: smaller, AddedIn: 1}},
		Indexes:      []catalog.Index{{ID: e.NewIndexID(), Name: "t_pkey", Columns: []catalog.ColumnID{1}, Unique: true, Primary: true}},
		DistributeBy: []catalog.ColumnID{1}, Stores: []catalog.StoreID{e.NewStoreID(), e.NewStoreID()}}
	x := e.Begin(storage.TxnOptions{})
	if err := x.SetCatalog(context.Background(), x.Catalog().WithTable(tbl)); err != nil {
		t.Fatal(err)
	}
	if err := x.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	d := &database{plans: newPlans(t), engine: e, table: e.Catalog().Table(tbl.ID), txn: e.Begin(storage.TxnOptions{})}
	t.Cleanup(func() {
		d.txn.Rollback()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// statement runs a plan as a statement of the transaction.
func (d *database) statement(root planner.Node, threads int) ([]row, int64, error) {
	d.txn.BeginStatement()
	view := d.txn.View()
	defer view.Release()
	out := &rows{}
	outcome, err := Run(context.Background(), Query{Plan: d.plan(root), View: view, Txn: d.txn, Threads: threads}, out)
	if err != nil {
		d.txn.RollbackStatement()
	} else {
		d.txn.EndStatement()
	}
	return out.list, outcome.Affected, err
}

func (d *database) must(root planner.Node, affected int64) []row {
	d.t.Helper()
	list, n, err := d.statement(root, 2)
	if err != nil || n != affected {
		d.t.Fatalf("affected %d, want %d: %v", n, affected, err)
	}
	return list
}

func (d *database) scan(ref bool) *planner.Scan {
	s := &planner.Scan{Table: d.table}
	for i := range d.table.Columns {
		s.Columns = append(s.Columns, planner.ScanCol{Pos: i, Col: d.col(d.table.Columns[i].Type)})
	}
	if ref {
		s.RowRef = d.col(bigint)
	}
	return s
}

func tableRow(id int64, v string, n int64) row {
	return row{vector.IntDatum(vector.I64, id), vector.StringDatum(v), vector.IntDatum(vector.I32, n)}
}

func items(cols ...*expr.Col) []planner.Item {
	var out []planner.Item
	for i, c := range cols {
		out = append(out, planner.Item{Col: &expr.Col{ID: c.ID + 10_000 + expr.ColID(i), Typ: c.Typ}, Expr: c})
	}
	return out
}

func (d *database) insert(input planner.Node) *planner.Insert {
	return &planner.Insert{Table: d.table, Input: input, RowCols: input.Cols()}
}

func (d *database) fill(n int) []row {
	var list []row
	for i := range n {
		list = append(list, tableRow(int64(i), fmt.Sprint("v", i%10), int64(i%100)))
	}
	d.ctes = nil
	d.must(d.insert(d.values(tableTypes, list)), int64(n))
	return list
}

func TestInsert(t *testing.T) {
	d := newDatabase(t)
	list := d.fill(2500)
	d.same("table", d.must(d.scan(false), 0), list)
	// From itself: the statement does not see its own rows.
	s := d.scan(false)
	moved := &planner.Project{Input: s, Items: []planner.Item{{Col: d.col(bigint), Expr: d.op("+", s.Columns[0].Col, integer(10_000))}, {Col: d.col(text), Expr: s.Columns[1].Col}, {Col: d.col(smaller), Expr: s.Columns[2].Col}}}
	in := d.insert(moved)
	in.Returning = items(in.RowCols[0])
	if got := d.must(in, 2500); len(got) != 2500 || got[0][0].I < 10_000 {
		t.Error(len(got))
	}
	if got := d.must(d.scan(false), 0); len(got) != 5000 {
		t.Error(len(got))
	}
	_, _, err := d.statement(d.insert(d.values(tableTypes, []row{tableRow(9000, "x", 1), tableRow(7, "y", 1)})), 1)
	if sqlerr.CodeOf(err) != sqlerr.UniqueViolation {
		t.Error(err)
	}
	if got := d.must(d.scan(false), 0); len(got) != 5000 {
		t.Error("a failed statement left rows")
	}
}

func TestConstraints(t *testing.T) {
	d := newDatabase(t)
	null := tableRow(3, "x", 1)
	null[1] = vector.NullDatum(vector.Bytes)
	none := tableRow(4, "x", 1)
	none[2] = vector.NullDatum(vector.I32)
	for _, c := range []struct {
		rows         []row
		code         sqlerr.Code
		text, detail string
	}{
		{[]row{tableRow(1, "a", 1), null}, sqlerr.NotNullViolation, `null value in column "v" of relation "t" violates not-null constraint`, "Failing row contains (3, null, 1)."},
		{[]row{tableRow(1, "a", 1), tableRow(2, "a long text: 0123456789 0123456789 0123456789 0123456789 0123456789", -1), null}, sqlerr.CheckViolation, `new row for relation "t" violates check constraint "t_n_check"`,
			"Failing row contains (2, a long text: 0123456789 0123456789 0123456789 0123456789 0123456..., -1)."},
		{[]row{null, tableRow(2, "b", -1)}, sqlerr.NotNullViolation, `null value in column "v" of relation "t" violates not-null constraint`, "Failing row contains (3, null, 1)."},
		{[]row{none}, "00000", "", ""},
	} {
		in := d.insert(d.values(tableTypes, c.rows))
		positive := d.op(">", in.RowCols[2], constant(smaller, vector.IntDatum(vector.I32, 0)))
		in.Checks = []planner.TableCheck{{Name: "t_n_check", Expr: positive}}
		_, _, err := d.statement(in, 1)
		if sqlerr.CodeOf(err) != c.code {
			t.Fatal(err)
		}
		var e *sqlerr.Error
		if errors.As(err, &e) && (e.Message != c.text || e.Detail != c.detail || e.TableName != "t") {
			t.Errorf("%s\n%s", e.Message, e.Detail)
		}
	}
}

func TestUpdateDelete(t *testing.T) {
	d := newDatabase(t)
	list := d.fill(3000)
	// Every row meets several rows of the other side: it is updated once.
	s, other := d.scan(true), d.series(0, 1999)
	half := d.op("/", other.Out[0], integer(2))
	j := &planner.Join{Kind: planner.InnerJoin, Left: s, Right: other, Keys: []planner.JoinKey{{Left: s.Columns[0].Col, Right: half}}}
	c := j.Cols()
	project := &planner.Project{Input: j, Items: items(c[0], c[1], c[2], c[3])}
	project.Items[2].Expr = d.op("+", c[2], constant(smaller, vector.IntDatum(vector.I32, 1000)))
	up := &planner.Update{Table: d.table, Input: project, RowCols: project.Cols()[:3]}
	up.Returning = items(up.RowCols[2])
	got := d.must(up, 1000)
	if len(got) != 1000 || got[0][0].I < 1000 {
		t.Error(len(got))
	}
	want := []row{}
	for i, r := range list {
		if i < 1000 {
			r = tableRow(int64(i), r[1].S, r[2].I+1000)
		}
		want = append(want, r)
	}
	d.same("updated", d.must(d.scan(false), 0), want)
	s = d.scan(true)
	s.Filter = []expr.Expr{d.op(">=", s.Columns[0].Col, integer(500))}
	del := &planner.Delete{Table: d.table, Input: s, Returning: items(s.Columns[0].Col)}
	if got := d.must(del, 2500); len(got) != 2500 {
		t.Error(len(got))
	}
	d.same("deleted", d.must(d.scan(false), 0), want[:500])
}

func TestKeyScan(t *testing.T) {
	d := newDatabase(t)
	list := d.fill(1000)
	look := func(key expr.Expr, conds ...func(s *planner.Scan) expr.Expr) []row {
		s := d.scan(true)
		s.Access, s.Key = planner.AccessKey, []expr.Expr{key}
		for _, c := range conds {
			s.Filter = append(s.Filter, c(s))
		}
		return d.must(s, 0)
	}
	if got := look(integer(77)); len(got) != 1 || lines([]row{got[0][:3]})[0] != lines(list[77:78])[0] {
		t.Error(got)
	}
	if got := look(integer(5000)); len(got) != 0 {
		t.Error(got)
	}
	if got := look(constant(bigint, vector.NullDatum(vector.I64))); len(got) != 0 {
		t.Error(got)
	}
	if got := look(integer(77), func(s *planner.Scan) expr.Expr {
		return d.op("=", s.Columns[1].Col, constant(text, vector.StringDatum("no")))
	}); len(got) != 0 {
		t.Error(got)
	}
}

// TestLentFilters joins scans with small and large, dense and sparse builds: their filters must not
// drop rows that match.
func TestLentFilters(t *testing.T) {
	d := newDatabase(t)
	list := d.fill(5000)
	for _, kind := range []planner.JoinKind{planner.InnerJoin, planner.SemiJoin, planner.RightJoin, planner.RightSemiJoin, planner.RightAntiJoin, planner.LeftJoin, planner.AntiJoin} {
		for variant, args := range [][]int64{{1, 10}, {-1_000_000_000, 1_000_000_000, 999_983}, {1, 4_000_000_000_000_000_000, 999_983_333_333_337}, {5, 1}, {4000, 6000}} {
			right := d.series(args...)
			s := d.scan(false)
			j := &planner.Join{Kind: kind, Left: s, Right: right, Keys: []planner.JoinKey{{Left: s.Columns[0].Col, Right: right.Cols()[0]}}, RightUnique: variant&1 == 0}
			keys := d.must(right, 0)
			var got, want []string
			for _, r := range d.must(j, 0) {
				got = append(got, lines([]row{{r[0], r[len(r)-1]}})...)
			}
			for _, r := range lentReference(kind, list, keys) {
				want = append(want, lines([]row{{r[0], r[len(r)-1]}})...)
			}
			d.sameLines(fmt.Sprint(kind, variant), got, want)
		}
	}
}

func lentReference(kind planner.JoinKind, left, right []row) (out []row) {
	keys, seen := map[int64]row{}, map[int64]bool{}
	for _, r := range right {
		keys[r[0].I] = r
	}
	for _, l := range left {
		r, ok := keys[l[0].I]
		seen[l[0].I] = true
		switch {
		case ok && (kind == planner.InnerJoin || kind == planner.RightJoin || kind == planner.LeftJoin):
			out = append(out, append(append(row(nil), l...), r...))
		case ok && kind == planner.SemiJoin, !ok && kind == planner.AntiJoin:
			out = append(out, l)
		case !ok && kind == planner.LeftJoin:
			out = append(out, append(append(row(nil), l...), vector.NullDatum(vector.I64)))
		}
	}
	for _, r := range right {
		switch {
		case kind == planner.RightJoin && !seen[r[0].I]:
			out = append(out, append(row{vector.NullDatum(vector.I64)}, r...))
		case kind == planner.RightSemiJoin && seen[r[0].I], kind == planner.RightAntiJoin && !seen[r[0].I]:
			out = append(out, r)
		}
	}
	return out
}
