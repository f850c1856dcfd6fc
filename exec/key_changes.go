package exec

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// KeyChanges collects what a statement did to the values that foreign keys are about, for whoever
// runs it to check, or to carry over to the referencing rows, when all its rows are written. Each
// value is noted once. It belongs to one goroutine at a time.
type KeyChanges struct {
	// Table is the table that was changed; nil while no row has been written.
	Table *catalog.Table
	// References is what planning knew of the table's keys.
	References *planner.References
	// Held are new values of the table's own keys, Referencing are values that went.
	Held, Referencing []*KeyChange

	deleted *KeyChanges
}

// Deleted collects the changes of rows that a statement deletes besides replacing others: values that
// nothing takes the place of.
func (k *KeyChanges) Deleted() *KeyChanges {
	if k.deleted == nil {
		k.deleted = &KeyChanges{}
	}
	return k.deleted
}

// Parts are the collections in which something was noted.
func (k *KeyChanges) Parts() []*KeyChanges {
	var parts []*KeyChanges
	for _, c := range []*KeyChanges{k, k.deleted} {
		if c != nil && c.Table != nil {
			parts = append(parts, c)
		}
	}
	return parts
}

// KeyChange lists the values of one foreign key that a statement changed, each in the order of the
// key's columns and without NULLs.
type KeyChange struct {
	planner.KeyUse
	// Values are the new values of a held key, the old ones of a referenced key.
	Values [][]vector.Datum
	// New are the values that replace Values; nil when the rows were deleted.
	New [][]vector.Datum
	// Mixed tells that a row has NULL in some of the columns only, which MATCH FULL forbids.
	Mixed bool
	// All tells that every row of the table may have a new value; Values is empty then.
	All bool

	seen    map[string]struct{}
	key     []byte
	scratch []vector.Datum
}

// NewKeyChanges returns a list for rows that are written by other means than a plan.
func NewKeyChanges(t *catalog.Table, r *planner.References) *KeyChanges {
	k := &KeyChanges{}
	k.begin(t, r)
	return k
}

// begin notes that rows of a table have been written.
func (k *KeyChanges) begin(t *catalog.Table, r *planner.References) {
	if k.Table != nil {
		return
	}
	k.Table, k.References = t, r
	for _, u := range r.Held {
		k.Held = append(k.Held, NewKeyChange(u))
	}
	for _, u := range r.Referencing {
		k.Referencing = append(k.Referencing, NewKeyChange(u))
	}
}

// NewKeyChange returns an empty list of changes.
func NewKeyChange(u planner.KeyUse) *KeyChange {
	return &KeyChange{KeyUse: u, seen: map[string]struct{}{}}
}

// written notes the keys of rows. fresh has the columns of the table, nil for deleted rows; old is
// where the values before are, as References.Old says, nil for inserted rows.
func (k *KeyChanges) written(e *storage.Engine, fresh, old *vector.Batch) error {
	if fresh != nil {
		for _, c := range k.Held {
			c.AddHeld(fresh, old, k.References.Old)
		}
	}
	if old == nil {
		return nil
	}
	for _, c := range k.Referencing {
		if err := c.addReplaced(e, fresh, old, k.References.Old); err != nil {
			return err
		}
	}
	return nil
}

// AddHeld notes the values of a held key in new rows. Rows whose values are those of old are left
// out: they have been checked before.
func (c *KeyChange) AddHeld(fresh, old *vector.Batch, oldAt []int) {
	for n := range fresh.Live() {
		row := liveRow(fresh, n)
		c.scratch = append(c.scratch[:0], make([]vector.Datum, len(c.Columns))...)
		values := c.scratch
		nulls := c.readValues(values, fresh, nil, row)
		if old != nil && c.unchanged(values, old, oldAt, row) {
			continue
		}
		if nulls > 0 {
			c.Mixed = c.Mixed || c.Key.MatchFull && nulls < len(values)
			continue
		}
		if c.isNew(values) {
			c.Values = append(c.Values, slices.Clone(values))
		}
	}
}

// addReplaced notes the values of a referenced key that went with rows. The encoded form decides
// what is a change: to the index, 1.0 and 1.00 are the same.
func (c *KeyChange) addReplaced(e *storage.Engine, fresh, old *vector.Batch, oldAt []int) error {
	for n := range old.Live() {
		row := liveRow(old, n)
		before := make([]vector.Datum, len(c.Columns))
		if c.readValues(before, old, oldAt, row) > 0 {
			continue // nothing references it
		}
		if fresh == nil {
			c.Values = append(c.Values, before)
			continue
		}
		after := make([]vector.Datum, len(c.Columns))
		c.readValues(after, fresh, nil, row)
		same, err := c.sameKey(e, before, after)
		if err != nil {
			return err
		}
		if !same {
			c.Values, c.New = append(c.Values, before), append(c.New, after)
		}
	}
	return nil
}

func (c *KeyChange) sameKey(e *storage.Engine, a, b []vector.Datum) (bool, error) {
	x, _, err := c.Encode(e, a)
	if err != nil {
		return false, err
	}
	y, _, err := c.Encode(e, b)
	return string(x) == string(y), err
}

// Encode returns the stored form of values, which have the types of the referenced columns.
func (c *KeyChange) Encode(e *storage.Engine, values []vector.Datum) (key []byte, hasNull bool, err error) {
	ordered := make([]vector.Datum, len(values))
	for i, at := range c.IndexOrder {
		ordered[i] = values[at]
	}
	return e.EncodeKey(c.Parent, c.Index, ordered)
}

// KeyHome is where a row with the values of a referenced key is, if there is one: in Table, by Key in
// Index. Table is nil where no partition has room for it.
type KeyHome struct {
	Table *catalog.Table
	Index *catalog.Index
	Key   []byte
}

// Locate finds the home of values, which have the types of the referenced columns: in a partitioned table
// they say which leaf it is.
func (c *KeyChange) Locate(e *storage.Engine, values []vector.Datum) (KeyHome, error) {
	home := KeyHome{Table: c.Parent, Index: c.Index}
	if c.Parts != nil {
		row := &vector.Batch{N: 1, Vecs: make([]*vector.Vector, len(c.Parent.Columns))}
		for i := range row.Vecs {
			row.Vecs[i] = &vector.Vector{}
			row.Vecs[i].NullRows(c.Parent.Columns[i].Type.Kind())
		}
		for i, id := range c.Key.RefColumns {
			row.Vecs[c.Parent.ColumnByID(id)].SetConst(values[i])
		}
		var leaf [1]int32
		if err := c.Parts.NewRouter(nil).Route(row, leaf[:]); err != nil || leaf[0] < 0 {
			return KeyHome{}, err
		}
		home.Table = c.Parts.Leaves[leaf[0]].Table
		if home.Index = c.Parts.Leaves[leaf[0]].Index(c.Index); home.Index == nil {
			return KeyHome{}, sqlerr.New(sqlerr.InternalError, "an index is missing in a partition: index=%s table=%s", c.Index.Name, home.Table.Name)
		}
	}
	ordered := make([]vector.Datum, len(values))
	for i, at := range c.IndexOrder {
		ordered[i] = values[at]
	}
	var err error
	home.Key, _, err = e.EncodeKey(home.Table, home.Index, ordered)
	return home, err
}

func liveRow(b *vector.Batch, n int) int {
	if b.Sel != nil {
		return int(b.Sel[n])
	}
	return n
}

// readValues reads the key's columns of a row and counts the NULLs; at tells where the table's columns
// are, nil = in order.
func (c *KeyChange) readValues(values []vector.Datum, b *vector.Batch, at []int, row int) (nulls int) {
	for i, pos := range c.Columns {
		if at != nil {
			pos = at[pos]
		}
		values[i] = vector.DatumAt(b.Vecs[pos], row)
		if values[i].Null {
			nulls++
		}
	}
	return nulls
}

func (c *KeyChange) unchanged(values []vector.Datum, old *vector.Batch, at []int, row int) bool {
	for i, pos := range c.Columns {
		if vector.DatumAt(old.Vecs[at[pos]], row) != values[i] {
			return false
		}
	}
	return true
}

// isNew reports whether values have not been noted yet.
func (c *KeyChange) isNew(values []vector.Datum) bool {
	c.key = c.key[:0]
	for i := range values {
		v := &values[i]
		c.key = binary.AppendVarint(binary.AppendVarint(c.key, v.I), v.Hi)
		c.key = binary.AppendUvarint(c.key, math.Float64bits(v.F))
		c.key = append(binary.AppendUvarint(c.key, uint64(len(v.S))), v.S...)
	}
	if _, have := c.seen[string(c.key)]; have {
		return false
	}
	c.seen[string(c.key)] = struct{}{}
	return true
}
