package planner

import (
	"github.com/weftdb/weft/catalog"
)

// Plan is a statement ready to run. It is immutable and may be run many times, also concurrently.
type Plan struct {
	Root    Node
	Columns []ResultColumn
	// Params holds the types of the statement's parameters $1, $2, ….
	Params []catalog.Type
	// InitPlans run before Root, in order; each sets one parameter to its single value (NULL when
	// it yields no row; 21000 when it yields two), or, Exists, to whether it yields a row.
	InitPlans []InitPlan
	// ParamSlots is the number of parameters the plan uses: the statement's, the init plans' and
	// those of Apply nodes.
	ParamSlots int
	// CTEs are computed at most once each, before their first reader; a CTE may read earlier ones.
	CTEs []*CTE
	// CatalogVersion is the version the names were bound under.
	CatalogVersion uint64
	// Point is set where the plan is no more than that.
	Point *PointRead
	// Functions are the calls of functions that stand in FROM anywhere in the plan.
	Functions []*FuncScan
	// Relations are those that the statement names, each once.
	Relations []RelationUse
	// Notices are for the client, at each run.
	Notices []string
	// Nodes is the number of data nodes, for EXPLAIN.
	Nodes int
}

func (p *Plan) functions() []*FuncScan {
	var calls []*FuncScan
	note := func(n Node) bool {
		if call, ok := n.(*FuncScan); ok {
			calls = append(calls, call)
		}
		return true
	}
	p.walk(note)
	return calls
}

// ResultColumn is a column of a statement's result.
type ResultColumn struct {
	Name string
	Type catalog.Type
	// Declared is the type that clients see and that CREATE TABLE AS gives the column: Type
	// without modifiers that only planning has derived. Its values may need a cast.
	Declared catalog.Type
}

// InitPlan is an uncorrelated subquery, run once.
type InitPlan struct {
	Param  int // $Param
	Plan   Node
	Exists bool
	Type   catalog.Type
}

// World is what the planner may know of the database beyond names and types.
type World interface {
	// Stats returns the table's statistics, nil if it was never analysed.
	Stats(id catalog.TableID) *catalog.Stats
	// Rows returns the current number of rows, approximately.
	Rows(t *catalog.Table) float64
	// ViewState returns how much of the table its column view can answer now.
	ViewState(t *catalog.Table) ViewState
	// TableFunction returns the columns and argument types of a system function that can stand in
	// FROM.
	TableFunction(name string) (columns []ResultColumn, args []catalog.Type, ok bool)
	// SystemView returns the columns of such a function that can be named like a table too.
	SystemView(name string) (columns []ResultColumn, ok bool)
}

// ViewState describes a table's column view at planning time.
type ViewState struct {
	Groups       int     // row groups that hold rows
	LoadedGroups int     // with units
	DiskShare    float64 // of the loaded groups' units, those that have to be read from disk
	StaleRows    float64 // rows to be read from the row store although their group is loaded
}
