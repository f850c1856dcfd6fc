package weft

import (
	"context"
	"fmt"
	"time"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
)

// Finding is one thing that Check found wrong. Its String is one line.
type Finding = storage.Finding

// CheckOptions say whom Check tells of findings and progress.
type CheckOptions = storage.CheckOptions

// CheckSummary says what Check looked at, and how many findings there are.
type CheckSummary struct {
	storage.CheckSummary
	Constraints int // CHECK constraints and generated columns evaluated over all rows
	Units       int // column units compared with their rows
}

// Check verifies the latest committed state and changes nothing: the catalog, every row of every
// table, every index entry, the numbers kept of tables and sequences, CHECK constraints, and the
// column units in memory. Findings go to o.Report as they are met, at most a hundred or so of one
// table; they are no error. Statements may run meanwhile.
func (db *DB) Check(ctx context.Context, o CheckOptions) (summary CheckSummary, err error) {
	err = db.users.task(ctx, "check", func(ctx context.Context) error {
		damaged := map[string]bool{}
		report := o.Report
		o.Report = func(f Finding) {
			damaged[f.Table] = true
			if report != nil {
				report(f)
			}
		}
		if summary.CheckSummary, err = db.engine.Check(ctx, o); err != nil {
			return err
		}
		add := func(f Finding) {
			summary.Findings++
			o.Report(f)
		}
		for _, t := range db.engine.Catalog().Tables() {
			// The rows of a damaged table may end a statement, which would be no news.
			if t.Temp || damaged[t.Schema+"."+t.Name] { // of temporary tables, only their sessions evaluate anything
				continue
			}
			n, err := db.checkConstraints(ctx, t, add)
			summary.Constraints += n
			if err != nil {
				return err
			}
			if t.IsPartition() {
				if err := db.checkPlacement(ctx, t, add); err != nil {
					return err
				}
			}
		}
		summary.Units, err = db.views.Check(ctx, add)
		return err
	})
	return summary, err
}

// rowRule is what every row of a table obeys, with the condition that finds those which do not.
type rowRule struct{ place, violation string }

// rowRules are a table's CHECK constraints and generated columns.
func rowRules(t *catalog.Table) []rowRule {
	var rules []rowRule
	for _, c := range t.Checks {
		if c.NotValid {
			continue
		}
		rules = append(rules, rowRule{"constraint " + c.Name, "NOT (" + c.Expr + ")"})
	}
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Generated != "" {
			rules = append(rules, rowRule{"generated column " + c.Name, sql.QuoteIdent(c.Name) + " IS DISTINCT FROM (" + c.Generated + ")::" + c.Type.String()})
		}
	}
	return rules
}

// checkConstraints counts the rows that violate a table's CHECK constraints or have other values in
// generated columns than those that they should have, and returns the number of both.
func (db *DB) checkConstraints(ctx context.Context, t *catalog.Table, report func(Finding)) (int, error) {
	s := db.Session()
	defer s.Close()
	rules := rowRules(t)
	for i, rule := range rules {
		place := rule.place
		violations := int64(0)
		_, err := s.Exec(ctx, "SET "+setRouterMode+" = row")
		if err == nil {
			violations, err = s.queryNumber(ctx, "SELECT count(*) FROM "+qualified(t)+" WHERE "+rule.violation)
		}
		switch {
		case ctx.Err() != nil:
			return i, canceled(ctx)
		case err != nil && db.engine.Catalog().Table(t.ID) != t:
			return i, nil // altered or dropped meanwhile
		case err != nil:
			report(Finding{Table: t.Schema + "." + t.Name, Place: place, What: fmt.Sprintf("cannot be evaluated: %v", err)})
		case violations > 0:
			report(Finding{Table: t.Schema + "." + t.Name, Place: place, What: fmt.Sprintf("%d rows violate it", violations)})
		}
	}
	return len(rules), nil
}

// queryNumber runs a query for one number.
func (s *Session) queryNumber(ctx context.Context, query string) (n int64, err error) {
	rows, err := s.Query(ctx, query)
	if err != nil {
		return 0, err
	}
	if rows.Next() {
		err = rows.Scan(&n)
	}
	if cerr := rows.Close(); err == nil {
		err = cerr
	}
	return n, err
}

// checkPlacement looks for rows of a partition that its bounds keep out.
func (db *DB) checkPlacement(ctx context.Context, t *catalog.Table, report func(Finding)) error {
	s := db.Session()
	defer s.Close()
	view := db.engine.View()
	defer view.Release()
	if view.Catalog().Table(t.ID) != t {
		return nil // altered or dropped meanwhile
	}
	r := &running{s: s, ctx: ctx, text: "CHECK", now: time.Now().UnixMicro()}
	in := s.input(view.Catalog())
	in.Settings.Router = planner.RouterRow
	ok, err := r.belongs(t, in, view, nil)
	switch {
	case ctx.Err() != nil:
		return canceled(ctx)
	case err != nil:
		report(Finding{Table: t.Schema + "." + t.Name, Place: "partition bounds", What: fmt.Sprintf("cannot be evaluated: %v", err)})
	case !ok:
		report(Finding{Table: t.Schema + "." + t.Name, Place: "partition bounds", What: "some row does not belong to the partition"})
	}
	return nil
}
