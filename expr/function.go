package expr

import (
	"strings"

	"github.com/weftdb/weft/catalog"
)

// Volatility says when a function may be evaluated ahead of time.
type Volatility uint8

// The volatilities, as in PostgreSQL: an immutable function depends on its arguments only, a
// stable one may also depend on the session and the transaction, a volatile one on anything.
const (
	Immutable Volatility = iota
	Stable
	Volatile
)

// Function is one overload of a function, operator or aggregate. Functions are compared by
// pointer.
type Function struct {
	Name       string           // operators have their symbol as name
	Args       []catalog.TypeID // the last repeats when Variadic
	Ret        catalog.TypeID
	Operator   bool
	Variadic   bool
	Strict     bool // a NULL argument makes the result NULL, without evaluation
	Volatility Volatility

	// typ computes the result's type with its modifiers from the arguments, nil = Type{ID: Ret}.
	typ func(args []Expr) catalog.Type
	// via is the type both operands are converted to when an operator takes mixed types that have
	// a common one (integer = bigint): the call is then to the operator on that type.
	via catalog.TypeID
	// build compiles a call, nil for aggregates.
	build builder
	// agg describes an aggregate, nil for other functions.
	agg *aggregate
}

// anyType stands for "any" in argument lists.
const anyType catalog.TypeID = 255

// registry holds every function and operator by name; it is filled once and never changes.
type registry struct {
	functions map[string][]*Function // functions and aggregates
	binary    map[string][]*Function
	unary     map[string][]*Function
}

var registered *registry

// Built in init: the functions' builders refer to the registry themselves.
func init() { registered = buildRegistry() }

func buildRegistry() *registry {
	r := &registry{map[string][]*Function{}, map[string][]*Function{}, map[string][]*Function{}}
	for _, family := range []func() []*Function{
		comparisonOperators, arithmeticOperators, dateOperators, textOperators,
		mathFunctions, textFunctions, dateFunctions, sessionFunctions, sequenceFunctions, conditionalFunctions,
		aggregateFunctions,
	} {
		for _, f := range family() {
			m := r.functions
			if f.Operator && len(f.Args) == 1 {
				m = r.unary
			} else if f.Operator {
				m = r.binary
			}
			m[f.Name] = append(m[f.Name], f)
		}
	}
	return r
}

var typeWords = map[string]catalog.TypeID{
	"bool": catalog.Bool, "int2": catalog.Int2, "int4": catalog.Int4, "int8": catalog.Int8,
	"float4": catalog.Float4, "float8": catalog.Float8, "numeric": catalog.Numeric,
	"char": catalog.Char, "bpchar": catalog.Char, "varchar": catalog.Varchar, "text": catalog.Text, "name": catalog.Name,
	"bytea": catalog.Bytea, "date": catalog.Date, "timestamp": catalog.Timestamp,
	"timestamptz": catalog.TimestampTZ, "interval": catalog.Interval, "oid": catalog.Oid,
	"int2vector": catalog.Int2Vector, "any": anyType,
}

func typeList(words string) []catalog.TypeID {
	fields := strings.Fields(words)
	ids := make([]catalog.TypeID, len(fields))
	for i, w := range fields {
		id, ok := typeWords[w]
		if !ok {
			panic("expr: unknown type word " + w)
		}
		ids[i] = id
	}
	return ids
}

// fn makes a strict, immutable function. Options change that.
func fn(name, args, ret string, build builder, options ...func(*Function)) *Function {
	f := &Function{Name: name, Args: typeList(args), Ret: typeList(ret)[0], Strict: true, build: build}
	for _, o := range options {
		o(f)
	}
	return f
}

// op makes a strict, immutable operator.
func op(name, args, ret string, build builder, options ...func(*Function)) *Function {
	f := fn(name, args, ret, build, options...)
	f.Operator = true
	return f
}

func stable(f *Function)    { f.Volatility = Stable }
func volatile(f *Function)  { f.Volatility = Volatile }
func notStrict(f *Function) { f.Strict = false }
func variadic(f *Function)  { f.Variadic = true }

// typed sets the rule for the result's modifiers.
func typed(rule func(args []Expr) catalog.Type) func(*Function) {
	return func(f *Function) { f.typ = rule }
}

// argType returns the declared type of argument i.
func (f *Function) argType(i int) catalog.TypeID {
	if f.Variadic && i >= len(f.Args)-1 {
		return f.Args[len(f.Args)-1]
	}
	return f.Args[i]
}

func (f *Function) takes(n int) bool {
	return n == len(f.Args) || f.Variadic && n >= len(f.Args)
}

// IsAggregate reports whether name is an aggregate function.
func IsAggregate(name string) bool {
	list := registered.functions[name]
	return len(list) > 0 && list[0].agg != nil
}
