package catalog

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/weftdb/weft/vector"
)

// sketchBits is the logarithm of a distinct-count sketch's registers: 4,096 of them err by 1.6 %.
const sketchBits = 12

// sketch counts distinct hash values (Flajolet and others, "HyperLogLog", 2007; small counts by
// linear counting).
type sketch [1 << sketchBits]uint8

// add takes a hash of the hash tables, which spreads consecutive integers more evenly than chance
// would: mixed once more (Stafford's variant 13) it looks random, as the sketch needs it.
func (s *sketch) add(hash uint64) {
	hash = (hash ^ hash>>30) * 0xBF58476D1CE4E5B9
	hash = (hash ^ hash>>27) * 0x94D049BB133111EB
	hash ^= hash >> 31
	i := hash >> (64 - sketchBits)
	rank := uint8(bits.LeadingZeros64(hash<<sketchBits|1<<(sketchBits-1)) + 1)
	if rank > s[i] {
		s[i] = rank
	}
}

func (s *sketch) merge(o *sketch) {
	for i := range s {
		s[i] = max(s[i], o[i])
	}
}

func (s *sketch) estimate() float64 {
	sum, zeros := 0.0, 0
	for _, r := range s {
		sum += math.Ldexp(1, -int(r))
		if r == 0 {
			zeros++
		}
	}
	m := float64(len(s))
	e := 0.7213 / (1 + 1.079/m) * m * m / sum
	if e <= 2.5*m && zeros > 0 {
		return m * math.Log(m/float64(zeros))
	}
	return e
}

// Collector makes a table's statistics from batches of its rows. It belongs to one goroutine;
// collectors of several merge.
type Collector struct {
	columns []Column
	rows    int64
	state   []columnState
	sample  [][]vector.Datum // [column][row]
	sampled int
	random  *rand.Rand
	skip    int64 // rows until the next one enters the sample
	hashes  []uint64
}

type columnState struct {
	nulls    int64
	bytes    int64
	distinct sketch
	min, max vector.Datum
}

// NewCollector returns a collector for rows of the given columns.
func NewCollector(columns []Column, seed uint64) *Collector {
	c := &Collector{columns: columns, state: make([]columnState, len(columns)), sample: make([][]vector.Datum, len(columns)), random: rand.New(rand.NewPCG(seed, uint64(len(columns))))}
	for i := range c.state {
		null := vector.NullDatum(columns[i].Type.Kind())
		c.state[i].min, c.state[i].max = null, null
	}
	return c
}

// Add takes a batch whose vectors are the columns' values. The batch is not kept.
func (c *Collector) Add(b *vector.Batch) {
	n := b.Live()
	if n == 0 {
		return
	}
	if cap(c.hashes) < b.N {
		c.hashes = make([]uint64, b.N)
	}
	for i, v := range b.Vecs[:len(c.columns)] {
		c.column(&c.state[i], v, b)
	}
	c.reservoir(b)
	c.rows += int64(n)
}

func (c *Collector) column(s *columnState, v *vector.Vector, b *vector.Batch) {
	hashes := c.hashes[:b.N]
	vector.Hash(hashes, v, b.N, b.Sel, false)
	if b.Sel == nil && v.Valid == nil && v.Form == vector.Flat {
		for _, h := range hashes {
			s.distinct.add(h)
		}
		if v.Kind == vector.Bytes {
			offsets := v.Offsets()
			s.bytes += int64(offsets[b.N] - offsets[0])
		}
	} else {
		each(b, func(i int) {
			if v.IsNull(i) {
				s.nulls++
				return
			}
			s.distinct.add(hashes[i])
			if v.Kind == vector.Bytes {
				s.bytes += int64(len(v.BytesAt(i)))
			}
		})
	}
	if v.Kind != vector.Bytes {
		s.bounds(v, b)
	}
}

// integerBounds finds the extremes of n values without NULLs.
func integerBounds[T int16 | int32 | int64](values []T) (lo, hi int64) {
	l, h := values[0], values[0]
	for _, x := range values {
		l, h = min(l, x), max(h, x)
	}
	return int64(l), int64(h)
}

// each calls visit for the position of every live row.
func each(b *vector.Batch, visit func(i int)) {
	if b.Sel == nil {
		for i := range b.N {
			visit(i)
		}
		return
	}
	for _, i := range b.Sel {
		visit(int(i))
	}
}

// bounds widens minimum and maximum. It compares within the batch first, so that datums are made
// twice a batch only.
func (s *columnState) bounds(v *vector.Vector, b *vector.Batch) {
	if b.Sel == nil && v.Valid == nil && v.Form == vector.Flat {
		var least, most int64
		switch v.Kind {
		case vector.I16:
			least, most = integerBounds(vector.Of[int16](v)[:b.N])
		case vector.I32:
			least, most = integerBounds(vector.Of[int32](v)[:b.N])
		case vector.I64:
			least, most = integerBounds(vector.Of[int64](v)[:b.N])
		}
		if v.Kind == vector.I16 || v.Kind == vector.I32 || v.Kind == vector.I64 {
			s.widen(vector.IntDatum(v.Kind, least))
			s.widen(vector.IntDatum(v.Kind, most))
			return
		}
	}
	lo, hi := -1, -1
	each(b, func(i int) {
		if v.IsNull(i) {
			return
		}
		if lo < 0 || vector.CompareRows(v, i, v, lo) < 0 {
			lo = i
		}
		if hi < 0 || vector.CompareRows(v, i, v, hi) > 0 {
			hi = i
		}
	})
	if lo >= 0 {
		s.widen(vector.DatumAt(v, lo))
		s.widen(vector.DatumAt(v, hi))
	}
}

func (s *columnState) widen(d vector.Datum) {
	if d.Null {
		return
	}
	if s.min.Null || compareDatums(d, s.min) < 0 {
		s.min = d
	}
	if s.max.Null || compareDatums(d, s.max) > 0 {
		s.max = d
	}
}

func compareDatums(a, b vector.Datum) int {
	if a.Kind == vector.I16 || a.Kind == vector.I32 || a.Kind == vector.I64 {
		return cmp.Compare(a.I, b.I)
	}
	return vector.CompareRows(vector.ConstOf(a), 0, vector.ConstOf(b), 0)
}

// reservoir keeps a uniform sample (Li, "Reservoir-sampling algorithms of time complexity
// O(n(1+log(N/n)))", 1994, with the gap drawn per row kept).
func (c *Collector) reservoir(b *vector.Batch) {
	seen := c.rows
	each(b, func(i int) {
		seen++
		switch {
		case c.sampled < SampleRows:
			for k, v := range b.Vecs[:len(c.columns)] {
				c.sample[k] = append(c.sample[k], vector.DatumAt(v, i))
			}
			c.sampled++
		case c.skip > 0:
			c.skip--
		default:
			at := c.random.IntN(SampleRows)
			for k, v := range b.Vecs[:len(c.columns)] {
				c.sample[k][at] = vector.DatumAt(v, i)
			}
			c.skip = c.gap(seen)
		}
	})
}

// gap draws how many of the rows after the seen-th are passed over.
func (c *Collector) gap(seen int64) int64 {
	// A row enters with probability SampleRows/seen; for large seen the gap is geometric.
	p := float64(SampleRows) / float64(seen)
	if p >= 1 {
		return 0
	}
	return int64(math.Log(1-c.random.Float64()) / math.Log(1-p))
}

// Merge adds what another collector has seen.
func (c *Collector) Merge(o *Collector) {
	for i := range c.state {
		s, t := &c.state[i], &o.state[i]
		s.nulls += t.nulls
		s.bytes += t.bytes
		s.distinct.merge(&t.distinct)
		s.widen(t.min)
		s.widen(t.max)
	}
	c.mergeSamples(o)
	c.rows += o.rows
}

// mergeSamples draws from both samples in proportion to the rows they stand for.
func (c *Collector) mergeSamples(o *Collector) {
	if o.sampled == 0 {
		return
	}
	total := float64(c.rows + o.rows)
	mine, theirs := c.random.Perm(c.sampled), c.random.Perm(o.sampled)
	merged := make([][]vector.Datum, len(c.columns))
	count := 0
	for count < SampleRows && len(mine)+len(theirs) > 0 {
		fromMine := len(theirs) == 0 || len(mine) > 0 && c.random.Float64()*total < float64(c.rows)
		var from [][]vector.Datum
		var at int
		if fromMine {
			from, at, mine = c.sample, mine[0], mine[1:]
		} else {
			from, at, theirs = o.sample, theirs[0], theirs[1:]
		}
		for k := range merged {
			merged[k] = append(merged[k], from[k][at])
		}
		count++
	}
	c.sample, c.sampled = merged, count
}

// Stats returns the statistics of everything added.
func (c *Collector) Stats() *Stats {
	out := &Stats{Rows: c.rows, Columns: map[ColumnID]ColumnStats{}, Sample: c.sample}
	for i := range c.state {
		s := &c.state[i]
		id := c.columns[i].ID
		out.SampleColumns = append(out.SampleColumns, id)
		values := float64(c.rows - s.nulls)
		col := ColumnStats{Min: s.min, Max: s.max, Distinct: math.Min(math.Round(s.distinct.estimate()), values)}
		if c.rows > 0 {
			col.NullFraction = float64(s.nulls) / float64(c.rows)
		}
		if c.columns[i].Type.Kind() == vector.Bytes && values > 0 {
			col.AvgWidth = float64(s.bytes) / values
			col.Min, col.Max = sampleBounds(c.sample[i])
		} else {
			col.AvgWidth = float64(c.columns[i].Type.Kind().Width())
		}
		out.Columns[id] = col
	}
	return out
}

// sampleBounds returns the least and greatest string of a sample: comparing every string of a load
// would cost more than the bounds are worth to estimates.
func sampleBounds(sample []vector.Datum) (lo, hi vector.Datum) {
	lo, hi = vector.NullDatum(vector.Bytes), vector.NullDatum(vector.Bytes)
	for _, d := range sample {
		if d.Null {
			continue
		}
		if lo.Null || d.S < lo.S {
			lo = d
		}
		if hi.Null || d.S > hi.S {
			hi = d
		}
	}
	return lo, hi
}
