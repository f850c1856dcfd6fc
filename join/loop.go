package join

import "github.com/weftdb/weft/vector"

// Tile is a rectangle of row pairs to be tested together: one probe row with a block of build
// rows, or one build row with the whole probe batch, whichever makes fewer tiles. Its batch has the
// probe's columns, then the build's; the single row's columns are constant.
type Tile struct {
	vector.Batch
	ByBuild bool // one build row with the probe batch: row i of the tile is probe row i
	Probe   int  // !ByBuild: the probe row
	Build   int  // the build row; !ByBuild: that of the tile's row 0
}

// Tiler cuts the pairs of a probe batch and the build rows into tiles. It belongs to one worker.
type Tiler struct {
	loop   *Loop
	tile   Tile
	single []vector.Vector
	block  []*vector.Vector
	row    [1]uint32
}

// NewTiler returns a tiler for the given numbers of columns.
func NewTiler(probeCols, buildCols int) *Tiler {
	t := &Tiler{single: make([]vector.Vector, max(probeCols, buildCols)), block: NewBlock(buildCols)}
	t.tile.Vecs = make([]*vector.Vector, probeCols+buildCols)
	return t
}

// Over sets the finished loop whose rows are tiled.
func (t *Tiler) Over(l *Loop) { t.loop = l }

// Each calls visit with the tiles that cover the live rows of b, until visit returns false or an
// error. want, where not nil, tells which probe rows are still of interest: others may be left out.
// The tile is borrowed for the call.
func (t *Tiler) Each(b *vector.Batch, want func(probe int) bool, visit func(*Tile) (bool, error)) error {
	if t.loop.Rows() <= b.Live() {
		return t.byBuild(b, visit)
	}
	return t.byProbe(b, want, visit)
}

func (t *Tiler) byBuild(b *vector.Batch, visit func(*Tile) (bool, error)) error {
	probe := len(t.tile.Vecs) - len(t.block)
	t.tile.ByBuild, t.tile.N, t.tile.Sel = true, b.N, b.Sel
	copy(t.tile.Vecs, b.Vecs[:probe])
	for r := range t.loop.Rows() {
		t.tile.Build = r
		for i := range t.block {
			t.tile.Vecs[probe+i] = t.constant(i, t.loop.rows.Column(i), r)
		}
		if more, err := visit(&t.tile); err != nil || !more {
			return err
		}
		t.tile.N, t.tile.Sel = b.N, b.Sel
	}
	return nil
}

func (t *Tiler) byProbe(b *vector.Batch, want func(probe int) bool, visit func(*Tile) (bool, error)) error {
	probe := len(t.tile.Vecs) - len(t.block)
	t.tile.ByBuild = false
	for k := range b.Live() {
		i := k
		if b.Sel != nil {
			i = int(b.Sel[k])
		}
		for c := range probe {
			t.tile.Vecs[c] = t.constant(c, b.Vecs[c], i)
		}
		for from := 0; from < t.loop.Rows(); {
			if want != nil && !want(i) {
				break
			}
			n := min(BatchRows(), t.loop.Rows()-from)
			t.loop.rows.Block(t.block, from, n)
			copy(t.tile.Vecs[probe:], t.block)
			t.tile.N, t.tile.Sel, t.tile.Probe, t.tile.Build = n, nil, i, from
			if more, err := visit(&t.tile); err != nil || !more {
				return err
			}
			from += n
		}
	}
	return nil
}

// constant makes row i of v a constant.
func (t *Tiler) constant(at int, v *vector.Vector, i int) *vector.Vector {
	if v.Form == vector.Const {
		return v
	}
	t.row[0] = uint32(i)
	single := &t.single[at]
	vector.Gather(single, v, t.row[:])
	single.Form = vector.Const
	return single
}
