package join

import (
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// groupPlace tells where the rows of a group are.
type groupPlace uint8

const (
	inBatch groupPlace = iota // side by side in the right side's batch
	inStore                   // in memory: they came in several batches
	inSpool                   // on disk
)

// mergeGroup holds the right rows with one key, which all left rows with that key meet.
type mergeGroup struct {
	open  bool
	place groupPlace
	// key has the group's keys as those of row keyRow of its own.
	key      *mergeSide
	keyRow   int
	from, to int // inBatch: live rows
	head     *Store
	headKey  mergeSide
	store    *Store
	spool    *Spool
	writer   *SpoolWriter
	view     []*vector.Vector
	// matched are the rows that a condition has let match; kept where unmatched ones are yielded.
	matched vector.Bitmap
}

// rows returns the number of rows of a group that was copied.
func (g *mergeGroup) rows() int {
	if g.place == inSpool {
		return int(g.spool.Rows())
	}
	return g.store.Rows()
}

// maxIdleGroup is how much memory an empty group keeps for the next one.
const maxIdleGroup = 1 << 20

// clear ends the group.
func (g *mergeGroup) clear() error {
	g.open = false
	if g.store.granted > maxIdleGroup {
		g.store.release()
	} else {
		g.store.clear()
	}
	g.head.clear()
	if g.spool == nil {
		return nil
	}
	err := g.spool.Close()
	g.spool, g.writer = nil, nil
	return err
}

// gather copies the group that begins at the right side's row from and reaches the end of its batch, with
// what the next batches have of it.
func (m *Merger) gather(from int) error {
	g := &m.group
	g.place = inStore
	first := m.right.rows[from : from+1]
	if err := g.head.Append(m.right.keys, m.batchRows, first); err != nil {
		return err
	}
	for i := range g.headKey.keys {
		g.headKey.keys[i] = g.head.Column(i)
	}
	g.headKey.codes[0] = m.right.codes[from]
	g.key, g.keyRow = &g.headKey, 0
	for to := m.right.n; ; {
		if err := m.keep(from, to); err != nil {
			return err
		}
		if m.at = to; to < m.right.n {
			break
		}
		if err := m.pull(); err != nil {
			return err
		}
		if m.ended {
			break
		}
		from, to = 0, 0
		for to < m.right.n && !m.right.alone(to) && m.compare(&m.right, to, g.key, 0) == 0 {
			to++
		}
	}
	if g.place == inSpool {
		return g.writer.Flush()
	}
	return nil
}

// keep copies live rows of the right side's batch into the group, to disk where memory does not take them.
func (m *Merger) keep(from, to int) error {
	g := &m.group
	if from == to {
		return nil
	}
	rows := m.right.rows[from:to]
	if g.place == inSpool {
		return g.writer.Append(m.columns, m.batchRows, rows)
	}
	err := g.store.Append(m.columns, m.batchRows, rows)
	mayWrite := m.spec.Spill.Files != nil
	switch {
	case err != nil && !(mayWrite && sqlerr.CodeOf(err) == sqlerr.OutOfMemory):
		return err
	case err == nil && !(mayWrite && m.spec.Spill.LimitBytes > 0 && g.store.Bytes() > m.spec.Spill.LimitBytes):
		return nil
	}
	if e := m.spill(); e != nil || err == nil {
		return e
	}
	return g.writer.Append(m.columns, m.batchRows, rows)
}

// spill moves the group to disk.
func (m *Merger) spill() error {
	g := &m.group
	g.place = inSpool
	g.spool = NewSpool(m.spec.Spill.Files, m.spec.Columns)
	g.writer = g.spool.NewWriter()
	m.spilled++
	err := g.store.writeTo(g.writer)
	g.store.release()
	return err
}

// each shows the rows of a copied group, chunk by chunk, with the number of a chunk's first row.
func (m *Merger) each(f func(first, n int) error) error {
	g := &m.group
	if g.place == inStore {
		for i := range g.view {
			g.view[i] = g.store.Column(i)
		}
		if err := m.use(g.view, 0); err != nil {
			return err
		}
		return f(0, g.store.Rows())
	}
	r := g.spool.NewReader()
	for {
		vecs, n, err := r.Next()
		if err != nil || n == 0 {
			return err
		}
		if err := m.use(vecs, int(r.First)); err != nil {
			return err
		}
		if err := f(int(r.First), n); err != nil {
			return err
		}
		// The reader's memory is its next rows'.
		if err := m.flush(); err != nil {
			return err
		}
	}
}
