package prune

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"slices"
)

// Desc describes a partitioned table with everything below it, as one version of the catalog has it. It
// is immutable. Leaves, the tables that hold the rows, are numbered depth first in the order of their
// bounds, so that what is below any partition is an interval of numbers.
type Desc struct {
	Table *catalog.Table
	// Cols stand for the table's columns in the expressions of keys.
	Cols   []*expr.Col
	Leaves []Leaf

	top    *Level
	stores map[catalog.StoreID]int
}

// Leaf is a table that holds rows of a partitioned table.
type Leaf struct {
	Table *catalog.Table
	// Path are the tables on the way from the partitioned table to the leaf, which is the last.
	Path []*catalog.Table
	// Columns are the leaf's positions of the partitioned table's columns.
	Columns []int
}

// Level is a partitioned table with its direct partitions.
type Level struct {
	table  *catalog.Table
	keys   []key
	kids   []kid
	lo, hi int // leaves below

	nullKid, defaultKid int                   // −1 = none
	kinds               [][]int8              // of a range: by key and edge, −1 = MINVALUE, 1 = MAXVALUE, 0 = a value
	edges               int                   // of a range
	owners              []int                 // of a range: the kid behind so many edges, −1 = none; of a list: by value
	listed              []int                 // of a list: number of values of a kid
	remainders          []int                 // of a hash: kid by remainder of the greatest modulus, −1 = none
	nodes               *catalog.Distribution // of data nodes: the kid of a row is its node
}

// kid is a partition: a leaf, or partitioned again.
type kid struct {
	table  *catalog.Table
	lo, hi int
	level  *Level // nil = a leaf
}

// Binder resolves the expression of a key of t, which reads columns by the names that they have in the
// whole tree, over Cols.
type Binder func(text string) (expr.Expr, error)

// New describes a partitioned table.
func New(s *catalog.Snapshot, t *catalog.Table, cols []*expr.Col, bind Binder) (*Desc, error) {
	d := &Desc{Table: t, Cols: cols, stores: map[catalog.StoreID]int{}}
	var err error
	d.top, err = d.level(s, t, nil, bind)
	return d, err
}

func (d *Desc) level(s *catalog.Snapshot, t *catalog.Table, path []*catalog.Table, bind Binder) (*Level, error) {
	l, err := newLevel(t, s.Partitions(t.ID), d.Table, d.Cols, bind)
	if err != nil {
		return nil, err
	}
	l.lo = len(d.Leaves)
	for i := range l.kids {
		k := &l.kids[i]
		k.lo = len(d.Leaves)
		below := append(path[:len(path):len(path)], k.table)
		if k.table.Kind == catalog.PartitionedTable {
			if k.level, err = d.level(s, k.table, below, bind); err != nil {
				return nil, err
			}
		} else {
			d.addLeaf(k.table, below)
		}
		k.hi = len(d.Leaves)
	}
	l.hi = len(d.Leaves)
	return l, nil
}

func (d *Desc) addLeaf(t *catalog.Table, path []*catalog.Table) {
	for _, store := range t.Stores {
		d.stores[store] = len(d.Leaves)
	}
	d.Leaves = append(d.Leaves, Leaf{Table: t, Path: path, Columns: ColumnMap(d.Table, t)})
}

// ColumnMap returns the positions in t of the columns that have the names of another table's, −1 where
// there is none.
func ColumnMap(of, t *catalog.Table) []int {
	at := make([]int, len(of.Columns))
	for i := range at {
		name := of.Columns[i].Name
		if i < len(t.Columns) && t.Columns[i].Name == name {
			at[i] = i
		} else {
			at[i] = t.ColumnIndex(name)
		}
	}
	return at
}

// LeafOf returns the number of the leaf that has a store, −1 if none does.
func (d *Desc) LeafOf(store catalog.StoreID) int {
	if leaf, ok := d.stores[store]; ok {
		return leaf
	}
	return -1
}

// Interval returns the leaves that are below a partition, or are it: from the first up to before the
// second; none of a table that is no partition.
func (d *Desc) Interval(id catalog.TableID) (from, to int) { return d.top.interval(id) }

func (l *Level) interval(id catalog.TableID) (from, to int) {
	if l.table.ID == id {
		return l.lo, l.hi
	}
	for i := range l.kids {
		k := &l.kids[i]
		if k.table.ID == id {
			return k.lo, k.hi
		}
		if k.level != nil {
			if from, to = k.level.interval(id); from < to {
				return from, to
			}
		}
	}
	return 0, 0
}

// Index returns the leaf's part of an index of the partitioned table, nil if there is none.
func (l *Leaf) Index(root *catalog.Index) *catalog.Index {
	x := root
	for _, t := range l.Path {
		if x = t.IndexOf(x.ID); x == nil {
			return nil
		}
	}
	return x
}

// KeyColumns are the positions of the columns that the keys of all levels read, by depth.
func (d *Desc) KeyColumns() [][]int {
	var out [][]int
	for level := []*Level{d.top}; len(level) > 0; {
		var next []*Level
		var columns []int
		for _, l := range level {
			for i := range l.keys {
				used := expr.Columns(l.keys[i].expr)
				for pos, c := range d.Cols {
					if used.Has(c.ID) && !slices.Contains(columns, pos) {
						columns = append(columns, pos)
					}
				}
			}
			for i := range l.kids {
				if l.kids[i].level != nil {
					next = append(next, l.kids[i].level)
				}
			}
		}
		out, level = append(out, columns), next
	}
	return out
}

// KeyTexts are the keys of all levels, the same ones at one depth once.
func (d *Desc) KeyTexts(quote func(string) string) []string {
	var texts []string
	for depth, level := 0, []*Level{d.top}; len(level) > 0; depth++ {
		var next []*Level
		text := ""
		for _, l := range level {
			own := l.table.Partitioning.Definition(l.table, quote)
			if text == "" {
				text = own
			} else if text != own {
				text = "..."
			}
			for i := range l.kids {
				if l.kids[i].level != nil {
					next = append(next, l.kids[i].level)
				}
			}
		}
		texts, level = append(texts, text), next
	}
	return texts
}
