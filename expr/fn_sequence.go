package expr

import "github.com/weftdb/weft/internal/sqlerr"

// Sequences gives expressions access to sequences, by the names as written in the query.
type Sequences interface {
	// NextValue advances a sequence.
	NextValue(name string) (int64, error)
	// CurrentValue returns what NextValue returned last in the session, for the sequence or, for "",
	// for any.
	CurrentValue(name string) (int64, error)
	// SetValue sets a sequence; called says whether the value counts as handed out.
	SetValue(name string, value int64, called bool) error
}

func (e *Env) sequences() (Sequences, error) {
	if e.Sequences == nil {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "sequences cannot be used here")
	}
	return e.Sequences, nil
}

// sequenceFunctions read and advance sequences.
func sequenceFunctions() []*Function {
	with := func(f func(s Sequences, r *row) (int64, error)) builder {
		return intRow(func(r *row) (int64, error) {
			s, err := r.env.sequences()
			if err != nil {
				return 0, err
			}
			return f(s, r)
		})
	}
	return []*Function{
		fn("nextval", "text", "int8", with(func(s Sequences, r *row) (int64, error) { return s.NextValue(string(r.bytes(0))) }), volatile),
		fn("currval", "text", "int8", with(func(s Sequences, r *row) (int64, error) { return s.CurrentValue(string(r.bytes(0))) }), volatile),
		fn("lastval", "", "int8", with(func(s Sequences, _ *row) (int64, error) { return s.CurrentValue("") }), volatile),
		fn("setval", "text int8", "int8", with(func(s Sequences, r *row) (int64, error) {
			return r.int(1), s.SetValue(string(r.bytes(0)), r.int(1), true)
		}), volatile),
		fn("setval", "text int8 bool", "int8", with(func(s Sequences, r *row) (int64, error) {
			return r.int(1), s.SetValue(string(r.bytes(0)), r.int(1), r.bool(2))
		}), volatile),
	}
}
