package sql

import (
	"math"

	"github.com/weftdb/weft/internal/sqlerr"
)

// partitionBy reads PARTITION BY method (keys) and the inline list of partitions.
func (p *parser) partitionBy() *PartitionBy {
	b := &PartitionBy{}
	start := p.start()
	p.expect2(kwPartition, kwBy)
	at := p.start()
	switch name := p.colID().Name; name {
	case "range":
	case "list":
		b.Method = PartitionList
	case "hash":
		b.Method = PartitionHash
	default:
		if p.err == nil {
			p.fail(sqlerr.New(sqlerr.SyntaxError, "unrecognized partitioning strategy \"%s\"", name).At(at).
				WithHint("Use RANGE, LIST or HASH."))
		}
	}
	if b.Method != PartitionHash {
		p.acceptWord("columns") // MySQL's spelling
	}
	p.expect('(')
	for {
		b.Keys = append(b.Keys, p.partitionKey())
		if !p.accept(',') {
			break
		}
	}
	p.expect(')')
	if p.kind() == '(' && p.peek(1) == kwPartition {
		p.next()
		for {
			b.Partitions = append(b.Partitions, p.partitionDef())
			if !p.accept(',') {
				break
			}
		}
		p.expect(')')
	}
	b.Span = p.spanFrom(start)
	return b
}

// acceptWord moves past an unquoted identifier that is no keyword.
func (p *parser) acceptWord(word string) bool {
	t := p.tok()
	if t.kind != tokIdent || t.quoted || t.val != word {
		return false
	}
	p.next()
	return true
}

func (p *parser) partitionKey() (k PartitionKey) {
	start := p.start()
	k.Expr = p.keyExpr()
	k.Collation, k.OpClass = p.keyClasses()
	k.Span = p.spanFrom(start)
	return k
}

// partitionDef reads PARTITION name [VALUES …] of an inline list or ADD PARTITION.
func (p *parser) partitionDef() (d PartitionDef) {
	start := p.start()
	p.expect(kwPartition)
	d.Name = p.colID()
	switch p.kind() {
	case kwValues, kwFor, kwDefault:
		d.Bound = p.inlineBound()
	}
	if p.accept(kwTablespace) {
		p.colID()
	}
	d.Span = p.spanFrom(start)
	return d
}

// inlineBound reads VALUES LESS THAN (…), VALUES (…), VALUES IN (…), or a bound as after FOR.
func (p *parser) inlineBound() *PartitionBound {
	if p.kind() != kwValues {
		return p.forValues()
	}
	start := p.start()
	p.next()
	b := &PartitionBound{}
	switch {
	case p.accept2(kwLess, kwThan):
		b.Kind = BoundLessThan
		b.To = p.partitionLimits()
	default:
		p.accept(kwIn)
		p.listBound(b)
	}
	b.Span = p.spanFrom(start)
	return b
}

// forValues reads FOR VALUES … or DEFAULT.
func (p *parser) forValues() *PartitionBound {
	b := &PartitionBound{}
	start := p.start()
	if p.accept(kwDefault) {
		b.Span = p.spanFrom(start)
		return b
	}
	p.expect2(kwFor, kwValues)
	from := start
	start = p.start() // where PostgreSQL's messages point
	switch {
	case p.accept(kwIn):
		p.listBound(b)
	case p.accept(kwFrom):
		b.Kind = BoundRange
		b.From = p.partitionLimits()
		p.expect(kwTo)
		b.To = p.partitionLimits()
	case p.accept(kwWith):
		b.Kind = BoundHash
		p.hashBound(b, from)
	default:
		p.unexpectedWanting("IN, FROM or WITH")
	}
	b.Span = p.spanFrom(start)
	return b
}

// listBound reads (values); a lone DEFAULT makes it the default partition.
func (p *parser) listBound(b *PartitionBound) {
	p.expect('(')
	in := p.exprList()
	p.expect(')')
	if _, ok := in[0].(*Default); ok && len(in) == 1 {
		return
	}
	b.Kind, b.In = BoundList, in
}

// hashBound reads (MODULUS m, REMAINDER r).
func (p *parser) hashBound(b *PartitionBound, at int) {
	b.Remainder = -1
	p.expect('(')
	for {
		name := p.colID().Name
		value := p.signedInt()
		if value < 0 || value > math.MaxInt32 {
			p.fail(sqlerr.New("42P16", "modulus and remainder of a hash partition must be integers from 0 to %d", math.MaxInt32).At(at))
		}
		switch name {
		case "modulus":
			b.Modulus = int(value)
		case "remainder":
			b.Remainder = int(value)
		default:
			if p.err == nil {
				p.fail(sqlerr.New(sqlerr.SyntaxError, "unrecognized hash partition bound specification \"%s\"", name).At(at))
			}
		}
		if !p.accept(',') {
			break
		}
	}
	p.expect(')')
	if p.err != nil {
		return
	}
	switch {
	case b.Modulus == 0:
		p.fail(sqlerr.New("42P16", "modulus for hash partition must be an integer value greater than zero").At(at))
	case b.Remainder < 0:
		p.fail(sqlerr.New(sqlerr.SyntaxError, "remainder for hash partition must be specified").At(at))
	case b.Remainder >= b.Modulus:
		p.fail(sqlerr.New("42P16", "remainder for hash partition must be less than modulus").At(at))
	}
}

// partitionLimits reads the values of a range bound, where MINVALUE and MAXVALUE may stand.
func (p *parser) partitionLimits() []PartitionLimit {
	p.expect('(')
	var list []PartitionLimit
	for {
		var l PartitionLimit
		start := p.start()
		k := p.peek(1)
		switch last := k == ',' || k == ')'; {
		case last && p.accept(kwMinvalue):
			l.Kind = MinValue
		case last && p.accept(kwMaxvalue):
			l.Kind = MaxValue
		default:
			l.Expr = p.expr()
		}
		l.Span = p.spanFrom(start)
		list = append(list, l)
		if !p.accept(',') {
			break
		}
	}
	p.expect(')')
	return list
}
