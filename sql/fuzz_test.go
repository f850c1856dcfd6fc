package sql

import "testing"

// FuzzParse checks that no text makes the parser panic, and that what it accepts survives being
// formatted and parsed again.
func FuzzParse(f *testing.F) {
	for _, text := range accepted {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		NextStatement(text)
		stmts, err := Parse(text)
		if err != nil {
			return
		}
		for _, s := range stmts {
			out := Format(s)
			again, err := ParseOne(out)
			if err != nil {
				t.Fatalf("%v\nfrom %q\nto   %q", err, text, out)
			}
			if d := diff(s, again); d != "" {
				t.Fatalf("%s\nfrom %q\nto   %q", d, text, out)
			}
			if sp := s.SourceSpan(); sp.Start < 0 || sp.Start > sp.End || sp.End > len(text) {
				t.Fatalf("span %v of %q", sp, text)
			}
		}
	})
}
