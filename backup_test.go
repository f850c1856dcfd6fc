package weft_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

// A test that needs a second process starts the test binary with one of these workloads.
const childWorkload, childDirectory = "WEFT_TEST_WORKLOAD", "WEFT_TEST_DIRECTORY"

func TestMain(m *testing.M) {
	if workload := os.Getenv(childWorkload); workload != "" {
		runChild(workload, os.Getenv(childDirectory))
		os.Exit(0)
	}
	os.Exit(runTests(m))
}

// runChild opens a database, works on it until its input ends, and prints what is acknowledged.
func runChild(workload, dir string) {
	db, err := weft.Open(context.Background(), dir, weft.Options{})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("open")
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	var mu sync.Mutex // keeps lines apart
	acknowledge := func(w, n int) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(w, n)
	}
	switch workload {
	case "transfer":
		err = transfer(ctx, db, acknowledge)
	case "load":
		err = load(ctx, db, dir, acknowledge)
	case "rewrite":
		err = rewriteTable(ctx, db, func(n int) { fmt.Println(0, n) })
	case "temporary":
		err = makeTemporaries(ctx, db, func(n int) { fmt.Println(0, n) })
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		fmt.Println("error", err)
	}
}

// child is a process of the test binary.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	acked [transferWriters]atomic.Int64
	done  chan error // what it ended with, once
}

func startChild(t *testing.T, workload, dir string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0]), done: make(chan error, 1)}
	c.cmd.Env = append(os.Environ(), childWorkload+"="+workload, childDirectory+"="+dir)
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "open" {
		t.Fatalf("the child process says %q", lines.Text())
	}
	go func() {
		var failed error
		for lines.Scan() {
			var w, n int
			if _, err := fmt.Sscan(lines.Text(), &w, &n); err != nil {
				failed = errors.New(lines.Text())
				continue
			}
			c.acked[w].Store(int64(n))
		}
		_ = c.cmd.Wait()
		c.done <- failed
	}()
	t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	return c
}

func (c *child) kill(t *testing.T) {
	t.Helper()
	_ = c.cmd.Process.Kill()
	if err := <-c.done; err != nil {
		t.Error(err)
	}
}

// stop lets the child close its database.
func (c *child) stop(t *testing.T) {
	t.Helper()
	_ = c.in.Close()
	if err := <-c.done; err != nil {
		t.Error(err)
	}
}

const (
	transferWriters = 3
	accounts        = 50
	accountTotal    = accounts * 100
)

func makeAccounts(t *testing.T, db *weft.DB) {
	t.Helper()
	_, err := db.Exec(context.Background(), fmt.Sprintf(`create table account (id int primary key, amount int not null, note text);
		create index account_amount on account (amount);
		insert into account select g, 100, 'note ' || g from generate_series(1, %d) g;
		create table acknowledged (writer int primary key, n int);
		insert into acknowledged select g, 0 from generate_series(0, %d) g;
		alter table account colview (id, amount)`, accounts, transferWriters-1))
	if err != nil {
		t.Fatal(err)
	}
}

// transfer moves amounts between accounts until the context ends, with several writers, each of
// which counts its transfers in the same transactions.
func transfer(ctx context.Context, db *weft.DB, acknowledge func(writer, n int)) error {
	var wg sync.WaitGroup
	failed := make([]error, transferWriters)
	for w := range transferWriters {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(rand.Uint64(), uint64(w)))
			s := db.Session()
			defer s.Close()
			var start int64
			if start, failed[w] = number(s, "select n from acknowledged where writer = "+strconv.Itoa(w)); failed[w] != nil {
				return
			}
			for n := int(start) + 1; ctx.Err() == nil; {
				amount, from, to := r.IntN(20), 1+r.IntN(accounts), 1+r.IntN(accounts)
				_, err := s.Exec(context.Background(), fmt.Sprintf(`begin; update account set amount = amount - %d where id = %d;
					update account set amount = amount + %d where id = %d;
					update acknowledged set n = %d where writer = %d; commit`, amount, from, amount, to, n, w))
				if err != nil {
					_, _ = s.Exec(context.Background(), "rollback")
					if !weft.IsSerializationFailure(err) {
						failed[w] = err
						return
					}
					continue
				}
				acknowledge(w, n)
				n++
			}
		})
	}
	wg.Wait()
	return errors.Join(failed...)
}

func number(s *weft.Session, query string) (n int64, err error) {
	rows, err := s.Query(context.Background(), query)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	if rows.Next() {
		err = rows.Scan(&n)
	}
	return n, err
}

// sound opens a database and fails the test with what a check finds.
func sound(t *testing.T, dir string) *weft.DB {
	t.Helper()
	db, err := weft.Open(context.Background(), dir, weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	checkSound(t, db)
	return db
}

func checkSound(t *testing.T, db *weft.DB) weft.CheckSummary {
	t.Helper()
	s, err := db.Check(context.Background(), weft.CheckOptions{Report: func(f weft.Finding) { t.Error(f) }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkTransfers checks a copy against what was acknowledged before it was asked for.
func checkTransfers(t *testing.T, dir string, acked [transferWriters]int64) {
	t.Helper()
	db := sound(t, dir)
	if total := count(t, db, "select sum(amount) from account"); total != accountTotal {
		t.Errorf("the accounts hold %d, not %d", total, accountTotal)
	}
	for w, want := range acked {
		if n := count(t, db, "select n from acknowledged where writer = $1", w); n < want {
			t.Errorf("writer %d is at %d in the copy; %d was acknowledged before", w, n, want)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestBackupWhileTransferring backs a database up while writers move amounts between accounts.
func TestBackupWhileTransferring(t *testing.T) {
	dir := t.TempDir()
	db, err := weft.Open(context.Background(), filepath.Join(dir, "db"), weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	makeAccounts(t, db)
	var acked [transferWriters]atomic.Int64
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- transfer(ctx, db, func(w, n int) { acked[w].Store(int64(n)) }) }()
	for i := range 4 {
		time.Sleep(20 * time.Millisecond)
		var before [transferWriters]int64
		for w := range before {
			before[w] = acked[w].Load()
		}
		target := filepath.Join(dir, fmt.Sprint("copy", i))
		if err := db.Backup(context.Background(), target); err != nil {
			t.Fatal(err)
		}
		checkTransfers(t, target, before)
		checkSound(t, db)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	wantState(t, db.Backup(canceled, filepath.Join(dir, "no copy")), "57014")
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	wantState(t, db.Backup(context.Background(), filepath.Join(dir, "no copy")), "57P01")
	if _, err := db.Check(context.Background(), weft.CheckOptions{}); err == nil {
		t.Error("a closed database was checked")
	}
	if _, err := os.Stat(filepath.Join(dir, "no copy")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a backup that failed left something behind")
	}
}

func wantState(t *testing.T, err error, code string) {
	t.Helper()
	if !hasState(err, code) {
		t.Errorf("%v, want %s", err, code)
	}
}

// TestBackupFromOutside asks another process for backups of the database it has open, and kills it.
func TestBackupFromOutside(t *testing.T) {
	for _, name := range []string{"db", strings.Repeat("a long name/", 10) + "db"} {
		t.Run(fmt.Sprint(len(name)), func(t *testing.T) { backupFromOutside(t, name) })
	}
}

func backupFromOutside(t *testing.T, name string) {
	ctx, dir := context.Background(), t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	source := filepath.Join(dir, name)
	db, err := weft.Open(ctx, source, weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	makeAccounts(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := weft.Backup(ctx, source, filepath.Join(dir, "closed")); err != nil {
		t.Errorf("a database that nobody has open: %v", err)
	}
	for round := range 2 { // in the second one the socket of a killed process is there
		c := startChild(t, "transfer", source)
		time.Sleep(50 * time.Millisecond)
		if _, err := weft.Open(ctx, source, weft.Options{}); err == nil || !strings.Contains(err.Error(), "pid="+strconv.Itoa(c.cmd.Process.Pid)) {
			t.Errorf("opening a held directory: %v", err)
		}
		var before [transferWriters]int64
		for w := range before {
			before[w] = c.acked[w].Load()
		}
		target := filepath.Join(dir, fmt.Sprint("copy", round))
		if err := weft.Backup(ctx, source, target); err != nil {
			t.Fatal(err)
		}
		wantState(t, weft.Backup(ctx, source, target), "58P02")
		wantState(t, weft.Backup(ctx, source, filepath.Join(source, "inside")), "22023")
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		wantState(t, weft.Backup(canceled, source, filepath.Join(dir, "canceled")), "57014")
		if info, err := os.Stat(filepath.Join(source, "control")); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info, err)
		}
		c.kill(t)
		checkTransfers(t, target, before)
	}
	after := sound(t, source)
	if total := count(t, after, "select sum(amount) from account"); total != accountTotal {
		t.Errorf("the killed process left %d in the accounts", total)
	}
	if err := after.Close(); err != nil {
		t.Error(err)
	}
	c := startChild(t, "transfer", source)
	c.stop(t)
	if _, err := os.Stat(filepath.Join(source, "control")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a closed database still has its socket: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "weft-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestControlProtocol sends requests that this version does not understand.
func TestControlProtocol(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	db, err := weft.Open(context.Background(), dir, weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ask := func(request string) string {
		t.Helper()
		conn, err := net.Dial("unix", filepath.Join(dir, "control", "socket"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(conn).ReadString('\n')
		return line
	}
	for request, want := range map[string]string{
		`{"version":2,"command":"backup"}` + "\n":                          `"code":"0A000","message":"request of version 2, the process that has the database open knows version 1"`,
		`{"version":1,"command":"drop"}` + "\n":                            `unknown request \"drop\"`,
		`{"version":1,"command":"backup","target":"relative/copy"}` + "\n": `unknown request`,
		"GET / HTTP/1.1\r\n\r\n":                                           `"code":"22023","message":"malformed request`,
		`{"version":1,"command":"backup","target":"` + dir + `"}` + "\n":   `"code":"22023"`,
		`{"version":1,"command":"backup","target":"` + dir + `2"}` + "\n":  `{"version":1}`,
	} {
		if got := ask(request); !strings.Contains(got, want) {
			t.Errorf("%s: %s", request, got)
		}
	}
	// A connection on which nothing is asked does not hold the closing up.
	conn, err := net.Dial("unix", filepath.Join(dir, "control", "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	started := time.Now()
	if err := db.Close(); err != nil || time.Since(started) > 5*time.Second {
		t.Errorf("closing took %v, %v", time.Since(started), err)
	}
}

// TestBackupOfHolderThatDoesNotAnswer has a process that holds the directory without a socket.
func TestBackupOfHolderThatDoesNotAnswer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	db, err := weft.Open(context.Background(), dir, weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	makeAccounts(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	c := startChild(t, "transfer", dir)
	if err := os.RemoveAll(filepath.Join(dir, "control")); err != nil {
		t.Fatal(err)
	}
	err = weft.Backup(context.Background(), dir, filepath.Join(t.TempDir(), "copy"))
	wantState(t, err, "55006")
	var e *weft.Error
	if errors.As(err, &e); !strings.Contains(e.Message, "pid="+strconv.Itoa(c.cmd.Process.Pid)) || !strings.Contains(e.Detail, "does not answer") {
		t.Errorf("%+v", err)
	}
	c.kill(t)
	wantState(t, weft.Backup(context.Background(), filepath.Join(dir, "nothing"), dir), "58P01")
}
