package weft_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weftdb/weft"
)

// letters is a column of texts of any length.
type letters struct {
	offsets []int32
	heap    []byte
}

func newLetters(texts ...string) *letters {
	l := &letters{offsets: []int32{0}}
	for _, t := range texts {
		l.heap = append(l.heap, t...)
		l.offsets = append(l.offsets, int32(len(l.heap)))
	}
	return l
}

const loadTable = "create table t (a bigint primary key, b int, c numeric(8,2), d date, e float8, f char(5), g varchar(3), h timestamp)"

func TestBulkLoad(t *testing.T) {
	ctx := context.Background()
	for _, workers := range []int{0, 1, 4} {
		s := memorySession(t)
		mustExec(t, s, loadTable)
		const batches, rows = 100, 37
		n, err := s.BulkLoad(ctx, "public.t", workers, func(seq uint64, b *weft.LoadBatch) (int, error) {
			if seq >= batches {
				return 0, nil
			}
			var a, c, h []int64
			var bs, d []int32
			var e []float64
			f, g := newLetters(), newLetters()
			for i := range int64(rows) {
				id := int64(seq)*rows + i
				a, c, h = append(a, id), append(c, id*10), append(h, id*1_000_000)
				bs, d, e = append(bs, int32(-id)), append(d, int32(id)), append(e, float64(id)/2)
				f.heap = fmt.Appendf(f.heap, "é%d", id%100)
				f.offsets = append(f.offsets, int32(len(f.heap)))
				g.heap = fmt.Appendf(g.heap, "%d", id%1000)
				g.offsets = append(g.offsets, int32(len(g.heap)))
			}
			b.Int64(0, a)
			b.Int32(1, bs)
			b.Int64(2, c)
			b.Int32(3, d)
			b.Float64(4, e)
			b.Bytes(5, f.offsets, f.heap)
			b.Bytes(6, g.offsets, g.heap)
			b.Int64(7, h)
			return rows, nil
		})
		if err != nil || n != batches*rows {
			t.Fatalf("%d workers: %d rows, %v", workers, n, err)
		}
		want := "3700|-6843150|684315.00|1970-01-01|1980-02-17|é0   |999|1970-01-01 01:01:39"
		if have := oneRow(t, s, "select count(*), sum(b), sum(c), min(d), max(d), min(f), max(g), max(h) from t where e = a / 2.0"); have != want {
			t.Errorf("%d workers: %s, want %s", workers, have, want)
		}
		if have := oneRow(t, s, "select b, c, f from t where a = 1234"); have != "-1234|123.40|é34  " {
			t.Errorf("%d workers: row 1234 is %s", workers, have)
		}
	}
}

// TestBulkLoadErrors lets one batch fail while other workers wait behind it.
func TestBulkLoadErrors(t *testing.T) {
	ctx := context.Background()
	valid := func(seq uint64, b *weft.LoadBatch) {
		b.Int64(0, []int64{int64(2 * seq), int64(2*seq + 1)})
		b.Int32(1, []int32{1, 2})
		b.Int64(2, []int64{1, 2})
		b.Int32(3, []int32{1, 2})
		b.Float64(4, []float64{1, 2})
		for column := 5; column < 7; column++ {
			l := newLetters("x", "y")
			b.Bytes(column, l.offsets, l.heap)
		}
		b.Int64(7, []int64{1, 2})
	}
	long, wide, broken, zero := newLetters("x", "abcd"), newLetters("é", "ééééé"), newLetters("\xc3", "\xa9"), newLetters("a", "\x00")
	for name, bad := range map[string]func(b *weft.LoadBatch) (int, error){
		"own error":              func(*weft.LoadBatch) (int, error) { return 0, errors.New("own error") },
		"a panic":                func(*weft.LoadBatch) (int, error) { panic("a panic") },
		"expected 0 to 1024":     func(*weft.LoadBatch) (int, error) { return 1025, nil },
		"has 2 values":           func(*weft.LoadBatch) (int, error) { return 3, nil },
		"was not given":          func(b *weft.LoadBatch) (int, error) { b.Int64(1, []int64{1, 2}); return 2, nil },
		"numeric field overflow": func(b *weft.LoadBatch) (int, error) { b.Int64(2, []int64{1, 100_000_000}); return 2, nil },
		"value too long":         func(b *weft.LoadBatch) (int, error) { b.Bytes(6, long.offsets, long.heap); return 2, nil },
		`"UTF8": 0xc3`:           func(b *weft.LoadBatch) (int, error) { b.Bytes(5, broken.offsets, broken.heap); return 2, nil },
		`"UTF8": 0x00`:           func(b *weft.LoadBatch) (int, error) { b.Bytes(5, zero.offsets, zero.heap); return 2, nil },
		"duplicate key":          func(b *weft.LoadBatch) (int, error) { b.Int64(0, []int64{7, 7}); return 2, nil },
		"":                       func(b *weft.LoadBatch) (int, error) { b.Bytes(5, wide.offsets, wide.heap); return 2, nil },
	} {
		s := memorySession(t)
		mustExec(t, s, loadTable)
		n, err := s.BulkLoad(ctx, "t", 3, func(seq uint64, b *weft.LoadBatch) (int, error) {
			if seq >= 50 {
				return 0, nil
			}
			valid(seq, b)
			if seq == 20 {
				return bad(b)
			}
			return 2, nil
		})
		if name == "" && (err != nil || n != 100) || name != "" && (err == nil || !strings.Contains(err.Error(), name)) {
			t.Errorf("%q: %d rows, error %v", name, n, err)
		}
		if open, failed := s.InTransaction(); open || failed {
			t.Errorf("%q: transaction open %v, failed %v", name, open, failed)
		}
		if n, err := s.BulkLoad(ctx, "t", 2, func(uint64, *weft.LoadBatch) (int, error) { return 0, nil }); n != 0 || err != nil {
			t.Errorf("%q: loading nothing: %d rows, error %v", name, n, err)
		}
	}
	s := memorySession(t)
	if _, err := s.BulkLoad(ctx, "nowhere", 1, nil); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("missing table: %v", err)
	}
	mustExec(t, s, loadTable)
	cancelled, cancel := context.WithCancel(ctx)
	_, err := s.BulkLoad(cancelled, "t", 2, func(seq uint64, b *weft.LoadBatch) (int, error) {
		if valid(seq, b); seq == 10 {
			cancel()
		}
		return 2, nil
	})
	if err == nil || !strings.Contains(err.Error(), "cancel") {
		t.Errorf("cancelled: %v", err)
	}
}

// memorySession opens a session of a database in memory.
func memorySession(t *testing.T) *weft.Session {
	t.Helper()
	s := openMemory(t).Session()
	t.Cleanup(func() { s.Close() })
	return s
}

// oneRow returns the values of a query's only row, separated by bars.
func oneRow(t *testing.T, s *weft.Session, query string) string {
	t.Helper()
	rows, err := s.Query(context.Background(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	if !rows.Next() {
		t.Fatalf("%s: no row, %v", query, rows.Err())
	}
	var values []string
	for i := range rows.Columns() {
		text, _ := rows.Text(i)
		values = append(values, text)
	}
	return strings.Join(values, "|")
}
