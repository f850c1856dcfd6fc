package weft_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

var partitionJoins = flag.Int("partition-joins", 1000, "joins that TestRandomPartitionJoins makes")

// partitionSchema is a partitioned table p (k1, k2, v) and a table b (x1, x2, w) to join it with.
type partitionSchema struct {
	r     *rand.Rand
	s     *weft.Session
	types [2]int
	log   []string
}

func (g *partitionSchema) exec(format string, args ...any) error {
	query := fmt.Sprintf(format, args...)
	g.log = append(g.log, query)
	_, err := g.s.Exec(context.Background(), query)
	return err
}

func (g *partitionSchema) must(t *testing.T, format string, args ...any) {
	t.Helper()
	if err := g.exec(format, args...); err != nil {
		t.Fatalf("%v\n%s", err, strings.Join(g.log, ";\n"))
	}
}

func (g *partitionSchema) value(col, n int) string {
	return partitionKeyTypes[g.types[col]].value(n, g.r.IntN(6))
}

func (g *partitionSchema) random() int {
	return lowestValue + g.r.IntN(highestValue-lowestValue+1)
}

// create makes the tables and their rows.
func (g *partitionSchema) create(t *testing.T) {
	_ = g.exec("drop view bq")
	_ = g.exec("drop table q")
	_ = g.exec("drop table p")
	_ = g.exec("drop table b")
	g.types = [2]int{g.r.IntN(len(partitionKeyTypes)), g.r.IntN(len(partitionKeyTypes))}
	key := g.keys()
	g.must(t, "create table p (k1 %s, k2 %s, v int) partition by %s", partitionKeyTypes[g.types[0]].name, partitionKeyTypes[g.types[1]].name, key.text)
	g.partitions(t, "p", key, g.levels())
	other := func(col int) string {
		wider := partitionKeyTypes[g.types[col]].wider
		return wider[g.r.IntN(len(wider))]
	}
	g.must(t, "create table b (x1 %s, x2 %s, w int)", other(0), other(1))
	for i := range 60 {
		_ = g.exec("insert into p values (%s, %s, %d)", g.orNull(0), g.orNull(1), i) // there may be no partition
	}
	for i := range g.r.IntN(25) {
		_ = g.exec("insert into b values (%s, %s, %d)", g.orNull(0), g.orNull(1), i) // its type may not take all values
	}
	g.must(t, "alter table p colview")
	if g.r.IntN(4) == 0 { // else like p, with other bounds
		key = g.keys()
	}
	g.must(t, "create table q (k1 %s, k2 %s, v int) partition by %s", partitionKeyTypes[g.types[0]].name, partitionKeyTypes[g.types[1]].name, key.text)
	g.partitions(t, "q", key, g.levels())
	for i := range 100 {
		_ = g.exec("insert into q values (%s, %s, %d)", g.orNull(0), g.orNull(1), i)
	}
	g.must(t, "create view bq as select k1 as x1, k2 as x2, v as w from q")
}

func (g *partitionSchema) orNull(col int) string {
	if g.r.IntN(12) == 0 {
		return "null"
	}
	return g.value(col, g.random())
}

// partitionKey is how a table is partitioned.
type partitionKey struct {
	strategy string
	cols     []int
	text     string
}

func (g *partitionSchema) keys() partitionKey {
	k := partitionKey{strategy: []string{"range", "list", "hash"}[g.r.IntN(3)], cols: []int{g.r.IntN(2)}}
	if k.strategy != "list" && g.r.IntN(3) == 0 {
		k.cols = []int{0, 1}
		if g.r.IntN(2) == 0 {
			k.cols = []int{1, 0}
		}
	}
	var names []string
	for _, c := range k.cols {
		names = append(names, fmt.Sprintf("k%d", c+1))
	}
	k.text = k.strategy + " (" + strings.Join(names, ", ") + ")"
	return k
}

func (g *partitionSchema) levels() int { return []int{1, 1, 1, 2, 2, 2, 3}[g.r.IntN(7)] }

// partitions makes partitions of a table, some of which are partitioned again.
func (g *partitionSchema) partitions(t *testing.T, of string, key partitionKey, levels int) {
	n := 0
	add := func(bound string) {
		name := fmt.Sprintf("%s_%d", of, n)
		n++
		if levels > 1 && g.r.IntN(2) == 0 {
			below := g.keys()
			if g.exec("create table %s partition of %s %s partition by %s", name, of, bound, below.text) == nil {
				g.partitions(t, name, below, levels-1)
			}
			return
		}
		if g.r.IntN(3) == 0 { // a leaf with its columns in another order, and one dropped
			types := [2]string{partitionKeyTypes[g.types[0]].name, partitionKeyTypes[g.types[1]].name}
			g.must(t, "create table %s (gone int, v int, k2 %s, k1 %s)", name, types[1], types[0])
			g.must(t, "alter table %s drop column gone", name)
			if g.exec("alter table %s attach partition %s %s", of, name, bound) != nil {
				g.must(t, "drop table %s", name) // it overlaps with another
			}
			return
		}
		_ = g.exec("create table %s partition of %s %s", name, of, bound) // it may overlap with another
	}
	switch key.strategy {
	case "range":
		cuts := []int{}
		for v := lowestValue + g.r.IntN(4); v <= highestValue; v += 1 + g.r.IntN(6) {
			cuts = append(cuts, v)
		}
		for i := 0; i+1 < len(cuts); i++ {
			if g.r.IntN(6) > 0 {
				add(fmt.Sprintf("for values from (%s) to (%s)", g.edge(key, cuts[i], i == 0), g.edge(key, cuts[i+1], false)))
			}
		}
		if len(cuts) > 0 && g.r.IntN(3) == 0 {
			add(fmt.Sprintf("for values from (%s) to (%s)", g.edge(key, cuts[len(cuts)-1], false), strings.Join(slices.Repeat([]string{"maxvalue"}, len(key.cols)), ", ")))
		}
	case "list":
		var values []string
		for v := lowestValue; v <= highestValue; v++ {
			values = append(values, g.value(key.cols[0], v))
		}
		values = append(values, "null")
		g.r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		for len(values) > 0 {
			take := min(1+g.r.IntN(6), len(values))
			if g.r.IntN(5) > 0 {
				add("for values in (" + strings.Join(values[:take], ", ") + ")")
			}
			values = values[take:]
		}
	default:
		modulus := 1 + g.r.IntN(5)
		for i := range modulus {
			if g.r.IntN(3) == 0 {
				add(fmt.Sprintf("for values with (modulus %d, remainder %d)", 2*modulus, i))
				add(fmt.Sprintf("for values with (modulus %d, remainder %d)", 2*modulus, i+modulus))
			} else {
				add(fmt.Sprintf("for values with (modulus %d, remainder %d)", modulus, i))
			}
		}
	}
	if key.strategy != "hash" && g.r.IntN(2) == 0 {
		add("default")
	}
}

func (g *partitionSchema) edge(key partitionKey, v int, lowest bool) string {
	if lowest && g.r.IntN(3) == 0 {
		return strings.Join(slices.Repeat([]string{"minvalue"}, len(key.cols)), ", ")
	}
	text := g.value(key.cols[0], v)
	if len(key.cols) > 1 {
		if g.r.IntN(3) == 0 {
			return text + ", minvalue"
		}
		text += ", " + g.value(key.cols[1], v)
	}
	return text
}

// query makes a join of p with b.
func (g *partitionSchema) query() string {
	var conds []string
	add := func(format string, args ...any) { conds = append(conds, fmt.Sprintf(format, args...)) }
	for range 1 + g.r.IntN(2) {
		c := 1 + g.r.IntN(2)
		switch g.r.IntN(10) {
		case 0:
			add("p.k%d is not distinct from b.x%d", c, c)
		case 1:
			add("p.k%d %s b.x%d", c, []string{"<", "<=", ">", ">="}[g.r.IntN(4)], c)
		case 2:
			add("p.k%d between b.x%d and %s", c, c, g.value(c-1, g.random()))
		case 3:
			add("(p.k%d = b.x%d or p.k%d = %s)", c, c, c, g.value(c-1, g.random()))
		default:
			add("p.k%d = b.x%d", c, c)
		}
	}
	switch g.r.IntN(6) {
	case 0:
		c := 1 + g.r.IntN(2)
		add("p.k%d = %s", c, g.value(c-1, g.random()))
	case 1:
		add("b.w %% 3 = 1")
	case 2:
		add("p.v %% 4 <> b.w %% 4")
	}
	on := strings.Join(conds, " and ")
	where := ""
	switch g.r.IntN(6) {
	case 0:
		where = " where p.v > 10"
	case 1:
		c := 1 + g.r.IntN(2)
		where = fmt.Sprintf(" where p.k%d <> %s", c, g.value(c-1, g.random()))
	}
	switch g.r.IntN(16) {
	case 12:
		return "select p.*, b.w from (select * from p order by v limit 15 offset 3) p join b on " + on + where
	case 13:
		return "select p.*, b.w, c.w from (p right join b c on p.k1 = c.x1 and p.v > 20) join b on p.k2 is not distinct from b.x2"
	case 14:
		return "select u.*, b.w from (select k1, k2, v from p union all select x1, x2, -w from b where w < 5) u join b on " + strings.ReplaceAll(on, "p.", "u.")
	case 15:
		return "select p.*, b.*, c.* from p join b on " + on + " join b c on p.k1 = c.x1" + where
	case 0:
		return "select p.*, b.w from p left join b on " + on + where
	case 1:
		return "select p.*, b.* from p right join b on " + on
	case 2:
		return "select p.v, b.* from b left join p on " + on
	case 3:
		return "select p.v, b.w from p full join b on p.k1 = b.x1 and " + strings.ReplaceAll(on, " or ", " and ")
	case 4:
		return "select p.* from p where exists (select from b where " + on + ")"
	case 5:
		return "select p.* from p where not exists (select from b where " + on + ")"
	case 6:
		return "select b.* from b where exists (select from p where " + on + ")"
	case 7:
		return "select b.* from b where not exists (select from p where " + on + ")"
	case 8:
		return fmt.Sprintf("select p.* from p where k%[1]d %[2]s (select x%[1]d from b where w > 3)", 1+g.r.IntN(2), []string{"in", "not in"}[g.r.IntN(2)])
	case 9:
		return "select g.n, b.w from (select k1, k2, count(*) n from p group by k1, k2) g join b on " + strings.ReplaceAll(strings.ReplaceAll(on, "p.v", "g.n"), "p.", "g.")
	case 10:
		return "select p.*, b.w, c.w from p join b on " + on + " left join b c on p.k2 = c.x2" + where
	}
	return "select p.*, b.* from p join b on " + on + where
}

// withPartitioned makes a query read a partitioned table in place of b.
func withPartitioned(query string) string {
	for _, after := range []string{"on", "where", "left"} {
		query = strings.ReplaceAll(query, " b "+after+" ", " bq b "+after+" ")
	}
	return strings.ReplaceAll(query, " b c on ", " bq c on ")
}

// TestRandomPartitionJoins joins random partitioned tables with others in every way there is: with
// partitions left out before and at run time, and with filters, on disk, by several workers, by rows and
// by columns, against nested loops over all partitions.
func TestRandomPartitionJoins(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	joins := *partitionJoins
	if testing.Short() {
		joins = min(joins, 100)
	}
	const perSchema = 20
	db := openMemory(t)
	s := db.Session()
	defer s.Close()
	pruned, failed, empty, wise := 0, 0, 0, 0
	for made := 0; made < joins; made += perSchema {
		g := &partitionSchema{r: rand.New(rand.NewPCG(seed, uint64(made))), s: s}
		g.create(t)
		for range perSchema {
			query := g.query()
			if g.r.IntN(2) == 0 {
				query = withPartitioned(query)
			}
			mustExec(t, s, "set enable_hashjoin = off; set enable_partition_pruning = off; set enable_runtime_filter = off; set htap_router_mode = row; set threads = 1; set work_mem = 0")
			zone := "set timezone = '" + partitionZones[g.r.IntN(len(partitionZones))] + "'"
			mustExec(t, s, zone)
			want := outcome(s, query)
			switch {
			case len(want) == 5 && !strings.Contains(want, "|"):
				failed++
			case want == "":
				empty++
			}
			mustExec(t, s, "set enable_hashjoin = on; set enable_partition_pruning = on")
			for _, variant := range []string{"set enable_runtime_filter = off", "set enable_runtime_filter = on; set threads = 3",
				"set htap_router_mode = column; set work_mem = '1kB'; set enable_partitionwise_join = off", "set enable_partitionwise_join = on", "set enable_hashjoin = off; set threads = 1; set work_mem = 0"} {
				mustExec(t, s, variant)
				if got := outcome(s, query); !sameLines(got, want) {
					t.Fatalf("%s;\n%s;\n%s;\n%s;\n got %s\nwant %s", strings.Join(g.log, ";\n"), zone, variant, query, got, want)
				}
			}
			if plan := outcome(s, "explain "+query); strings.Contains(plan, "run time: PS") {
				pruned++
			}
			mustExec(t, s, "set enable_hashjoin = on; set work_mem = '1kB'")
			if plan := outcome(s, "explain analyze "+query); strings.Contains(plan, "Partition-wise Join") {
				wise++
			}
		}
	}
	t.Logf("%d joins, %d of them with partitions selected at run time, %d partition-wise, %d without rows, %d that failed", joins, pruned, wise, empty, failed)
	if !testing.Short() && (wise*40 < joins || pruned*5 < joins || failed*10 > joins || empty*3 > joins) {
		t.Errorf("the joins do not do what they are for")
	}
}

// sameLines compares outcomes without the order of rows.
func sameLines(a, b string) bool {
	x, y := strings.Split(a, " "), strings.Split(b, " ")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}
