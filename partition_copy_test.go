package weft_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftdb/weft"
)

// copyTables makes a partitioned table t with a default partition, partitioned again below one, and an ordinary
// table o.
func copyTables(t testing.TB, s *weft.Session, columns string, leaves int) {
	t.Helper()
	exec := func(statement string) {
		t.Helper()
		if _, err := s.Exec(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	exec("create table o (" + columns + ")")
	exec("create table t (" + columns + ") partition by range (d)")
	for i := range leaves {
		exec(fmt.Sprintf("create table t_%d partition of t for values from (%d) to (%d)", i, i*10, i*10+10))
	}
	exec(fmt.Sprintf("create table t_h partition of t for values from (%d) to (%d) partition by hash (id)", leaves*10, leaves*10+100))
	exec("create table t_h0 partition of t_h for values with (modulus 2, remainder 0); create table t_h1 partition of t_h for values with (modulus 2, remainder 1)")
	exec("create table t_x (v text, d int not null, id bigint not null)")
	exec("alter table t attach partition t_x default")
}

// partitionFile writes a CSV file whose rows belong to so many partitions, in turns or one after the other.
func partitionFile(t testing.TB, rows, leaves int, sorted bool) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "rows.csv")
	var b strings.Builder
	for i := range rows {
		d := i * 7 % (leaves*10 + 120)
		if sorted {
			d = i * (leaves*10 + 120) / rows
		}
		fmt.Fprintf(&b, "%d,%d,value %d\n", i, d, i)
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestCopyIntoPartitions: COPY stores the same rows in a partitioned table as in an ordinary one: into empty
// partitions, into those with rows, more partitions than are loaded at a time, in a transaction that goes on to
// change them, and none when it is undone.
func TestCopyIntoPartitions(t *testing.T) {
	for _, leaves := range []int{3, 40} {
		for _, sorted := range []bool{false, true} {
			for _, threads := range []int{3, 1} {
				if testing.Short() && threads == 1 {
					continue
				}
				db := openMemory(t)
				s := db.Session()
				copyTables(t, s, "id bigint not null, d int not null, v text", leaves)
				mustExec(t, s, "create unique index on t (id, d); create index on t (v)")
				mustExec(t, s, fmt.Sprintf("set threads = %d", threads))
				file := partitionFile(t, 20000, leaves, sorted)
				same := func(after string) {
					t.Helper()
					for _, q := range []string{"select count(*), sum(id), sum(d), min(v), max(v) from %s", "select id, d, v from %s where id between 300 and 310 or id = 19999 order by 1, 2", "select count(*) from %s where v = 'value 77'"} {
						if got, want := outcome(s, fmt.Sprintf(q, "t")), outcome(s, fmt.Sprintf(q, "o")); got != want {
							t.Fatalf("leaves %d, sorted %v, threads %d, %s: %s: got %s, want %s", leaves, sorted, threads, after, q, got, want)
						}
					}
				}
				mustExec(t, s, "begin; copy t from '"+file+"' (format csv)")
				mustExec(t, s, "rollback")
				same("after a rollback")
				mustExec(t, s, "prepare p as select count(*) from t; execute p")
				mustExec(t, s, "insert into t values (-1, 5, 'first'); insert into o values (-1, 5, 'first')")
				mustExec(t, s, "begin; copy t from '"+file+"' (format csv); copy o from '"+file+"' (format csv)")
				same("in the transaction")
				mustExec(t, s, "update t set v = 'changed', d = (d + 10) % 50 where id % 100 = 7; update o set v = 'changed', d = (d + 10) % 50 where id % 100 = 7; delete from t where id % 91 = 3; delete from o where id % 91 = 3")
				same("changed in the transaction")
				mustExec(t, s, "commit")
				same("after the commit")
				if got, want := outcome(s, "execute p"), outcome(s, "select count(*) from o"); got != want {
					t.Errorf("prepared before: got %s, want %s", got, want)
				}
				if _, err := s.Exec(context.Background(), "copy t from '"+file+"' (format csv)"); codeOf(err) != "23505" {
					t.Errorf("again: got %v, want 23505", err)
				}
				same("after an error")
				s.Close()
				summary, err := db.Check(context.Background(), weft.CheckOptions{Report: func(x weft.Finding) { t.Errorf("check: %+v", x) }})
				if err != nil || summary.Findings > 0 {
					t.Fatalf("check: %d findings, %v", summary.Findings, err)
				}
			}
		}
	}
}

// TestCopyIntoPartitionsRefused: a row that no partition takes, or that breaks a constraint of its partition,
// ends COPY with an error that names it, and nothing is stored.
func TestCopyIntoPartitionsRefused(t *testing.T) {
	s := openMemory(t).Session()
	defer s.Close()
	mustExec(t, s, `create table k (id int primary key); insert into k select i from generate_series(1, 5) i;
		create table t (id int references k, d int not null, v text, check (v <> 'never')) partition by list (d);
		create table t_1 partition of t for values in (1); create table t_2 partition of t (check (id < 100)) for values in (2, null);
		alter table t_2 add unique (id)`)
	for row, want := range map[string][]string{
		"1,3,x":     {"23514", `no partition of relation "t" found for row`, "(d) = (3)"},
		"200,2,x":   {"23514", `new row for relation "t_2" violates check constraint "t_2_id_check"`, "(200, 2, x)"},
		"1,1,never": {"23514", `new row for relation "t_1" violates check constraint "t_v_check"`, "(1, 1, never)"},
		"1,,x":      {"23502", `null value in column "d" of relation "t_2"`, "(1, null, x)"},
		"9,1,x":     {"23503", `insert or update on table "t_1" violates foreign key constraint`, "(id)=(9)"},
		"4,2,x":     {"23505", "t_2_id_key", "(id)=(4)"},
	} {
		name := filepath.Join(t.TempDir(), "rows.csv")
		if err := os.WriteFile(name, []byte("4,2,first\n5,1,x\n"+row+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := s.Exec(context.Background(), "copy t from '"+name+"' (format csv)")
		var e *weft.Error
		if codeOf(err) != want[0] || !errors.As(err, &e) || !strings.Contains(e.Message, want[1]) || !strings.Contains(e.Detail, want[2]) {
			t.Errorf("%s: got %v (%+v), want %v", row, err, e, want)
		}
		if got := outcome(s, "select count(*) from t"); strings.TrimSpace(got) != "0" {
			t.Errorf("%s: %s rows were stored", row, got)
		}
	}
}

// TestCopyIntoPartitionsUndone: what a COPY has loaded before it fails goes with its savepoint, also partitions that
// were finished before.
func TestCopyIntoPartitionsUndone(t *testing.T) {
	db := openMemory(t)
	s := db.Session()
	copyTables(t, s, "id bigint not null, d int not null, v text", 40)
	mustExec(t, s, "create unique index on t (id, d)")
	file := partitionFile(t, 20000, 40, true)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad.csv")
	for row, code := range map[string]string{"1,519,again\n1,519,again\n": "23505", "7,seven,x\n": "22P02"} {
		if err := os.WriteFile(bad, append(text[:len(text):len(text)], row...), 0o600); err != nil {
			t.Fatal(err)
		}
		mustExec(t, s, "begin; insert into t values (-1, 3, 'kept'); savepoint a")
		if _, err := s.Exec(context.Background(), "copy t from '"+bad+"' (format csv)"); codeOf(err) != code {
			t.Errorf("got %v, want %s", err, code)
		}
		mustExec(t, s, "rollback to a")
		if got := strings.TrimSpace(outcome(s, "select count(*) from t")); got != "1" {
			t.Errorf("after the savepoint: %s rows", got)
		}
		mustExec(t, s, "copy t from '"+file+"' (format csv); commit")
		if got := strings.TrimSpace(outcome(s, "select count(*) from t")); got != "20001" {
			t.Errorf("loaded then: %s rows", got)
		}
		mustExec(t, s, "truncate t")
	}
	s.Close()
	summary, err := db.Check(context.Background(), weft.CheckOptions{Report: func(x weft.Finding) { t.Errorf("check: %+v", x) }})
	if err != nil || summary.Findings > 0 {
		t.Errorf("check: %d findings, %v", summary.Findings, err)
	}
}

// TestCopyLoadsColumnViews: what COPY loads into fresh stores gets into the column views of a table and of
// partitions, also from a transaction block.
func TestCopyLoadsColumnViews(t *testing.T) {
	for _, block := range []bool{false, true} {
		s := openMemory(t).Session()
		defer s.Close()
		copyTables(t, s, "id bigint not null, d int not null, v text", 3)
		mustExec(t, s, "alter table t colview (id, d); alter table o colview (id, d)")
		file := partitionFile(t, 3000, 3, false)
		for _, table := range []string{"t", "o"} {
			if block {
				mustExec(t, s, "begin")
			}
			mustExec(t, s, "copy "+table+" from '"+file+"' (format csv)")
			if block {
				mustExec(t, s, "commit")
			}
			mustExec(t, s, "select total from gs_imcv_flush('"+table+"')")
			if plan := analyzed(t, s, "select d, count(*) from "+table+" group by d"); !strings.Contains(plan, "Imcv Scan on "+table) || !strings.Contains(plan, "Row Groups from Units: ") {
				t.Errorf("in a block %v: not by columns:\n%s", block, plan)
			}
		}
	}
}

// TestCopyIntoPartitionsBesideWriters: while others write the table its rows are inserted, and writers that
// begin during a load wait for it and find the partitions as they are then.
func TestCopyIntoPartitionsBesideWriters(t *testing.T) {
	db := openMemory(t)
	s, other := db.Session(), db.Session()
	defer s.Close()
	defer other.Close()
	copyTables(t, s, "id bigint not null, d int not null, v text", 3)
	file := partitionFile(t, 3000, 3, false)
	mustExec(t, other, "begin; insert into t values (-1, 1, 'other')")
	mustExec(t, s, "copy t from '"+file+"' (format csv)")
	mustExec(t, other, "commit")
	if got := outcome(s, "select count(*) from t"); strings.TrimSpace(got) != "3001" {
		t.Errorf("beside a writer: %s rows", got)
	}
	mustExec(t, s, "truncate t")
	mustExec(t, other, "prepare i as insert into t values (-2, 2, 'late'); prepare u as update t set v = 'seen' where id = 15")
	mustExec(t, other, "execute i; execute u; truncate t")
	mustExec(t, s, "begin; copy t from '"+file+"' (format csv)")
	ended := make(chan error, 1)
	go func() {
		_, err := other.Exec(context.Background(), "execute i; execute u")
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Fatalf("the writer did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	mustExec(t, s, "commit")
	if err := <-ended; err != nil {
		t.Errorf("a writer that waited: %v", err)
	}
	if got := outcome(s, "select count(*), count(*) filter (where v = 'seen') from t"); strings.TrimSpace(got) != "3001|1" {
		t.Errorf("after both: %s", got)
	}
}

// BenchmarkCopyPartitions loads rows into a partitioned table and an ordinary one.
func BenchmarkCopyPartitions(b *testing.B) {
	const rows = 200000
	file := partitionFile(b, rows, 18, false)
	for name, statement := range map[string]string{
		"copy/plain": "copy o from '" + file + "' (format csv)", "copy/partitioned": "copy t from '" + file + "' (format csv)",
		"insert/plain": "insert into o select i, i % 200, 'value' from generate_series(1, 200000) i", "insert/partitioned": "insert into t select i, i % 200, 'value' from generate_series(1, 200000) i",
	} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				s := openMemory(b).Session()
				copyTables(b, s, "id bigint, d int, v text, primary key (id, d)", 18)
				b.StartTimer()
				if _, err := s.Exec(context.Background(), statement); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				s.Close()
				b.StartTimer()
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
