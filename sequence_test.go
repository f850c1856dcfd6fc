package weft_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/weftdb/weft"
)

// TestSequenceIsNeverRepeated draws values on several sessions, with rollbacks, across re-opening.
func TestSequenceIsNeverRepeated(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "db")
	seen := map[int64]bool{}
	var mu sync.Mutex
	for round := range 3 {
		db, err := weft.Open(ctx, dir, weft.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			if _, err := db.Exec(ctx, "create sequence s; create table t (id bigserial primary key, n int)"); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		for k := range 4 {
			all.Add(1)
			go func() {
				defer all.Done()
				s := db.Session()
				defer s.Close()
				for range 25 {
					if _, err := s.Exec(ctx, "begin; insert into t (n) values (1), (2)"); err != nil {
						t.Error(err)
						return
					}
					rows, err := queryText(s, "select nextval('s')")
					if err != nil {
						t.Error(err)
						return
					}
					var v int64
					fmt.Sscan(rows[0][0], &v)
					mu.Lock()
					if seen[v] {
						t.Errorf("value %d was drawn twice", v)
					}
					seen[v] = true
					mu.Unlock()
					if _, err := s.Exec(ctx, []string{"commit", "rollback"}[k%2]); err != nil {
						t.Error(err)
						return
					}
				}
			}()
		}
		all.Wait()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if max := int64(300); len(seen) != 300 || !seen[max] {
		t.Errorf("%d values drawn; a clean close must not lose any", len(seen))
	}
}

// TestSequenceErrors checks names that are no sequences.
func TestSequenceErrors(t *testing.T) {
	s := openMemory(t).Session()
	defer s.Close()
	mustExec(t, s, `create table t (a int); create sequence "Odd.Name"; create sequence gone; select nextval('gone'); drop sequence gone`)
	for query, code := range map[string]string{
		"select nextval('nope')": "42P01", "select nextval('t')": "42809", "select nextval('gone')": "42P01", "select currval('gone')": "42P01",
		"select nextval('a.b.c')": "42602", "select nextval('')": "42602", "select nextval('1')": "42602", "select nextval('\"')": "42602",
		"begin read only; select nextval('\"Odd.Name\"')": "25006", "select * from \"Odd.Name\"": "42809", "insert into \"Odd.Name\" values (1)": "42809",
		"truncate \"Odd.Name\"": "42809", "drop table \"Odd.Name\"": "42809", "drop sequence t": "42809", "alter table \"Odd.Name\" add a int": "42809",
	} {
		_, err := s.Exec(context.Background(), query)
		var e *weft.Error
		if !errors.As(err, &e) || string(e.Code) != code {
			t.Errorf("%s: %v, want %s", query, err, code)
		}
		mustExec(t, s, "rollback")
	}
	rows, err := queryText(s, `select nextval('"Odd.Name"'), nextval('public."Odd.Name"'), nextval(null)`)
	if err != nil || strings.Join(rows[0], ",") != `1,2,\N` {
		t.Errorf("%v %v", rows, err)
	}
}
