package weft_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/weftdb/weft"
)

// TestSelectorsOfNumericForms joins partitions by a numeric key with numerics of other precisions, which
// are stored in other forms: the partitions of their values are found whatever the form.
func TestSelectorsOfNumericForms(t *testing.T) {
	db, err := weft.Open(context.Background(), ":memory:", weft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := db.Session()
	defer s.Close()
	types := []string{"numeric(10,2)", "numeric(18,2)", "numeric(25,2)", "numeric(25,3)", "numeric", "bigint"}
	for i, key := range types {
		p := fmt.Sprint("p", i)
		mustExec(t, s, fmt.Sprintf(`create table %[1]s (k %[2]s, v int) partition by range (k);
			create table %[1]s_low partition of %[1]s for values from (minvalue) to (10);
			create table %[1]s_high partition of %[1]s for values from (10) to (maxvalue);
			insert into %[1]s select g, g from generate_series(1, 1000) g;
			create table l%[1]s (k %[2]s, v int) partition by list (k);
			create table l%[1]s_some partition of l%[1]s for values in (3, 4, 15);
			create table l%[1]s_others partition of l%[1]s default;
			insert into l%[1]s select g, g from generate_series(1, 1000) g`, p, key))
		for k, other := range types {
			b := fmt.Sprint("b", i, "_", k)
			mustExec(t, s, fmt.Sprintf(`create table %[1]s (k %[2]s); insert into %[1]s values (3), (15), (null), (5000)`, b, other))
			for _, table := range []string{p, "l" + p} {
				query := fmt.Sprintf("select count(*), sum(v) from %s join %s b on %[1]s.k = b.k", table, b)
				got, err := queryText(s, query)
				if err != nil || fmt.Sprint(got) != "[[2 18]]" {
					t.Errorf("%s and %s: %s: %s, %v", key, other, query, got, err)
				}
			}
		}
	}
}
