package planner

import (
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

var lockStrengths = map[sql.LockStrength]LockStrength{sql.ForUpdate: LockUpdate, sql.ForNoKeyUpdate: LockNoKeyUpdate,
	sql.ForShare: LockShare, sql.ForKeyShare: LockKeyShare}

var lockWaits = map[sql.LockWait]LockWait{sql.LockNoWait: LockFails, sql.LockSkip: LockSkips}

// clause names a locking clause for messages.
func lockClause(l *sql.Locking) string {
	return map[sql.LockStrength]string{sql.ForUpdate: "FOR UPDATE", sql.ForNoKeyUpdate: "FOR NO KEY UPDATE",
		sql.ForShare: "FOR SHARE", sql.ForKeyShare: "FOR KEY SHARE"}[l.Strength]
}

// markLocked makes a scan yield its rows' references.
func (b *binder) markLocked(scan *Scan) {
	if scan.Lock == 0 {
		b.locks++
		scan.Lock, scan.RowRef = b.locks, b.column("ctid", rowRefType, true)
	}
}

// lockTargets marks the scans of a FROM clause that FOR UPDATE and the like lock.
func (b *binder) lockTargets(n *sql.SelectCore, list []sql.Locking, plan Node) ([]LockedRows, error) {
	var out []LockedRows
	for i := range list {
		l := &list[i]
		if err := lockAllowed(n, l); err != nil {
			return nil, err
		}
		found := map[string]bool{}
		var failed error
		visitLockable(plan, false, func(rel Node, name string, nullable bool) {
			named := listed(l.Of, name)
			if failed != nil || len(l.Of) > 0 && named == nil {
				return
			}
			found[name] = true
			scan, ok := rel.(*Scan)
			switch {
			case !ok:
				failed = b.unlockable(rel, l, named)
			case nullable:
				failed = sqlerr.New(sqlerr.FeatureNotSupported, "%s cannot be applied to the nullable side of an outer join", lockClause(l))
			default:
				b.markLocked(scan)
				b.use(scan.Table, LocksRows)
				out = addLock(out, LockedRows{Ref: scan.RowRef, Lock: scan.Lock, Table: name, Strength: lockStrengths[l.Strength], Wait: lockWaits[l.Wait]})
			}
		})
		if failed != nil {
			return nil, failed
		}
		for _, name := range l.Of {
			if !found[name.Name] {
				return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %q in %s clause not found in FROM clause", name.Name, lockClause(l)).At(name.Start)
			}
		}
	}
	return out, nil
}

// addLock adds a lock; of two on one table the stronger and the less patient count.
func addLock(list []LockedRows, l LockedRows) []LockedRows {
	for i := range list {
		if list[i].Lock == l.Lock {
			list[i].Strength = max(list[i].Strength, l.Strength)
			list[i].Wait = max(list[i].Wait, l.Wait)
			return list
		}
	}
	return append(list, l)
}

func listed(names []sql.ObjectName, name string) *sql.ObjectName {
	for i := range names {
		if names[i].Name == name {
			return &names[i]
		}
	}
	return nil
}

// lockAllowed refuses what makes rows that are no table's rows.
func lockAllowed(n *sql.SelectCore, l *sql.Locking) error {
	what := ""
	switch {
	case n.Distinct || len(n.DistinctOn) > 0:
		what = "DISTINCT clause"
	case n.GroupBy != nil:
		what = "GROUP BY clause"
	case n.Having != nil:
		what = "HAVING clause"
	default:
		return nil
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not allowed with %s", lockClause(l), what)
}

// unlockable is the error for a relation that has no rows to lock; nil where PostgreSQL passes over
// it because the clause does not name it.
func (b *binder) unlockable(rel Node, l *sql.Locking, named *sql.ObjectName) error {
	kind := ""
	switch rel.(type) {
	case *CTEScan:
		kind = "a WITH query"
	case *FuncScan:
		kind = "a function"
	default:
		return b.unsupported(l, lockClause(l)+" of a subquery in FROM")
	}
	if named == nil {
		return nil
	}
	return sqlerr.New(sqlerr.WrongObjectType, "%s cannot be applied to %s", lockClause(l), kind).At(named.Start)
}

// visitLockable visits the relations of a FROM clause; nullable tells that an outer join may fill
// the relation with NULLs.
func visitLockable(plan Node, nullable bool, visit func(rel Node, name string, nullable bool)) {
	switch n := plan.(type) {
	case *Join:
		visitLockable(n.Left, nullable || n.Kind == RightJoin || n.Kind == FullJoin, visit)
		visitLockable(n.Right, nullable || n.Kind == LeftJoin || n.Kind == FullJoin, visit)
	case *Scan:
		visit(n, n.Alias, nullable)
	case *CTEScan:
		visit(n, n.Alias, nullable)
	case *FuncScan:
		visit(n, n.Alias, nullable)
	case *Values:
		if len(n.Out) > 0 {
			visit(n, "", nullable)
		}
	default:
		visit(n, "", nullable)
	}
}

// lockRows locks the rows of a query's output and drops their references, the last columns of plan.
func lockRows(plan Node, rows []LockedRows) Node {
	if len(rows) == 0 {
		return plan
	}
	cols := plan.Cols()
	refs := cols[len(cols)-len(rows):]
	n := &LockRows{Input: plan, Rows: append([]LockedRows(nil), rows...)}
	for i := range n.Rows {
		n.Rows[i].Ref = refs[i]
	}
	return n
}

// lockExprs lists the references to carry through a query.
func lockExprs(rows []LockedRows) []expr.Expr {
	var out []expr.Expr
	for i := range rows {
		out = append(out, rows[i].Ref)
	}
	return out
}
