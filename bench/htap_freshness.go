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

// The freshness part follows HATtrick (SIGMOD 2022): each transactional client counts its transactions in
// a row of its own, within the transaction, and each analytical query reads all of these counters. Its score
// is how long before the query's start the first transaction that it has not seen was committed; 0 is
// fresh.
const freshnessAccounts = 50_000

// mixes are numbers of transactional and analytical clients.
var mixes = [][2]int{{1, 1}, {4, 1}, {1, 3}, {4, 3}}

// commitTimes are the times at which a client's transactions were known to be committed.
type commitTimes struct {
	mu    sync.Mutex
	times []time.Time // guarded by mu
}

func (c *commitTimes) add(at time.Time) {
	c.mu.Lock()
	c.times = append(c.times, at)
	c.mu.Unlock()
}

// unseenFor returns how long before a time the first transaction after the first n was committed.
func (c *commitTimes) unseenFor(n int, start time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n >= len(c.times) {
		return 0
	}
	return max(0, start.Sub(c.times[n]))
}

// freshness measures both throughputs and the score at several mixes.
func (r *htapRunner) freshness(ctx context.Context) error {
	if err := r.exec(ctx, "CREATE TABLE account (id integer PRIMARY KEY, region integer NOT NULL, balance bigint NOT NULL, note varchar(40))",
		fmt.Sprintf("INSERT INTO account SELECT g, g %% 25, 1000, 'account ' || g FROM generate_series(1, %d) g", freshnessAccounts),
		"CREATE TABLE payment (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account integer NOT NULL, amount bigint NOT NULL) COLVIEW",
		"CREATE TABLE freshness (client integer PRIMARY KEY, n bigint NOT NULL) COLVIEW",
		"ALTER TABLE account COLVIEW (region, balance)", "ANALYZE", "SELECT * FROM gs_imcv_flush('account')"); err != nil {
		return err
	}
	worst := time.Duration(0)
	for _, mix := range mixes {
		m := &freshnessMix{r: r, writers: mix[0], readers: mix[1]}
		score, err := m.run(ctx)
		if err != nil {
			return err
		}
		worst = max(worst, score)
		name := fmt.Sprintf("%d writers, %d readers: ", mix[0], mix[1])
		r.add(Figure{Name: name + "transactions", Value: float64(m.transactions) / r.o.Seconds, Unit: "1/s"})
		r.add(Figure{Name: name + "analytical queries", Value: float64(len(m.scores)) / r.o.Seconds, Unit: "1/s"})
		r.add(Figure{Name: name + "freshness, 95th percentile", Value: milliseconds(m.percentile(0.95)), Unit: "ms"})
	}
	// A goal of 0 means none, so what has to be reached is stated as an error.
	if worst > 0 {
		return fmt.Errorf("bench: a query did not see a transaction that had committed %v before it began", worst)
	}
	return nil
}

// freshnessMix is a run of some writers and readers.
type freshnessMix struct {
	r                *htapRunner
	writers, readers int
	commits          []*commitTimes

	mu           sync.Mutex // guards what follows
	transactions int
	scores       []time.Duration
}

func (m *freshnessMix) run(ctx context.Context) (worst time.Duration, err error) {
	if err := m.r.exec(ctx, "DELETE FROM freshness"); err != nil {
		return 0, err
	}
	for i := range m.writers {
		m.commits = append(m.commits, &commitTimes{})
		if err := m.r.exec(ctx, fmt.Sprintf("INSERT INTO freshness VALUES (%d, 0)", i)); err != nil {
			return 0, err
		}
	}
	until := time.Now().Add(time.Duration(m.r.o.Seconds * float64(time.Second)))
	failed := make(chan error, m.writers+m.readers)
	client := func(work func(*weft.Session, *rand.Rand) error, seed uint64) {
		s := m.r.db.Session()
		rnd := rand.New(rand.NewPCG(7, seed))
		err := error(nil)
		for err == nil && time.Now().Before(until) {
			err = work(s, rnd)
		}
		failed <- errors.Join(err, s.Close())
	}
	for i := range m.writers {
		go client(func(s *weft.Session, rnd *rand.Rand) error { return m.pay(ctx, s, rnd, i) }, uint64(i))
	}
	for i := range m.readers {
		go client(func(s *weft.Session, _ *rand.Rand) error { return m.analyse(ctx, s) }, uint64(100+i))
	}
	for range m.writers + m.readers {
		err = errors.Join(err, <-failed)
	}
	return m.percentile(1), err
}

// pay is a transaction.
func (m *freshnessMix) pay(ctx context.Context, s *weft.Session, rnd *rand.Rand, client int) error {
	_, err := s.Exec(ctx, fmt.Sprintf(`BEGIN; UPDATE account SET balance = balance - 1 WHERE id = %d; INSERT INTO payment (account, amount) VALUES (%d, 1);
		UPDATE freshness SET n = n + 1 WHERE client = %d; COMMIT`, 1+rnd.IntN(freshnessAccounts), 1+rnd.IntN(freshnessAccounts), client))
	if err != nil {
		_, undo := s.Exec(ctx, "ROLLBACK")
		if weft.IsSerializationFailure(err) {
			return undo
		}
		return errors.Join(err, undo)
	}
	m.commits[client].add(time.Now())
	m.mu.Lock()
	m.transactions++
	m.mu.Unlock()
	return nil
}

// analyse is an analytical query, with the counters read in the same statement.
func (m *freshnessMix) analyse(ctx context.Context, s *weft.Session) error {
	start := time.Now()
	rows, err := s.Query(ctx, `SELECT q.region, q.total, f.client, f.n FROM (SELECT region, sum(balance) AS total FROM account GROUP BY region) q, freshness f WHERE q.region = 1`)
	if err != nil {
		return err
	}
	score := time.Duration(0)
	for rows.Next() {
		client, _ := rows.Text(2)
		seen, _ := rows.Text(3)
		i, err := strconv.Atoi(client)
		n, err2 := strconv.Atoi(seen)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		score = max(score, m.commits[i].unseenFor(n, start))
	}
	if err := rows.Close(); err != nil {
		return err
	}
	m.mu.Lock()
	m.scores = append(m.scores, score)
	m.mu.Unlock()
	return nil
}

func (m *freshnessMix) percentile(p float64) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.scores) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(m.scores))
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

// writes compares single-row writes to a table with a column view and to one without, in turns, so that
// both meet the same machine. Commits do not wait for the disk: that would hide the difference.
func (r *htapRunner) writes(ctx context.Context) error {
	const rows, batch, rounds = 200_000, 500, 60
	for _, table := range []string{"bare", "viewed"} {
		if err := r.exec(ctx, "CREATE TABLE "+table+" (id integer PRIMARY KEY, a integer, b bigint, c varchar(40))",
			fmt.Sprintf("INSERT INTO %s SELECT g, g %% 1000, g, 'text ' || g FROM generate_series(1, %d) g", table, rows), "VACUUM "+table); err != nil {
			return err
		}
	}
	if err := r.exec(ctx, "ALTER TABLE viewed COLVIEW", "SELECT * FROM gs_imcv_flush('viewed')", "SET synchronous_commit = off"); err != nil {
		return err
	}
	settle()
	rnd := rand.New(rand.NewPCG(11, 12))
	for _, w := range []struct{ name, query string }{
		{"UPDATE by key", "UPDATE %s SET a = a + 1, b = b + 1 WHERE id = $1"},
		{"upsert", "INSERT INTO %s VALUES ($1, 1, 1, 'x') ON CONFLICT (id) DO UPDATE SET b = excluded.b"},
	} {
		spent := map[string][]float64{}
		for range rounds {
			for _, table := range []string{"bare", "viewed"} {
				query := strings.Replace(w.query, "%s", table, 1)
				before, _ := cpuTime()
				for range batch {
					if _, err := r.session.Exec(ctx, query, 1+rnd.IntN(rows)); err != nil {
						return err
					}
				}
				after, _ := cpuTime()
				spent[table] = append(spent[table], milliseconds(after-before))
			}
		}
		r.add(Figure{Name: w.name + " with a column view: rate of that without, by CPU", Value: median(spent["bare"]) / median(spent["viewed"]), Unit: "times", Goal: 0.95, AtLeast: true})
	}
	return nil
}
