package expr

import (
	"time"
)

func append2(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// appendYear appends at least four digits.
func appendYear(dst []byte, y int) []byte {
	for limit := 1000; limit > y && limit > 1; limit /= 10 {
		dst = append(dst, '0')
	}
	return appendInt(dst, int64(y))
}

func appendCivil(dst []byte, days int) (out []byte, bc bool) {
	y, m, d := daysToCivil(days)
	y, bc = displayYear(y)
	dst = append(appendYear(dst, y), '-')
	dst = append(append2(dst, m), '-')
	return append2(dst, d), bc
}

// appendDate appends a date in ISO style.
func appendDate(dst []byte, date int32) []byte {
	switch date {
	case dateInfinity:
		return append(dst, "infinity"...)
	case dateNegInfinity:
		return append(dst, "-infinity"...)
	}
	dst, bc := appendCivil(dst, int(date))
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

// appendClock appends HH:MM:SS with as many fraction digits as needed.
func appendClock(dst []byte, micros int64) []byte {
	dst = append(append2(dst, int(micros/microsPerHour)), ':')
	dst = append(append2(dst, int(micros/microsPerMinute%60)), ':')
	dst = append2(dst, int(micros/microsPerSecond%60))
	return appendFraction(dst, micros%microsPerSecond)
}

// appendFraction appends .ffffff without trailing zeros; nothing for 0.
func appendFraction(dst []byte, micros int64) []byte {
	if micros == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := int64(100_000); micros > 0; unit /= 10 {
		dst = append(dst, byte('0'+micros/unit))
		micros %= unit
	}
	return dst
}

// appendTimestamp appends a timestamp in ISO style; zone nil = without time zone.
func appendTimestamp(dst []byte, ts int64, zone *time.Location) []byte {
	switch ts {
	case tsInfinity:
		return append(dst, "infinity"...)
	case tsNegInfinity:
		return append(dst, "-infinity"...)
	}
	offset := 0
	if zone != nil {
		offset = zoneOffset(ts, zone)
		ts += int64(offset) * microsPerSecond
	}
	days, micros := splitTimestamp(ts)
	dst, bc := appendCivil(dst, days)
	dst = append(dst, ' ')
	dst = appendClock(dst, micros)
	if zone != nil {
		dst = appendOffset(dst, offset)
	}
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

// appendOffset appends +HH, +HH:MM or +HH:MM:SS.
func appendOffset(dst []byte, seconds int) []byte {
	sign := byte('+')
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	dst = append2(append(dst, sign), seconds/3600)
	if rest := seconds % 3600; rest != 0 {
		dst = append2(append(dst, ':'), rest/60)
		if rest%60 != 0 {
			dst = append2(append(dst, ':'), rest%60)
		}
	}
	return dst
}

// zoneOffset returns the seconds east of UTC at an instant.
func zoneOffset(ts int64, zone *time.Location) int {
	if zone == time.UTC {
		return 0
	}
	_, offset := time.UnixMicro(ts).In(zone).Zone()
	return offset
}

// localToInstant interprets a local timestamp in a zone. A time that a clock change skips counts
// with the offset before the change, one that occurs twice with that after it, as in PostgreSQL.
func localToInstant(local int64, zone *time.Location) int64 {
	if local == tsInfinity || local == tsNegInfinity || zone == time.UTC {
		return local
	}
	before := zoneOffset(local-microsPerDay, zone)
	after := zoneOffset(local+microsPerDay, zone)
	a := local - int64(before)*microsPerSecond
	b := local - int64(after)*microsPerSecond
	if before == after {
		// Usually no change nearby; two changes within two days do not occur.
		if o := zoneOffset(a, zone); o != before {
			return local - int64(o)*microsPerSecond
		}
		return a
	}
	if before > after || zoneOffset(a, zone) != before {
		if zoneOffset(b, zone) == after {
			return b // after the change, or twice
		}
	}
	return a // before the change, or skipped
}
