package join

import "github.com/weftdb/weft/vector"

// matches joins a left row with the group. With rows on disk it joins all that follow with the same key at
// once, so that the group is read once for a batch.
func (m *Merger) matches(i int) (next int, err error) {
	g := &m.group
	row := uint32(m.left.rows[i])
	next = i + 1
	switch kind := m.spec.Kind; {
	case m.residual == nil && kind == Anti:
		return next, nil
	case m.residual == nil && kind == Semi:
		return next, m.add(row, vector.NoRow)
	case g.place == inBatch:
		if err := m.use(m.columns, 0); err != nil {
			return 0, err
		}
		for _, right := range m.right.rows[g.from:g.to] {
			if err := m.add(row, uint32(right)); err != nil {
				return 0, err
			}
		}
		return next, m.end(row)
	}
	if g.place == inSpool {
		for next < m.left.n && !m.left.alone(next) && m.compare(&m.left, next, g.key, g.keyRow) == 0 {
			next++
		}
	}
	rows := m.left.rows[i:next]
	err = m.each(func(_, n int) error {
		for _, left := range rows {
			for right := range n {
				if err := m.add(uint32(left), uint32(right)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for k := 0; k < len(rows) && err == nil; k++ {
		err = m.end(uint32(rows[k]))
	}
	return next, err
}

// unmatched says that a left row has no match.
func (m *Merger) unmatched(i int) error {
	switch m.spec.Kind {
	case Left, Full, Anti:
		return m.add(uint32(m.left.rows[i]), vector.NoRow)
	}
	return nil
}

// end says that a left row has met all right rows. Where a condition decides, flush sees what it is to
// yield.
func (m *Merger) end(row uint32) error {
	if m.residual == nil {
		return nil
	}
	switch m.spec.Kind {
	case Left, Full, Anti, Semi:
		return m.add(row, vector.NoRow)
	}
	return nil
}

// addRight yields a right row of the batch without a match.
func (m *Merger) addRight(row uint32) error {
	if err := m.use(m.columns, 0); err != nil {
		return err
	}
	return m.add(vector.NoRow, row)
}

// use sets what the right rows of the pairs to come are in.
func (m *Merger) use(columns []*vector.Vector, first int) error {
	if m.n > 0 && (&m.chunk[0] != &columns[0] || m.chunkAt != first) {
		if err := m.flush(); err != nil {
			return err
		}
	}
	m.chunk, m.chunkAt = columns, first
	return nil
}

func (m *Merger) add(left, right uint32) error {
	m.l[m.n], m.r[m.n] = left, right
	if m.n++; m.n < len(m.l) {
		return nil
	}
	return m.flush()
}

// flush passes the pairs on, those that satisfy the condition.
func (m *Merger) flush() error {
	if m.residual != nil && m.n > 0 {
		if err := m.test(); err != nil {
			return err
		}
	}
	if m.n == 0 {
		return nil
	}
	n := m.n
	m.n = 0
	return m.out.Pairs(m.l[:n], m.r[:n], m.chunk)
}

// test keeps the pairs that are to be passed on.
func (m *Merger) test() error {
	n := 0
	for k := range m.n {
		if m.l[k] != vector.NoRow && m.r[k] != vector.NoRow {
			m.testL[n], m.testR[n] = m.l[k], m.r[k]
			n++
		}
	}
	if n > 0 {
		if err := m.residual.Test(m.testL[:n], m.testR[:n], m.flags[:n]); err != nil {
			return err
		}
	}
	pairs := m.spec.Kind != Semi && m.spec.Kind != Anti
	kept, tested := 0, 0
	for k := range m.n {
		left, right := m.l[k], m.r[k]
		keep := true
		switch {
		case left == vector.NoRow:
		case right == vector.NoRow:
			keep = m.found[left] == (m.spec.Kind == Semi)
		default:
			match := m.flags[tested] == True
			tested++
			if match {
				m.found[left] = true
				if m.yieldsRight() {
					m.group.matched.Set(m.chunkAt + int(right))
				}
			}
			keep = match && pairs
		}
		if keep {
			m.l[kept], m.r[kept] = left, right
			kept++
		}
	}
	m.n = kept
	return nil
}
