package planner

import (
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// dropExpression makes an ordinary column of a generated one, which keeps its values.
func (a *alter) dropExpression(n *sql.DropIdentity) error {
	c, err := a.column(n.Column)
	if err != nil {
		return err
	}
	if c.Generated != "" {
		c.Generated = ""
		return nil
	}
	if n.IfExists {
		a.d.Notices = append(a.d.Notices, `column "`+c.Name+`" of relation "`+a.t.Name+`" is not a stored generated column, skipping`)
		return nil
	}
	return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "column %q of relation %q is not a stored generated column", c.Name, a.t.Name)
}

// setStatistics checks a column's statistics target. All statistics are of one size, so it is not kept.
func (a *alter) setStatistics(n *sql.AlterColumnStatistics) error {
	if _, err := a.column(n.Column); err != nil {
		return err
	}
	if n.Target < -1 {
		return sqlerr.New(sqlerr.InvalidParameterValue, "statistics target %d is too low", n.Target)
	}
	if n.Target > 10000 {
		a.d.Notices = append(a.d.Notices, "lowering statistics target to 10000")
	}
	return nil
}

// CheckOwner refuses to give an object to somebody else than the only role there is.
func (d *DDL) CheckOwner(n *sql.OwnerTo) error {
	switch n.Owner.Name {
	case d.Env.Role(), "current_user", "current_role", "session_user":
		return nil
	}
	return sqlerr.New(sqlerr.UndefinedObject, "role %q does not exist", n.Owner.Name)
}
