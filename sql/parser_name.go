package sql

import (
	"strconv"

	"github.com/weftdb/weft/internal/sqlerr"
)

// ident makes the current token a name and moves past it.
func (p *parser) ident() Ident {
	t := p.next()
	return Ident{Span{int(t.start), int(t.end)}, t.val}
}

// colID reads a column, table or other plain name.
func (p *parser) colID() Ident {
	if p.kind().isColID() {
		return p.ident()
	}
	p.nameExpected()
	return Ident{}
}

// colLabel reads a name where any keyword may stand.
func (p *parser) colLabel() Ident {
	if p.kind().isWord() {
		return p.ident()
	}
	p.nameExpected()
	return Ident{}
}

// typeFuncName reads the name of a function, type or role-like object.
func (p *parser) typeFuncName() Ident {
	if p.kind().isTypeFunc() {
		return p.ident()
	}
	p.nameExpected()
	return Ident{}
}

// nameExpected fails at the current token, which should have been a name.
func (p *parser) nameExpected() {
	t := p.tok()
	if p.err == nil && t.kind >= firstKeyword {
		p.fail(syntaxError(p.src, t).
			WithHint("%q is a reserved word here; write it in double quotes to use it as a name.", p.src[t.start:t.end]))
		return
	}
	p.unexpected()
}

// objectName reads name or schema.name.
func (p *parser) objectName() ObjectName { return p.qualify(p.colID()) }

// qualify reads the rest of a qualified name after its first part.
func (p *parser) qualify(first Ident) ObjectName {
	if p.kind() != '.' {
		return ObjectName{Span: first.Span, Name: first.Name}
	}
	p.next()
	second := p.colLabel()
	if p.kind() == '.' {
		p.next()
		third := p.colLabel()
		p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "cross-database references are not implemented: %q",
			first.Name+"."+second.Name+"."+third.Name).At(first.Start))
	}
	return ObjectName{p.spanFrom(first.Start), first.Name, second.Name}
}

// objectNames reads a comma list of names.
func (p *parser) objectNames() []ObjectName {
	names := []ObjectName{p.objectName()}
	for p.accept(',') {
		names = append(names, p.objectName())
	}
	return names
}

// objectNamePtr is objectName for optional names.
func (p *parser) objectNamePtr() *ObjectName {
	n := p.objectName()
	return &n
}

// oneIdent returns a list of one name without an allocation of its own.
func (p *parser) oneIdent(id Ident) []Ident {
	if len(p.idents) == 0 {
		p.moreIdents()
	}
	list := p.idents[:1:1]
	p.idents = p.idents[1:]
	list[0] = id
	return list
}

// moreIdents starts a block for name lists; blocks grow with the statement.
func (p *parser) moreIdents() {
	p.idents = make([]Ident, max(2, min(16, p.pos/4)))
}

// twoIdents is oneIdent for two names.
func (p *parser) twoIdents(a, b Ident) []Ident {
	if len(p.idents) < 2 {
		p.moreIdents()
	}
	list := p.idents[:2:2]
	p.idents = p.idents[2:]
	list[0], list[1] = a, b
	return list
}

// identList reads a comma list of names.
func (p *parser) identList() []Ident {
	list := p.oneIdent(p.colID())
	for p.accept(',') {
		list = append(list, p.colID())
	}
	return list
}

// parenIdents reads a parenthesised list of names.
func (p *parser) parenIdents() []Ident {
	p.expect('(')
	list := p.identList()
	p.expect(')')
	return list
}

// optParenIdents is parenIdents where the list may be missing.
func (p *parser) optParenIdents() []Ident {
	if p.kind() != '(' {
		return nil
	}
	return p.parenIdents()
}

// stringLit reads a string constant.
func (p *parser) stringLit() string {
	if p.kind() != tokString {
		p.unexpectedWanting("a string")
		return ""
	}
	return p.next().val
}

// signedInt reads an integer with an optional sign.
func (p *parser) signedInt() int64 {
	neg := false
	if !p.accept('+') {
		neg = p.accept('-')
	}
	t := p.tok()
	if t.kind != tokInteger {
		p.unexpectedWanting("an integer")
		return 0
	}
	text := t.val
	if neg {
		text = "-" + text
	}
	n, err := strconv.ParseInt(text, integerBase(t.val), 64)
	if err != nil {
		p.fail(sqlerr.New(sqlerr.NumericValueOutOfRange, "value %q is out of range for type bigint", text).At(int(t.start)))
		return 0
	}
	p.next()
	return n
}

// integerBase is the base argument for strconv: 10 unless the digits have a radix prefix, since a
// leading zero is no octal sign in SQL.
func integerBase(digits string) int {
	if radix(digits) != 0 {
		return 0
	}
	return 10
}

// ifNotExists reads IF NOT EXISTS.
func (p *parser) ifNotExists() bool { return p.accept3(kwIf, kwNot, kwExists) }

// ifExists reads IF EXISTS.
func (p *parser) ifExists() bool { return p.accept2(kwIf, kwExists) }

// cascade reads CASCADE or RESTRICT, the default.
func (p *parser) cascade() bool {
	if p.accept(kwCascade) {
		return true
	}
	p.accept(kwRestrict)
	return false
}

// options reads a parenthesised list of options: name [=] [value], ….
func (p *parser) options() []Option {
	p.expect('(')
	var list []Option
	for {
		list = append(list, p.option())
		if !p.accept(',') {
			break
		}
	}
	p.expect(')')
	return list
}

func (p *parser) option() Option {
	start := p.start()
	o := Option{Name: p.colLabel().Name}
	if p.accept('.') { // a storage parameter of a namespace, such as toast.x
		o.Name += "." + p.colLabel().Name
	}
	equals := p.accept('=')
	switch k := p.kind(); {
	case k == '*':
		p.next()
		o.Star = true
	case k == '(':
		o.Columns = p.parenIdents()
	case equals || k != ',' && k != ')' && k != tokEOF:
		o.HasValue = true
		o.Value = p.optionValue()
	}
	o.Span = p.spanFrom(start)
	return o
}

// optionValue reads a word, string or number as text.
func (p *parser) optionValue() string {
	switch t := p.tok(); {
	case t.kind.isWord() || t.kind == tokString:
		p.next()
		return t.val
	case t.kind == tokInteger || t.kind == tokNumeric || t.kind == '-' || t.kind == '+':
		return p.numberText()
	}
	p.unexpected()
	return ""
}

// numberText reads a number with an optional sign as text.
func (p *parser) numberText() string {
	sign := ""
	if !p.accept('+') && p.accept('-') {
		sign = "-"
	}
	if t := p.tok(); t.kind == tokInteger || t.kind == tokNumeric {
		p.next()
		return sign + t.val
	}
	p.unexpectedWanting("a number")
	return ""
}
