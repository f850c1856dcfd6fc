package catalog

import (
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// Distribution finds the data node of a row: the hash of its distribution key modulo the number of nodes.
// Whoever places rows and whoever looks for them uses it, so its results are disk format.
type Distribution struct {
	// Columns are the positions of the key's columns in the table.
	Columns []int
	hashes  []vector.PGHash
	scales  []int
	nodes   uint32
}

// NewDistribution returns how the rows of a table are spread over a number of nodes. A table without a
// distribution key keeps them on the first one.
func NewDistribution(t *Table, nodes int) (Distribution, error) {
	d := Distribution{nodes: uint32(nodes)}
	for _, id := range t.DistributeBy {
		at := t.ColumnByID(id)
		if at < 0 {
			return d, sqlerr.New(sqlerr.InternalError, "table %s is distributed by column %d, which it does not have", t.Name, id)
		}
		d.Columns = append(d.Columns, at)
		d.hashes = append(d.hashes, t.Columns[at].Type.PGHash())
		d.scales = append(d.scales, int(t.Columns[at].Type.Scale))
	}
	return d, nil
}

// Single reports whether every row is on the first node.
func (d *Distribution) Single() bool { return d.nodes <= 1 || len(d.Columns) == 0 }

// Place sets dst[i] to the node of row i of dense vectors, one per column of the table.
func (d *Distribution) Place(dst, scratch []uint32, vecs []*vector.Vector, n int) {
	dst, scratch = dst[:n], scratch[:n]
	if d.Single() {
		clear(dst)
		return
	}
	for k, c := range d.Columns {
		v := vecs[c]
		if k == 0 {
			vector.PGHashRows(dst, d.hashes[0], d.scales[0], v, n)
			continue
		}
		vector.PGHashRows(scratch, d.hashes[k], d.scales[k], v, n)
		for i := range dst {
			if !v.IsNull(i) { // as in PostgreSQL, NULLs leave the hash alone
				dst[i] = vector.PGHashCombine(dst[i], scratch[i])
			}
		}
	}
	for i := range dst {
		dst[i] %= d.nodes
	}
}

// NodeOf returns the data node of the rows with a key, counted from 0: that of row i of one vector per
// column of the key.
func (d *Distribution) NodeOf(key []*vector.Vector, i int) int {
	if d.Single() {
		return 0
	}
	hash := uint32(0)
	for k := range d.Columns {
		switch own := vector.PGHashRow(d.hashes[k], d.scales[k], key[k], i); {
		case k == 0:
			hash = own
		case !key[k].IsNull(i):
			hash = vector.PGHashCombine(hash, own)
		}
	}
	return int(hash % d.nodes)
}
