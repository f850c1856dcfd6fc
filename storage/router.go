package storage

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// router finds the data node of a row: the hash of its distribution key modulo the number of nodes.
type router struct {
	cols   []int // positions in tbl.Columns
	hashes []vector.PGHash
	scales []int
	nodes  uint32
}

// newRouter makes the router of a table. A table without distribution key keeps its rows on the
// first node.
func newRouter(tbl *catalog.Table) (router, error) {
	r := router{nodes: uint32(len(tbl.Stores))}
	for _, id := range tbl.DistributeBy {
		at := tbl.ColumnByID(id)
		if at < 0 {
			return r, errNoColumn(tbl, id)
		}
		r.cols = append(r.cols, at)
		r.hashes = append(r.hashes, tbl.Columns[at].Type.PGHash())
		r.scales = append(r.scales, int(tbl.Columns[at].Type.Scale))
	}
	return r, nil
}

// single reports whether every row goes to the first node.
func (r *router) single() bool { return r.nodes <= 1 || len(r.cols) == 0 }

// route sets dst[i] to the node of row i of dense vectors, one per column of the table.
func (r *router) route(dst, scratch []uint32, vecs []*vector.Vector, n int) {
	dst, scratch = dst[:n], scratch[:n]
	if r.single() {
		clear(dst)
		return
	}
	for k, c := range r.cols {
		v := vecs[c]
		if k == 0 {
			vector.PGHashRows(dst, r.hashes[0], r.scales[0], v, n)
			continue
		}
		vector.PGHashRows(scratch, r.hashes[k], r.scales[k], v, n)
		for i := range dst {
			if v.Valid == nil || v.Valid.Get(i) { // as in PostgreSQL, NULLs leave the hash alone
				dst[i] = vector.PGHashCombine(dst[i], scratch[i])
			}
		}
	}
	for i := range dst {
		dst[i] %= r.nodes
	}
}

// NodeOf returns the data node that rows with the given distribution key live on, counted from 0:
// one value per column of tbl.DistributeBy.
func NodeOf(tbl *catalog.Table, key []vector.Datum) (int, error) {
	r, err := newRouter(tbl)
	if err != nil || r.single() {
		return 0, err
	}
	vecs := make([]*vector.Vector, len(tbl.Columns))
	for i, c := range r.cols {
		v := vector.New(key[i].Kind, 1)
		vector.AppendDatum(v, key[i])
		vecs[c] = v
	}
	var node, scratch [1]uint32
	r.route(node[:], scratch[:], vecs, 1)
	return int(node[0]), nil
}
