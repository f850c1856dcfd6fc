package planner

import "github.com/weftdb/weft/catalog"

// Use is what a statement does with a relation that it names, the least first.
type Use uint8

// The uses: rows are read, locked (FOR UPDATE and the like), or written.
const (
	Reads Use = iota
	LocksRows
	Writes
)

// RelationUse is a table or view that a statement names, itself or by a view, whether the plan has a
// scan of it left or not.
type RelationUse struct {
	ID  catalog.TableID
	Use Use
}

// use notes what the statement does with a relation; of several uses the greatest counts.
func (b *binder) use(r *catalog.Table, how Use) {
	for i := range b.uses {
		if u := &b.uses[i]; u.ID == r.ID {
			u.Use = max(u.Use, how)
			return
		}
	}
	b.uses = append(b.uses, RelationUse{r.ID, how})
}
