package sql

import (
	"fmt"
	"reflect"
	"testing"
)

// diff returns where two trees differ, apart from positions, or "".
func diff(a, b any) string { return diffValue("", reflect.ValueOf(a), reflect.ValueOf(b)) }

func diffValue(path string, a, b reflect.Value) string {
	if a.IsValid() != b.IsValid() {
		return fmt.Sprintf("%s: %v and %v", path, a, b)
	}
	if !a.IsValid() {
		return ""
	}
	if a.Type() != b.Type() {
		return fmt.Sprintf("%s: %s and %s", path, a.Type(), b.Type())
	}
	switch a.Kind() {
	case reflect.Interface, reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return fmt.Sprintf("%s: %v and %v", path, a, b)
			}
			return ""
		}
		return diffValue(path, a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return fmt.Sprintf("%s: %d and %d items", path, a.Len(), b.Len())
		}
		for i := range a.Len() {
			if d := diffValue(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Struct:
		for i := range a.NumField() {
			name := a.Type().Field(i).Name
			if name == "Span" || name == "OpPos" {
				continue
			}
			if d := diffValue(path+"."+name, a.Field(i), b.Field(i)); d != "" {
				return d
			}
		}
		return ""
	}
	if !a.Equal(b) {
		return fmt.Sprintf("%s: %v and %v", path, a, b)
	}
	return ""
}

// checkRoundTrip formats the statements, parses the result and compares.
func checkRoundTrip(t *testing.T, stmts []Statement) {
	t.Helper()
	for _, s := range stmts {
		text := Format(s)
		again, err := ParseOne(text)
		if err != nil {
			t.Errorf("formatted text does not parse: %v\n%s", err, text)
			continue
		}
		if d := diff(s, again); d != "" {
			t.Errorf("tree changed at %s\n%s\n%s", d, text, Format(again))
		}
		if again := Format(again); again != text {
			t.Errorf("text changed\n%s\n%s", text, again)
		}
		checkSpans(t, text, s)
	}
}

// checkSpans looks for nodes without a span.
func checkSpans(t *testing.T, text string, s Statement) {
	t.Helper()
	Inspect(s, func(n Node) bool {
		if sp := n.SourceSpan(); sp.End < sp.Start || sp.End == 0 {
			t.Errorf("%T has the span %v in\n%s", n, sp, text)
		}
		return true
	})
}

func TestCorpusRoundTrip(t *testing.T) {
	for name, text := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			stmts, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			checkRoundTrip(t, stmts)
		})
	}
}
