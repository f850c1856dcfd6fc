package exec

import (
	"context"
	"errors"
	"slices"

	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// Cursor is the pull form of a query's result: the query runs in the background and waits when
// the reader falls behind. A Cursor belongs to one goroutine and must be closed.
type Cursor struct {
	rows    chan *vector.Batch // nil when the query ran to its end in Start
	kept    []*vector.Batch
	cancel  context.CancelFunc
	done    chan struct{}
	outcome Outcome
	err     error
	closed  bool
	budget  *Budget // of the kept rows
	held    int64
}

// cursorDepth is how many batches the query may be ahead of its reader: enough to keep both busy,
// few enough that an abandoned cursor holds little.
const cursorDepth = 4

// Start begins a query. Statements that write, and those that touch a row or two, run to their end
// right here; their rows are kept.
func Start(ctx context.Context, q Query) (*Cursor, error) {
	c := &Cursor{}
	if runsAtOnce(q.Plan.Root) && len(q.Plan.CTEs) == 0 && len(q.Plan.InitPlans) == 0 || writes(q.Plan.Root) {
		c.budget = q.Memory
		outcome, err := Run(ctx, q, (*keeper)(c))
		if err != nil {
			c.budget.Release(c.held)
			return nil, err
		}
		c.outcome = outcome
		return c, nil
	}
	ctx, c.cancel = context.WithCancel(ctx)
	q.Stop = nil // closing the cursor ends the query too
	c.rows, c.done = make(chan *vector.Batch, cursorDepth), make(chan struct{})
	go func() {
		c.outcome, c.err = Run(ctx, q, &sender{ctx: ctx, rows: c.rows})
		close(c.done)
		close(c.rows)
	}()
	return c, nil
}

// writes reports whether a plan changes or locks rows.
func writes(n planner.Node) bool {
	switch n.(type) {
	case *planner.Insert, *planner.Update, *planner.Delete, *planner.Merge, *planner.LockRows:
		return true
	}
	return slices.ContainsFunc(n.Kids(), writes)
}

// runsAtOnce reports whether a plan reads so few rows that a goroutine would cost more than it.
func runsAtOnce(n planner.Node) bool {
	switch n := n.(type) {
	case *planner.Scan:
		return n.Access == planner.AccessKey || n.Access == planner.AccessIndex && len(n.Index.Conds) > 0 && n.Rows < planner.RowsEst(vector.BatchCap)
	case *planner.Values:
		return len(n.Rows) <= vector.BatchCap
	case *planner.Project, *planner.Filter, *planner.Limit, *planner.Sort, *planner.Aggregate:
		return runsAtOnce(n.Kids()[0])
	}
	return false
}

// keeper collects a query's rows in its cursor.
type keeper Cursor

func (k *keeper) Push(b *vector.Batch) error {
	owned := ownedBatch(b)
	size := int64(0)
	for _, v := range owned.Vecs {
		size += int64(v.SizeBytes())
	}
	if err := k.budget.Reserve(size); err != nil {
		return err
	}
	k.kept, k.held = append(k.kept, owned), k.held+size
	return nil
}

// sender hands a query's rows to the reader.
type sender struct {
	ctx  context.Context
	rows chan<- *vector.Batch
}

func (s *sender) Push(b *vector.Batch) error {
	select {
	case s.rows <- ownedBatch(b):
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// keptWords is the largest dictionary that a batch handed out keeps alive: larger ones may be all
// strings of a hash table.
const keptWords = 1024

// ownedBatch copies the live rows of a borrowed batch. Dictionaries are immutable and shared.
func ownedBatch(b *vector.Batch) *vector.Batch {
	out := &vector.Batch{N: b.Live(), Vecs: make([]*vector.Vector, len(b.Vecs))}
	idx := make([]uint32, out.N)
	for k := range idx {
		idx[k] = uint32(k)
		if b.Sel != nil {
			idx[k] = uint32(b.Sel[k])
		}
	}
	vecs := make([]vector.Vector, len(b.Vecs))
	for i, v := range b.Vecs {
		out.Vecs[i] = &vecs[i]
		if v.Form == vector.Const {
			vecs[i].SetConst(vector.DatumAt(v, 0))
			continue
		}
		if v.Form == vector.Flat && b.Sel == nil {
			vecs[i].Reset(v.Kind, 0)
			vector.AppendRange(&vecs[i], v, 0, out.N)
			continue
		}
		if v.Form == vector.Dict && v.Dict.Len > keptWords {
			vector.Gather(&vecs[i], v, idx)
			continue
		}
		vector.Pick(&vecs[i], v, idx)
	}
	return out
}

// Next returns the next batch, which belongs to the caller; nil at the end.
func (c *Cursor) Next() (*vector.Batch, error) {
	if len(c.kept) > 0 {
		b := c.kept[0]
		c.kept = c.kept[1:]
		return b, nil
	}
	if c.rows == nil || c.closed {
		return nil, nil
	}
	if b, ok := <-c.rows; ok {
		return b, nil
	}
	return nil, c.err
}

// Close ends the query and waits for it. It returns the error that Next would have returned, unless
// Close itself caused it.
func (c *Cursor) Close() error {
	c.budget.Release(c.held)
	c.held = 0
	if c.rows == nil || c.closed {
		c.kept = nil
		return nil
	}
	c.closed = true
	early := true
	select {
	case <-c.done:
		early = false
	default:
	}
	c.cancel()
	for range c.rows {
	}
	if early && errors.Is(c.err, context.Canceled) {
		return nil
	}
	return c.err
}

// Affected returns the number of rows written. It is known when Next has returned the end.
func (c *Cursor) Affected() int64 { return c.outcome.Affected }

// Actual returns what happened at a node of the plan; nil without Query.Analyze. It is known when
// Next has returned the end.
func (c *Cursor) Actual(n planner.Node) *planner.Actual {
	if c.outcome.Actual == nil {
		return nil
	}
	return c.outcome.Actual(n)
}
