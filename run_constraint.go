package weft

import (
	"context"
	"maps"
	"time"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
)

// pendingKey is a change of a foreign key's values that is checked when the transaction commits: of
// the key's own values, held, or of values that it references.
type pendingKey struct {
	*exec.KeyChange
	held bool
}

// constraintName names a constraint for SET CONSTRAINTS.
type constraintName struct {
	table catalog.TableID
	name  string
}

// constraintModes are what SET CONSTRAINTS has said in a transaction. It is a value: the map is copied
// before it is changed.
type constraintModes struct {
	all   sql.Tristate // of those not named: deferred or not
	named map[constraintName]bool
}

// defers reports whether a foreign key is checked at commit.
func (s *Session) defers(c *exec.KeyChange) bool {
	if !c.Key.Deferrable {
		return false
	}
	if deferred, named := s.constraints.named[constraintName{c.Child.ID, c.Key.Name}]; named {
		return deferred
	}
	if s.constraints.all != sql.Unset {
		return s.constraints.all == sql.Yes
	}
	return c.Key.Deferred
}

// checkPending checks the changes put off so far, with only of some keys. They stay in the list: a
// savepoint rolled back to may need them again, and checking twice does no harm.
func (k *keyWork) checkPending(only func(c *exec.KeyChange) bool) error {
	for _, p := range k.r.s.pending {
		if only != nil && !only(p.KeyChange) {
			continue
		}
		var err error
		if p.held {
			err = k.checkHeld(p.KeyChange)
		} else {
			err = k.checkGone(p.KeyChange, true)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkDeferred checks what a transaction block has put off, before it commits.
func (s *Session) checkDeferred(ctx context.Context) error {
	if len(s.pending) == 0 {
		return nil
	}
	r := &running{s: s, ctx: ctx, text: "COMMIT", now: time.Now().UnixMicro()}
	return r.checkConstraints(nil)
}

func (r *running) checkConstraints(only func(c *exec.KeyChange) bool) error {
	env := r.sessionEnv()
	timed, cancel := r.timed()
	defer cancel()
	k := &keyWork{r: timed, w: &work{s: r.s, txn: r.s.txn}, env: env}
	return contextError(timed.ctx, k.checkPending(only))
}

// setConstraints runs SET CONSTRAINTS. What is IMMEDIATE from now on is checked now.
func (r *running) setConstraints(n *sql.SetConstraints) (*Rows, error) {
	s := r.s
	if s.txn == nil {
		r.warn("SET CONSTRAINTS can only be used in transaction blocks")
	}
	named, err := s.deferrableConstraints(n.Names)
	switch {
	case err != nil || s.txn == nil:
	case len(n.Names) == 0 && n.Deferred:
		s.constraints = constraintModes{all: sql.Yes}
	case len(n.Names) == 0:
		s.constraints = constraintModes{all: sql.No}
		err = r.checkConstraints(nil)
	default:
		modes := maps.Clone(s.constraints.named)
		if modes == nil {
			modes = map[constraintName]bool{}
		}
		for c := range named {
			modes[c] = n.Deferred
		}
		s.constraints.named = modes
		if !n.Deferred {
			err = r.checkConstraints(func(c *exec.KeyChange) bool { return named[constraintName{c.Child.ID, c.Key.Name}] })
		}
	}
	return done("SET CONSTRAINTS"), err
}

// deferrableConstraints finds the constraints of some names.
func (s *Session) deferrableConstraints(names []sql.ObjectName) (map[constraintName]bool, error) {
	found := map[constraintName]bool{}
	for _, name := range names {
		keys, err := (&planner.DDL{Input: s.input(s.Catalog())}).DeferrableConstraint(name)
		if err != nil {
			return nil, err
		}
		for _, ref := range keys {
			found[constraintName{ref.Child.ID, ref.Key.Name}] = true
		}
	}
	return found, nil
}

// refusePending refuses a change of a table's definition while rows of it wait to be checked.
func (s *Session) refusePending(what string, t *catalog.Table) error {
	for _, p := range s.pending {
		if p.held && p.Child.ID == t.ID || !p.held && p.Parent.ID == t.ID {
			return sqlerr.New(sqlerr.ObjectInUse, "cannot %s %q because it has pending trigger events", what, t.Name).WithTable(t.Name)
		}
	}
	return nil
}
