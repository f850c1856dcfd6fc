package weft

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
)

func (d *definition) createSequence(n *sql.CreateSequence) (*Rows, error) {
	r, err := d.ddl.CreateSequence(n)
	if err != nil || r == nil {
		return done("CREATE SEQUENCE"), err
	}
	return done("CREATE SEQUENCE"), d.put(r)
}

func (d *definition) alterSequence(n *sql.AlterSequence) (*Rows, error) {
	r := d.ddl.FindSequence(n.Name)
	if r == nil && n.IfExists {
		d.ddl.Notices = append(d.ddl.Notices, `relation "`+n.Name.Name+`" does not exist, skipping`)
		return done("ALTER SEQUENCE"), nil
	}
	if r == nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", n.Name.Raw())
	}
	if err := d.lock(r); err != nil {
		return nil, err
	}
	altered, err := d.ddl.AlterSequence(r, n)
	if err != nil {
		return nil, err
	}
	return done("ALTER SEQUENCE"), d.put(altered)
}

// dropSequence refuses to drop a sequence that a column's default draws from, but with CASCADE,
// which drops the default too.
func (d *definition) dropSequence(n *sql.Drop) (*Rows, error) {
	for _, name := range n.Names {
		r, err := d.dropped(n, name, catalog.SequenceRelation)
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		for _, use := range d.ddl.SequenceUses(r) {
			if !n.Cascade {
				return nil, sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop %s because other objects depend on it", d.ddl.Describe(r)).
					WithDetail("default value for column %s of %s depends on %s", use.Column, d.ddl.Describe(use.Table), d.ddl.Describe(r)).
					WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
			}
			d.ddl.Notices = append(d.ddl.Notices, "drop cascades to default value for column "+use.Column+" of "+d.ddl.Describe(use.Table))
			if err := d.lock(use.Table); err != nil {
				return nil, err
			}
			if err := d.put(use.Without); err != nil {
				return nil, err
			}
		}
		if err := d.dropRelation(r); err != nil {
			return nil, err
		}
	}
	return done("DROP SEQUENCE"), nil
}

// dropRelation removes a relation from the catalog with the sequences its columns own.
func (d *definition) dropRelation(t *catalog.Table) error {
	for _, r := range append(d.ddl.OwnedSequences(t.ID, 0), t) {
		if err := d.lock(r); err != nil {
			return err
		}
		if err := d.w.txn.SetCatalog(d.r.ctx, d.w.txn.Catalog().WithoutTable(r.ID)); err != nil {
			return err
		}
	}
	d.ddl.Catalog = d.w.txn.Catalog()
	return nil
}

// putSequences adds the sequences that a table's serial and identity columns need.
func (d *definition) putSequences() error {
	for _, r := range d.ddl.Sequences {
		if err := d.put(r); err != nil {
			return err
		}
	}
	d.ddl.Sequences = nil
	return nil
}

// sequences are the sequences as a statement sees them: with those that its transaction, if it has
// one already, has made.
type sequences struct {
	r   *running
	txn *storage.Txn
}

func (s *sequences) find(name string) (*catalog.Table, error) {
	parsed, err := planner.SequenceName(name)
	if err != nil {
		return nil, err
	}
	session := s.r.s
	c := session.Catalog()
	if s.txn != nil {
		c = s.txn.Catalog()
	}
	path := planner.Settings{SearchPath: session.derived().searchPath, TempSchema: session.temp.schema, TempUsed: session.temp.used}
	if q := planner.FindSequence(c, path.LookupPath(), parsed.Schema, parsed.Name); q != nil {
		return q, nil
	}
	return nil, planner.MissingSequence(c, path.LookupPath(), parsed)
}

// NextValue advances a sequence and remembers the value for the session.
func (s *sequences) NextValue(name string) (int64, error) {
	q, err := s.find(name)
	if err != nil {
		return 0, err
	}
	if s.r.s.readOnly() {
		return 0, sqlerr.New(sqlerr.ReadOnlyTransaction, "cannot execute nextval() in a read-only transaction")
	}
	v, logged, err := s.r.s.db.engine.NextValue(q)
	if err != nil {
		return 0, err
	}
	if logged {
		s.r.s.drawn.unsynced.Store(true)
	}
	s.r.s.drawn.remember(q.ID, v)
	return v, nil
}

// CurrentValue returns what the session drew last.
func (s *sequences) CurrentValue(name string) (int64, error) {
	if name == "" {
		v, ok := s.r.s.drawn.latest()
		if !ok {
			return 0, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "lastval is not yet defined in this session")
		}
		return v, nil
	}
	q, err := s.find(name)
	if err != nil {
		return 0, err
	}
	v, ok := s.r.s.drawn.of(q.ID)
	if !ok {
		return 0, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "currval of sequence %q is not yet defined in this session", q.Name)
	}
	return v, nil
}

// SetValue sets a sequence.
func (s *sequences) SetValue(name string, value int64, called bool) error {
	q, err := s.find(name)
	if err != nil {
		return err
	}
	if s.r.s.readOnly() {
		return sqlerr.New(sqlerr.ReadOnlyTransaction, "cannot execute setval() in a read-only transaction")
	}
	if err := s.r.s.db.engine.SetValue(q, value, called); err != nil {
		return err
	}
	s.r.s.drawn.unsynced.Store(true)
	if called {
		s.r.s.drawn.set(q.ID, value)
	}
	return nil
}
