package weft_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

var keyActions = []string{"no action", "restrict", "cascade", "set null", "set default"}

// keyTables makes tables whose foreign keys do what chance says: p is referenced by its two keys, c
// references and is referenced, tree references itself.
func keyTables(r *rand.Rand, indexed bool) string {
	action := func() string {
		text := " on delete " + keyActions[r.IntN(5)] + " on update " + keyActions[r.IntN(5)]
		if r.IntN(3) == 0 {
			text += " deferrable initially " + []string{"immediate", "deferred"}[r.IntN(2)]
		}
		return text
	}
	text := `create table p (id int primary key, x int not null, y text not null default 'k', v int default 0, unique (x, y));
create table c (id int primary key, a int default 1 references p` + action() + `);
create table d (id int primary key, x bigint default 2, y text default 'k', c int default 3 references c` + action() + `,
	foreign key (x, y) references p (x, y) ` + []string{"", "match full"}[r.IntN(2)] + action() + `);
create table tree (id int primary key, up int default 4 references tree` + action() + `);
insert into p select g, g from generate_series(0, 19) g;
insert into c select g, g from generate_series(0, 19) g;
insert into d select g, g, 'k', g from generate_series(0, 19) g;
insert into tree select g, g / 2 from generate_series(0, 19) g;
`
	if indexed {
		text += "create index on c (a);\ncreate index on d (c);\ncreate index on d (y, x);\ncreate index on tree (up);\n"
	}
	return text
}

// keyStatement is a change of the tables of keyTables whose outcome does not depend on the order of
// rows.
func keyStatement(r *rand.Rand) string {
	k := func() int { return r.IntN(24) }
	maybe := func() string {
		if r.IntN(5) == 0 {
			return "null"
		}
		return fmt.Sprint(k())
	}
	low := k()
	within := fmt.Sprintf("between %d and %d", low, low+r.IntN(3))
	switch r.IntN(18) {
	case 0:
		return "delete from p where id " + within
	case 1:
		return fmt.Sprintf("update p set id = %d where id = %d", k(), k())
	case 2:
		return fmt.Sprintf("update p set x = %d, v = v + 1 where id = %d", k(), k())
	case 3:
		return "update p set id = id + 1000, x = x + 1000 where id " + within
	case 4:
		return "update p set id = id - 1000, x = x - 1000 where id >= 1000"
	case 5:
		return fmt.Sprintf("insert into p values (%d, %d)", k(), k())
	case 6:
		return fmt.Sprintf("insert into p values (%d, %d) on conflict (id) do update set x = excluded.x, id = p.id + 1", k(), k())
	case 7:
		return fmt.Sprintf("insert into c values (%d, %s)", k(), maybe())
	case 8:
		return fmt.Sprintf("update c set a = %s where id %s", maybe(), within)
	case 9:
		return fmt.Sprintf("update c set id = %d where id = %d", k(), k())
	case 10:
		return "delete from c where id " + within
	case 11:
		return fmt.Sprintf("insert into d values (%d, %s, 'k', %s)", k(), maybe(), maybe())
	case 12:
		return fmt.Sprintf("update d set x = %s, c = %s where id %s", maybe(), maybe(), within)
	case 13:
		return fmt.Sprintf("insert into c values (%d, %s) on conflict (id) do update set a = excluded.a", k(), maybe())
	case 14:
		return fmt.Sprintf("insert into tree values (%d, %s), (%d, %s)", k(), maybe(), k(), maybe())
	case 15:
		return fmt.Sprintf("update tree set id = %d where id = %d", k(), k())
	case 16:
		return "delete from tree where id " + within
	}
	return fmt.Sprintf("update tree set up = %s where id %s", maybe(), within)
}

// dangling are queries that count rows which reference nothing.
var dangling = []string{
	"select count(*) from c where a is not null and not exists (select 1 from p where p.id = c.a)",
	"select count(*) from d where c is not null and not exists (select 1 from c where c.id = d.c)",
	"select count(*) from d where x is not null and y is not null and not exists (select 1 from p where p.x = d.x and p.y = d.y)",
	"select count(*) from tree t where up is not null and not exists (select 1 from tree where tree.id = t.up)",
}

var keyContents = []string{"select id, x, y, v from p order by id", "select id, a from c order by id", "select id, x, y, c from d order by id", "select id, up from tree order by id"}

// TestForeignKeysConcurrently runs random changes in many sessions. What PostgreSQL may refuse they may
// be refused; in the end every reference must have its row.
func TestForeignKeysConcurrently(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		for _, nodes := range []int{1, 2} {
			t.Run(fmt.Sprintf("seed %d, %d nodes", seed, nodes), func(t *testing.T) {
				db, err := weft.Open(context.Background(), "", weft.Options{DataNodes: nodes})
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				execute(t, db, keyTables(rand.New(rand.NewPCG(seed, 1)), seed%2 == 0))
				const sessions = 4
				failed := make(chan error, sessions)
				for i := range sessions {
					go func() { failed <- changeKeys(db, rand.New(rand.NewPCG(seed, uint64(i)+2))) }()
				}
				for range sessions {
					if err := <-failed; err != nil {
						t.Error(err)
					}
				}
				for _, query := range dangling {
					if n := count(t, db, query); n != 0 {
						t.Errorf("%s: %d", query, n)
					}
				}
			})
		}
	}
}

// changeKeys runs transactions of random changes.
func changeKeys(db *weft.DB, r *rand.Rand) error {
	allowed := map[string]bool{"": true, "23503": true, "23505": true, "23502": true, "21000": true, "40001": true, "40P01": true}
	s := db.Session()
	defer s.Close()
	for range 60 {
		block := r.IntN(3) > 0
		statements := []string{keyStatement(r)}
		if block {
			statements = []string{"begin isolation level " + []string{"read committed", "repeatable read"}[r.IntN(2)]}
			for range 1 + r.IntN(4) {
				statements = append(statements, keyStatement(r))
			}
			statements = append(statements, []string{"commit", "commit", "rollback"}[r.IntN(3)])
		}
		for _, statement := range statements {
			_, err := s.Exec(context.Background(), statement)
			if code := codeOf(err); !allowed[code] || err != nil && code == "" {
				return fmt.Errorf("%s: %w", statement, err)
			} else if code != "" {
				if open, _ := s.InTransaction(); open {
					if _, err := s.Exec(context.Background(), "rollback"); err != nil {
						return err
					}
				}
				break
			}
		}
	}
	return nil
}

// TestForeignKeysLikePostgreSQL runs random changes in one session, here and by psql, and compares how
// each ends and what is left. WEFT_POSTGRES is psql's connection string, of a database it may fill.
func TestForeignKeysLikePostgreSQL(t *testing.T) {
	server := os.Getenv("WEFT_POSTGRES")
	if server == "" {
		t.Skip("NOT COMPARED: WEFT_POSTGRES names no PostgreSQL server")
	}
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 99))
			script := strings.Split(strings.TrimSpace(keyTables(r, seed%2 == 0)), ";\n")
			script[len(script)-1] = strings.TrimSuffix(script[len(script)-1], ";")
			for range 60 {
				switch r.IntN(4) {
				case 0:
					script = append(script, "begin")
					for range 1 + r.IntN(3) {
						script = append(script, "savepoint s", keyStatement(r))
						if r.IntN(4) == 0 {
							script = append(script, "rollback to s")
						}
					}
					script = append(script, []string{"commit", "rollback"}[r.IntN(2)])
				default:
					script = append(script, keyStatement(r))
				}
			}
			script = append(script, keyContents...)
			want := postgresOutcomes(t, server, script)
			got := outcomes(t, script, []int{1, 2}[seed/2%2])
			for i := range script {
				if i >= len(want) || got[i] != want[i] {
					t.Fatalf("statement %d, %s: %s, want %s\n%s", i+1, script[i], got[i], want[min(i, len(want)-1)], strings.Join(script[:i+1], ";\n"))
				}
			}
		})
	}
}

// outcomes runs statements and tells of each the number of rows it changed, its error, or its rows.
func outcomes(t *testing.T, script []string, nodes int) []string {
	db, err := weft.Open(context.Background(), "", weft.Options{DataNodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := db.Session()
	defer s.Close()
	var out []string
	for _, statement := range script {
		out = append(out, outcome(s, statement))
	}
	return out
}

func outcome(s *weft.Session, statement string) string {
	rows, err := s.Query(context.Background(), statement)
	if err != nil {
		return codeOf(err)
	}
	defer rows.Close()
	var lines []string
	for rows.Next() {
		values := make([]any, len(rows.Columns()))
		var texts []string
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			return err.Error()
		}
		for _, v := range values {
			text := ""
			if x := *v.(*any); x != nil {
				text = fmt.Sprint(x)
			}
			texts = append(texts, text)
		}
		lines = append(lines, strings.Join(texts, "|"))
	}
	if err := rows.Err(); err != nil {
		if codeOf(err) == "XX000" {
			return err.Error()
		}
		return codeOf(err)
	}
	if len(rows.Columns()) > 0 {
		return strings.Join(lines, " ")
	}
	return rows.Result().Tag
}

// postgresOutcomes is outcomes by psql.
func postgresOutcomes(t *testing.T, server string, script []string) []string {
	var text strings.Builder
	text.WriteString("\\set VERBOSITY sqlstate\n\\pset tuples_only\n\\pset format unaligned\nset client_min_messages = error;\ndrop schema public cascade;\ncreate schema public;\n\\echo ---\n")
	for _, statement := range script {
		fmt.Fprintf(&text, "%s;\n\\echo ---\n", statement)
	}
	cmd := osexec.Command("psql", "-X", server)
	cmd.Stdin = strings.NewReader(text.String())
	var all strings.Builder
	cmd.Stdout, cmd.Stderr = &all, &all
	var exit *osexec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("psql: %v", err)
	}
	if strings.Contains(all.String(), "connection to server") {
		t.Fatalf("%s", all.String())
	}
	parts := strings.Split(all.String(), "---\n")
	var out []string
	for _, part := range parts[1:] {
		part = strings.TrimPrefix(strings.TrimSpace(part), "ERROR:  ")
		out = append(out, strings.Join(strings.Split(part, "\n"), " "))
	}
	return out
}
