package exec

import (
	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/vector"
)

// blockReader reads a spool, and can give the last batch once more.
type blockReader struct {
	*join.SpoolReader
	vecs   []*vector.Vector
	n      int
	repeat bool
}

func (r *blockReader) next() ([]*vector.Vector, int, error) {
	if r.repeat {
		r.repeat = false
		return r.vecs, r.n, nil
	}
	var err error
	r.vecs, r.n, err = r.Next()
	return r.vecs, r.n, err
}

func (r *blockReader) again() { r.repeat = true }

// blockKinds are the kinds by which single blocks of a build are joined. What a probe row without a match
// yields is known after the last block only.
var blockKinds = map[join.Kind]join.Kind{
	join.Inner: join.Inner, join.Left: join.Inner, join.Single: join.Inner,
	join.Right: join.Right, join.Full: join.Right, join.RightSemi: join.RightSemi, join.RightAnti: join.RightAnti,
	join.Semi: join.Mark, join.Anti: join.Mark, join.NullAwareAnti: join.Mark, join.Mark: join.Mark,
}

// inBlocks joins a partition in as many passes over its probe rows as its build has blocks.
func (c *spilledScanner) inBlocks(p *join.Partition) error {
	out := &blockOutput{kind: c.kind, found: vector.NewBitmap(int(p.Probe.Rows())), unknown: vector.NewBitmap(int(p.Probe.Rows()))}
	r := &blockReader{SpoolReader: p.Build.NewReader()}
	passes := int64(0)
	for more := true; more; passes++ {
		c.memory.restart()
		build := c.build.part(c.memory)
		var err error
		if more, err = build.load(r, c, c.share/2); err != nil {
			return err
		}
		tallied(c.stats, factSpill, func(t *spillTally) { t.block(build.table) })
		if err := c.block(p, build, out); err != nil {
			return err
		}
	}
	tallied(c.stats, factSpill, func(t *spillTally) { t.passes = max(t.passes, passes) })
	if err := c.decided(p, out); err != nil {
		return err
	}
	c.memory.restart()
	return p.Close()
}

// block joins all probe rows with one block.
func (c *spilledScanner) block(p *join.Partition, build *hashBuild, out *blockOutput) error {
	out.joinOutput = joinOutput{}
	out.init(c.joinPlan, c.w, c.out, build.stored)
	residual, err := newResidual(c.joinPlan, &out.joinOutput)
	if err != nil {
		return err
	}
	joiner := build.table.NewJoiner(blockKinds[c.kind], c.nullAware(), residual, out)
	err = c.eachProbe(p, func(keys []*vector.Vector, first int64) error {
		out.input, out.first = &c.batch, int(first)
		sel := out.open(c.batch.N)
		if sel != nil && len(sel) == 0 {
			return nil
		}
		return joiner.Push(keys, c.batch.N, sel)
	})
	if err != nil {
		return err
	}
	return c.rest(build)
}

// decided yields, after the last block, what depends on all of them.
func (c *spilledScanner) decided(p *join.Partition, out *blockOutput) error {
	switch c.kind {
	case join.Inner, join.Right, join.RightSemi, join.RightAnti:
		return nil
	}
	return c.eachProbe(p, func(_ []*vector.Vector, first int64) error {
		out.input, out.first = &c.batch, int(first)
		return out.decide(c.batch.N)
	})
}

// blockOutput receives what a block's joiner finds, and remembers what is known of each probe row.
type blockOutput struct {
	joinOutput
	kind           join.Kind
	first          int           // number of the batch's first probe row
	found, unknown vector.Bitmap // by number of the probe row: a match was found; one may be
	sel            vector.Sel
	noRow          []uint32
	marks          []uint8
}

// open returns the rows of a batch of n whose matches are still of interest, nil = all.
func (o *blockOutput) open(n int) vector.Sel {
	if blockKinds[o.kind] != join.Mark {
		return nil
	}
	return o.having(n, func(i int) bool { return !o.found.Get(i) })
}

// having returns the rows of a batch of n whose numbers satisfy a condition.
func (o *blockOutput) having(n int, want func(i int) bool) vector.Sel {
	if o.sel == nil {
		o.sel = make(vector.Sel, 0, vector.BatchCap)
	}
	o.sel = o.sel[:0]
	for i := range n {
		if want(o.first + i) {
			o.sel = append(o.sel, uint16(i))
		}
	}
	return o.sel
}

// note remembers that a row of the batch has a match.
func (o *blockOutput) note(i int) error {
	if o.kind == join.Single && o.found.Get(o.first+i) {
		return errTwoRows
	}
	o.found.Set(o.first + i)
	return nil
}

// Once receives rows with one match each.
func (o *blockOutput) Once(sel vector.Sel, build []uint32) error {
	if sel == nil {
		for i := range o.input.N {
			if err := o.note(i); err != nil {
				return err
			}
		}
	}
	for _, i := range sel {
		if err := o.note(int(i)); err != nil {
			return err
		}
	}
	return o.joinOutput.Once(sel, build)
}

// Pairs receives joined rows.
func (o *blockOutput) Pairs(probe, build []uint32) error {
	for _, i := range probe {
		if err := o.note(int(i)); err != nil {
			return err
		}
	}
	return o.joinOutput.Pairs(probe, build)
}

// Marks receives what one block says of rows.
func (o *blockOutput) Marks(sel vector.Sel, marks []uint8) error {
	mark := func(i int) {
		switch marks[i] {
		case join.True:
			o.found.Set(o.first + i)
		case join.Null:
			o.unknown.Set(o.first + i)
		}
	}
	if sel == nil {
		for i := range marks {
			mark(i)
		}
	}
	for _, i := range sel {
		mark(int(i))
	}
	return nil
}

// decide passes on the rows of a batch of n as all blocks together want it.
func (o *blockOutput) decide(n int) error {
	var sel vector.Sel
	switch o.kind {
	case join.Mark:
		o.marks = o.marks[:0]
		for i := o.first; i < o.first+n; i++ {
			switch {
			case o.found.Get(i):
				o.marks = append(o.marks, join.True)
			case o.unknown.Get(i):
				o.marks = append(o.marks, join.Null)
			default:
				o.marks = append(o.marks, join.False)
			}
		}
		return o.joinOutput.Marks(nil, o.marks)
	case join.Semi:
		sel = o.having(n, o.found.Get)
	case join.NullAwareAnti:
		sel = o.having(n, func(i int) bool { return !o.found.Get(i) && !o.unknown.Get(i) })
	default:
		sel = o.having(n, func(i int) bool { return !o.found.Get(i) })
	}
	if len(sel) == 0 {
		return nil
	}
	if o.kind == join.Semi || o.kind == join.Anti || o.kind == join.NullAwareAnti {
		return o.joinOutput.Once(sel, nil)
	}
	for len(o.noRow) < len(sel) {
		o.noRow = append(o.noRow, vector.NoRow)
	}
	return o.joinOutput.Once(sel, o.noRow[:len(sel)])
}
