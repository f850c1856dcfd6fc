package exec

import (
	"math/bits"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// hybridReader is a columnReader whose units hold the filter's columns but not all others. It filters
// a whole row group on units first, which tells how many rows survive and how many pages they lie
// on, and then gets the other columns of the survivors from the row store, through the same view, so
// that both parts of a row are of one version even if the row is changed in between:
//
//   - few survivors are collected over groups and fetched by reference, many at a time: the processor
//     then waits for many pages at once;
//   - where there are many on each page, the pages that have any are read in their order, and rows
//     that did not survive are left out of the selection;
//   - where a sample of the group lets most rows pass, it is read by rows without looking further.
type hybridReader struct {
	columnReader
	late    []int // scan columns fetched from rows
	fetcher *storage.Fetcher

	phase     hybridPhase
	sampled   int               // windows of the group that were sampled
	survivors storage.GroupBits // in phaseFetch without those taken
	word      int               // in phaseFetch: words before it have no survivors left
	pages     pageSelection     // in phasePages

	waiting     waitingRows
	fetched     vector.Batch
	windowBatch vector.Batch
}

// hybridPhase is what a hybridReader takes rows from next.
type hybridPhase uint8

const (
	phaseFetch   hybridPhase = iota // survivors, by reference
	phasePages                      // survivors, from pages in their order
	phaseChanged                    // rows that changed since the units were built
	phaseAll                        // all rows of the group, from the row store
	phaseDone
)

// waitingRows are survivors whose other columns have not been fetched yet. They may be of several
// groups of a store.
type waitingRows struct {
	store catalog.StoreID
	ids   []uint64        // ascending
	vecs  []vector.Vector // covered columns, by scan column
	lent  []vector.Vector // … of the batch handed out last
	refs  *vector.Vector
	picks []uint32 // scratch, and the same rows relative to a piece
	sel   vector.Sel
	quota int // rows to collect before they are fetched; grows, so that a LIMIT reads little
}

func newHybridReader(r *columnReader) *hybridReader {
	h := &hybridReader{columnReader: *r}
	n := len(r.covered)
	h.waiting = waitingRows{vecs: make([]vector.Vector, n), lent: make([]vector.Vector, n), refs: r.refs, quota: 1}
	for i, id := range r.covered {
		if id == 0 {
			h.late = append(h.late, i)
			continue
		}
		h.waiting.vecs[i].Reset(r.scan.node.Columns[i].Col.Typ.Kind(), 0)
	}
	return h
}

// What it takes to get rows that lie scattered in packed pages in memory, in nanoseconds on the machine
// of docs/performance.md, as `weft bench htap` shows it. Only their ratios matter.
const (
	fetchRowNanos  = 60.0 // a row by reference, among hundreds
	fetchCellNanos = 60.0 // each of its columns: the processor waits for memory
	pageRowNanos   = 4.0  // a row of a page that is read in order
	pageCellNanos  = 2.2  // each of its columns
)

// fewSurvivors of a group are fetched by reference in any case: one row of each page at most, or rows
// that lie together and are copied in runs.
const fewSurvivors = storage.GroupPages

// fetchNanos estimates fetching rows by reference.
func (r *hybridReader) fetchNanos(rows int) float64 {
	return float64(rows) * (fetchRowNanos + fetchCellNanos*float64(len(r.late)))
}

// pagesNanos estimates reading pages in their order.
func (r *hybridReader) pagesNanos(pages int) float64 {
	return float64(pages) * storage.PageRows * (pageRowNanos + pageCellNanos*float64(len(r.scan.cols)))
}

// Open filters a group and decides how its survivors are read.
func (r *hybridReader) Open(store catalog.StoreID, number int) error {
	r.unpin()
	r.store, r.number = store, number
	s := r.scan
	if !r.views.Pin(&r.group, s.run.query.View, s.node.Table, store, number, r.units) {
		return r.openAll()
	}
	r.pinned = true
	if r.coded.units.Skip(&r.group) || r.skipByKeys() {
		s.stats.count(factPruned, 1)
		r.views.Served.Pruned.Add(1)
		return r.openChanged()
	}
	if !r.views.Load(&r.group, r.tested) {
		return r.openAll()
	}
	if err := r.coded.bind(&r.group); err != nil {
		return err
	}
	r.lent.mark()
	dense, err := r.sample()
	if err != nil {
		return err
	}
	if dense {
		return r.openAgain()
	}
	rows, pages, err := r.filterRest()
	if err != nil {
		return err
	}
	byReference := rows <= fewSurvivors || r.fetchNanos(rows) <= r.pagesNanos(pages)
	if rows > 0 && byReference && !r.views.Load(&r.group, r.units) {
		return r.openAgain()
	}
	r.countUnits()
	switch {
	case rows == 0:
		return r.openChanged()
	case byReference:
		r.phase, r.word = phaseFetch, 0
		return nil
	}
	s.stats.count(factPaged, int64(rows))
	r.phase = phasePages
	return r.openPages()
}

// openAll turns to the row store for the whole group.
func (r *hybridReader) openAll() error {
	r.phase = phaseAll
	return r.byRows()
}

// openAgain is openAll after rows have been filtered.
func (r *hybridReader) openAgain() error {
	r.lent.forget()
	return r.openAll()
}

// openChanged turns to the rows that the units do not speak for.
func (r *hybridReader) openChanged() error {
	if r.group.TouchedRows == 0 {
		r.phase = phaseDone
		return nil
	}
	r.phase = phaseChanged
	r.scan.stats.count(factTouched, int64(r.group.TouchedRows))
	r.views.Served.Touched.Add(1)
	return r.openRows(&r.group.Touched)
}

// openPages turns to the pages that hold survivors: to all their rows that units may be trusted for,
// for a run of rows costs less to copy than its parts.
func (r *hybridReader) openPages() error {
	r.pages = pageSelection{survivors: &r.survivors}
	for i, w := range &r.survivors {
		if w != 0 {
			r.pages.read[i] = r.group.Trusted[i]
			r.pages.left += bits.OnesCount64(r.group.Trusted[i])
		}
	}
	return r.openRows(&r.pages.read)
}

// sampledWindows are filtered before the rest of a group: if each of them lets so many rows pass that
// reading pages is cheaper, filtering the rest would only be added to that.
const sampledWindows = 4

// sample filters a few windows spread over the group and reports whether all of them are dense.
func (r *hybridReader) sample() (dense bool, err error) {
	r.survivors, r.sampled = storage.GroupBits{}, 0
	windows := r.windows()
	if windows < 4*sampledWindows {
		return false, nil
	}
	limit := r.pagesNanos(1) / storage.PageRows * float64(vector.BatchCap)
	for r.sampled < sampledWindows {
		n, err := r.filterWindow(sampledWindow(r.sampled, windows))
		r.sampled++
		if err != nil || r.fetchNanos(n) <= limit {
			return false, err
		}
	}
	return true, nil
}

// sampledWindow is the number of the k-th sampled window.
func sampledWindow(k, windows int) int { return windows * (2*k + 1) / (2 * sampledWindows) }

func (r *hybridReader) windows() int {
	return (r.group.Limit() + vector.BatchCap - 1) / vector.BatchCap
}

// filterRest marks the survivors of the windows that were not sampled, and counts all survivors and
// their pages.
func (r *hybridReader) filterRest() (rows, pages int, err error) {
	windows, sampled := r.windows(), 0
	for w := range windows {
		if sampled < r.sampled && w == sampledWindow(sampled, windows) {
			sampled++
			continue
		}
		if _, err := r.filterWindow(w); err != nil {
			return 0, 0, err
		}
	}
	for _, w := range &r.survivors {
		if w != 0 {
			rows += bits.OnesCount64(w)
			pages++
		}
	}
	return rows, pages, nil
}

// filterWindow marks a window's survivors and returns their number.
func (r *hybridReader) filterWindow(w int) (int, error) {
	b := &r.windowBatch
	b.Vecs = b.Vecs[:0]
	for i := range r.own {
		b.Vecs = append(b.Vecs, &r.own[i])
	}
	from := w * vector.BatchCap
	n, err := r.window(b, from)
	if err != nil || b.Live() == 0 {
		return 0, err
	}
	if b.Sel == nil {
		for i := range n {
			r.survivors.Set(from + i)
		}
		return n, nil
	}
	for _, at := range b.Sel {
		r.survivors.Set(from + int(at))
	}
	return len(b.Sel), nil
}

// Next yields survivors of the group, then its changed rows. The last survivors may wait for those of
// the next group.
func (r *hybridReader) Next(b *vector.Batch) (bool, error) {
	for {
		switch r.phase {
		case phaseFetch:
			if r.waiting.otherStore(r.store) {
				return true, r.fetchWaiting(b)
			}
			r.collect()
			if r.waiting.full() {
				return true, r.fetchWaiting(b)
			}
			if err := r.openChanged(); err != nil {
				return false, err
			}
		case phasePages:
			more, err := r.nextPages(b)
			if more || err != nil {
				return more, err
			}
			if err := r.openChanged(); err != nil {
				return false, err
			}
		case phaseChanged, phaseAll:
			return r.nextRows(b)
		default:
			return false, nil
		}
	}
}

// Rest yields the survivors that wait when all groups have been read.
func (r *hybridReader) Rest(b *vector.Batch) (bool, error) {
	if len(r.waiting.ids) == 0 {
		return false, nil
	}
	return true, r.fetchWaiting(b)
}

// collect moves survivors of the group to those that wait, until these are as many as wanted.
func (r *hybridReader) collect() {
	w := &r.waiting
	w.store = r.store
	limit := (r.group.Limit() + 63) >> 6
	for r.word < limit && !w.full() {
		first := r.word
		w.picks = w.picks[:0]
		// A piece spans no more rows than a batch, so that its columns are read with one call each.
		for r.word < min(first+pieceWords, limit) && len(w.ids)+len(w.picks) < w.quota {
			word := &r.survivors[r.word]
			for ; *word != 0 && len(w.ids)+len(w.picks) < w.quota; *word &= *word - 1 {
				w.picks = append(w.picks, uint32(r.word<<6+bits.TrailingZeros64(*word)))
			}
			if *word == 0 {
				r.word++
			}
		}
		r.take()
	}
}

const pieceWords = 16

// take adds the rows picked, in ascending order, to those that wait.
func (r *hybridReader) take() {
	w := &r.waiting
	if len(w.picks) == 0 {
		return
	}
	base := uint64(r.number) * storage.GroupRows
	first, last := w.picks[0], w.picks[len(w.picks)-1]
	w.sel = w.sel[:0]
	for k, at := range w.picks {
		w.ids = append(w.ids, base+uint64(at))
		w.picks[k] = at - first
		w.sel = append(w.sel, uint16(at-first))
	}
	for i, id := range r.covered {
		if id != 0 && r.unread[i] == nil {
			r.group.Read(id, &r.own[i], int(first), int(last-first)+1, w.sel)
			vector.AppendGather(&w.vecs[i], &r.own[i], w.picks)
		}
	}
}

func (w *waitingRows) full() bool { return len(w.ids) >= w.quota }

func (w *waitingRows) otherStore(store catalog.StoreID) bool {
	return len(w.ids) > 0 && w.store != store
}

// fetchWaiting makes b the rows that wait.
func (r *hybridReader) fetchWaiting(b *vector.Batch) error {
	s, w := r.scan, &r.waiting
	if r.fetcher == nil {
		cols := make([]int, len(r.late))
		for k, i := range r.late {
			cols[k] = s.cols[i]
		}
		var err error
		if r.fetcher, err = s.run.query.View.NewFetcher(s.node.Table, cols); err != nil {
			return err
		}
	}
	n := len(w.ids)
	s.stats.count(factFetched, int64(n))
	missing, err := r.fetcher.Fetch(w.store, w.ids, &r.fetched)
	if err != nil {
		return err
	}
	if missing != nil {
		return errNoRow
	}
	for i, id := range r.covered {
		switch {
		case id == 0:
		case r.unread[i] != nil:
			b.Vecs[i] = r.unread[i]
		default:
			w.vecs[i], w.lent[i] = w.lent[i], w.vecs[i]
			w.vecs[i].Reset(w.lent[i].Kind, 0)
			b.Vecs[i] = &w.lent[i]
		}
	}
	for k, i := range r.late {
		b.Vecs[i] = r.fetched.Vecs[k]
	}
	if s.node.RowRef != nil {
		w.refs.Reset(vector.I64, n)
		out := vector.Of[int64](w.refs)
		for k, id := range w.ids {
			out[k] = int64(storage.MakeRowRef(w.store, id))
		}
		b.Vecs[len(r.covered)] = w.refs
	}
	b.N, b.Sel = n, nil
	w.ids, w.quota = w.ids[:0], min(2*w.quota, vector.BatchCap)
	return nil
}

// errNoRow is a bug or damage: a row that no commit up to the view has changed since its unit was built
// is in the view.
var errNoRow = sqlerr.New(sqlerr.DataCorrupted, "a row of a column unit is missing in its table")

// nextPages yields survivors from the pages that hold some.
func (r *hybridReader) nextPages(b *vector.Batch) (bool, error) {
	for {
		more, err := r.rows.Next(&r.rowBatch)
		if err != nil {
			return false, err
		}
		if !more {
			if r.pages.left != 0 {
				return false, errNoRow
			}
			return false, nil
		}
		sel := r.pages.selection(r.rowBatch.N, r.narrowed)
		if r.narrowed = sel; len(sel) == 0 {
			continue
		}
		copy(b.Vecs, r.rowBatch.Vecs)
		b.N, b.Sel = r.rowBatch.N, sel
		if len(sel) == b.N {
			b.Sel = nil
		}
		return true, nil
	}
}

// Close releases what the reader holds.
func (r *hybridReader) Close() error {
	err := r.columnReader.Close()
	if r.fetcher != nil {
		if ferr := r.fetcher.Close(); err == nil {
			err = ferr
		}
	}
	return err
}

// pageSelection finds the survivors among rows that are read in ascending order.
type pageSelection struct {
	survivors *storage.GroupBits
	read      storage.GroupBits // rows to read
	word      int
	taken     uint64 // rows of the word that were read
	left      int    // rows that are still to be read
}

// selection returns the survivors among the next n rows.
func (p *pageSelection) selection(n int, out vector.Sel) vector.Sel {
	out = out[:0]
	p.left -= n
	for at := 0; at < n && p.word < len(p.read); {
		rest := p.read[p.word] &^ p.taken
		part := rest
		if over := bits.OnesCount64(rest) - (n - at); over > 0 {
			for range over { // the batch ends within the page
				part &^= 1 << (63 - bits.LeadingZeros64(part))
			}
		}
		for hit := part & p.survivors[p.word]; hit != 0; hit &= hit - 1 {
			out = append(out, uint16(at+bits.OnesCount64(part&(hit&-hit-1))))
		}
		at += bits.OnesCount64(part)
		if p.taken |= part; part == rest {
			p.word, p.taken = p.word+1, 0
		}
	}
	return out
}
