package join

import "github.com/weftdb/weft/vector"

// MergeSpec says how a merge join is made.
type MergeSpec struct {
	Kind Kind // Inner, Left, Right, Full, Semi or Anti
	Keys []MergeKey
	// KeyKinds and Columns are the kinds of the right side's keys and of its columns.
	KeyKinds, Columns []vector.Kind
	// RightUnique tells that no two right rows have equal keys.
	RightUnique bool
	// Memory is asked for right rows with equal keys that came in several batches, Spill.Files takes
	// those beyond Spill.LimitBytes, or beyond Memory.
	Memory Memory
	Spill  Spill
}

// MergeCursor is the right side of a merge join, in the order of its keys.
type MergeCursor interface {
	// Next returns the next batch, with its keys and its columns; n = 0 at the end. It is borrowed until
	// the next call.
	Next() (keys, columns []*vector.Vector, n int, sel vector.Sel, err error)
}

// MergeOutput receives what a merge join yields.
type MergeOutput interface {
	// Pairs passes on rows of the left batch joined with rows of the right columns; vector.NoRow on a side
	// stands for NULLs. Where the kind yields no right columns, right rows mean nothing.
	Pairs(left, right []uint32, columns []*vector.Vector) error
}

// Merger joins two inputs that come in the order of their keys: the left one is pushed, the right one
// pulled. It holds one batch of each, and right rows with equal keys where they do not lie in one batch.
// What it yields is in the order of the left keys, but for the right rows that Right and Full add.
type Merger struct {
	spec     MergeSpec
	cursor   MergeCursor
	residual Residual
	out      MergeOutput
	exact    bool // codes decide
	first    bool // one row of a group decides
	left     mergeSide
	right    mergeSide
	at       int // live row of the right side's batch that comes next
	ended    bool
	group    mergeGroup
	spilled  int64 // groups
	bytes    int64 // of them

	columns   []*vector.Vector // the right side's batch
	batchRows int
	chunk     []*vector.Vector // what right rows of pairs are in
	chunkAt   int              // number of its first row in the group

	l, r         []uint32 // pairs not passed on yet
	n            int
	found        []bool // left rows of the batch that a condition has let match
	testL, testR []uint32
	flags        []uint8
}

// NewMerger returns a merger. It belongs to one worker.
func NewMerger(spec MergeSpec, cursor MergeCursor, residual Residual, out MergeOutput) *Merger {
	m := &Merger{spec: spec, cursor: cursor, residual: residual, out: out, exact: exactCodes(spec.Keys, spec.KeyKinds[0])}
	m.first = spec.RightUnique || residual == nil && (spec.Kind == Semi || spec.Kind == Anti)
	m.l, m.r = make([]uint32, vector.BatchCap), make([]uint32, vector.BatchCap)
	if residual != nil {
		m.found, m.flags = make([]bool, vector.BatchCap), make([]uint8, vector.BatchCap)
		m.testL, m.testR = make([]uint32, vector.BatchCap), make([]uint32, vector.BatchCap)
	}
	g := &m.group
	g.store, g.head, g.view = NewStore(spec.Columns, spec.Memory), NewStore(spec.KeyKinds, nil), NewBlock(len(spec.Columns))
	g.store.plain, g.head.plain = true, true
	g.headKey = mergeSide{keys: make([]*vector.Vector, len(spec.KeyKinds)), n: 1, rows: allRows[:1], codes: make([]uint64, 1)}
	m.noChunk()
	return m
}

// noChunk makes the right columns those of no row.
func (m *Merger) noChunk() {
	for i := range m.group.view {
		m.group.view[i] = m.group.store.Column(i)
	}
	m.chunk = m.group.view
}

// Column returns the values of a right column that a Residual is asked about.
func (m *Merger) Column(i int) *vector.Vector { return m.chunk[i] }

// Spilled returns how many groups of right rows went to disk, and how large they were.
func (m *Merger) Spilled() (groups, bytes int64) { return m.spilled, m.bytes }

// yieldsRight reports whether the kind yields right rows without a match.
func (m *Merger) yieldsRight() bool { return m.spec.Kind == Right || m.spec.Kind == Full }

// Push joins the next left rows.
func (m *Merger) Push(keys []*vector.Vector, n int, sel vector.Sel) error {
	m.left.show(m.spec.Keys, keys, n, sel)
	if m.first && m.residual == nil && !m.yieldsRight() {
		return m.pushFirst()
	}
	if m.residual != nil {
		clear(m.found)
	}
	for i := 0; i < m.left.n; {
		var err error
		if i, err = m.step(i); err != nil {
			return err
		}
	}
	return m.flush()
}

// pushFirst is the rest of Push where the first right row with a key decides, and no right row is yielded
// alone: there are no groups then. The right side stays at a row as long as left rows match it.
func (m *Merger) pushFirst() error {
	for i := 0; i < m.left.n; {
		if m.at == m.right.n && !m.ended {
			if err := m.pull(); err != nil {
				return err
			}
		}
		for ; i < m.left.n && m.at < m.right.n; i++ {
			order := -1
			for !m.left.alone(i) && m.at < m.right.n {
				if m.right.alone(m.at) {
					m.at++
					continue
				}
				if order = m.compare(&m.left, i, &m.right, m.at); order <= 0 {
					break
				}
				m.at++
			}
			if m.at == m.right.n {
				break // the next batch may have a match
			}
			if err := m.decide(i, order == 0); err != nil {
				return err
			}
		}
		for ; m.ended && i < m.left.n; i++ {
			if err := m.unmatched(i); err != nil {
				return err
			}
		}
	}
	return m.flush()
}

// decide yields what comes of a left row of which it is known whether the next right row is its match.
func (m *Merger) decide(i int, match bool) error {
	switch {
	case !match:
		return m.unmatched(i)
	case m.spec.Kind == Semi:
		return m.add(uint32(m.left.rows[i]), vector.NoRow)
	case m.spec.Kind == Anti:
		return nil
	}
	return m.add(uint32(m.left.rows[i]), uint32(m.right.rows[m.at]))
}

// Finish ends the left side.
func (m *Merger) Finish() error {
	if m.group.open {
		if err := m.closeGroup(); err != nil {
			return err
		}
	}
	if m.yieldsRight() {
		if _, err := m.seek(-1); err != nil {
			return err
		}
	}
	return m.flush()
}

// Close removes what is on disk after an error.
func (m *Merger) Close() error { return m.group.clear() }

// step joins a left row, or several with the same key, and returns the row to go on at.
func (m *Merger) step(i int) (next int, err error) {
	if m.left.alone(i) {
		return i + 1, m.unmatched(i)
	}
	if m.group.open {
		switch order := m.compare(&m.left, i, m.group.key, m.group.keyRow); {
		case order == 0:
			return m.matches(i)
		case order < 0:
			return i + 1, m.unmatched(i)
		}
		if err := m.closeGroup(); err != nil {
			return 0, err
		}
	}
	order, err := m.seek(i)
	if err != nil {
		return 0, err
	}
	if order != 0 {
		return i + 1, m.unmatched(i)
	}
	if err := m.openGroup(); err != nil {
		return 0, err
	}
	return m.matches(i)
}

// compare compares live rows of two sides.
func (m *Merger) compare(a *mergeSide, i int, b *mergeSide, j int) int {
	switch x, y := a.codes[i], b.codes[j]; {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	if m.exact {
		return 0
	}
	return compareMergeKeys(m.spec.Keys, a.keys, int(a.rows[i]), b.keys, int(b.rows[j]))
}

// seek goes to the first right row that is not before a left row, and compares the left row with it. Without
// a left row, −1, it goes to the end.
func (m *Merger) seek(i int) (order int, err error) {
	yields := m.yieldsRight()
	for {
		for ; m.at < m.right.n; m.at++ {
			if !m.right.alone(m.at) && i >= 0 {
				if order := m.compare(&m.left, i, &m.right, m.at); order <= 0 {
					return order, nil
				}
			}
			if yields {
				if err := m.addRight(uint32(m.right.rows[m.at])); err != nil {
					return 0, err
				}
			}
		}
		if m.ended {
			return -1, nil
		}
		if err := m.pull(); err != nil {
			return 0, err
		}
	}
}

// pull takes the right side's next batch.
func (m *Merger) pull() error {
	if err := m.flush(); err != nil {
		return err
	}
	keys, columns, n, sel, err := m.cursor.Next()
	if err != nil {
		return err
	}
	m.at = 0
	if n == 0 {
		m.ended, m.right.n = true, 0
		m.noChunk()
		return nil
	}
	m.right.show(m.spec.Keys, keys, n, sel)
	m.columns, m.batchRows = columns, n
	m.chunk, m.chunkAt = columns, 0
	return nil
}

// openGroup makes a group of the right rows with the key of the next one.
func (m *Merger) openGroup() error {
	g := &m.group
	g.open = true
	from, to := m.at, m.at+1
	for !m.first && to < m.right.n && !m.right.alone(to) && m.compare(&m.right, to, &m.right, from) == 0 {
		to++
	}
	if to == m.right.n && !m.first {
		if err := m.gather(from); err != nil {
			return err
		}
	} else {
		g.place, g.from, g.to, g.key, g.keyRow = inBatch, from, to, &m.right, from
		m.at = to
	}
	if m.yieldsRight() && m.residual != nil {
		rows := m.batchRows
		if g.place != inBatch {
			rows = g.rows()
		}
		if words := (rows + 63) / 64; words > cap(g.matched) {
			g.matched = vector.NewBitmap(rows)
		} else {
			g.matched = g.matched[:words]
			clear(g.matched)
		}
	}
	return nil
}

// closeGroup ends the group: no more left rows have its key.
func (m *Merger) closeGroup() error {
	g := &m.group
	rest := m.yieldsRight() && m.residual != nil
	if rest || g.place != inBatch {
		if err := m.flush(); err != nil {
			return err
		}
	}
	if rest {
		if err := m.unmatchedGroup(); err != nil {
			return err
		}
	}
	if g.place == inBatch {
		g.open = false
		return nil
	}
	if g.spool != nil {
		m.bytes += g.spool.Bytes()
	}
	m.noChunk()
	return g.clear()
}

// unmatchedGroup yields the group's rows that no left row matched.
func (m *Merger) unmatchedGroup() error {
	g := &m.group
	if g.place == inBatch {
		for _, row := range m.right.rows[g.from:g.to] {
			if !g.matched.Get(int(row)) {
				if err := m.addRight(uint32(row)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return m.each(func(first, n int) error {
		for k := range n {
			if !g.matched.Get(first + k) {
				if err := m.add(vector.NoRow, uint32(k)); err != nil {
					return err
				}
			}
		}
		return m.flush()
	})
}
