package exec

import (
	"cmp"
	"slices"
)

// radixRows is the number of rows from which a radix sort beats comparisons: below, its counters
// cost more than the rows.
const radixRows = 192

// sorter sorts items by the words of their keys.
type sorter struct {
	words *sortWords
	w     *Worker
	spare []sortItem
}

// sortRows returns the rows 0 to n−1 in order; equal rows keep theirs.
func sortRows(w *Worker, words *sortWords, n int) ([]sortItem, error) {
	items := make([]sortItem, n)
	for i := range items {
		items[i].row = uint32(i)
	}
	if len(words.words) == 0 {
		return items, nil
	}
	parts := min(w.run.threads, n/parallelRows)
	if parts < 2 {
		s := &sorter{words: words, w: w, spare: make([]sortItem, n)}
		return items, s.sort(items, 0)
	}
	return sortParts(w, words, items, parts)
}

// parallelRows is the least number of rows worth a goroutine.
const parallelRows = 1 << 15

// sortParts sorts stretches of items on a goroutine each and merges them.
func sortParts(w *Worker, words *sortWords, items []sortItem, parts int) ([]sortItem, error) {
	spare := make([]sortItem, len(items))
	cutAt := func(i int) int { return len(items) * i / parts }
	err := w.run.parallel(parts, func(i int) error {
		from, to := cutAt(i), cutAt(i+1)
		s := &sorter{words: words, w: w, spare: spare[from:to]}
		return s.sort(items[from:to], 0)
	})
	if err != nil {
		return nil, err
	}
	// Merge neighbours until one stretch is left.
	cuts := make([]int, parts+1)
	for i := range cuts {
		cuts[i] = cutAt(i)
	}
	for len(cuts) > 2 {
		var next []int
		for i := 0; i+1 < len(cuts); i += 2 {
			end := cuts[min(i+2, len(cuts)-1)]
			mergeItems(words, spare[cuts[i]:end], items[cuts[i]:cuts[i+1]], items[cuts[i+1]:end])
			next = append(next, cuts[i])
		}
		cuts = append(next, len(items))
		items, spare = spare, items
		if err := w.Check(); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// mergeItems merges two sorted stretches whose items hold word 0; of equal rows a's come first.
func mergeItems(words *sortWords, dst, a, b []sortItem) {
	more := len(words.words) > 1 || !words.exact
	for len(a) > 0 && len(b) > 0 {
		first := a[0].key <= b[0].key
		if more && a[0].key == b[0].key {
			first = words.compare(a[0].row, b[0].row) <= 0
		}
		if first {
			dst[0], a = a[0], a[1:]
		} else {
			dst[0], b = b[0], b[1:]
		}
		dst = dst[1:]
	}
	copy(dst[copy(dst, a):], b)
}

// sort orders items by word level and those after it. The items end up holding word level.
func (s *sorter) sort(items []sortItem, level int) error {
	s.words.encode(items, level)
	if err := s.sortKeys(items); err != nil {
		return err
	}
	last := level+1 == len(s.words.words)
	if last && s.words.exact {
		return nil
	}
	for from := 0; from < len(items); {
		to := from + 1
		for to < len(items) && items[to].key == items[from].key {
			to++
		}
		if to-from > 1 {
			if err := s.sortTied(items[from:to], level, last); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

// sortTied orders items that are equal up to word level.
func (s *sorter) sortTied(items []sortItem, level int, last bool) error {
	key := items[0].key
	var err error
	if last || len(items) == 2 {
		slices.SortStableFunc(items, func(a, b sortItem) int { return s.words.compare(a.row, b.row) })
		if len(items) > 1024 {
			err = s.w.Check()
		}
	} else {
		err = s.sort(items, level+1)
	}
	for i := range items {
		items[i].key = key
	}
	return err
}

// sortKeys orders items by key, then row: a stable sort, as rows ascend at the start.
func (s *sorter) sortKeys(items []sortItem) error {
	if len(items) < radixRows {
		slices.SortFunc(items, func(a, b sortItem) int {
			if c := cmp.Compare(a.key, b.key); c != 0 {
				return c
			}
			return cmp.Compare(a.row, b.row)
		})
		return nil
	}
	// One pass counts the values of all eight bytes; bytes that are equal in all keys need no pass.
	var counts [8][256]uint32
	for i := range items {
		k := items[i].key
		for b := range counts {
			counts[b][k>>(8*b)&255]++
		}
	}
	from, to := items, s.spare[:len(items)]
	for b := range counts {
		count := &counts[b]
		if count[items[0].key>>(8*b)&255] == uint32(len(items)) {
			continue
		}
		sum := uint32(0)
		for d := range count {
			sum, count[d] = sum+count[d], sum
		}
		if err := scatter(to, from, count, uint(8*b), s.w); err != nil {
			return err
		}
		from, to = to, from
	}
	if &from[0] != &items[0] {
		copy(items, from)
	}
	return nil
}

// scatterRows is how many rows are moved between checks for cancellation: about a millisecond.
const scatterRows = 1 << 18

func scatter(to, from []sortItem, count *[256]uint32, shift uint, w *Worker) error {
	for len(from) > 0 {
		part := from[:min(scatterRows, len(from))]
		for _, it := range part {
			d := it.key >> shift & 255
			to[count[d]] = it
			count[d]++
		}
		from = from[len(part):]
		if err := w.Check(); err != nil {
			return err
		}
	}
	return nil
}
