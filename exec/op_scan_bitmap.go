package exec

import (
	"slices"

	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/storage"
	"github.com/weftdb/weft/vector"
)

// bitmapSource reads the rows that index ranges name together. The set is a sorted list of
// references: unlike a bitmap it takes no more than the rows found, however far apart they are, and
// it is the order in which rows are fetched. Parts of the list are the morsels.
type bitmapSource struct {
	run  *run
	node *planner.Scan
	refs []storage.RowRef
}

type bitmapScanner struct {
	source *bitmapSource
	w      *Worker
	reader *refReader
	out    Pusher
}

// bitmapMorsel is the number of rows that a worker takes at a time: fewer make several workers fetch
// the same blocks, more leave workers idle at the end.
const bitmapMorsel = 16 * 1024

// Morsels finds the rows.
func (s *bitmapSource) Morsels(w *Worker) (int, error) {
	var err error
	s.refs, err = s.set(w, w.reservation(), s.node.Bitmap)
	return (len(s.refs) + bitmapMorsel - 1) / bitmapMorsel, err
}

// set returns the references of a set, ascending.
func (s *bitmapSource) set(w *Worker, memory *Reservation, node *planner.BitmapScan) ([]storage.RowRef, error) {
	if node.Index != nil {
		return s.named(w, memory, node.Index)
	}
	var set []storage.RowRef
	for i, kid := range node.Kids {
		part, err := s.set(w, memory, kid)
		if err != nil {
			return nil, err
		}
		switch {
		case i == 0:
			set = part
		case node.Or:
			if err := memory.Grow(refBytes * int64(len(set)+len(part))); err != nil {
				return nil, err
			}
			set = union(set, part)
		default:
			set = intersection(set, part)
		}
		if len(set) == 0 && !node.Or {
			return nil, nil
		}
	}
	return set, nil
}

const refBytes = 8

// named returns the references in the ranges of an index.
func (s *bitmapSource) named(w *Worker, memory *Reservation, index *planner.IndexScan) (refs []storage.RowRef, err error) {
	ranges, err := s.run.indexRanges(index)
	if err != nil || len(ranges) == 0 {
		return nil, err
	}
	cursor, err := s.run.query.View.ScanIndex(s.node.Table, index.Index, ranges...)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := cursor.Close(); err == nil {
			err = cerr
		}
	}()
	for {
		if err := w.Check(); err != nil {
			return nil, err
		}
		step := vector.BatchCap
		if free := cap(refs) - len(refs); free < step {
			grown := max(2*cap(refs), step)
			if err := memory.Grow(refBytes * int64(grown-cap(refs))); err != nil {
				return nil, err
			}
			refs = slices.Grow(refs, grown-len(refs))
		}
		n, err := cursor.Next(refs[len(refs) : len(refs)+step])
		if err != nil {
			return nil, err
		}
		refs = refs[:len(refs)+n]
		if n < step {
			slices.Sort(refs)
			return refs, nil
		}
	}
}

// union merges two ascending lists without repeats.
func union(a, b []storage.RowRef) []storage.RowRef {
	out := make([]storage.RowRef, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case b[0] < a[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// intersection keeps, in a's memory, what two ascending lists have in common.
func intersection(a, b []storage.RowRef) []storage.RowRef {
	out := a[:0]
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case b[0] < a[0]:
			b = b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return out
}

func (s *bitmapSource) Open(w *Worker, out Pusher) (Scanner, error) {
	reader, err := newRefReader(s.run, s.node, s.run.query.View)
	if err != nil {
		return nil, err
	}
	reader.counted(w, s.run.stats.of(s.node))
	return &bitmapScanner{s, w, reader, out}, nil
}

func (c *bitmapScanner) Scan(morsel int) error {
	refs := c.source.refs[morsel*bitmapMorsel : min((morsel+1)*bitmapMorsel, len(c.source.refs))]
	for len(refs) > 0 {
		if err := c.w.Check(); err != nil {
			return err
		}
		n := min(len(refs), vector.BatchCap)
		if err := c.reader.read(refs[:n], c.out); err != nil {
			return err
		}
		refs = refs[n:]
	}
	return nil
}
