package join

import (
	"errors"
	"testing"

	"github.com/weftdb/weft/vector"
)

// refusing is memory that is used up.
type refusing struct{}

func (refusing) Grow(int64) error { return errors.New("used up") }
func (refusing) Shrink(int64)     {}

// TestRefusedRowsTakeNothing appends to a store that gets no memory: it is as empty as before, so that who
// loads block by block sees that not even one batch fits.
func TestRefusedRowsTakeNothing(t *testing.T) {
	s := NewStore([]vector.Kind{vector.I64}, refusing{})
	v := vector.New(vector.I64, 8)
	v.Reset(vector.I64, 8)
	if err := s.Append([]*vector.Vector{v}, 8, nil); err == nil {
		t.Fatal("rows were taken without memory")
	}
	if s.Rows() != 0 || s.Bytes() != 0 {
		t.Errorf("%d rows of %d bytes after a refusal", s.Rows(), s.Bytes())
	}
}
