package expr

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/internal/sqlerr"
)

// numKey is an element of a number format.
type numKey uint8

const (
	numLiteral numKey = iota
	numComma
	numPoint
	num0
	num9
	numBlank
	numEEEE
	numFM
	numGroup
	numCurrency
	numMI
	numPL
	numPR
	numRN
	numRNLower
	numSG
	numS
	numTH
	numTHLower
	numV
)

// numKeywords in the order they are tried: longer ones first.
var numKeywords = []struct {
	text string
	key  numKey
	fold bool // any case
}{
	{"EEEE", numEEEE, true}, {"FM", numFM, true}, {"MI", numMI, true}, {"PL", numPL, true}, {"PR", numPR, true},
	{"RN", numRN, false}, {"rn", numRNLower, false}, {"SG", numSG, true}, {"TH", numTH, false}, {"th", numTHLower, false},
	{",", numComma, true}, {".", numPoint, true}, {"0", num0, true}, {"9", num9, true}, {"B", numBlank, true},
	{"D", numPoint, true}, {"G", numGroup, true}, {"L", numCurrency, true}, {"S", numS, true}, {"V", numV, true},
}

type numNode struct {
	key  numKey
	text string // of a literal
}

// numFormat is a parsed number format: PostgreSQL's NUMDesc.
type numFormat struct {
	source                                      string
	nodes                                       []numNode
	pre, post, multi                            int
	zeroStart, zeroEnd, preSign                 int
	decimal, fill, zero, bracket, minus, plus   bool
	roman, scientific, shifted, signed, signEnd bool
}

func errNumFormat(text string) error { return sqlerr.New(sqlerr.SyntaxError, "%s", text) }

// parseNumFormat reads a format such as 999G990D00S.
func parseNumFormat(source string) (*numFormat, error) {
	f := &numFormat{source: source}
	s := source
next:
	for s != "" {
		if s[0] == '"' {
			text := s[1:]
			if end := strings.IndexByte(text, '"'); end >= 0 {
				text, s = text[:end], text[end+1:]
			} else {
				s = ""
			}
			f.nodes = append(f.nodes, numNode{numLiteral, text})
			continue
		}
		for _, k := range numKeywords {
			if len(s) >= len(k.text) && (s[:len(k.text)] == k.text || k.fold && strings.EqualFold(s[:len(k.text)], k.text)) {
				if err := f.note(k.key); err != nil {
					return nil, err
				}
				f.nodes = append(f.nodes, numNode{key: k.key})
				s = s[len(k.text):]
				continue next
			}
		}
		f.nodes = append(f.nodes, numNode{numLiteral, s[:1]})
		s = s[1:]
	}
	return f, nil
}

// note counts what a keyword stands for; a pure dispatch table.
func (f *numFormat) note(k numKey) error {
	switch k {
	case num9, num0:
		if f.bracket {
			return errNumFormat("\"9\" must be ahead of \"PR\"")
		}
		if k == num0 && !f.zero && !f.decimal {
			f.zero, f.zeroStart = true, f.pre+1
		}
		switch {
		case f.shifted && k == num9:
			f.multi++
		case f.decimal:
			f.post++
		default:
			f.pre++
		}
		if k == num0 {
			f.zeroEnd = f.pre + f.post
		}
	case numPoint:
		if f.decimal {
			return errNumFormat("multiple decimal points")
		}
		if f.shifted {
			return errNumFormat("cannot use \"V\" and decimal point together")
		}
		f.decimal = true
	case numFM:
		f.fill = true
	case numS:
		if f.signed {
			return errNumFormat("cannot use \"S\" twice")
		}
		if f.plus || f.minus || f.bracket {
			return errNumFormat("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together")
		}
		f.signed, f.signEnd, f.preSign = true, f.decimal, f.pre
	case numMI, numPL, numSG:
		if f.signed {
			return errNumFormat("cannot use \"S\" and \"" + map[numKey]string{numMI: "MI", numPL: "PL", numSG: "SG"}[k] + "\" together")
		}
		f.minus = f.minus || k != numPL
		f.plus = f.plus || k != numMI
	case numPR:
		if f.signed || f.plus || f.minus {
			return errNumFormat("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together")
		}
		f.bracket = true
	case numRN, numRNLower:
		f.roman = true
	case numV:
		if f.decimal {
			return errNumFormat("cannot use \"V\" and decimal point together")
		}
		f.shifted = true
	case numEEEE:
		f.scientific = true
	}
	return nil
}

// numWriter is PostgreSQL's NUM_processor: it lays the digits of a number out in a format.
type numWriter struct {
	f           *numFormat
	out         []byte
	number      []byte
	at          int // in number
	spaces      int // leading positions without a digit
	count, curr int
	last        int // index of the last digit to keep in fill mode, -1 = none
	negative    bool
	bracket     bool
	signEnd     bool
	wrote       bool // the sign
	inNumber    bool
	zeroStart   int
}

// appendNumber formats |number|, given as digits with post fraction digits.
func (f *numFormat) appendNumber(dst, number []byte, negative bool, spaces int) []byte {
	w := numWriter{f: f, out: dst, number: number, spaces: spaces, negative: negative, last: -1,
		bracket: f.bracket, signEnd: f.signEnd, zeroStart: f.zeroStart}
	if w.zeroStart > 0 {
		w.zeroStart--
	}
	switch {
	case f.plus || f.minus:
		w.wrote = f.minus
	default:
		if !negative && f.fill {
			w.bracket = false
		}
		w.wrote = !negative && f.fill && !f.signed
		if f.signed && !f.signEnd && f.pre == f.preSign {
			w.signEnd = true
		}
	}
	w.count = f.post + f.pre - 1
	if f.fill && f.decimal {
		w.findLast()
	}
	if !w.wrote && spaces == 0 {
		w.count++
	}
	for _, n := range f.nodes {
		w.node(n)
	}
	return w.out
}

// findLast finds the last digit that fill mode keeps.
func (w *numWriter) findLast() {
	point := bytes.IndexByte(w.number, '.')
	if point < 0 {
		return
	}
	w.last = point
	for i := point + 1; i < len(w.number); i++ {
		if w.number[i] != '0' {
			w.last = i
		}
	}
	if w.f.zeroEnd > w.spaces {
		w.last = max(w.last, min(len(w.number)-1, w.f.zeroEnd-w.spaces))
	}
}

func (w *numWriter) put(c byte) { w.out = append(w.out, c) }

func (w *numWriter) blank() {
	if !w.f.fill {
		w.put(' ')
	}
}

func (w *numWriter) node(n numNode) {
	switch n.key {
	case numLiteral:
		w.out = append(w.out, n.text...)
	case num9, num0, numPoint:
		w.digit(n.key)
	case numComma, numGroup:
		if w.inNumber {
			w.put(',')
		} else {
			w.blank()
		}
	case numCurrency:
		w.put(' ')
	case numMI:
		if w.negative {
			w.put('-')
		} else {
			w.blank()
		}
	case numPL:
		if !w.negative {
			w.put('+')
		} else {
			w.blank()
		}
	case numSG:
		w.put(w.sign())
	case numTH, numTHLower:
		if !w.negative && !w.f.decimal && w.number[0] != '#' {
			n2, _ := strconv.Atoi(string(w.number[max(0, len(w.number)-2):]))
			w.out = append(w.out, ordinal(n2, n.key == numTH)...)
		}
	}
}

func (w *numWriter) sign() byte {
	if w.negative {
		return '-'
	}
	return '+'
}

// ordinal returns the English suffix of a number.
func ordinal(n int, upper bool) string {
	suffix := "th"
	if n%100/10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	if upper {
		return strings.ToUpper(suffix)
	}
	return suffix
}

// beforePoint reports the lone 0 in front of the point, which 9 leaves out.
func (w *numWriter) beforePoint() bool {
	return !w.f.zero && w.at == 0 && w.number[0] == '0' && w.f.post != 0
}

func (w *numWriter) lastIsPoint() bool { return w.last >= 0 && w.number[w.last] == '.' }

// digit writes one position of the number.
func (w *numWriter) digit(k numKey) {
	f := w.f
	if !w.wrote && (w.curr >= w.spaces || f.zero && w.zeroStart == w.curr) && (!w.beforePoint() || w.lastIsPoint()) {
		w.writeSign()
	}
	switch {
	case w.curr < w.spaces && (!f.zero || w.zeroStart > w.curr):
		w.blank()
	case w.curr < w.spaces:
		w.put('0')
		w.inNumber = true
	default:
		w.place(k)
		if w.at < len(w.number) {
			w.at++
		}
	}
	end := w.count
	if w.spaces > 0 {
		end++
	}
	if f.decimal {
		end++
	}
	if w.last >= 0 && w.last == w.at {
		end = w.curr
	}
	if w.curr+1 == end {
		if w.wrote && w.bracket {
			w.put(map[bool]byte{true: '>', false: ' '}[w.negative])
		} else if f.signed && w.signEnd {
			w.put(w.sign())
		}
	}
	w.curr++
}

func (w *numWriter) writeSign() {
	switch {
	case w.f.signed:
		if !w.signEnd {
			w.put(w.sign())
			w.wrote = true
		}
	case w.bracket:
		w.put(map[bool]byte{true: '<', false: ' '}[w.negative])
		w.wrote = true
	case w.negative:
		w.put('-')
		w.wrote = true
	default:
		w.blank()
		w.wrote = true
	}
}

// place writes the digit or point that is next.
func (w *numWriter) place(k numKey) {
	if w.at >= len(w.number) {
		return
	}
	switch c := w.number[w.at]; {
	case c == '.':
		if !w.lastIsPoint() || w.f.fill {
			w.put('.')
		}
	case w.last >= 0 && w.at > w.last && k != num0:
	case w.beforePoint():
		if !w.f.fill {
			w.put(' ')
		} else if w.lastIsPoint() {
			w.put('0')
		}
	default:
		w.put(c)
		w.inNumber = true
	}
}

// appendDecimal formats a number.
func (f *numFormat) appendDecimal(dst []byte, d decimal.Decimal) ([]byte, error) {
	switch {
	case f.roman:
		n, ok := d.Int64()
		if !ok {
			n = 0
		}
		return f.appendRoman(dst, n), nil
	case f.scientific:
		return f.appendScientific(dst, d), nil
	}
	pre := f.pre
	if f.shifted {
		d = d.Mul(decimal.FromBig(bigPower10(f.multi), 0))
		pre += f.multi
	}
	text := d.Round(f.post).Append(nil)
	return f.layOut(dst, text, pre), nil
}

func (f *numFormat) layOut(dst, text []byte, pre int) []byte {
	negative := text[0] == '-'
	text = bytes.TrimPrefix(text, []byte("-"))
	whole := bytes.IndexByte(text, '.')
	if whole < 0 {
		whole = len(text)
	}
	spaces := max(0, pre-whole)
	if whole > pre {
		text = bytes.Repeat([]byte("#"), pre+f.post+1)
		text[pre] = '.'
	}
	g := *f
	g.pre = pre
	return g.appendNumber(dst, text, negative, spaces)
}

// appendFloat formats a float with at most 15 significant digits.
func (f *numFormat) appendFloat(dst []byte, x float64) ([]byte, error) {
	if f.roman || f.scientific || x != x || math.IsInf(x, 0) {
		if f.scientific && (x != x || math.IsInf(x, 0)) {
			text := bytes.Repeat([]byte("#"), f.pre+f.post+6)
			text[0], text[f.pre+1] = ' ', '.'
			return append(dst, text...), nil
		}
		return f.appendDecimal(dst, decimal.FromFloat64(x))
	}
	g := *f
	if f.shifted {
		x *= math.Pow10(f.multi)
	}
	whole := len(strconv.FormatFloat(math.Abs(x), 'f', 0, 64))
	if whole >= 15 {
		g.post = 0
	} else if whole+g.post > 15 {
		g.post = 15 - whole
	}
	text := strconv.AppendFloat(nil, x, 'f', g.post, 64)
	return g.layOut(dst, text, f.pre+f.multi), nil
}

// appendScientific formats as d.ddde+xx.
func (f *numFormat) appendScientific(dst []byte, d decimal.Decimal) []byte {
	if !d.IsFinite() {
		text := bytes.Repeat([]byte("#"), f.pre+f.post+6)
		text[0], text[f.pre+1] = ' ', '.'
		return append(dst, text...)
	}
	if d.Sign() >= 0 {
		dst = append(dst, ' ')
	}
	exp := 0
	if !d.IsZero() {
		digits := len(bytes.TrimLeft(bytes.ReplaceAll(d.Abs().Append(nil), []byte("."), nil), "0"))
		exp = digits - 1 - d.Scale()
	}
	shift := func(exp int) decimal.Decimal {
		if exp >= 0 {
			p := decimal.FromBig(bigPower10(exp), 0)
			return d.QuoScale(p, f.post)
		}
		return d.Mul(decimal.FromBig(bigPower10(-exp), 0)).Round(f.post)
	}
	m := shift(exp)
	if m.Abs().Cmp(decimal.FromInt64(10)) >= 0 {
		exp++
		m = shift(exp)
	}
	dst = m.Append(dst)
	dst = append(dst, 'e')
	if exp < 0 {
		dst, exp = append(dst, '-'), -exp
	} else {
		dst = append(dst, '+')
	}
	if exp < 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(exp), 10)
}

var romanDigits = []struct {
	n    int64
	text string
}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}}

func (f *numFormat) appendRoman(dst []byte, n int64) []byte {
	text := ""
	if n < 1 || n > 3999 {
		text = strings.Repeat("#", 15)
	}
	for _, d := range romanDigits {
		for n >= d.n && text == strings.TrimLeft(text, "#") {
			text += d.text
			n -= d.n
		}
	}
	for _, node := range f.nodes {
		if node.key == numRNLower {
			text = strings.ToLower(text)
		}
	}
	if !f.fill {
		text = strings.Repeat(" ", max(0, 15-len(text))) + text
	}
	return append(dst, text...)
}

// parseFormatted is to_number: the digits, point and sign of text, as far as the format goes.
func (f *numFormat) parseFormatted(text string) (decimal.Decimal, error) {
	var digits []byte
	negative, point := false, false
	pre, post := 0, 0
	for i := range len(text) {
		c := text[i]
		switch {
		case isDigit(c):
			if point && post >= f.post || !point && pre >= f.pre {
				continue
			}
			if point {
				post++
			} else {
				pre++
			}
			digits = append(digits, c)
		case c == '.' && !point && f.decimal:
			point = true
			digits = append(digits, c)
		case c == '-' || c == '<':
			negative = true
		}
	}
	if pre+post == 0 {
		return decimal.Decimal{}, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type numeric: \" \"")
	}
	d, err := parseNumeric(string(digits))
	if negative {
		d = d.Neg()
	}
	return d, err
}
