package expr

import (
	"testing"
	"time"
)

func TestCalendar(t *testing.T) {
	check := func(days int) {
		t.Helper()
		y, m, d := daysToCivil(days)
		want := time.Unix(int64(days)*86400, 0).UTC()
		if y != want.Year() || m != int(want.Month()) || d != want.Day() {
			t.Fatalf("day %d is %d-%d-%d, want %v", days, y, m, d, want)
		}
		if back := civilToDays(y, m, d); back != days {
			t.Fatalf("%d-%d-%d is day %d, want %d", y, m, d, back, days)
		}
		if int(want.Weekday()) != weekday(days) {
			t.Fatalf("weekday of day %d", days)
		}
		year, week := isoWeek(days)
		if wy, ww := want.ISOWeek(); wy != year || ww != week {
			t.Fatalf("week of day %d is %d %d, want %d %d", days, year, week, wy, ww)
		}
	}
	for days := -800_000; days < 800_000; days += 3 {
		check(days)
	}
	for days := -20_000; days < 30_000; days++ {
		check(days)
	}
}
