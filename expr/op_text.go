package expr

import (
	"regexp"
	"strings"

	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// textOperators are concatenation and pattern matching.
func textOperators() []*Function {
	concat := textRow(func(r *row, dst []byte) ([]byte, error) {
		return append(append(dst, r.bytes(0)...), r.bytes(1)...), nil
	})
	list := []*Function{
		op("||", "text text", "text", concat),
		op("||", "bytea bytea", "bytea", concat),
		op("||", "text any", "text", concatAny, stable),
		op("||", "any text", "text", concatAny, stable),
		op("^@", "text text", "bool", boolRow(func(r *row) (bool, error) { return strings.HasPrefix(r.str(0), r.str(1)), nil })),
	}
	for _, l := range []struct {
		name          string
		fold, negated bool
	}{{"~~", false, false}, {"!~~", false, true}, {"~~*", true, false}, {"!~~*", true, true}} {
		b := buildLike(l.fold, l.negated)
		list = append(list, op(l.name, "text text", "bool", b), op(l.name, "bpchar text", "bool", b), op(l.name, "name text", "bool", b))
		if !l.fold {
			list = append(list, op(l.name, "bytea bytea", "bool", b))
		}
	}
	for _, x := range []struct {
		name          string
		fold, negated bool
	}{{"~", false, false}, {"!~", false, true}, {"~*", true, false}, {"!~*", true, true}} {
		f := boolRow(func(r *row) (bool, error) {
			re, err := cachedRegexp(r, r.str(1), x.fold)
			if err != nil {
				return false, err
			}
			return re.Match(r.bytes(0)) != x.negated, nil
		})
		list = append(list, op(x.name, "text text", "bool", f), op(x.name, "bpchar text", "bool", f), op(x.name, "name text", "bool", f))
	}
	return list
}

// concatAny compiles text || anything: the other operand is converted to text.
func concatAny(c *compiler, call *Call) (Evaluator, error) {
	args := make([]Expr, 2)
	for i, a := range call.Args {
		args[i] = a
		if t := a.Type(); t.ID != textType.ID {
			args[i] = &Cast{Arg: a, Typ: textType, Pos: call.Pos}
		}
	}
	return c.compile(&Call{Fn: exactMatch(registered.binary["||"], typeList("text text")), Args: args, Typ: textType, Pos: call.Pos})
}

// likeEval is LIKE with its compiled pattern.
type likeEval struct {
	binaryEval
	fold, negated bool
	pattern       *likePattern
	source        string
	ready         bool
}

func buildLike(fold, negated bool) builder {
	return func(c *compiler, call *Call) (Evaluator, error) {
		base, err := c.binary(call)
		return &likeEval{binaryEval: base, fold: fold, negated: negated}, err
	}
}

func (e *likeEval) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	l, r, n, done, err := e.operands(b, sel)
	if err != nil || done {
		return &e.out, err
	}
	if n == 1 && l.Form == vector.Const && r.Form == vector.Const {
		sel = nil
	}
	out := vector.Of[uint8](&e.out)
	hit, miss := uint8(1), uint8(0)
	if e.negated {
		hit, miss = 0, 1
	}
	valid := e.out.Valid
	for k := range count(n, sel) {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		if valid != nil && !valid.Get(i) {
			continue
		}
		if !e.ready || r.Form != vector.Const || k == 0 {
			e.prepare(vector.StringOf(r.BytesAt(i)))
		}
		matched := false
		if e.pattern.incomplete == nil {
			matched = e.pattern.match(l.BytesAt(i))
		} else if matched, err = matchIncomplete(l.BytesAt(i), e.pattern.incomplete); err != nil {
			return nil, err
		}
		if matched {
			out[i] = hit
		} else {
			out[i] = miss
		}
	}
	return e.finish(l, r), nil
}

// prepare compiles a pattern unless it is the last one.
func (e *likeEval) prepare(source string) {
	if !e.ready || e.source != source {
		e.pattern, e.source, e.ready = compileLike(source, e.fold), strings.Clone(source), true
	}
}

type regexpCache struct {
	source string
	fold   bool
	re     *regexp.Regexp
}

// cachedRegexp compiles a regular expression unless it is the last one.
func cachedRegexp(r *row, source string, fold bool) (*regexp.Regexp, error) {
	c, ok := r.cache.(*regexpCache)
	if ok && c.source == source && c.fold == fold {
		return c.re, nil
	}
	pattern, foldSource := embeddedOptions(source)
	if fold || foldSource {
		pattern = foldRegexp(pattern)
	}
	re, err := regexp.Compile("(?s)" + translateRegexp(pattern))
	if err != nil {
		return nil, sqlerr.New("2201B", "invalid regular expression: %v", err)
	}
	r.cache = &regexpCache{strings.Clone(source), fold, re}
	return re, nil
}

// translateRegexp rewrites what PostgreSQL's syntax has and Go's has not: \m \M \y \Z.
func translateRegexp(s string) string {
	return strings.NewReplacer(`\\`, `\\`, `\m`, `\b`, `\M`, `\b`, `\y`, `\b`, `\Y`, `\B`, `\A`, `\A`, `\Z`, `\z`).Replace(s)
}
