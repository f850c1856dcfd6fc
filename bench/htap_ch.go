package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weftdb/weft"
)

// The mixed part follows the idea of CH-benCHmark: an order-entry workload and analytical queries on the very
// tables that it writes. Everything exists twice, in a schema without column views and in one with, which
// take turns, so that both meet the same machine.
const (
	orderWriters = 2
	orderReaders = 1
	orderLines   = 5
	orderRounds  = 4 // turns of each schema
)

// orderSchemas are the schemas' names, the one without views first.
var orderSchemas = []string{"bare", "viewed"}

// orderViews are the tables that get views.
var orderViews = []string{"customer", "product", "stock", "purchase", "purchase_line", "progress"}

// orderQueries are the analytical queries.
var orderQueries = []struct{ name, query string }{
	{"lines by number", "SELECT number, sum(quantity), sum(amount), avg(amount), count(*) FROM purchase_line WHERE delivered IS NOT NULL GROUP BY number ORDER BY number"},
	{"revenue by region", "SELECT c.region, sum(p.total), count(*) FROM customer c JOIN purchase p ON p.customer = c.id GROUP BY c.region ORDER BY 2 DESC"},
	{"amounts by category", "SELECT d.category, sum(l.amount), max(l.quantity) FROM product d JOIN purchase_line l ON l.product = d.id WHERE l.quantity >= 3 GROUP BY d.category ORDER BY 1"},
	{"small lines", "SELECT sum(amount), count(*) FROM purchase_line WHERE quantity BETWEEN 1 AND 4 AND amount < 50"},
	{"open totals", "SELECT customer, sum(total) FROM purchase WHERE carrier IS NULL GROUP BY customer ORDER BY 2 DESC, 1 LIMIT 10"},
	{"low stock", "SELECT d.category, count(*) FROM stock s JOIN product d ON d.id = s.product WHERE s.quantity < 500 GROUP BY d.category ORDER BY 2 DESC, 1"},
}

// orderCheck tells what all finished new orders have left behind, and whether lines and totals agree. It must
// hold in every snapshot.
const orderCheck = "SELECT (SELECT count(*) FROM purchase), (SELECT sum(total) FROM purchase), (SELECT sum(amount) FROM purchase_line), (SELECT sum(orders) FROM progress)"

// mixed measures the workload without and with analytical readers beside it.
func (r *htapRunner) mixed(ctx context.Context) error {
	w := &orderWork{r: r, purchases: max(r.o.Rows/20, 500), written: map[string][]int64{}, analysed: map[string]int{}}
	w.customers, w.products = w.purchases/2, max(w.purchases/5, 100)
	for _, schema := range orderSchemas {
		w.written[schema] = make([]int64, orderWriters)
		if err := w.fill(ctx, schema); err != nil {
			return err
		}
	}
	settle()
	for _, readers := range []int{0, orderReaders} {
		turns := map[string][]*orderTurn{}
		for round := range orderRounds {
			for i := range orderSchemas {
				schema := orderSchemas[(i+round)%2] // none is always the first
				t, err := w.turn(ctx, schema, readers)
				if err != nil {
					return fmt.Errorf("schema %s: %w", schema, err)
				}
				turns[schema] = append(turns[schema], t)
			}
		}
		w.report(readers, turns)
	}
	return w.byWay(ctx)
}

// orderWork is the workload on both schemas.
type orderWork struct {
	r                              *htapRunner
	purchases, customers, products int
	written                        map[string][]int64 // by schema and writer: its new orders so far
	analysed                       map[string]int     // by schema: analytical queries so far
}

// fill makes a schema's tables, their rows, and its views.
func (w *orderWork) fill(ctx context.Context, schema string) error {
	if err := w.r.exec(ctx, "CREATE SCHEMA "+schema, "SET search_path = "+schema, "SET synchronous_commit = off",
		"CREATE TABLE district (id integer PRIMARY KEY, ytd numeric(14,2) NOT NULL)",
		"CREATE TABLE customer (id integer PRIMARY KEY, district integer NOT NULL, region integer NOT NULL, name varchar(24) NOT NULL, balance numeric(14,2) NOT NULL, payments integer NOT NULL)",
		"CREATE TABLE product (id integer PRIMARY KEY, name varchar(24) NOT NULL, category integer NOT NULL, price numeric(8,2) NOT NULL)",
		"CREATE TABLE stock (product integer PRIMARY KEY, quantity integer NOT NULL, sold bigint NOT NULL)",
		"CREATE TABLE purchase (id bigint PRIMARY KEY, customer integer NOT NULL, entered timestamp NOT NULL, carrier integer, total numeric(12,2) NOT NULL)",
		"CREATE TABLE purchase_line (purchase bigint, number integer, product integer NOT NULL, quantity integer NOT NULL, amount numeric(10,2) NOT NULL, delivered timestamp, PRIMARY KEY (purchase, number))",
		"CREATE TABLE progress (writer integer PRIMARY KEY, transactions bigint NOT NULL, orders bigint NOT NULL)",
		"INSERT INTO district SELECT g, 0 FROM generate_series(0, 99) g",
		fmt.Sprintf("INSERT INTO customer SELECT g, g %% 100, g %% 25, 'customer ' || g, 0, 0 FROM generate_series(0, %d) g", w.customers-1),
		fmt.Sprintf("INSERT INTO product SELECT g, 'product ' || g, g %% 40, 1 + g %% 97 FROM generate_series(0, %d) g", w.products-1),
		fmt.Sprintf("INSERT INTO stock SELECT g, 1000000, 0 FROM generate_series(0, %d) g", w.products-1),
		fmt.Sprintf("INSERT INTO purchase_line SELECT p, n, (p * 7 + n * 31) %% %d, 1 + (p + n) %% 10, (1 + (p + n) %% 10) * 3, CASE WHEN p %% 3 > 0 THEN timestamp '2024-01-01' END FROM generate_series(1, %d) p, generate_series(1, %d) n",
			w.products, w.purchases, orderLines),
		fmt.Sprintf("INSERT INTO purchase SELECT purchase, purchase %% %d, timestamp '2024-01-01', CASE WHEN purchase %% 3 > 0 THEN 1 END, sum(amount) FROM purchase_line GROUP BY purchase", w.customers),
		fmt.Sprintf("INSERT INTO progress SELECT g, 0, 0 FROM generate_series(0, %d) g", orderWriters-1), "ANALYZE"); err != nil {
		return err
	}
	if schema == orderSchemas[0] {
		return nil
	}
	for _, table := range orderViews {
		if err := w.r.exec(ctx, "ALTER TABLE "+table+" COLVIEW", "SELECT * FROM gs_imcv_flush('"+table+"')"); err != nil {
			return err
		}
	}
	return nil
}

// orderTurn is what a schema did in its turn.
type orderTurn struct {
	w       *orderWork
	schema  string
	seconds float64
	cpu     time.Duration  // of the process; without readers with the background work that was left
	commits []*commitTimes // by writer
	base    []int64        // by writer: its transactions before the turn

	mu           sync.Mutex // guards what follows
	transactions int
	queries      []float64 // milliseconds
	unseen       time.Duration
}

// turn runs writers and readers on a schema for their part of the time.
func (w *orderWork) turn(ctx context.Context, schema string, readers int) (t *orderTurn, err error) {
	t = &orderTurn{w: w, schema: schema}
	for i := range orderWriters {
		n, err := w.r.one(ctx, fmt.Sprintf("SELECT transactions FROM %s.progress WHERE writer = %d", schema, i))
		if err != nil {
			return nil, err
		}
		t.base, t.commits = append(t.base, int64(n)), append(t.commits, &commitTimes{})
	}
	before, _ := cpuTime()
	start := time.Now()
	until := start.Add(time.Duration(w.r.o.Seconds / orderRounds * float64(time.Second)))
	failed := make(chan error, orderWriters+readers)
	client := func(seed uint64, work func(*orderClient) error) {
		c := &orderClient{t: t, s: w.r.db.Session(), rnd: rand.New(rand.NewPCG(seed, uint64(start.UnixNano()))), query: w.analysed[schema]}
		err := c.do(ctx, "SET search_path = "+schema, "SET synchronous_commit = off", "SET threads = 1")
		for err == nil && time.Now().Before(until) {
			err = work(c)
		}
		failed <- errors.Join(err, c.s.Close())
	}
	for i := range orderWriters {
		go client(uint64(i), func(c *orderClient) error { return c.transact(ctx, i) })
	}
	for i := range readers {
		go client(uint64(100+i), func(c *orderClient) error { return c.analyse(ctx) })
	}
	for range orderWriters + readers {
		err = errors.Join(err, <-failed)
	}
	t.seconds = time.Since(start).Seconds()
	w.analysed[schema] += len(t.queries)
	if readers == 0 {
		settle()
	}
	after, _ := cpuTime()
	t.cpu = after - before
	if err == nil && t.unseen > 0 {
		err = fmt.Errorf("bench: a query did not see a transaction that had committed %v before it began", t.unseen)
	}
	return t, err
}

// orderClient is a session of a turn.
type orderClient struct {
	t     *orderTurn
	s     *weft.Session
	rnd   *rand.Rand
	query int // the next analytical one
}

func (c *orderClient) do(ctx context.Context, statements ...string) error {
	for _, text := range statements {
		if _, err := c.s.Exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// orderStatement is a statement with its arguments.
type orderStatement struct {
	text string
	args []any
}

// transact runs one transaction of a writer: a new order, a payment or a delivery.
func (c *orderClient) transact(ctx context.Context, writer int) error {
	w, orders := c.t.w, int64(0)
	var work []orderStatement
	switch kind := c.rnd.IntN(100); {
	case kind < 48:
		work, orders = c.newOrder(w.orderID(c.t.schema, writer, 0)), 1
	case kind < 92:
		customer, amount := c.rnd.IntN(w.customers), 1+c.rnd.IntN(500)
		work = []orderStatement{
			{"UPDATE customer SET balance = balance - $2, payments = payments + 1 WHERE id = $1", []any{customer, amount}},
			{"UPDATE district SET ytd = ytd + $2 WHERE id = $1", []any{customer % 100, amount}},
		}
	default:
		id := int64(1 + c.rnd.IntN(w.purchases))
		if mine := w.written[c.t.schema][writer]; mine > 0 {
			id = w.orderID(c.t.schema, writer, 1+c.rnd.Int64N(mine))
		}
		work = []orderStatement{
			{"UPDATE purchase SET carrier = $2 WHERE id = $1", []any{id, c.rnd.IntN(10)}},
			{"UPDATE purchase_line SET delivered = localtimestamp WHERE purchase = $1", []any{id}},
			{"UPDATE customer SET balance = balance + p.total FROM purchase p WHERE p.id = $1 AND customer.id = p.customer", []any{id}},
		}
	}
	work = append(work, orderStatement{"UPDATE progress SET transactions = transactions + 1, orders = orders + $2 WHERE writer = $1", []any{writer, orders}}, orderStatement{"COMMIT", nil})
	if err := c.do(ctx, "BEGIN"); err != nil {
		return err
	}
	for _, s := range work {
		if _, err := c.s.Exec(ctx, s.text, s.args...); err != nil {
			if undo := c.do(ctx, "ROLLBACK"); undo != nil || !weft.IsSerializationFailure(err) {
				return errors.Join(fmt.Errorf("%s: %w", s.text, err), undo)
			}
			return nil
		}
	}
	c.t.commits[writer].add(time.Now())
	w.written[c.t.schema][writer] += orders
	c.t.mu.Lock()
	c.t.transactions++
	c.t.mu.Unlock()
	return nil
}

// orderID numbers a writer's new orders: back 0 is the next one, 1 the last.
func (w *orderWork) orderID(schema string, writer int, back int64) int64 {
	return int64(w.purchases) + (w.written[schema][writer]-back)*orderWriters + int64(writer) + 1
}

// newOrder takes products from the stock, in ascending order so that writers do not wait for each other in a
// circle, and adds the lines' amounts up.
func (c *orderClient) newOrder(id int64) (work []orderStatement) {
	products := make([]int, orderLines)
	for i := range products {
		products[i] = c.rnd.IntN(c.t.w.products)
	}
	slices.Sort(products)
	for i, p := range products {
		quantity := 1 + c.rnd.IntN(10)
		work = append(work,
			orderStatement{"UPDATE stock SET quantity = quantity - $2, sold = sold + $2 WHERE product = $1", []any{p, quantity}},
			orderStatement{"INSERT INTO purchase_line SELECT $1, $2, id, $3, price * $3, NULL FROM product WHERE id = $4", []any{id, i + 1, quantity, p}})
	}
	return append(work, orderStatement{"INSERT INTO purchase SELECT $1, $2, localtimestamp, NULL, sum(amount) FROM purchase_line WHERE purchase = $1", []any{id, c.rnd.IntN(c.t.w.customers)}})
}

// analyse runs one analytical query, and in the same snapshot looks how many transactions it has seen and
// whether what they left behind agrees.
func (c *orderClient) analyse(ctx context.Context) error {
	start := time.Now()
	if err := c.do(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ"); err != nil {
		return err
	}
	asked := time.Now()
	if _, err := c.s.Exec(ctx, orderQueries[c.query%len(orderQueries)].query); err != nil {
		return err
	}
	c.query++
	took := milliseconds(time.Since(asked))
	seen, err := c.numbers(ctx, "SELECT transactions FROM progress ORDER BY writer")
	if err != nil {
		return err
	}
	check, err := c.numbers(ctx, orderCheck)
	if err != nil {
		return err
	}
	if len(seen) != orderWriters || check[0] != float64(c.t.w.purchases)+check[3] || check[1] != check[2] {
		return fmt.Errorf("bench: a snapshot has %g purchases over %g, lines over %g, and counts %g new ones beside %d", check[0], check[1], check[2], check[3], c.t.w.purchases)
	}
	unseen := time.Duration(0)
	for i, n := range seen {
		unseen = max(unseen, c.t.commits[i].unseenFor(int(int64(n)-c.t.base[i]), start))
	}
	c.t.mu.Lock()
	c.t.queries, c.t.unseen = append(c.t.queries, took), max(c.t.unseen, unseen)
	c.t.mu.Unlock()
	return c.do(ctx, "COMMIT")
}

// numbers returns a query's values, row by row.
func (c *orderClient) numbers(ctx context.Context, query string) (out []float64, err error) {
	rows, err := c.s.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		for i := range rows.Columns() {
			text, _ := rows.Text(i)
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, errors.Join(err, rows.Close())
			}
			out = append(out, v)
		}
	}
	return out, rows.Close()
}

// report adds the figures of both schemas' turns.
func (w *orderWork) report(readers int, turns map[string][]*orderTurn) {
	bySchema, unseen := map[string]map[string]float64{}, time.Duration(0)
	for schema, list := range turns {
		var rate, cpuRate, queries []float64
		for _, t := range list {
			rate = append(rate, float64(t.transactions)/t.seconds)
			cpuRate = append(cpuRate, float64(t.transactions)/t.cpu.Seconds())
			queries, unseen = append(queries, t.queries...), max(unseen, t.unseen)
		}
		bySchema[schema] = map[string]float64{"rate": median(rate), "cpu": median(cpuRate)}
		if len(queries) > 0 {
			bySchema[schema]["query"] = median(queries)
		}
	}
	off, on := bySchema[orderSchemas[0]], bySchema[orderSchemas[1]]
	name := fmt.Sprintf("%d order writers, %d readers: ", orderWriters, readers)
	w.r.add(Figure{Name: name + "transactions without views", Value: off["rate"], Unit: "1/s"})
	w.r.add(Figure{Name: name + "rate with views of that without", Value: on["rate"] / off["rate"], Unit: "times", Goal: 0.95, AtLeast: true})
	if readers == 0 {
		w.r.add(Figure{Name: name + "the same by CPU, later work included", Value: on["cpu"] / off["cpu"], Unit: "times", Goal: 0.95, AtLeast: true})
		return
	}
	if on["query"] > 0 && off["query"] > 0 {
		w.r.add(Figure{Name: name + "analytical queries without views, p50", Value: off["query"], Unit: "ms"})
		w.r.add(Figure{Name: name + "the same with views", Value: on["query"], Unit: "ms"})
	}
	w.r.add(Figure{Name: name + "freshness, worst", Value: milliseconds(unseen), Unit: "ms"})
}

// byWay compares the analytical queries by rows and by columns, on what the workload has left behind.
func (w *orderWork) byWay(ctx context.Context) error {
	if err := w.r.exec(ctx, "SET search_path = "+orderSchemas[1], "SET threads = 1"); err != nil {
		return err
	}
	for _, q := range orderQueries {
		t, err := w.r.inTurn(ctx, way{mode: "row", query: q.query}, way{mode: "column", query: q.query})
		if err != nil {
			return err
		}
		w.r.add(Figure{Name: "orders, " + strings.ToLower(q.name) + ": by rows of by columns, CPU", Value: t[0].cpuOf(&t[1]), Unit: "times"})
	}
	return nil
}
