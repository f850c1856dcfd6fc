package exec

import (
	"sync"

	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// cte is a query of WITH that is computed once per run, before its first reader.
type cte struct {
	rows      *rowsSink
	pipelines []*Pipeline
}

func (b *builder) cteScan(n *planner.CTEScan) ([]*stream, error) {
	c := b.run.cte(n.CTE)
	if c == nil {
		c = &cte{rows: &rowsSink{kinds: kindsOf(n.CTE.Plan.Cols())}}
		streams, err := b.build(n.CTE.Plan, n)
		if err != nil {
			return nil, err
		}
		c.pipelines = b.into(streams, c.rows, n)
		if b.run.ctes == nil {
			b.run.ctes = map[*planner.CTE]*cte{}
		}
		b.run.ctes[n.CTE] = c
	}
	return one(&rowsSource{sink: c.rows}, c.pipelines), nil
}

// cte finds a CTE among those of the run and of the runs it is part of.
func (r *run) cte(c *planner.CTE) *cte {
	for ; r != nil; r = r.outer {
		if have := r.ctes[c]; have != nil {
			return have
		}
	}
	return nil
}

// rowsSink keeps rows by columns, for several readers or several readings.
type rowsSink struct {
	kinds  []vector.Kind
	mu     sync.Mutex // guards stores while workers open
	stores []*join.Store
}

type rowsPusher struct{ store *join.Store }

func (s *rowsSink) Open(w *Worker) (Pusher, error) {
	p := &rowsPusher{join.NewStore(s.kinds, w.reservation())}
	s.mu.Lock()
	s.stores = append(s.stores, p.store)
	s.mu.Unlock()
	return p, nil
}

func (s *rowsSink) Finish(*Worker) error { return nil }

func (p *rowsPusher) Push(b *vector.Batch) error { return p.store.Append(b.Vecs, b.N, b.Sel) }
func (p *rowsPusher) Flush() error               { return nil }

// rowsSource reads what a rowsSink keeps. A morsel is a stretch of one store.
type rowsSource struct {
	sink    *rowsSink
	morsels []storeRange
}

type storeRange struct {
	store    *join.Store
	from, to int
}

func (s *rowsSource) Morsels(*Worker) (int, error) {
	s.morsels = s.morsels[:0]
	for _, store := range s.sink.stores {
		for from := 0; from < store.Rows(); from += morselRows {
			s.morsels = append(s.morsels, storeRange{store, from, min(from+morselRows, store.Rows())})
		}
	}
	return len(s.morsels), nil
}

type rowsScanner struct {
	source *rowsSource
	w      *Worker
	batch  vector.Batch
	out    Pusher
}

func (s *rowsSource) Open(w *Worker, out Pusher) (Scanner, error) {
	return &rowsScanner{source: s, w: w, batch: vector.Batch{Vecs: join.NewBlock(len(s.sink.kinds))}, out: out}, nil
}

func (c *rowsScanner) Scan(morsel int) error {
	m := c.source.morsels[morsel]
	for from := m.from; from < m.to; {
		n := min(join.BatchRows(), m.to-from)
		m.store.Block(c.batch.Vecs, from, n)
		c.batch.N = n
		if err := c.w.Check(); err != nil {
			return err
		}
		if err := c.out.Push(&c.batch); err != nil {
			return err
		}
		from += n
	}
	return nil
}
