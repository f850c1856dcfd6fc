package weft_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
)

// A history is what concurrent transactions did to lists, each named by a key: they append values that
// nobody else appends, and read whole lists. A list that is read tells who wrote it and in which order,
// so the dependencies between transactions follow from the reads alone. The way is that of Elle
// (Kingsbury and Alvaro, 2020), the anomalies are those of Adya (1999).
type history struct {
	txns []*historyTxn
	// final are the lists that were read when all transactions had ended.
	final map[int][]int
}

type historyOutcome uint8

const (
	committed historyOutcome = iota
	aborted
	unknown // the database went down before it answered
)

type historyTxn struct {
	outcome historyOutcome
	ops     []historyOp
	// begin was taken from a clock before the transaction began, end after it was told its outcome.
	begin, end int64
}

// historyOp appends a value, or reads a list that is then set: empty lists are not nil.
type historyOp struct {
	key, value int
	list       []int
	at         int64 // from the clock, before the statement
}

func (op *historyOp) reads() bool { return op.list != nil }

// An anomaly is what a history shows and an isolation level may exclude.
type anomaly string

const (
	gDirtyWrite   anomaly = "G0"            // writes of two transactions lie crosswise
	gAborted      anomaly = "G1a"           // a value of a transaction that was rolled back is read
	gIntermediate anomaly = "G1b"           // a value is read that its transaction followed up by another
	gCircular     anomaly = "G1c"           // a cycle of writes and reads of them
	gSingle       anomaly = "G-single"      // a cycle with one anti-dependency: read skew
	gNonadjacent  anomaly = "G-nonadjacent" // a cycle whose anti-dependencies do not follow each other
	gItem         anomaly = "G2"            // any other cycle: write skew
	lostUpdate    anomaly = "lost update"   // a committed value is not in the final list
	duplicate     anomaly = "duplicate"     // a value occurs twice
	disorder      anomaly = "disorder"      // two reads of a list agree with no common order
	unrepeatable  anomaly = "unrepeatable"  // two reads of a transaction differ by others' values
	ownWrites     anomaly = "own writes"    // a read lacks what its transaction appended before
	stale         anomaly = "stale"         // a read lacks what had been committed before
)

// forbidden lists what each level excludes. Read-modify-write may lose updates at READ COMMITTED, and
// lists have no common order then; histories without it must have one.
var forbidden = map[string][]anomaly{
	"read committed": {gDirtyWrite, gAborted, gIntermediate, gCircular, duplicate, ownWrites, stale},
	"repeatable read": {gDirtyWrite, gAborted, gIntermediate, gCircular, duplicate, ownWrites, stale,
		gSingle, gNonadjacent, lostUpdate, disorder, unrepeatable},
	"serializable": {gDirtyWrite, gAborted, gIntermediate, gCircular, duplicate, ownWrites, stale,
		gSingle, gNonadjacent, lostUpdate, disorder, unrepeatable, gItem},
}

type dependency uint8

const (
	writeWrite dependency = 1 << iota
	writeRead
	readWrite
)

// historyCheck finds the anomalies of a history.
type historyCheck struct {
	h       *history
	level   string
	writer  map[int]int   // value → transaction
	order   map[int][]int // key → values in the order they were appended in
	edges   []map[int]dependency
	found   map[anomaly]string
	visible map[int]bool // values in final lists
}

// anomalies returns what is wrong with a history, seen at a level, which decides from when on values
// must be seen; the text says where.
func anomalies(h *history, level string) map[anomaly]string {
	c := &historyCheck{h: h, level: level, writer: map[int]int{}, order: map[int][]int{}, found: map[anomaly]string{}, visible: map[int]bool{}}
	c.settle()
	c.orders()
	for i, t := range h.txns {
		if t.outcome == committed {
			c.readsOf(i, t)
		}
	}
	c.link()
	c.cycles()
	return c.found
}

func (c *historyCheck) note(a anomaly, format string, args ...any) {
	if _, ok := c.found[a]; !ok {
		c.found[a] = fmt.Sprintf(format, args...)
	}
}

// settle finds out who wrote what, and makes those transactions of unknown outcome committed whose
// values are seen in the end. The others left no trace, not even by what they read.
func (c *historyCheck) settle() {
	for _, list := range c.h.final {
		for _, v := range list {
			c.visible[v] = true
		}
	}
	for i, t := range c.h.txns {
		seen := false
		for _, op := range t.ops {
			if !op.reads() {
				c.writer[op.value] = i
				seen = seen || c.visible[op.value]
			}
		}
		switch {
		case t.outcome == unknown && seen:
			t.outcome = committed
		case t.outcome == committed:
			for _, op := range t.ops {
				if !op.reads() && !c.visible[op.value] {
					c.note(lostUpdate, "value %d of key %d, appended by T%d, is not in %v", op.value, op.key, i, c.h.final[op.key])
				}
			}
		}
	}
}

// orders finds the order of each list: that of the longest read. All others must be its beginnings.
func (c *historyCheck) orders() {
	take := func(key int, list []int) {
		if len(list) > len(c.order[key]) {
			c.order[key] = list
		}
	}
	each := func(use func(key int, list []int)) {
		for key, list := range c.h.final {
			use(key, list)
		}
		for _, t := range c.h.txns {
			for i := range t.ops {
				if op := &t.ops[i]; t.outcome == committed && op.reads() {
					use(op.key, op.list)
				}
			}
		}
	}
	each(take)
	each(func(key int, list []int) {
		order := c.order[key]
		if !slices.Equal(list, order[:len(list)]) {
			c.note(disorder, "key %d was read as %v and as %v", key, list, order)
		}
		sorted := slices.Clone(list)
		slices.Sort(sorted)
		if len(slices.Compact(sorted)) < len(list) {
			c.note(duplicate, "key %d was read as %v", key, list)
		}
	})
}

// readsOf looks at each read of a transaction by itself.
func (c *historyCheck) readsOf(i int, t *historyTxn) {
	own := map[int][]int{}     // by key: appended so far
	foreign := map[int][]int{} // by key: what others had appended when it was read first
	last := map[int]int{}      // by key: the value appended last
	for n := range t.ops {
		if op := &t.ops[n]; !op.reads() {
			last[op.key] = op.value
		}
	}
	for n := range t.ops {
		op := &t.ops[n]
		if !op.reads() {
			own[op.key] = append(own[op.key], op.value)
			continue
		}
		var others, mine []int
		for _, v := range op.list {
			if w, known := c.writer[v]; known && w == i {
				mine = append(mine, v)
			} else {
				others = append(others, v)
			}
		}
		if !slices.Equal(mine, own[op.key]) {
			c.note(ownWrites, "T%d read %v of key %d after appending %v", i, op.list, op.key, own[op.key])
		}
		if before, again := foreign[op.key]; again && !slices.Equal(before, others) {
			c.note(unrepeatable, "T%d read key %d first with %v, then with %v", i, op.key, before, others)
		}
		foreign[op.key] = others
		for k, v := range others {
			w, known := c.writer[v]
			if !known || c.h.txns[w].outcome == aborted {
				c.note(gAborted, "T%d read value %d of key %d, which was not committed", i, v, op.key)
				continue
			}
			if k == len(others)-1 && len(mine) == 0 && c.lastAppend(w, op.key) != v {
				c.note(gIntermediate, "T%d read key %d up to %d, which T%d followed by more", i, op.key, v, w)
			}
		}
		c.fresh(i, t, op)
	}
}

func (c *historyCheck) lastAppend(txn, key int) (value int) {
	for _, op := range c.h.txns[txn].ops {
		if !op.reads() && op.key == key {
			value = op.value
		}
	}
	return value
}

// fresh looks for values that had been committed before the state that a read sees was taken.
func (c *historyCheck) fresh(i int, t *historyTxn, op *historyOp) {
	since := t.begin
	if c.level == "read committed" {
		since = op.at
	}
	for _, v := range c.order[op.key] {
		w := c.h.txns[c.writerOf(v)]
		if w.outcome == committed && w.end != 0 && w.end < since && !slices.Contains(op.list, v) {
			c.note(stale, "T%d read key %d as %v without %d, which had been committed", i, op.key, op.list, v)
		}
	}
}

func (c *historyCheck) writerOf(value int) int {
	if w, ok := c.writer[value]; ok {
		return w
	}
	return 0
}

// link makes the edges between committed transactions.
func (c *historyCheck) link() {
	c.edges = make([]map[int]dependency, len(c.h.txns))
	for i := range c.edges {
		c.edges[i] = map[int]dependency{}
	}
	add := func(from, to int, d dependency) {
		if from != to && c.h.txns[from].outcome == committed && c.h.txns[to].outcome == committed {
			c.edges[from][to] |= d
		}
	}
	for _, order := range c.order {
		for i := 1; i < len(order); i++ {
			add(c.writerOf(order[i-1]), c.writerOf(order[i]), writeWrite)
		}
	}
	for i, t := range c.h.txns {
		for n := range t.ops {
			op := &t.ops[n]
			order := c.order[op.key]
			if !op.reads() || len(op.list) > len(order) || !slices.Equal(op.list, order[:len(op.list)]) {
				continue
			}
			if len(op.list) > 0 {
				add(c.writerOf(op.list[len(op.list)-1]), i, writeRead)
			}
			if len(op.list) < len(order) {
				add(i, c.writerOf(order[len(op.list)]), readWrite)
			}
		}
	}
}

// cycles looks for each kind of cycle, the worst first: a graph with more edges has all cycles of one
// with less.
func (c *historyCheck) cycles() {
	worse := false
	look := func(a anomaly, first dependency, path func(from, to int) []int) {
		for from, edges := range c.edges {
			for to, d := range edges {
				if d&first == 0 {
					continue
				}
				if p := path(to, from); p != nil && !worse {
					c.note(a, "%s", c.cycleText(from, p))
					worse = true
					return
				}
			}
		}
	}
	look(gDirtyWrite, writeWrite, c.pathOf(writeWrite))
	look(gCircular, writeWrite|writeRead, c.pathOf(writeWrite|writeRead))
	look(gSingle, readWrite, c.pathOf(writeWrite|writeRead))
	look(gNonadjacent, readWrite, c.pathApart)
	look(gItem, readWrite, c.pathOf(writeWrite|writeRead|readWrite))
}

// pathOf searches shortest paths over some kinds of edges.
func (c *historyCheck) pathOf(kinds dependency) func(from, to int) []int {
	return func(from, to int) []int {
		before := map[int]int{from: -1}
		for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
			at := queue[0]
			if at == to {
				return walkBack(before, at)
			}
			for next, d := range c.edges[at] {
				if _, seen := before[next]; !seen && d&kinds != 0 {
					before[next] = at
					queue = append(queue, next)
				}
			}
		}
		return nil
	}
}

// pathApart searches a path that goes on from an anti-dependency into `from` and ends in front of one
// out of `to`, without two anti-dependencies in a row.
func (c *historyCheck) pathApart(from, to int) []int {
	// Even numbers are transactions reached by an anti-dependency, odd ones by another edge.
	before := map[int]int{2 * from: -1}
	for queue := []int{2 * from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at == 2*to+1 {
			path := walkBack(before, at)
			for i := range path {
				path[i] /= 2
			}
			return path
		}
		visit := func(state int) {
			if _, seen := before[state]; !seen {
				before[state] = at
				queue = append(queue, state)
			}
		}
		for next, d := range c.edges[at/2] {
			if d&(writeWrite|writeRead) != 0 {
				visit(2*next + 1)
			}
			if d&readWrite != 0 && at%2 == 1 {
				visit(2 * next)
			}
		}
	}
	return nil
}

func walkBack(before map[int]int, at int) (path []int) {
	for ; at >= 0; at = before[at] {
		path = append(path, at)
	}
	slices.Reverse(path)
	return path
}

func (c *historyCheck) cycleText(from int, path []int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "T%d", from)
	for at, previous := 0, from; at < len(path); previous, at = path[at], at+1 {
		d := c.edges[previous][path[at]]
		var kinds []string
		for i, name := range []string{"ww", "wr", "rw"} {
			if d&(1<<i) != 0 {
				kinds = append(kinds, name)
			}
		}
		fmt.Fprintf(&b, " -%s-> T%d", strings.Join(kinds, "/"), path[at])
	}
	for _, i := range append([]int{from}, path...) {
		fmt.Fprintf(&b, "\n  T%d: %s", i, c.h.txns[i])
	}
	return b.String()
}

// String lists what a transaction did.
func (t *historyTxn) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d-%d]", t.begin, t.end)
	for _, op := range t.ops {
		if op.reads() {
			fmt.Fprintf(&b, " r%d%v", op.key, op.list)
		} else {
			fmt.Fprintf(&b, " a%d(%d)", op.key, op.value)
		}
	}
	return b.String()
}

// wantNone fails for what a level forbids.
func wantNone(t *testing.T, found map[anomaly]string, level string) {
	t.Helper()
	for _, a := range forbidden[level] {
		if where, ok := found[a]; ok {
			t.Errorf("%s at %s: %s", a, level, where)
		}
	}
}

// parseHistory reads a history: a line for each transaction with a1(5) for an append of 5 to the list 1
// and r1[5 6] for a read; "!" in front of one that was rolled back, "?" of one without an answer. Lines
// that begin with = are final lists. Transactions with "<" begin when those above have ended.
func parseHistory(t *testing.T, text string) *history {
	h := &history{final: map[int][]int{}}
	clock := int64(1)
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		line = strings.TrimSpace(line)
		mark := line[0]
		if strings.ContainsRune("!?=<", rune(mark)) {
			line = line[1:]
		} else {
			mark = ' '
		}
		x := &historyTxn{begin: 1, end: clock + 1}
		switch mark {
		case '!':
			x.outcome = aborted
		case '?':
			x.outcome = unknown
		case '<':
			x.begin, x.end = clock+2, clock+3
		}
		clock = max(clock, x.end)
		line = strings.NewReplacer("[", " [ ", "]", " ] ", "(", " ", ")", " ", ",", " ").Replace(line)
		words := strings.Fields(line)
		for i := 0; i < len(words); i++ {
			var op historyOp
			op.at = x.begin
			kind := words[i][0]
			wholeNumber(t, words[i][1:], &op.key)
			switch i++; kind {
			case 'a':
				wholeNumber(t, words[i], &op.value)
			case 'r':
				op.list = []int{}
				for i++; words[i] != "]"; i++ {
					op.list = append(op.list, 0)
					wholeNumber(t, words[i], &op.list[len(op.list)-1])
				}
			}
			if mark == '=' {
				h.final[op.key] = op.list
				continue
			}
			x.ops = append(x.ops, op)
		}
		if mark != '=' {
			h.txns = append(h.txns, x)
		}
	}
	return h
}

func wholeNumber(t *testing.T, text string, n *int) {
	t.Helper()
	if _, err := fmt.Sscan(text, n); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
}

// TestPlantedAnomalies gives the checker histories with one thing wrong.
func TestPlantedAnomalies(t *testing.T) {
	for _, c := range []struct {
		name, history string
		want          []anomaly
	}{
		{"nothing", `
			a1(1) a2(2)
			r1[1] a1(3)
			r1[1 3] r2[2]
			!a1(9)
			?a2(8)
			= r1[1 3] r2[2]`, nil},
		{"an answer that got lost", `
			a1(1)
			?a1(2)
			r1[1 2]
			= r1[1 2]`, nil},
		{"dirty write", `
			a1(1) a2(2)
			a1(3) a2(4)
			= r1[1 3] r2[4 2]`, []anomaly{gDirtyWrite}},
		{"aborted read", `
			!a1(1)
			r1[1]
			= r1[]`, []anomaly{gAborted}},
		{"aborted write stays", `
			!a1(1)
			r1[1] a1(2)
			= r1[1 2]`, []anomaly{gAborted}},
		{"a value from nowhere", `
			r1[7]
			= r1[7]`, []anomaly{gAborted}},
		{"intermediate read", `
			a1(1) a1(2)
			r1[1]
			= r1[1 2]`, []anomaly{gIntermediate, gSingle}},
		{"circular information flow", `
			a1(1) r2[2]
			a2(2) r1[1]
			= r1[1] r2[2]`, []anomaly{gCircular}},
		{"circular flow through writes", `
			a1(1) a2(5)
			r1[1] a2(2)
			= r1[1] r2[2 5]`, []anomaly{gCircular}},
		{"read skew", `
			a1(1) a2(2)
			r1[] r2[2]
			= r1[1] r2[2]`, []anomaly{gSingle}},
		{"lost update that is seen", `
			r1[] a1(1)
			r1[] a1(2)
			= r1[1 2]`, []anomaly{gSingle}},
		{"lost update", `
			r1[] a1(1)
			r1[] a1(2)
			= r1[2]`, []anomaly{lostUpdate}},
		{"anti-dependencies apart", `
			a2(2) a5(5)
			r2[2] r3[]
			a3(3) a4(4)
			r4[4] r5[]
			= r2[2] r3[3] r4[4] r5[5]`, []anomaly{gNonadjacent}},
		{"write skew", `
			r1[] a2(2)
			r2[] a1(1)
			= r1[1] r2[2]`, []anomaly{gItem}},
		{"the anomaly that only a reader sees", `
			r1[] r2[] a2(2)
			a1(1)
			r1[1] r2[]
			= r1[1] r2[2]`, []anomaly{gItem}},
		{"write skew of three", `
			r1[] a2(2)
			r2[] a3(3)
			r3[] a1(1)
			= r1[1] r2[2] r3[3]`, []anomaly{gItem}},
		{"duplicate", `
			a1(1)
			= r1[1 1]`, []anomaly{duplicate}},
		{"two orders", `
			a1(1)
			a1(2)
			r1[2]
			= r1[1 2]`, []anomaly{disorder}},
		{"a read that changes", `
			a1(1)
			r1[] r1[1]
			= r1[1]`, []anomaly{unrepeatable, gSingle}},
		{"own write unseen", `
			a1(1) r1[]
			= r1[1]`, []anomaly{ownWrites}},
		{"own write from the future", `
			r1[1] a1(1)
			= r1[1]`, []anomaly{ownWrites}},
		{"stale", `
			a1(1)
			<r1[]
			= r1[1]`, []anomaly{stale}},
		{"acknowledged and gone", `
			a1(1)
			a1(2)
			= r1[1]`, []anomaly{lostUpdate}},
	} {
		found := anomalies(parseHistory(t, c.history), "serializable")
		var got []string
		for a := range found {
			got = append(got, string(a))
		}
		var want []string
		for _, a := range c.want {
			want = append(want, string(a))
		}
		sort.Strings(got)
		sort.Strings(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: found %q, want %q\n%v", c.name, got, want, found)
		}
	}
}
