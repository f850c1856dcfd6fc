package sql

import (
	"strings"

	"github.com/weftdb/weft/internal/sqlerr"
)

// canonicalTypes maps synonyms to canonical type names.
var canonicalTypes = map[string]string{
	"int": "integer", "int4": "integer", "int2": "smallint", "int8": "bigint",
	"float4": "real", "float8": "double precision", "bool": "boolean",
	"decimal": "numeric", "dec": "numeric",
	"serial2": "smallserial", "serial4": "serial", "serial8": "bigserial",
}

// typeName reads a type with its modifiers and array dimensions.
func (p *parser) typeName() TypeName {
	start := p.start()
	t := p.baseType()
	for {
		if p.accept('[') {
			p.accept(tokInteger)
			p.expect(']')
			t.ArrayDims++
			continue
		}
		if t.ArrayDims == 0 && p.accept(kwArray) {
			if p.accept('[') {
				p.expect(tokInteger)
				p.expect(']')
			}
			t.ArrayDims = 1
		}
		break
	}
	t.Span = p.spanFrom(start)
	return t
}

// baseType reads a type without array dimensions.
func (p *parser) baseType() (t TypeName) {
	tok := p.tok()
	switch tok.kind {
	case kwDouble:
		if p.peek(1) == kwPrecision {
			p.pos += 2
			return TypeName{Name: "double precision"}
		}
	case kwFloat:
		p.next()
		return p.floatType()
	case kwInt, kwInteger, kwSmallint, kwBigint, kwReal, kwBoolean:
		p.next()
		t.Name = canonicalTypeName(tok.val)
		return t
	case kwNumeric, kwDecimal, kwDec:
		p.next()
		return TypeName{Name: "numeric", Mods: p.typeMods()}
	case kwBit:
		p.next()
		return p.bitType()
	case kwNational:
		if k := p.peek(1); k == kwCharacter || k == kwChar {
			p.next()
			p.next()
			return p.charType()
		}
	case kwCharacter, kwChar, kwNchar:
		p.next()
		return p.charType()
	case kwVarchar:
		p.next()
		return TypeName{Name: "varchar", Mods: p.typeMods()}
	case kwTime, kwTimestamp:
		p.next()
		return p.timeType(tok.val)
	case kwInterval:
		p.next()
		return p.intervalType()
	case kwSetof:
		p.unsupported(p.start(), "SETOF")
		return t
	}
	return p.genericType()
}

// genericType reads a type by name.
func (p *parser) genericType() (t TypeName) {
	tok := p.tok()
	name := p.typeFuncName()
	if p.accept('.') {
		t.Schema = name.Name
		name = p.colLabel()
	}
	t = namedType(t.Schema, name.Name)
	if p.kind() == '%' && p.peek(1) == kwType {
		p.unsupported(int(tok.start), "%TYPE")
	}
	t.Mods = p.typeMods()
	p.checkMods(t, int(tok.start))
	return t
}

// namedType resolves the name of a type that was not written as a keyword. The types of pg_catalog
// lose their schema.
func namedType(schema, name string) TypeName {
	switch {
	case schema != "" && schema != "pg_catalog":
		return TypeName{Schema: schema, Name: name}
	case name == "char":
		return TypeName{Name: `"char"`} // the keyword is another type
	}
	return TypeName{Name: canonicalTypeName(name)}
}

// checkMods rejects modifiers of types that have a keyword form without them, as int8(5).
func (p *parser) checkMods(t TypeName, at int) {
	if t.Mods == nil || t.Schema != "" {
		return
	}
	switch t.Name {
	case "smallint", "integer", "bigint", "real", "double precision", "boolean", `"char"`:
		p.fail(sqlerr.New(sqlerr.SyntaxError, "type modifier is not allowed for type \"%s\"", strings.Trim(t.Name, `"`)).At(at))
	}
}

func canonicalTypeName(name string) string {
	if c, ok := canonicalTypes[name]; ok {
		return c
	}
	return name
}

// typeMods reads (n, …) after a type name.
func (p *parser) typeMods() []int {
	if !p.accept('(') {
		return nil
	}
	var mods []int
	for {
		at := p.start()
		n := p.signedInt()
		if n > 1<<31-1 || n < -(1<<31) {
			p.fail(sqlerr.New(sqlerr.InvalidParameterValue, "type modifier %d is out of range", n).At(at))
		}
		mods = append(mods, int(n))
		if !p.accept(',') {
			break
		}
	}
	p.expect(')')
	return mods
}

// floatType reads FLOAT [(n)], which chooses between real and double precision.
func (p *parser) floatType() TypeName {
	at := p.start()
	mods := p.typeMods()
	switch {
	case mods == nil:
		return TypeName{Name: "double precision"}
	case len(mods) > 1:
		p.fail(sqlerr.New(sqlerr.SyntaxError, "type float takes one modifier").At(at))
	case mods[0] < 1:
		p.fail(sqlerr.New(sqlerr.InvalidParameterValue, "precision for type float must be at least 1 bit").At(at))
	case mods[0] > 53:
		p.fail(sqlerr.New(sqlerr.InvalidParameterValue, "precision for type float must be less than 54 bits").At(at))
	case mods[0] <= 24:
		return TypeName{Name: "real"}
	}
	return TypeName{Name: "double precision"}
}

// bitType reads the rest of BIT [VARYING] [(n)].
func (p *parser) bitType() TypeName {
	if p.accept(kwVarying) {
		return TypeName{Name: "varbit", Mods: p.typeMods()}
	}
	mods := p.typeMods()
	if mods == nil {
		mods = []int{1}
	}
	return TypeName{Name: "bit", Mods: mods}
}

// charType reads the rest of CHARACTER [VARYING] [(n)].
func (p *parser) charType() TypeName {
	if p.accept(kwVarying) {
		return TypeName{Name: "varchar", Mods: p.typeMods()}
	}
	mods := p.typeMods()
	if mods == nil {
		mods = []int{1}
	}
	return TypeName{Name: "char", Mods: mods}
}

// timeType reads the rest of TIME or TIMESTAMP [(p)] [WITH | WITHOUT TIME ZONE].
func (p *parser) timeType(name string) TypeName {
	t := TypeName{Name: name, Mods: p.typeMods()}
	if p.accept3(kwWith, kwTime, kwZone) {
		t.Name += "tz"
	} else {
		p.accept3(kwWithout, kwTime, kwZone)
	}
	return t
}

// intervalType reads the rest of INTERVAL [fields] or INTERVAL(p).
func (p *parser) intervalType() TypeName {
	t := TypeName{Name: "interval"}
	if p.kind() == '(' {
		t.Mods = p.typeMods()
		return t
	}
	p.intervalFields(&t)
	return t
}

// intervalFields reads YEAR, DAY TO SECOND(3) and the like into t.
func (p *parser) intervalFields(t *TypeName) {
	from := p.kind()
	if !intervalField(from) {
		return
	}
	t.Fields = p.next().val
	last := from
	if p.kind() == kwTo && intervalRange(from, p.peek(1)) {
		p.next()
		last = p.kind()
		t.Fields += " to " + p.next().val
	}
	if last == kwSecond && t.Mods == nil {
		t.Mods = p.typeMods()
	}
}

// intervalRange reports whether from TO to is a valid range of interval fields.
func intervalRange(from, to kind) bool {
	switch from {
	case kwYear:
		return to == kwMonth
	case kwDay:
		return to == kwHour || to == kwMinute || to == kwSecond
	case kwHour:
		return to == kwMinute || to == kwSecond
	case kwMinute:
		return to == kwSecond
	}
	return false
}

func intervalField(k kind) bool {
	switch k {
	case kwYear, kwMonth, kwDay, kwHour, kwMinute, kwSecond:
		return true
	}
	return false
}

// typedLiteral reads type 'string' when the current keyword starts one: DATE is an ordinary name
// and not handled here, but INTERVAL, TIMESTAMP, NUMERIC and the other type keywords are.
func (p *parser) typedLiteral() Expr {
	end := p.typeKeywordEnd()
	if p.peek(end) != tokString {
		return nil
	}
	start := p.start()
	t := p.baseType()
	t.Span = p.spanFrom(start)
	if p.kind() != tokString {
		p.unexpected()
		return nil
	}
	litAt := p.pos
	value := p.next().val
	if t.Name == "interval" && t.Fields == "" && len(t.Mods) == 0 { // after a precision, fields are not part of it
		p.intervalFields(&t)
	}
	if sized := p.toks[litAt-1].kind == ')'; !sized {
		// Without a length a literal is as long as its text, while a column would have length 1.
		switch t.Name {
		case "char":
			t.Name, t.Mods = "bpchar", nil
		case "bit":
			t.Mods = nil
		}
	}
	return &TypedLit{p.spanFrom(start), t, value}
}

// typeKeywordEnd returns how many tokens ahead a type that starts with a keyword ends, or 0 when
// the current token is no type keyword.
func (p *parser) typeKeywordEnd() int {
	n := 1
	switch p.kind() {
	case kwDouble:
		n = 2
	case kwBit, kwCharacter, kwChar, kwNchar:
		if p.peek(1) == kwVarying {
			n = 2
		}
	case kwNational:
		n = 2
		if p.peek(2) == kwVarying {
			n = 3
		}
	case kwFloat, kwInt, kwInteger, kwSmallint, kwBigint, kwReal, kwBoolean, kwNumeric, kwDecimal, kwDec, kwVarchar,
		kwTime, kwTimestamp, kwInterval:
	default:
		return 0
	}
	if p.peek(n) == '(' {
		for n++; p.peek(n) == tokInteger || p.peek(n) == ','; n++ {
		}
		n++
	}
	if k := p.peek(n); (k == kwWith || k == kwWithout) && p.peek(n+1) == kwTime && p.peek(n+2) == kwZone {
		n += 3
	}
	return n
}
