package weft

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/exec"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/prune"
	"github.com/weftdb/weft/sql"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// createTable runs CREATE TABLE.
func (d *definition) createTable(n *sql.CreateTable) (*Rows, error) {
	if err := d.lockReferenced(n); err != nil {
		return nil, err
	}
	if n.PartitionOf != nil {
		if err := d.lockTree(*n.PartitionOf); err != nil {
			return nil, err
		}
	}
	t, err := d.ddl.CreateTable(n)
	if err != nil || t == nil {
		return done("CREATE TABLE"), err
	}
	d.viewsChanged = t.HasView
	if err := d.putSequences(); err != nil {
		return nil, err
	}
	if err := d.put(t); err != nil {
		return nil, err
	}
	return done("CREATE TABLE"), d.addedPartition(t)
}

// lockTree locks a named table and those it is a partition of, before its partitions change. Whoever
// reads a partitioned table locks that one only, so what changes below has to exclude them there.
func (d *definition) lockTree(name sql.ObjectName) error {
	t := d.ddl.FindTable(name)
	if t == nil {
		return nil // the statement fails
	}
	if err := d.lockAbove(t); err != nil {
		return err
	}
	return d.lockIn(t, storage.AccessExclusive)
}

// lockAbove locks the tables that a table is a partition of.
func (d *definition) lockAbove(t *catalog.Table) error {
	above := d.ddl.Catalog.Ancestors(t)
	for i := len(above) - 1; i >= 0; i-- {
		if err := d.lockIn(above[i], storage.AccessExclusive); err != nil {
			return err
		}
	}
	return nil
}

// touchAbove notes in the tables above a partition that something below them has changed, so that
// statements that were planned before are planned anew.
func (d *definition) touchAbove(t *catalog.Table) error {
	for _, above := range d.ddl.Catalog.Ancestors(t) {
		next := above.Clone()
		next.Epoch++
		if err := d.put(next); err != nil {
			return err
		}
	}
	return nil
}

// addedPartition ends adding a table as partition: no row of the default partition may belong to it.
func (d *definition) addedPartition(t *catalog.Table) error {
	if t.Parent == 0 {
		return nil
	}
	if !t.Bound.Default {
		for _, other := range d.ddl.Catalog.Partitions(t.Parent) {
			if !other.Bound.Default {
				continue
			}
			if ok, err := d.belongs(other); err != nil {
				return err
			} else if !ok {
				return sqlerr.New(sqlerr.CheckViolation, "updated partition constraint for default partition %q would be violated by some row", other.Name).WithTable(other.Name)
			}
		}
	}
	return d.touchAbove(t)
}

// belongs reports whether all rows of a partition are where the bounds want them.
func (d *definition) belongs(t *catalog.Table) (bool, error) {
	above := d.ddl.Catalog.Ancestors(t)
	root := above[len(above)-1]
	desc, err := planner.PartitionDesc(d.ddl.Catalog, root)
	if err != nil {
		return false, err
	}
	stmt, err := sql.ParseOne("SELECT * FROM " + qualified(t))
	if err != nil {
		return false, err
	}
	plan, err := planner.Build(stmt, d.ddl.Input)
	if err != nil {
		return false, err
	}
	timed, cancel := d.r.timed()
	defer cancel()
	view := d.w.txn.LatestView() // the tables are locked
	defer view.Release()
	inner := *timed
	inner.args = nil
	env, err := inner.planEnv(plan)
	if err != nil {
		return false, err
	}
	rows := &placedRows{router: desc.NewRouter(env), at: prune.ColumnMap(root, t), leaves: make([]int32, vector.BatchCap)}
	rows.from, rows.to = desc.Interval(t.ID)
	if _, err := exec.Run(timed.ctx, timed.execQuery(timed.ctx, plan, view, d.w.txn, env), rows); err != nil {
		return false, contextError(timed.ctx, err)
	}
	return !rows.misplaced, nil
}

// placedRows looks at rows of a partition for those that belong elsewhere.
type placedRows struct {
	router    *prune.Router
	at        []int // where the topmost table's columns are
	from, to  int   // the leaves that are right
	leaves    []int32
	misplaced bool
}

// Push looks at a batch.
func (p *placedRows) Push(b *vector.Batch) error {
	rows := vector.Batch{N: b.N, Sel: b.Sel}
	for _, at := range p.at {
		rows.Vecs = append(rows.Vecs, b.Vecs[at])
	}
	if err := p.router.Route(&rows, p.leaves); err != nil {
		return err
	}
	for k := range rows.Live() {
		row := k
		if rows.Sel != nil {
			row = int(rows.Sel[k])
		}
		if leaf := int(p.leaves[row]); leaf < p.from || leaf >= p.to {
			p.misplaced = true
			return exec.ErrStop
		}
	}
	return nil
}
