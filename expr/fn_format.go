package expr

import (
	"math/big"
	"strings"

	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/internal/sqlerr"
)

func bigPower10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// formatFunctions are to_char, to_date, to_timestamp and to_number.
func formatFunctions() []*Function {
	list := []*Function{
		fn("to_char", "timestamp text", "text", textRow(func(r *row, dst []byte) ([]byte, error) {
			ts := r.int(0)
			if ts == tsInfinity || ts == tsNegInfinity {
				r.null = true
				return dst, nil
			}
			return cachedDateFormat(r, r.str(1)).append(dst, timestampParts(ts))
		}), stable),
		fn("to_char", "timestamptz text", "text", textRow(func(r *row, dst []byte) ([]byte, error) {
			ts := r.int(0)
			if ts == tsInfinity || ts == tsNegInfinity {
				r.null = true
				return dst, nil
			}
			return cachedDateFormat(r, r.str(1)).append(dst, zonedParts(ts, r.env.zone()))
		}), stable),
		fn("to_char", "interval text", "text", textRow(func(r *row, dst []byte) ([]byte, error) {
			return cachedDateFormat(r, r.str(1)).append(dst, intervalParts(r.interval(0)))
		}), stable),
		fn("to_date", "text text", "date", intRow(func(r *row) (int64, error) {
			days, _, _, err := scanMoment(r)
			if err == nil {
				if err = checkDate(days); err != nil {
					err = sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range: \"%s\"", r.str(0))
				}
			}
			return int64(days), err
		}), stable),
		fn("to_timestamp", "text text", "timestamptz", intRow(func(r *row) (int64, error) {
			days, micros, s, err := scanMoment(r)
			if err != nil {
				return 0, err
			}
			ts, err := joinTimestamp(days, micros)
			if err != nil {
				return 0, err
			}
			if s.hasOffset {
				return ts - int64(s.offset)*microsPerSecond, nil
			}
			return localToInstant(ts, r.env.zone()), nil
		}), stable),
		fn("to_number", "text text", "numeric", decRow(func(r *row) (decimal.Decimal, error) {
			f, err := cachedNumFormat(r, r.str(1))
			if err != nil {
				return decimal.Decimal{}, err
			}
			return f.parseFormatted(r.str(0))
		}), stable),
	}
	for _, t := range []string{"int4", "int8"} {
		list = append(list, fn("to_char", t+" text", "text", textRow(func(r *row, dst []byte) ([]byte, error) {
			return formatNumber(r, dst, decimal.FromInt64(r.int(0)))
		}), stable))
	}
	for _, t := range []string{"float4", "float8"} {
		list = append(list, fn("to_char", t+" text", "text", textRow(func(r *row, dst []byte) ([]byte, error) {
			f, err := cachedNumFormat(r, r.str(1))
			if err != nil {
				return dst, err
			}
			return f.appendFloat(dst, r.float(0))
		}), stable))
	}
	return append(list, fn("to_char", "numeric text", "text", textRow(func(r *row, dst []byte) ([]byte, error) {
		return formatNumber(r, dst, r.dec(0))
	}), stable))
}

func formatNumber(r *row, dst []byte, d decimal.Decimal) ([]byte, error) {
	f, err := cachedNumFormat(r, r.str(1))
	if err != nil {
		return dst, err
	}
	return f.appendDecimal(dst, d)
}

func scanMoment(r *row) (days int, micros int64, s *scanned, err error) {
	s, err = cachedDateFormat(r, r.str(1)).parse(r.str(0))
	if err == nil {
		days, micros, err = s.moment(strings.Clone(r.str(0)))
	}
	return days, micros, s, err
}

// cachedDateFormat parses a format unless it is the last one.
func cachedDateFormat(r *row, source string) *dateFormat {
	f, ok := r.cache.(*dateFormat)
	if !ok || f.source != source {
		f = parseDateFormat(strings.Clone(source))
		r.cache = f
	}
	return f
}

func cachedNumFormat(r *row, source string) (*numFormat, error) {
	f, ok := r.cache.(*numFormat)
	if !ok || f.source != source {
		var err error
		if f, err = parseNumFormat(strings.Clone(source)); err != nil {
			return nil, err
		}
		r.cache = f
	}
	return f, nil
}
