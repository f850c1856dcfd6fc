package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/prune"
)

// References are the foreign keys that a change of a table's rows concerns.
type References struct {
	// Held are the table's own keys that get new values: those must exist in the tables they name.
	Held []KeyUse
	// Referencing are the keys of any table that reference values which the statement removes.
	Referencing []KeyUse
	// Known are all foreign keys that reference the table. When the statement has run they must still
	// be these: an index is locked before it is changed, but planning was earlier.
	Known []catalog.Reference
	// Old tells by position in the table which column of the input has the value before the change;
	// −1 for those not asked for. Nil for INSERT.
	Old []int
}

// KeyUse is a foreign key with what it takes to look its values up.
type KeyUse struct {
	Key           *catalog.ForeignKey
	Child, Parent *catalog.Table
	Index         *catalog.Index // of the parent
	Parts         *prune.Desc    // of a partitioned parent
	// Columns are the key's columns as positions in the changed table: of the child in Held, of the
	// parent in Referencing. IndexOrder lists positions in Columns in the order of the index.
	Columns, IndexOrder []int
}

// NewKeyUse resolves a foreign key of child under a catalog. changed is the table that Columns is about,
// in which held values are set or referenced ones go: a partition of the parent perhaps.
func NewKeyUse(c *catalog.Snapshot, child *catalog.Table, key *catalog.ForeignKey, changed *catalog.Table, held bool) (KeyUse, error) {
	u := KeyUse{Key: key, Child: child, Parent: c.Table(key.RefTable)}
	if u.Parent != nil {
		u.Index = u.Parent.UniqueOn(key.RefColumns)
	}
	if u.Index == nil {
		return u, sqlerr.New(sqlerr.InternalError, "the key that a foreign key references is gone: constraint=%s table=%s", key.Name, child.Name)
	}
	if u.Parent.Kind == catalog.PartitionedTable {
		var err error
		if u.Parts, err = PartitionDesc(c, u.Parent); err != nil {
			return u, err
		}
	}
	of, ids := u.Parent, key.RefColumns
	if held {
		of, ids = child, key.Columns
	}
	at := prune.ColumnMap(of, changed)
	for _, id := range ids {
		u.Columns = append(u.Columns, at[of.ColumnByID(id)])
	}
	for _, id := range u.Index.Columns {
		u.IndexOrder = append(u.IndexOrder, slices.Index(key.RefColumns, id))
	}
	return u, nil
}

// insertReferences lists the keys that new rows must obey; nil if there are none.
func (b *binder) insertReferences(t *catalog.Table) (*References, error) {
	if len(t.ForeignKeys) == 0 {
		return nil, nil
	}
	r := &References{}
	for i := range t.ForeignKeys {
		u, err := NewKeyUse(b.snapshot, t, &t.ForeignKeys[i], t, true)
		if err != nil {
			return nil, err
		}
		r.Held = append(r.Held, u)
	}
	return r, nil
}

// updateReferences lists the keys that an assignment to columns, given by position, concerns.
func (b *binder) updateReferences(t *catalog.Table, assigned map[int]bool) (*References, error) {
	r := &References{Known: b.snapshot.ReferencesTo(t)}
	concerned := func(u *KeyUse) bool {
		return slices.ContainsFunc(u.Columns, func(pos int) bool { return assigned[pos] })
	}
	for i := range t.ForeignKeys {
		u, err := NewKeyUse(b.snapshot, t, &t.ForeignKeys[i], t, true)
		if err != nil {
			return nil, err
		}
		if concerned(&u) {
			r.Held = append(r.Held, u)
		}
	}
	return r, b.addReferencing(r, t, concerned)
}

// updateReferencesToo adds to the keys of an INSERT those that its updates of existing rows concern.
func (b *binder) updateReferencesToo(keys **References, t *catalog.Table, assigned map[int]bool) error {
	r, err := b.updateReferences(t, assigned)
	if err != nil {
		return err
	}
	if *keys != nil {
		r.Held = (*keys).Held
	}
	r.oldRow(t)
	*keys = r
	return nil
}

// deleteReferences lists the keys that reference a table.
func (b *binder) deleteReferences(t *catalog.Table) (*References, error) {
	r := &References{Known: b.snapshot.ReferencesTo(t)}
	return r, b.addReferencing(r, t, func(*KeyUse) bool { return true })
}

func (b *binder) addReferencing(r *References, t *catalog.Table, concerned func(*KeyUse) bool) error {
	for _, ref := range r.Known {
		u, err := NewKeyUse(b.snapshot, ref.Child, ref.Key, t, false)
		if err != nil {
			return err
		}
		if concerned(&u) {
			r.Referencing = append(r.Referencing, u)
		}
	}
	return nil
}

// carry returns the columns of a scan that hold the old values the keys need and notes that they
// stand in the input from position at on.
func (r *References) carry(scan *Scan, at int) []expr.Expr {
	r.Old = make([]int, len(scan.Table.Columns))
	for i := range r.Old {
		r.Old[i] = -1
	}
	var out []expr.Expr
	for _, u := range slices.Concat(r.Held, r.Referencing) {
		for _, pos := range u.Columns {
			if r.Old[pos] < 0 {
				r.Old[pos] = at + len(out)
				out = append(out, scan.Columns[pos].Col)
			}
		}
	}
	return out
}

// oldRow notes that the old values stand in the input as in the table.
func (r *References) oldRow(t *catalog.Table) {
	r.Old = make([]int, len(t.Columns))
	for i := range r.Old {
		r.Old[i] = i
	}
}
