package weft_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pastBug is one of the sixty mistakes in joins that other engines made and this one was designed against.
type pastBug struct {
	number int
	what   string
	shown  string // scripts of testdata/sql that have its number in a comment, and tests
	// pending tells which part cannot be shown, because what it is about does not exist here.
	pending string
}

var pastBugs = []pastBug{
	{1, "NOT IN with NULL on the outer side", "join_cases", ""},
	{2, "NOT IN with NULL in the subquery", "join_cases", ""},
	{3, "null-safe equality loses NULL = NULL", "join_cases", ""},
	{4, "a null-safe filter makes a left join below an inner one", "join_cases", ""},
	{5, "a mark is FALSE instead of NULL", "join_cases", ""},
	{6, "a filter pushed through an outer join", "join_cases", ""},
	{7, "NULL as a partition's value", "partition_join_cases", ""},
	{8, "a boolean list key and IS NOT FALSE", "partition_join_cases", ""},
	{9, "NULL and unlisted values in the default partition", "partition_join_cases", ""},
	{10, "a computed key that is NULL outside its domain", "partition_join_cases", "a generated column cannot be a partition key, as in PostgreSQL; an expression can"},
	{11, "RANGE (a, b) with NULL in b, bounds at the least value", "partition_join_cases", ""},
	{12, "NULL in hash keys", "partition_join_cases", ""},
	{13, "a condition above a left join reaches the selector", "join_cases partition_join_cases", ""},
	{14, "the join's equality is not the partitions'", "partition_join_cases", "operator classes of users do not exist; char(n) has another equality than varchar"},
	{15, "the value's type is not the key's", "join_cases partition_join_cases", ""},
	{16, "char(n) and varchar, trailing blanks", "join_cases partition_join_cases TestRandomPartitionJoins", ""},
	{17, "both zeros and NaN", "join_cases partition_join_cases TestKeyFilters@join", ""},
	{18, "bounds of strings under another order", "join_cases partition_join_cases", "there is no collation but C"},
	{19, "a key without regard to case, divided by its bytes", "partition_join_cases", "nondeterministic collations do not exist; lower(t) as a key does"},
	{20, "partition-wise by another equality than the partitions'", "partition_join_cases TestRandomPartitionJoins TestPartitionGroupingsRandom", "there is no collation but C; char(n) has another equality than varchar"},
	{21, "bounds of a filter and a cast to a narrower type", "join_cases", ""},
	{22, "keys of several widths and scales", "join_cases TestSelectorsOfNumericForms", "unsigned integers do not exist"},
	{23, "keys of several columns in a set", "join_cases", "columns of composite types do not exist"},
	{24, "a comparison that depends on the time zone is folded", "join_cases partition_join_cases", ""},
	{25, "precision of timestamps, date_trunc", "join_cases partition_join_cases", ""},
	{26, "<> and NOT IN on hash partitions", "partition_join_cases", ""},
	{27, "a filter goes below a LIMIT", "join_cases partition_join_cases", ""},
	{28, "a literal in a UNION taken for the key", "join_cases partition_join_cases", ""},
	{29, "UNION ALL of several partitioned and plain tables", "join_cases partition_join_cases", ""},
	{30, "all partitions below one that stays are left out", "partition_join_cases", ""},
	{31, "the join's key on level 2, a constant on level 1", "partition_join_cases TestJoinSelectsOneLeaf", ""},
	{32, "a nested loop by index selects with another row's values", "partition_join_cases TestIndexJoins", ""},
	{33, "a left join with a value that has no partition", "join_cases partition_join_cases", ""},
	{34, "a volatile expression of the build is computed twice", "join_cases", ""},
	{35, "a build without rows", "join_cases partition_join_cases", ""},
	{36, "a rescan keeps the partitions of rows before", "join_cases partition_join_cases TestSelectedScanInApply", ""},
	{37, "one build for two scans, bushy joins", "join_cases partition_join_cases", ""},
	{38, "LEFT JOIN LATERAL with a filter that rejects NULL", "join_cases", ""},
	{39, "null-safe and plain keys of one join", "join_cases", ""},
	{40, "a filter published before the whole build has been seen", "TestFiltersComplete TestRuntimeFilters", ""},
	{41, "a filter of the first part written only", "TestFiltersComplete TestSpilledFilter@join", ""},
	{42, "probe rows written after a filter was lent", "TestFiltersComplete TestJoinBeyondMemory", ""},
	{43, "anti joins with more conditions, and of several columns", "join_cases", ""},
	{44, "a filter or a selector by the wrong one of several keys", "join_cases partition_join_cases", ""},
	{45, "dropped columns and new leaves", "partition_join_cases TestRandomPartitionJoins", ""},
	{46, "NOT IN with NULL beyond memory", "join_cases TestJoinBeyondMemory TestSpilledJoins@exec", ""},
	{47, "outer joins beyond memory with more conditions", "join_cases TestSpilledJoins@exec", ""},
	{48, "unmatched rows over several batches", "join_cases", ""},
	{49, "results that depend on memory", "TestMemorySweep TestTPCHOnDisk", ""},
	{50, "rows lost to a race, a LIMIT or the number of parts", "join_cases TestFiltersComplete TestMemorySweep", ""},
	{51, "memory that is exactly enough", "TestSpillAtLimit@exec", ""},
	{52, "a rescan in the middle of what was read", "join_cases", ""},
	{53, "more levels than one hash has bits for", "TestSpillLevels@exec TestSpilledJoins@exec", ""},
	{54, "a single key with most of the rows", "join_cases TestSpilledJoins@exec", ""},
	{55, "a cancelled join leaves files", "TestCancelWhileSpilling TestSpillCancelled@exec TestSpilledLoopFails@exec TestLoopBeyondMemory", ""},
	{56, "several that share memory; figures of EXPLAIN", "TestSpillTogether TestSpillFigures@exec", ""},
	{57, "the order of conditions decides", "join_cases", ""},
	{58, "a transaction's own rows under selected partitions", "partition_join_cases TestPartitionWiseStops", "PARTITION (p) after a table does not exist, as in PostgreSQL; a partition has a name"},
	{59, "2^53 and 2^53 + 1, numeric and float8, days with 23 and 25 hours", "partition_join_cases", ""},
	{60, "a null-safe text key and an expression that is NULL", "join_cases", ""},
}

var (
	casesComment = regexp.MustCompile(`(?m)^-- (\d+(?:, \d+)*): `)
	testFunction = regexp.MustCompile(`^Test[A-Z]`)
)

// TestPastBugs checks that each of the sixty is shown where the list says, and the list is whole.
func TestPastBugs(t *testing.T) {
	numbered := map[string][]int{}
	for _, script := range []string{"join_cases", "partition_join_cases"} {
		if !slices.Contains(joinScripts, script) {
			t.Errorf("%s does not run in all variants", script)
		}
		text, err := os.ReadFile(filepath.Join("testdata", "sql", script+".sql"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range casesComment.FindAllStringSubmatch(string(text), -1) {
			for n := range strings.SplitSeq(m[1], ", ") {
				number, err := strconv.Atoi(n)
				if err != nil || number < 1 || number > len(pastBugs) || !strings.Contains(" "+pastBugs[number-1].shown+" ", " "+script+" ") {
					t.Errorf("%s shows case %s, the list does not say so", script, n)
				}
				numbered[script] = append(numbered[script], number)
			}
		}
	}
	if len(pastBugs) != 60 {
		t.Errorf("%d cases", len(pastBugs))
	}
	tests := map[string]map[string]bool{}
	for i, b := range pastBugs {
		if b.number != i+1 {
			t.Errorf("case %d is listed in place %d", b.number, i+1)
		}
		if b.shown == "" {
			t.Errorf("case %d, %s, is shown nowhere", b.number, b.what)
		}
		for place := range strings.FieldsSeq(b.shown) {
			if !testFunction.MatchString(place) {
				if !slices.Contains(numbered[place], b.number) {
					t.Errorf("case %d is not in %s", b.number, place)
				}
				continue
			}
			name, dir, _ := strings.Cut(place, "@")
			if tests[dir] == nil {
				tests[dir] = testsOf(t, path.Join(".", dir))
			}
			if !tests[dir][name] {
				t.Errorf("case %d: there is no %s in %q", b.number, name, dir)
			}
		}
	}
}

// testsOf returns the names of the tests in a folder.
func testsOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				names[f.Name.Name] = true
			}
		}
	}
	return names
}

// TestJoinSelectsOneLeaf: a join by the key of the second level, with a constant for the first, reads the one
// leaf that can have matches, and so does one by both.
func TestJoinSelectsOneLeaf(t *testing.T) {
	skipSequential(t)
	s := memorySession(t)
	mustExec(t, s, `create table p (r int, l text, v int) partition by range (r)`)
	for i := range 3 {
		mustExec(t, s, strings.ReplaceAll(`create table p_# partition of p for values from (#0) to (#9) partition by list (l);
			create table p_#a partition of p_# for values in ('a'); create table p_#b partition of p_# for values in ('b', 'c'); create table p_#d partition of p_# default`, "#", strconv.Itoa(i)))
	}
	mustExec(t, s, `insert into p select i % 30, substr('abcd', i / 7 % 4 + 1, 1), i from generate_series(0, 4999) i where i % 10 < 9;
		create table d (r int, l text, v int); insert into d values (15, 'b', 1), (15, 'b', 2), (16, null, 3); analyze`)
	for query, want := range map[string]string{
		"select count(*) from p join d using (l) where p.r = 15":                           "Partitions selected: 1 out of 3",
		"select count(*) from p join d using (r, l)":                                       "Partitions selected: 1 out of 9",
		"select count(*) from p join d using (r) where p.l = 'a'":                          "Partitions selected: 1 out of 3",
		"select count(*) from p where l in (select l from d where v < 3) and r = 15":       "Partitions selected: 1 out of 3",
		"select count(*) from p join d using (l) where p.r = 15 and p.l >= 'b'":            "Partitions selected: 1 out of 2",
		"select count(*) from d left join p on p.r = d.r and p.l is not distinct from d.l": "Partitions selected: 2 out of 9",
	} {
		if plan := outcome(s, "explain analyze "+query); !strings.Contains(plan, want) {
			t.Errorf("%s: no %q in\n%s", query, want, plan)
		}
	}
}
