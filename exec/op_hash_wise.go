package exec

import (
	"github.com/bits-and-blooms/bitset"

	"github.com/weftdb/weft/join"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/prune"
	"github.com/weftdb/weft/vector"
)

// wiseJoin carries out a hash join partition-wise: in rounds, each over a part of the probe side's leaves
// and the build rows that may match theirs. One table exists at a time, and no probe row is ever written
// for want of memory, since the leaves of a round can be read when its build rows are there.
//
// Where both sides are partitioned alike, a round reads the build's leaves too (full). Otherwise the
// build is read once; only when memory does not take it, its rows go to files by group, from which the
// rounds load them (spilled).
type wiseJoin struct {
	build       *hashBuild
	spec        *planner.PartitionWise
	full        bool
	rounds      *rounds
	left, right *partitionSource // right: where full

	planned   bool
	passes    []wisePass
	at        int           // the next pass
	spools    []*join.Spool // by group, then of rows that belong to none; nil = the build is in memory
	loading   []*join.Spool // of the pass
	unmatched int           // leaves of the probe side without build rows

	grouped *wiseAggregate // makes groups of the rows round by round; nil = nothing does
}

// wisePass is what a round joins.
type wisePass struct {
	left, right *bitset.BitSet // leaves; left nil = all, right is for full joins
	spools      []*join.Spool
	bytes       int64 // of the build, and of groups made of the rows, in memory, about
}

// wiseCacheBytes is the size of a build from which it is worth to join by groups although memory takes
// it: smaller tables stay in the processor's cache.
const wiseCacheBytes = 32 << 20

// newWiseJoin returns how the join of a build is carried out partition-wise; nil where it is not.
func newWiseJoin(h *hashBuild, grouped *wiseAggregate) *wiseJoin {
	n, r := h.plan.node, h.plan.run
	if n.Wise == nil || r.partitioned(n.Left) == nil {
		return nil
	}
	w := &wiseJoin{build: h, spec: n.Wise}
	if n.Wise.Pairs != nil && r.partitioned(n.Right) != nil {
		if grouped != nil && grouped.pays(pairRows(n)) {
			w.grouped = grouped
		}
		w.full = w.grouped != nil || fullPays(n, r.spillBytes())
	}
	if !w.full {
		if r.spillBytes() == 0 {
			return nil
		}
		for _, k := range n.Wise.Keys {
			key := n.Keys[k]
			if h.normal[k] != nil || newKeyNormalizer(key.Left.Type(), key.Right.Type()) != nil {
				return nil // rows are stored with other values than those that partitions know
			}
		}
	}
	w.rounds = &rounds{driver: w}
	return w
}

// partitioned returns the scan of a partitioned table that a node is with filters and projections; nil
// where it is none, or reads other rows.
func (r *run) partitioned(n planner.Node) *planner.Scan {
	scan := planner.PartitionedInput(n)
	if scan == nil {
		return nil
	}
	if _, other := r.newest.of(scan); other {
		return nil
	}
	return scan
}

// fullPays reports whether a build, of a table partitioned like the other side, should be made group by
// group: all of it takes more than the limit, or than the cache, and no group has most of it.
func fullPays(n *planner.Join, limit int64) bool {
	rows, most := 0.0, 0.0
	for _, p := range n.Wise.Pairs {
		rows, most = rows+p.RightRows, max(most, p.RightRows)
	}
	bytes := n.BuildBytes()
	groups := float64(len(n.Wise.Pairs))
	even := most*groups < 4*rows
	if limit > 0 && bytes > limit {
		return even || most/max(rows, 1)*float64(bytes) < float64(limit)
	}
	return bytes > wiseCacheBytes && groups >= 4 && even
}

// round returns the state of one more pipeline of the rounds; nil where there are none.
func (j *wiseJoin) round(fresh int) *round {
	if j == nil {
		return nil
	}
	return &round{of: j.rounds, fresh: fresh}
}

// addRight takes the build side in.
func (j *wiseJoin) addRight(right []*stream) {
	if j == nil || !j.full {
		return
	}
	right[0].round = j.round(-1)
	j.right = inRounds(right[0])
}

// addLeft takes the probe side in, and returns what has to run before it.
func (j *wiseJoin) addLeft(b *builder, left []*stream, before []*Pipeline) []*Pipeline {
	if j == nil {
		return before
	}
	left[0].round = j.round(0)
	j.left = inRounds(left[0])
	if j.full {
		return before
	}
	var source Source = &groupSource{wiseJoin: j}
	if b.run.stats != nil {
		source = &timedSource{Source: source, stats: j.build.plan.stats}
	}
	load := &stream{source: source, after: before, round: j.round(-1)}
	return append(before[:len(before):len(before)], b.into([]*stream{load}, &groupLoad{j}, j.build.plan.node)...)
}

// joins notes that the join has been added to the probe side: what follows stays open between rounds.
func (j *wiseJoin) joins(left *stream) {
	if j != nil {
		left.round.fresh = len(left.ops)
	}
}

// inRounds returns the scan that is the source of a stream, prepared for reading a part at a time.
func inRounds(s *stream) *partitionSource {
	parts := partitionsOf(s)
	parts.inRounds = true
	return parts
}

// partitionsOf returns the scan of a partitioned table that is the source of a stream.
func partitionsOf(s *stream) *partitionSource {
	return untimed(s.source).(*partitionSource)
}

// loneBuild reports whether the kind yields build rows that no probe row matches, loneProbe the same of
// probe rows.
func loneBuild(k join.Kind) bool { return k == join.Right || k == join.Full || k == join.RightAnti }

func loneProbe(k join.Kind) bool {
	switch k {
	case join.Inner, join.Semi, join.Right, join.RightSemi, join.RightAnti:
		return false
	}
	return true
}

// grouping says where build rows belong that memory does not take.
func (j *wiseJoin) grouping() *join.Grouping {
	if j.full {
		return nil
	}
	none := int32(-1)
	if loneBuild(j.build.plan.kind) {
		none = int32(len(j.spec.Groups))
	}
	desc := j.build.plan.run.partitioned(j.build.plan.node.Left).Parts.Desc
	return &join.Grouping{Groups: len(j.spec.Groups) + 1, New: func() join.Grouper {
		return &wiseGrouper{kids: desc.NewGrouper(j.spec.Keys), groupOf: j.spec.GroupOf, none: none}
	}}
}

// wiseGrouper finds the groups of build rows.
type wiseGrouper struct {
	kids    *prune.Grouper
	groupOf []int
	none    int32 // of rows that are equal to none of the probe side
	groups  []int32
}

func (g *wiseGrouper) Groups(keys []*vector.Vector, n int, sel vector.Sel) []int32 {
	kids := g.kids.Kids(keys, n, sel)
	if cap(g.groups) < n {
		g.groups = make([]int32, n)
	}
	g.groups = g.groups[:n]
	for _, i := range sel {
		g.groups[i] = g.none
		if kid := kids[i]; kid >= 0 && g.groupOf[kid] >= 0 {
			g.groups[i] = int32(g.groupOf[kid])
		}
	}
	return g.groups
}

// next prepares a round.
func (j *wiseJoin) next(*Worker) (bool, error) {
	if !j.planned {
		j.planned = true
		if err := j.divide(); err != nil {
			return false, err
		}
	}
	if j.at == len(j.passes) {
		return false, nil
	}
	if j.at > 0 || j.spools != nil {
		j.build.renew()
	}
	if j.at == 0 && j.spools != nil {
		j.build.spilled(j.spooled())
	}
	p := &j.passes[j.at]
	j.at++
	if j.grouped != nil {
		j.grouped.begin(j.at == len(j.passes))
	}
	j.left.within, j.loading = p.left, p.spools
	if j.full {
		j.right.within = p.right
	}
	return true, nil
}
