package planner

import (
	"strings"
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/sql"
)

// viewWorld is a world of one table of a million rows whose view is in some state.
type viewWorld struct {
	fixedWorld
	state ViewState
}

func (w *viewWorld) ViewState(*catalog.Table) ViewState { return w.state }

// TestRouter checks how the state of a column view, settings and the query decide on a table's
// access, and what EXPLAIN VERBOSE says about it.
func TestRouter(t *testing.T) {
	loaded := ViewState{Groups: 16, LoadedGroups: 16}
	unloaded := ViewState{Groups: 16}
	stale := ViewState{Groups: 16, LoadedGroups: 16, StaleRows: 1e6}
	onDisk := ViewState{Groups: 16, LoadedGroups: 16, DiskShare: 1}
	auto, column, row := RouterAuto, RouterColumn, RouterRow
	for _, c := range []struct {
		query string
		state ViewState
		mode  RouterMode
		want  string // part of the plan
	}{
		{"select sum(k) from t", loaded, auto, "Imcv Scan"},
		{"select sum(k) from t where r < 10", loaded, auto, "Imcv Scan"},
		{"select sum(k) from t", unloaded, auto, "Row Scan Reason: cost (columns"},
		{"select sum(k) from t", unloaded, column, "Imcv Scan"},
		{"select sum(k) from t", stale, auto, "Row Scan Reason: cost (columns"},
		{"select sum(k) from t", loaded, row, "Row Scan Reason: htap_router_mode is row"},
		{"select k, r, u from t where k < 10 and r < 10", onDisk, auto, "Row Scan Reason: cost (columns"},
		{"select u from t where r = 10", loaded, auto, "Fetched from Rows: u"},
		{"select u from t where id = 10", loaded, auto, "Index Scan using t_pkey"},
		{"select sum(k) from t where u = 10", loaded, column, "Row Scan Reason: predicate column not covered: u"},
		{"select u from t", loaded, column, "Row Scan Reason: column not covered and no predicate: u"},
		{"select u from t order by r limit 5", loaded, auto, "Late Fetch on public.t"},
		{"select u from t order by r limit 5", unloaded, auto, "Seq Scan"},
		{"select u from t order by r limit 5", loaded, row, "Row Scan Reason: htap_router_mode is row"},
		{"select u from t order by u limit 5", loaded, auto, "Seq Scan"},
		{"select u from t where r < 500 order by r limit 5 for update", loaded, auto, "Fetched from Rows: u"},
	} {
		in := Input{Catalog: catalog.NewSnapshot(1), Settings: DefaultSettings(), World: &viewWorld{fixedWorld{"t": 1e6}, c.state}}
		in.Settings.Router = c.mode
		create, err := sql.ParseOne("create table t (id bigint primary key, k integer colview, r integer colview, u integer)")
		if err != nil {
			t.Fatal(err)
		}
		table, err := (&DDL{Input: in, IDs: &counter{}}).CreateTable(create.(*sql.CreateTable))
		if err != nil {
			t.Fatal(err)
		}
		in.Catalog = in.Catalog.WithTable(table)
		stmt, err := sql.ParseOne(c.query)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := Build(stmt, in)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		text := strings.Join(Explain(plan, ExplainOptions{Costs: true, Verbose: true}), "\n")
		if !strings.Contains(text, c.want) {
			t.Errorf("%s, mode %d, %+v: no %q in\n%s", c.query, c.mode, c.state, c.want, text)
		}
	}
}
