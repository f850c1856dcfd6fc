package vector

// Sel lists ascending row positions inside one batch; nil means all rows.
type Sel []uint16

// Batch is a horizontal slice of a relation. It is borrowed for the duration of a call: it may be
// narrowed (Sel) or extended (Vecs) before it is passed on, and nothing of it may be kept.
type Batch struct {
	N    int // physical rows, at most BatchCap
	Sel  Sel // live rows; nil = all N
	Vecs []*Vector
}

// Live returns the number of live rows.
func (b *Batch) Live() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.N
}

// NewBatch returns a batch with an empty flat vector per kind.
func NewBatch(kinds []Kind) *Batch {
	b := &Batch{Vecs: make([]*Vector, len(kinds))}
	for i, k := range kinds {
		b.Vecs[i] = New(k, BatchCap)
	}
	return b
}
