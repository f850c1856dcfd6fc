package storage

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftdb/weft/catalog"
)

// readCounters reads the stored numbers of all stores.
func (c *check) readCounters() error {
	c.counters = map[catalog.StoreID]storeCounters{}
	return c.scan([]byte{kindCounter}, []byte{kindCounter + 1}, func(key, value []byte) {
		if len(key) != 6 || len(value) != 8 || key[5] < counterRows || key[5] > counterCalled {
			c.report(Finding{What: fmt.Sprintf("malformed counter: key %x, value %x", key, value)})
			return
		}
		id := catalog.StoreID(binary.BigEndian.Uint32(key[1:]))
		s := c.counters[id]
		s.value[key[5]], s.known[key[5]] = binary.BigEndian.Uint64(value), true
		c.counters[id] = s
	})
}

// checkCatalog checks that the stored descriptions are those in use, and that what they name exists.
func (c *check) checkCatalog() error {
	snap := c.view.Catalog()
	stored, err := loadCatalog(c.view.snap.db)
	switch {
	case err != nil:
		c.report(Finding{What: fmt.Sprintf("the catalog cannot be read: %v", oneLine{err})})
	case stored == nil:
		c.report(Finding{What: "there is no catalog"})
	case len(stored.Relations()) != len(snap.Relations()) || stored.Version != snap.Version:
		c.report(Finding{What: fmt.Sprintf("the stored catalog has version %d with %d relations, the open database version %d with %d",
			stored.Version, len(stored.Relations()), snap.Version, len(snap.Relations()))})
	}
	if n, err := storedCommitNumber(c.view.snap.db); err != nil || n != c.view.CommitNumber() {
		c.report(Finding{What: fmt.Sprintf("the stored commit number is %d, the open database is at %d", n, c.view.CommitNumber())})
	}
	stores, indexes := map[catalog.StoreID]string{}, map[catalog.IndexID]string{}
	for _, r := range snap.Relations() {
		d := &descriptionCheck{check: c, snap: snap, tbl: r}
		d.identity()
		d.columns()
		d.spaces(stores, indexes)
		d.partition()
	}
	err = c.scan([]byte{kindTable}, []byte{kindTable + 1}, func(key, value []byte) {
		t, err := catalog.DecodeTable(value)
		if err != nil || len(key) != 5 || binary.BigEndian.Uint32(key[1:]) != uint32(t.ID) {
			c.report(Finding{What: fmt.Sprintf("malformed table description: key %x", key)})
		}
	})
	if err != nil {
		return err
	}
	return c.scan([]byte{kindStats}, []byte{kindStats + 1}, func(key, value []byte) {
		if _, err := catalog.DecodeStats(value); err != nil || len(key) != 5 {
			c.report(Finding{What: fmt.Sprintf("malformed statistics: key %x", key)})
		}
	})
}

// descriptionCheck checks one relation's description.
type descriptionCheck struct {
	*check
	snap *catalog.Snapshot
	tbl  *catalog.Table
}

func (d *descriptionCheck) report(format string, args ...any) {
	d.check.report(Finding{Table: relationName(d.tbl), What: fmt.Sprintf(format, args...)})
}

func (d *descriptionCheck) identity() {
	t := d.tbl
	if t.ID >= d.snap.NextTable {
		d.report("its id %d is not below the next one, %d", t.ID, d.snap.NextTable)
	}
	if !d.snap.HasSchema(t.Schema) && !t.Temp {
		d.report("its schema does not exist")
	}
	if other := d.snap.Lookup(t.Schema, t.Name); other != t {
		d.report("another relation has its name")
	}
	q := t.Sequence
	switch {
	case (q != nil) != (t.Kind == catalog.SequenceRelation):
		d.report("it is described both as a table and as a sequence")
	case q != nil && (q.Increment == 0 || q.Min > q.Max || q.Start < q.Min || q.Start > q.Max):
		d.report("malformed sequence: %+v", *q)
	case q != nil && q.OwnerTable != 0:
		if owner := d.snap.Table(q.OwnerTable); owner == nil || owner.ColumnByID(q.OwnerColumn) < 0 {
			d.report("the column that owns it does not exist: table %d, column %d", q.OwnerTable, q.OwnerColumn)
		}
	}
}

// columns checks the ids of columns and what refers to them.
func (d *descriptionCheck) columns() {
	t := d.tbl
	seen, names := map[catalog.ColumnID]bool{}, map[string]bool{}
	for _, set := range [][]catalog.Column{t.Columns, t.Dropped} {
		for i := range set {
			c := &set[i]
			if seen[c.ID] || c.ID < 1 || c.ID >= t.NextColumn {
				d.report("column %s has id %d, which is taken or not below the next one, %d", c.Name, c.ID, t.NextColumn)
			}
			if c.AddedIn > t.SchemaVersion {
				d.report("column %s is of schema version %d, the table of %d", c.Name, c.AddedIn, t.SchemaVersion)
			}
			seen[c.ID] = true
		}
	}
	for i := range t.Columns {
		if names[t.Columns[i].Name] {
			d.report("two columns have the name %s", t.Columns[i].Name)
		}
		names[t.Columns[i].Name] = true
	}
	for _, id := range t.DistributeBy {
		if t.ColumnByID(id) < 0 {
			d.report("it is distributed by column %d, which does not exist", id)
		}
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		exprs := 0
		for n, id := range slices.Concat(x.Columns, x.Include) {
			if id == 0 && n < len(x.Columns) {
				exprs++
			} else if t.ColumnByID(id) < 0 {
				d.report("index %s is on column %d, which does not exist", x.Name, id)
			}
		}
		if exprs != len(x.Exprs) {
			d.report("index %s has %d expressions at %d places", x.Name, len(x.Exprs), exprs)
		}
	}
}

// spaces checks that every store and index is one relation's own.
func (d *descriptionCheck) spaces(stores map[catalog.StoreID]string, indexes map[catalog.IndexID]string) {
	t := d.tbl
	want := d.snap.Nodes
	switch t.Kind {
	case catalog.SequenceRelation:
		want = 1
	case catalog.ViewRelation, catalog.PartitionedTable:
		want = 0
	}
	if len(t.Stores) != want {
		d.report("it has %d stores, not %d", len(t.Stores), want)
	}
	for _, s := range t.Stores {
		if other := stores[s]; other != "" {
			d.report("store %d belongs to %s too", s, other)
		}
		if s < 1 || s >= d.snap.NextStore {
			d.report("store %d is not below the next one, %d", s, d.snap.NextStore)
		}
		stores[s] = relationName(t)
	}
	for i := range t.Indexes {
		id := t.Indexes[i].ID
		if other := indexes[id]; other != "" {
			d.report("index %d belongs to %s too", id, other)
		}
		if id >= d.snap.NextIndex {
			d.report("index %d is not below the next one, %d", id, d.snap.NextIndex)
		}
		indexes[id] = relationName(t)
	}
}

// checkSequence checks the stored value of a sequence.
func (c *check) checkSequence(r *catalog.Table) {
	report := func(format string, args ...any) {
		c.report(Finding{Table: relationName(r), What: fmt.Sprintf(format, args...)})
	}
	if len(r.Stores) == 0 || r.Sequence == nil {
		return // reported with its description
	}
	s := c.counters[r.Stores[0]]
	if s.known[counterLast] != s.known[counterCalled] {
		report("half of its value is missing")
	}
	if last := int64(s.value[counterLast]); s.known[counterLast] && (last < r.Sequence.Min || last > r.Sequence.Max) {
		report("its value %d is out of bounds (%d..%d)", last, r.Sequence.Min, r.Sequence.Max)
	}
	if called := s.value[counterCalled]; called > 1 {
		report("its mark of being used is %d, not 0 or 1", called)
	}
	if s.known[counterRows] || s.known[counterIDs] {
		report("its store has counters of a table")
	}
}

// checkSpaces looks for keys that belong to nothing.
func (c *check) checkSpaces() error {
	snap := c.view.Catalog()
	tables, stores, indexes := map[uint32]bool{}, map[uint32]bool{}, map[uint32]bool{}
	add := func(k keySpaces) {
		for _, s := range k.Stores {
			stores[uint32(s)] = true
		}
		for _, i := range k.Indexes {
			indexes[uint32(i)] = true
		}
	}
	rowStores := map[uint32]bool{}
	for _, r := range snap.Relations() {
		tables[uint32(r.ID)] = true
		add(spacesOf(r))
	}
	// A load that is under way has noted the spaces it fills.
	err := c.scan([]byte{kindLoad}, []byte{kindLoad + 1}, func(key, value []byte) {
		var k keySpaces
		if err := json.Unmarshal(value, &k); err != nil || len(key) != 9 {
			c.report(Finding{What: fmt.Sprintf("malformed note of a bulk load: key %x", key)})
		}
		add(k)
	})
	if err != nil {
		return err
	}
	for id := range stores {
		rowStores[id] = true
	}
	// A transaction that has not committed, or was rolled back, may have reserved ids and values in
	// stores that nobody else sees; the next opening removes them. A row count comes with a commit.
	for id, s := range c.counters {
		if !s.known[counterRows] {
			stores[uint32(id)] = true
		}
	}
	for _, space := range []struct {
		kind  byte
		what  string
		owner string
		known map[uint32]bool
	}{
		{kindTable, "description", "table", tables},
		{kindStats, "statistics", "table", tables},
		{kindCounter, "counters", "store", stores},
		{kindGroup, "numbers of last changes", "store", rowStores},
		{kindRow, "rows", "store", rowStores},
		{kindIndex, "entries", "index", indexes},
	} {
		err := c.owners(space.kind, func(id uint32) {
			if !space.known[id] {
				c.report(Finding{What: fmt.Sprintf("%s of %s %d, which does not exist", space.what, space.owner, id)})
			}
		})
		if err != nil {
			return err
		}
	}
	return c.unknownKeys()
}

// owners calls fn for every store, table or index that has keys of a kind.
func (c *check) owners(kind byte, fn func(id uint32)) error {
	it, err := c.view.snap.db.NewIter(&pebble.IterOptions{LowerBound: []byte{kind}, UpperBound: []byte{kind + 1}})
	if err != nil {
		return ioError("check", err)
	}
	for valid := it.First(); valid; {
		if err := c.canceled(); err != nil {
			_ = it.Close()
			return err
		}
		key := bytes.Clone(it.Key())
		if len(key) < 5 {
			c.report(Finding{What: fmt.Sprintf("malformed key %x", key)})
			valid = it.Next()
			continue
		}
		id := binary.BigEndian.Uint32(key[1:])
		fn(id)
		_, next := storeBounds(kind, id)
		valid = it.SeekGE(next)
	}
	if err := it.Error(); err != nil {
		c.report(Finding{What: fmt.Sprintf("keys of kind %x cannot be read: %v", kind, oneLine{err})})
	}
	_ = it.Close()
	return nil
}

// unknownKeys reports keys of kinds that there are not.
func (c *check) unknownKeys() error {
	it, err := c.view.snap.db.NewIter(nil)
	if err != nil {
		return ioError("check", err)
	}
	for valid := it.First(); valid; {
		kind := byte(0)
		if len(it.Key()) > 0 {
			kind = it.Key()[0]
		}
		switch kind {
		case kindMeta, kindTable, kindStats, kindCounter, kindGroup, kindRow, kindIndex, kindLoad:
		default:
			c.report(Finding{What: fmt.Sprintf("key of unknown kind: %x", it.Key())})
		}
		if kind == 0xFF {
			break
		}
		valid = it.SeekGE([]byte{kind + 1})
	}
	_ = it.Close() // an error has been met before, by whoever read the keys
	return nil
}
