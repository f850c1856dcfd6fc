package planner

import "github.com/weftdb/weft/catalog"

// RouterMode is htap_router_mode.
type RouterMode uint8

// The router modes: rows always; columns whenever they cover what is needed; or by cost.
const (
	RouterAuto RouterMode = iota
	RouterRow
	RouterColumn
)

// Settings are the session settings that shape plans.
type Settings struct {
	SearchPath      []string
	TempSchema      string // of the session's temporary relations
	TempUsed        bool   // there may be some
	Router          RouterMode
	EnableHTAP      bool
	EnableImcvScan  bool
	EnableHybrid    bool
	EnableHashJoin  bool
	EnableMergeJoin bool
	EnableReorder   bool
	EnableSeqScan   bool
	EnableIndexScan bool
	// EnableIndexOnlyScan and EnableBitmapScan allow reading index entries without their rows, and
	// combining indexes.
	EnableIndexOnlyScan, EnableBitmapScan bool
	EnableIndexJoin                       bool // row by row of one side, by an index of the other
	EnablePruning                         bool // leave out partitions and data nodes that no row can come from
	EnablePartitionwiseJoin               bool // join partitioned tables group by group
	EnablePartitionwiseAggregate          bool // group the rows of partitioned tables some leaves at a time
	DisabledRules                         map[string]bool
	// SortRoomBytes is the memory that a sort may take for a merge join's sake: sorts do not go to disk as hash
	// joins do. 0 = any.
	SortRoomBytes int64
}

// DefaultSettings returns what a new session has.
func DefaultSettings() *Settings {
	return &Settings{SearchPath: []string{catalog.DefaultSchema}, EnableHTAP: true, EnableImcvScan: true,
		EnableHybrid: true, EnableHashJoin: true, EnableMergeJoin: true, EnableReorder: true, EnableSeqScan: true, EnableIndexScan: true, EnableIndexOnlyScan: true, EnableBitmapScan: true, EnableIndexJoin: true, EnablePruning: true, EnablePartitionwiseJoin: true, EnablePartitionwiseAggregate: true}
}

// Input is what planning a statement needs.
type Input struct {
	Catalog  *catalog.Snapshot
	World    World
	Settings *Settings
	// ParamTypes are the types declared for parameters, Unknown where the context decides.
	ParamTypes []catalog.Type
	// Phases, where not nil, are filled with what planning took its time for.
	Phases *Phases
}
