package planner

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/sql"
)

// addIdentity makes an identity column of an ordinary one; the rows keep their values.
func (a *alter) addIdentity(n *sql.AddIdentity) error {
	c, err := a.column(n.Column)
	if err != nil {
		return err
	}
	state := func(format string, args ...any) error {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, format, args...)
	}
	switch {
	case !c.Type.IsInteger():
		return errIdentityType
	case c.Generated != "":
		return generatedColumn(a.t, c)
	case !c.NotNull:
		return state("column %q of relation %q must be declared NOT NULL before identity can be added", c.Name, a.t.Name)
	case c.Identity != catalog.NoIdentity:
		return state("column %q of relation %q is already an identity column", c.Name, a.t.Name)
	case c.Default != "":
		return state("column %q of relation %q already has a default value", c.Name, a.t.Name)
	}
	c.Identity = identityOf(n.Identity)
	return a.d.ownedSequence(a.t, c, n.Identity.Options)
}

func identityOf(n *sql.Identity) catalog.Identity {
	if n.Always {
		return catalog.IdentityAlways
	}
	return catalog.IdentityByDefault
}

// setIdentity changes an identity column and its sequence.
func (a *alter) setIdentity(n *sql.SetIdentity) error {
	c, err := a.column(n.Column)
	if err != nil {
		return err
	}
	if c.Identity == catalog.NoIdentity {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "column %q of relation %q is not an identity column", c.Name, a.t.Name)
	}
	if n.Generated != nil {
		c.Identity = identityOf(n.Generated)
	}
	if len(n.Options) == 0 {
		return nil
	}
	for _, r := range a.d.OwnedSequences(a.t.ID, c.ID) {
		next, err := a.d.AlterSequence(r, &sql.AlterSequence{Span: n.Span, Options: n.Options})
		if err != nil {
			return err
		}
		a.d.Sequences = append(a.d.Sequences, next)
	}
	return nil
}

// dropIdentity makes an ordinary column of an identity column, whose sequence goes.
func (a *alter) dropIdentity(n *sql.DropIdentity) error {
	c, err := a.column(n.Column)
	if err != nil {
		return err
	}
	if c.Identity == catalog.NoIdentity {
		if n.IfExists {
			a.d.Notices = append(a.d.Notices, `column "`+c.Name+`" of relation "`+a.t.Name+`" is not an identity column, skipping`)
			return nil
		}
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "column %q of relation %q is not an identity column", c.Name, a.t.Name)
	}
	c.Identity, c.Default = catalog.NoIdentity, ""
	a.out.Sequences = append(a.out.Sequences, a.d.OwnedSequences(a.t.ID, c.ID)...)
	return nil
}

// identityColumn refuses what would give an identity column another default or NULLs.
func identityColumn(t *catalog.Table, c *catalog.Column) *sqlerr.Error {
	return sqlerr.New(sqlerr.SyntaxError, "column %q of relation %q is an identity column", c.Name, t.Name)
}

func generatedColumn(t *catalog.Table, c *catalog.Column) *sqlerr.Error {
	return sqlerr.New(sqlerr.SyntaxError, "column %q of relation %q is a generated column", c.Name, t.Name)
}
