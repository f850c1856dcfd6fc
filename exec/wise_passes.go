package exec

import (
	"cmp"
	"slices"

	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/vector"
)

// divide lists the rounds of a partition-wise join, when all that they rest on is known.
func (j *wiseJoin) divide() error {
	j.spools = j.build.table.GroupSpools()
	switch {
	case j.full:
		j.divideLeaves()
	case j.spools != nil:
		return j.divideSpools()
	default:
		j.passes = []wisePass{{}}
	}
	return nil
}

// divideLeaves makes rounds of leaves of both sides: as many as memory, or the cache, takes the build of.
func (j *wiseJoin) divideLeaves() {
	n, run, kind := j.build.plan.node, j.build.plan.run, j.build.plan.kind
	left, right := j.left.node.SelectLeaves(run.env), j.right.selected()
	rows := 0.0
	for _, p := range j.spec.Pairs {
		rows += p.RightRows
	}
	room := run.spillBytes() / 2 // estimates err
	if bytes := n.BuildBytes(); room == 0 || bytes <= 2*room {
		room = wiseCacheBytes / 4
	}
	if j.grouped != nil {
		room = min(room, j.grouped.room)
	}
	var items []wisePass
	for _, p := range j.spec.Pairs {
		pass := wisePass{left: p.Left.Intersection(left), right: p.Right.Intersection(right), bytes: int64(p.RightRows / max(rows, 1) * float64(n.BuildBytes()))}
		if j.grouped != nil {
			pass.bytes += j.grouped.bytes(p.LeftRows + p.RightRows)
		}
		if pass.right.None() {
			j.unmatched += int(pass.left.Count())
		}
		if pass.right.Any() && loneBuild(kind) || pass.left.Any() && (pass.right.Any() || loneProbe(kind)) {
			items = append(items, pass)
		}
	}
	j.passes = packed(items, room)
}

// divideSpools makes rounds of the groups in files: as many as memory takes.
func (j *wiseJoin) divideSpools() error {
	kind := j.build.plan.kind
	left := j.left.selected()
	var items []wisePass
	for g, spool := range j.spools {
		pass := wisePass{left: left.Clone(), bytes: spool.IndexedBytes()}
		if g < len(j.spec.Groups) {
			pass.left.InPlaceIntersection(j.spec.Groups[g].Left)
		} else {
			pass.left.ClearAll()
		}
		some := spool.Rows() > 0
		if !some {
			j.unmatched += int(pass.left.Count())
		}
		if some && loneBuild(kind) || pass.left.Any() && (some || loneProbe(kind)) {
			pass.spools = []*join.Spool{spool}
			items = append(items, pass)
		} else if err := spool.Close(); err != nil {
			return err
		}
	}
	slices.SortStableFunc(items, func(a, b wisePass) int { return cmp.Compare(a.bytes, b.bytes) })
	j.passes = packed(items, j.build.plan.run.spillBytes())
	return nil
}

// packed puts items together as long as there is room.
func packed(items []wisePass, room int64) (out []wisePass) {
	for _, item := range items {
		if last := len(out) - 1; last >= 0 && out[last].bytes+item.bytes <= room {
			p := &out[last]
			p.left.InPlaceUnion(item.left)
			if item.right != nil {
				p.right.InPlaceUnion(item.right)
			}
			p.spools, p.bytes = append(p.spools, item.spools...), p.bytes+item.bytes
			continue
		}
		out = append(out, item)
	}
	return out
}

// spooled is what the build has written.
func (j *wiseJoin) spooled() join.SpillFigures {
	f := join.SpillFigures{Partitions: len(j.spec.Groups)}
	for _, s := range j.spools {
		f.BuildBytes += s.Bytes()
		if s.Rows() > 0 {
			f.OnDisk++
		}
	}
	return f
}

// end says in EXPLAIN ANALYZE what happened.
func (j *wiseJoin) end() {
	if j.grouped != nil {
		j.grouped.describe(len(j.spec.Pairs))
	}
	stats := j.build.plan.stats
	if stats == nil {
		return
	}
	j.left.reportRounds()
	groups, how := len(j.spec.Groups), "spilled"
	switch {
	case j.full:
		j.right.reportRounds()
		groups, how = len(j.spec.Pairs), "full"
	case j.spools == nil:
		return
	}
	tallied(stats, factWise, func(t *wiseTally) {
		t.how, t.groups, t.unmatched, t.rounds = how, int64(groups), t.unmatched+int64(j.unmatched), t.rounds+int64(j.at)
	})
}

// groupSource reads the build rows of a round from their files.
type groupSource struct {
	*wiseJoin
	parts []spoolPart
}

// spoolPart is some blocks of a file.
type spoolPart struct {
	spool    *join.Spool
	from, to int
}

// partBlocks is how many blocks are a morsel.
const partBlocks = 16

func (s *groupSource) Morsels(*Worker) (int, error) {
	s.parts = s.parts[:0]
	for _, spool := range s.loading {
		for from := 0; from < spool.Blocks(); from += partBlocks {
			s.parts = append(s.parts, spoolPart{spool, from, min(from+partBlocks, spool.Blocks())})
		}
	}
	return len(s.parts), nil
}

type groupScanner struct {
	*groupSource
	w     *Worker
	out   Pusher
	batch vector.Batch
}

func (s *groupSource) Open(w *Worker, out Pusher) (Scanner, error) {
	return &groupScanner{groupSource: s, w: w, out: out}, nil
}

func (c *groupScanner) Scan(morsel int) error {
	p := c.parts[morsel]
	r := p.spool.NewBlockReader(p.from, p.to)
	for {
		vecs, n, err := r.Next()
		if err != nil || n == 0 {
			return err
		}
		if err := c.w.Check(); err != nil {
			return err
		}
		c.batch.Vecs, c.batch.N = vecs, n
		if err := c.out.Push(&c.batch); err != nil {
			return err
		}
	}
}

// groupLoad makes the table of a round from its build rows, which are as they were stored.
type groupLoad struct{ *wiseJoin }

type groupLoader struct {
	builder *join.Builder
	keys    int
}

func (l *groupLoad) Open(*Worker) (Pusher, error) {
	return &groupLoader{l.build.table.NewBuilder(l.build.memory), len(l.build.keys)}, nil
}

func (p *groupLoader) Push(b *vector.Batch) error {
	return p.builder.Append(b.Vecs[:p.keys], b.Vecs[p.keys:], b.N, b.Sel)
}

func (p *groupLoader) Flush() error { return nil }

// Finish does nothing where the build has stayed in memory: its table is there.
func (l *groupLoad) Finish(w *Worker) error {
	if l.spools == nil {
		return nil
	}
	for _, s := range l.loading {
		if err := s.Close(); err != nil {
			return err
		}
	}
	return l.build.Finish(w)
}
