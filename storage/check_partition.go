package storage

import "github.com/weftdb/weft/catalog"

// partition checks what a table says of its partitions, and a partition of its parent.
func (d *descriptionCheck) partition() {
	t := d.tbl
	if (t.Kind == catalog.PartitionedTable) != (t.Partitioning != nil) {
		d.report("it is described both as partitioned and as not")
		return
	}
	if t.Partitioning != nil {
		for _, k := range t.Partitioning.Keys {
			if k.Column != 0 && t.ColumnByID(k.Column) < 0 {
				d.report("it is partitioned by column %d, which does not exist", k.Column)
			}
		}
	}
	if t.Parent == 0 {
		if t.Bound != nil {
			d.report("it has the bound of a partition and is none")
		}
		return
	}
	parent := d.snap.Table(t.Parent)
	switch {
	case parent == nil || parent.Partitioning == nil:
		d.report("the table that it is a partition of does not exist or is not partitioned: table %d", t.Parent)
		return
	case t.Bound == nil:
		d.report("it is a partition without a bound")
	case len(t.Columns) != len(parent.Columns):
		d.report("it has %d columns, its parent %d", len(t.Columns), len(parent.Columns))
	}
	for i := range parent.Columns {
		c := &parent.Columns[i]
		if pos := t.ColumnIndex(c.Name); pos < 0 || t.Columns[pos].Type != c.Type {
			d.report("it has no column %s as its parent has", c.Name)
		}
	}
	for i := range t.Indexes {
		if id := t.Indexes[i].Parent; id != 0 && indexByID(parent, id) == nil {
			d.report("the index that index %s is a part of does not exist: index %d", t.Indexes[i].Name, id)
		}
	}
	for i := range parent.Indexes {
		if x := &parent.Indexes[i]; x.State == catalog.IndexReady && t.IndexOf(x.ID) == nil {
			d.report("it has no part of index %s", x.Name)
		}
	}
}
