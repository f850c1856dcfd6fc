package weft

import (
	"database/sql"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
)

// assign copies a column's value to what dest points at.
func assign(dest, value any) error {
	switch d := dest.(type) {
	case sql.Scanner:
		return d.Scan(value)
	case *any:
		*d = value
		return nil
	case *string:
		if value == nil {
			break
		}
		*d = textOf(value)
		return nil
	case *[]byte:
		if value == nil {
			*d = nil
			return nil
		}
		*d = []byte(textOf(value))
		return nil
	case *bool:
		if v, ok := value.(bool); ok {
			*d = v
			return nil
		}
	case *time.Time:
		if v, ok := value.(time.Time); ok {
			*d = v
			return nil
		}
	}
	return assignReflect(dest, value)
}

// assignReflect handles numbers of all sizes and pointers, which take NULL as nil.
func assignReflect(dest, value any) error {
	p := reflect.ValueOf(dest)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return fmt.Errorf("destination of type %T is not a pointer", dest)
	}
	target := p.Elem()
	if target.Kind() == reflect.Pointer {
		if value == nil {
			target.SetZero()
			return nil
		}
		target.Set(reflect.New(target.Type().Elem()))
		return assign(target.Interface(), value)
	}
	if value == nil {
		return fmt.Errorf("cannot store NULL in %T", dest)
	}
	switch target.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := intOf(value)
		if err != nil || target.OverflowInt(n) {
			return fmt.Errorf("cannot store %v in %T", value, dest)
		}
		target.SetInt(n)
		return nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := intOf(value)
		if err != nil || n < 0 || target.OverflowUint(uint64(n)) {
			return fmt.Errorf("cannot store %v in %T", value, dest)
		}
		target.SetUint(uint64(n))
		return nil
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(textOf(value), 64)
		if err != nil {
			return fmt.Errorf("cannot store %v in %T", value, dest)
		}
		target.SetFloat(f)
		return nil
	}
	return fmt.Errorf("cannot store %T in %T", value, dest)
}

func intOf(value any) (int64, error) {
	switch v := value.(type) {
	case int64:
		return v, nil
	case float64:
		if v != math.Trunc(v) || math.Abs(v) >= 1<<63 {
			return 0, strconv.ErrRange
		}
		return int64(v), nil
	}
	return strconv.ParseInt(textOf(value), 10, 64)
}

func textOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return fmt.Sprint(value)
}
