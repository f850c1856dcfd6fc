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
