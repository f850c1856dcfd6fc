package exec

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weftdb/weft/planner"
)

// tally adds up what all workers do in all executions of a node, for lines of EXPLAIN ANALYZE.
type tally interface {
	// facts says it, sums like rows as the average of a loop.
	facts(key string, loops int64) []planner.Fact
}

// oneFact is what most tallies have to say.
func oneFact(key string, value any) []planner.Fact { return []planner.Fact{{Key: key, Value: value}} }

// keyedTally is a tally with the key of its line.
type keyedTally struct {
	key string
	tally
}

// tallied lets add count in the node's tally of a key, which is made when it is first asked for. Without ANALYZE
// s is nil, and nothing happens.
func tallied[T any, P interface {
	*T
	tally
}](s *nodeStats, key string, add func(P)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, have := range s.tallies {
		if have.key == key {
			add(have.tally.(P))
			return
		}
	}
	made := P(new(T))
	add(made)
	s.tallies = append(s.tallies, keyedTally{key, made})
}

// perLoop rounds the average of a sum.
func perLoop(sum, loops int64) int64 {
	return int64(math.RoundToEven(float64(sum) / float64(max(loops, 1))))
}

// sum is a figure that has a line of its own.
type sum struct{ n int64 }

func (s *sum) facts(key string, loops int64) []planner.Fact {
	return oneFact(key, perLoop(s.n, loops))
}

// count adds to a line that shows a sum over all workers.
func (s *nodeStats) count(key string, n int64) {
	tallied(s, key, func(t *sum) { t.n += n })
}

// greatest is the largest value of a figure that has a line of its own.
type greatest struct{ n int64 }

func (g *greatest) facts(key string, _ int64) []planner.Fact { return oneFact(key, g.n) }

// Lines of EXPLAIN ANALYZE.
const (
	factTable     = "Hash Table"
	factMemory    = "Memory"
	factFilters   = "Runtime Filters"
	factWise      = "Partition-wise Join"
	factWiseGroup = "Partition-wise Aggregate"
	factParts     = "Groups"
	factSpill     = "Spill"
	factFiles     = "Temp Files"
)

// factOrder is the order of the lines: whose worker comes first is a matter of chance.
var factOrder = []string{factFilters, factTable, factMemory, factParts, factWise, factWiseGroup, factSpill, factFiles,
	factSelected, factScanned, factLeaves, factNodes, factGroups, factPruned, factUnits, factFromDisk, factByRows, factTouched, factFetched, factPaged, factByFilter}

// placeOf is where a line goes; those of a scan's runtime filters come last, by their numbers, and those of
// selectors in the order in which they were made.
func placeOf(key string) int {
	if number, ok := strings.CutPrefix(key, factFilter); ok {
		if n, err := strconv.Atoi(number); err == nil {
			return len(factOrder) + n
		}
	}
	return slices.Index(factOrder, key)
}

// facts returns the lines as EXPLAIN shows them.
func (s *nodeStats) facts(loops int64) (out []planner.Fact) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tallies {
		out = append(out, t.facts(t.key, loops)...)
	}
	slices.SortStableFunc(out, func(a, b planner.Fact) int { return placeOf(a.Key) - placeOf(b.Key) })
	return out
}
