package join

import "github.com/weftdb/weft/vector"

// exists serves the kinds that ask of each probe row whether it has a match.
func (j *Joiner) exists() error {
	switch {
	case j.residual == nil && (j.t.pack != nil || len(j.rows) == 0):
		clear(j.seen[:j.n])
		for _, i := range j.rows {
			j.seen[i] = True
		}
	default:
		clear(j.seen[:j.n])
		if err := j.search(); err != nil {
			return err
		}
	}
	if j.nullAware {
		j.awareOfNull()
	}
	if j.kind == Mark {
		return j.out.Marks(j.sel, j.seen[:j.n])
	}
	want := False
	if j.kind == Semi {
		want = True
	}
	sel := j.having(want)
	if len(sel) == 0 {
		return nil
	}
	return j.out.Once(sel, nil)
}

// search decides seen by trying one candidate of each undecided row per round: a row that has
// found a match is tried no further. A row whose condition was NULL once is Null unless a later
// candidate is True.
func (j *Joiner) search() error {
	active := j.selBuf[:len(j.rows)] // positions in rows
	for k := range active {
		active[k] = uint16(k)
	}
	for round := uint32(0); len(active) > 0; round++ {
		m := j.round(active, round)
		if j.t.pack == nil {
			m = j.sameKeys(j.probe[:], j.build[:], m)
		}
		if m > 0 && j.residual != nil {
			if err := j.residual.Test(j.probe[:m], j.build[:m], j.flags[:m]); err != nil {
				return err
			}
			for k, f := range j.flags[:m] {
				if f != False {
					j.seen[j.probe[k]] = f
				}
			}
		} else {
			for _, i := range j.probe[:m] {
				j.seen[i] = True
			}
		}
		left := active[:0]
		for _, k := range active {
			if j.seen[j.rows[k]] != True && round+1 < j.ranges(int(k)) {
				left = append(left, k)
			}
		}
		active = left
	}
	return nil
}

// ranges returns the number of candidates of rows[k].
func (j *Joiner) ranges(k int) uint32 {
	if j.t.exactRows() {
		return 1
	}
	return j.count[k]
}

// round writes the pairs of the round-th candidate of each active row.
func (j *Joiner) round(active vector.Sel, round uint32) int {
	m := 0
	for _, k := range active {
		row := uint32(j.rows[k])
		at := j.first[k] + round
		switch {
		case j.t.pack == nil:
			e := j.t.entries[at]
			j.probe[m], j.build[m] = row, uint32(e)
			m += b2i(e>>32 == j.codes[row]&(1<<32-1))
		case j.t.adjacent == nil:
			j.probe[m], j.build[m] = row, j.first[k]
			m++
		default:
			j.probe[m], j.build[m] = row, j.t.adjacent[at]
			m++
		}
	}
	return m
}

// awareOfNull turns "no match" into NULL where a NULL key stands in the way: x IN (…) is NULL when
// x is NULL or the list holds a NULL, unless x is found or the list is empty.
func (j *Joiner) awareOfNull() {
	if j.t.rows == 0 && !j.t.HasNullKey() {
		return
	}
	key := j.keys[0]
	all := j.t.HasNullKey() || key.Form == vector.Const && key.IsNull(0)
	if !all && key.Valid == nil {
		return
	}
	for i := range j.n {
		if j.seen[i] == False && (all || key.IsNull(i)) {
			j.seen[i] = Null
		}
	}
}

// having returns the live rows whose condition has a value. For the anti kinds that is False:
// Anti's conditions are two-valued, NullAwareAnti drops rows whose condition is NULL.
func (j *Joiner) having(want uint8) vector.Sel {
	sel := j.selBuf[:0]
	if j.sel == nil {
		for i, s := range j.seen[:j.n] {
			if s == want || s == Null && j.kind == Anti {
				sel = append(sel, uint16(i))
			}
		}
		return sel
	}
	for _, i := range j.sel {
		if s := j.seen[i]; s == want || s == Null && j.kind == Anti {
			sel = append(sel, i)
		}
	}
	return sel
}

// markOnly serves the kinds that yield build rows only.
func (j *Joiner) markOnly() error {
	if j.residual == nil && j.t.pack != nil {
		j.markRanges()
		return nil
	}
	for {
		m := j.pairs(j.probe[:j.limit], j.build[:j.limit])
		if m == 0 {
			return nil
		}
		m, err := j.test(m)
		if err != nil {
			return err
		}
		for _, r := range j.build[:m] {
			j.marks[r>>6] |= 1 << (r & 63)
		}
	}
}

// markRanges marks all rows of each key found. The rows of a key are marked together, so a key
// whose first row is marked has been here before.
func (j *Joiner) markRanges() {
	for k := range j.rows {
		if j.t.adjacent == nil {
			r := j.first[k]
			j.marks[r>>6] |= 1 << (r & 63)
			continue
		}
		rows := j.t.adjacent[j.first[k] : j.first[k]+j.count[k]]
		if j.marks.Get(int(rows[0])) {
			continue
		}
		for _, r := range rows {
			j.marks[r>>6] |= 1 << (r & 63)
		}
	}
}
