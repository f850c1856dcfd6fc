package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/weftdb/weft/bench/tpch"
)

// Verdict says what is known about an answer.
type Verdict string

// The verdicts.
const (
	// OK: the answer equals the recorded one.
	OK Verdict = "ok"
	// Differs: the answer is not the recorded one, or not the other modes'.
	Differs Verdict = "DIFFERS"
	// Agrees: no answer is recorded; that of another mode is the same.
	Agrees Verdict = "agree"
	// Unchecked: no answer is recorded, and there is no other mode's to compare with.
	Unchecked Verdict = "unchecked"
	// Failed: the query gave an error.
	Failed Verdict = "FAILED"
)

// Measurement is a query's result in one mode. Times are in milliseconds.
type Measurement struct {
	Query    int       `json:"query"`
	Title    string    `json:"title"`
	Mode     string    `json:"mode"`
	MedianMS float64   `json:"median_ms"`
	MinMS    float64   `json:"min_ms"`
	CPUMS    *float64  `json:"cpu_ms"` // median; null where the system does not tell
	RunsMS   []float64 `json:"runs_ms"`
	Rows     int       `json:"rows"`
	Verdict  Verdict   `json:"verdict"`
	Note     string    `json:"note,omitempty"` // what differs or failed

	answer *tpch.Answer
}

// measureAll runs every query in every mode; the modes of a query follow one another.
func (r *runner) measureAll(ctx context.Context) error {
	if _, err := r.session.Exec(ctx, "SET threads = "+strconv.Itoa(r.threads)); err != nil {
		return err
	}
	all := tpch.Queries()
	r.printHead()
	for _, number := range r.o.Queries {
		q := all[number-1]
		var group []*Measurement
		for _, mode := range r.o.Modes {
			m := &Measurement{Query: number, Title: q.Title, Mode: mode}
			if err := r.measure(ctx, q, m); err != nil {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				m.Verdict, m.Note, m.answer = Failed, err.Error(), nil
			}
			group = append(group, m)
		}
		if err := r.judge(group); err != nil {
			return err
		}
		for _, m := range group {
			r.report.Queries = append(r.report.Queries, m)
			r.printRow(m)
		}
	}
	r.report.addTotals(r.o.Modes)
	r.printTotals()
	for _, m := range r.report.Queries {
		if m.Verdict == Differs || m.Verdict == Failed {
			return ErrWrong
		}
	}
	return nil
}

// measure runs a query in one mode: first to get its answer, then for time.
func (r *runner) measure(ctx context.Context, q tpch.Query, m *Measurement) (err error) {
	if _, err := r.session.Exec(ctx, "SET htap_router_mode = '"+m.Mode+"'"); err != nil {
		return err
	}
	if m.answer, err = r.answer(ctx, q); err != nil {
		return err
	}
	m.Rows = len(m.answer.Rows)
	for i := 1; i < r.o.Warmup; i++ {
		if _, err := r.drain(ctx, q); err != nil {
			return err
		}
	}
	var wall, cpu []float64
	known := true
	for range r.o.Runs {
		start := time.Now()
		before, _ := cpuTime()
		rows, err := r.drain(ctx, q)
		elapsed := time.Since(start)
		after, ok := cpuTime()
		if err != nil {
			return err
		}
		if rows != m.Rows {
			return fmt.Errorf("%d rows, but %d in the run before", rows, m.Rows)
		}
		known = known && ok
		wall, cpu = append(wall, milliseconds(elapsed)), append(cpu, milliseconds(after-before))
	}
	m.RunsMS = wall
	m.MedianMS, m.MinMS = median(wall), slices.Min(wall)
	if known {
		used := median(cpu)
		m.CPUMS = &used
	}
	return nil
}

// drain runs a query to its end and counts its rows.
func (r *runner) drain(ctx context.Context, q tpch.Query) (count int, err error) {
	rows, err := r.session.Query(ctx, q.SQL)
	if err != nil {
		return 0, err
	}
	for b := rows.NextBatch(); b != nil; b = rows.NextBatch() {
		count += b.Live()
	}
	return count, rows.Close()
}

// answer runs a query and returns its rows as text.
func (r *runner) answer(ctx context.Context, q tpch.Query) (*tpch.Answer, error) {
	rows, err := r.session.Query(ctx, q.SQL)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for _, c := range rows.Columns() {
		names = append(names, c.Name)
	}
	a := tpch.NewAnswer(q.Number, names)
	for rows.Next() {
		row := make([]string, len(names))
		for i := range row {
			text, ok := rows.Text(i)
			if !ok {
				text = tpch.Null
			}
			row[i] = text
		}
		a.Rows = append(a.Rows, row)
	}
	return a, rows.Close()
}

// judge compares the answers of a query's modes with the recorded one, else with each other: then
// the answer that most modes gave counts as the right one.
func (r *runner) judge(group []*Measurement) error {
	want, err := tpch.Recorded(r.gen.Scale(), group[0].Query)
	if err != nil {
		return err
	}
	verdict := OK
	if want == nil {
		if want, verdict, err = majority(group); err != nil {
			return err
		}
	}
	for _, m := range group {
		if m.Verdict == Failed {
			continue
		}
		m.Verdict = verdict
		if err := m.answer.Compare(want); err != nil {
			m.Verdict, m.Note = Differs, err.Error()
		}
	}
	return nil
}

// majority returns the answer that most modes gave, and the verdict on them.
func majority(group []*Measurement) (*tpch.Answer, Verdict, error) {
	approximate, err := tpch.Approximate(group[0].Query)
	if err != nil {
		return nil, "", err
	}
	var best *tpch.Answer
	answers, most := 0, 0
	for _, m := range group {
		if m.answer == nil {
			continue
		}
		answers++
		m.answer.Approximate = approximate
		same := 0
		for _, other := range group {
			if other.answer != nil && other.answer.Compare(m.answer) == nil {
				same++
			}
		}
		if same > most {
			best, most = m.answer, same
		}
	}
	switch {
	case answers > 1 && most == 1:
		return best, Differs, nil
	case most > 1:
		return best, Agrees, nil
	}
	return best, Unchecked, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}
