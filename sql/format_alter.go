package sql

import "fmt"

func (f *formatter) alterTable(s *AlterTable) {
	f.w("ALTER ", objectWords[s.Kind], " ")
	f.when(s.IfExists, "IF EXISTS ")
	f.when(s.Only, "ONLY ")
	f.object(s.Name)
	f.w(" ")
	list(f, s.Actions, f.alterAction)
}

// alterAction writes one action of ALTER TABLE.
func (f *formatter) alterAction(a AlterAction) {
	switch a := a.(type) {
	case *AddColumn:
		f.w("ADD COLUMN ")
		f.when(a.IfNotExists, "IF NOT EXISTS ")
		f.columnDef(a.Column)
	case *DropColumn:
		f.dropPart("COLUMN ", a.IfExists, a.Name, a.Cascade)
	case *DropConstraint:
		f.dropPart("CONSTRAINT ", a.IfExists, a.Name, a.Cascade)
	case *DropPartition:
		f.dropPart("PARTITION ", false, a.Name, false)
	case *AddConstraint:
		f.w("ADD ")
		f.constraint(a.Constraint)
	case *ValidateConstraint:
		f.w("VALIDATE CONSTRAINT ")
		f.ident(a.Name)
	case *AddPartition:
		f.w("ADD ")
		f.partitionDef(a.Partition)
	case *TruncatePartition:
		f.w("TRUNCATE PARTITION ")
		f.ident(a.Name)
	case *AttachPartition:
		f.w("ATTACH PARTITION ")
		f.object(a.Table)
		f.w(" ")
		f.bound(a.Bound, false)
	case *DetachPartition:
		f.w("DETACH PARTITION ")
		f.object(a.Table)
		f.when(a.Concurrently, " CONCURRENTLY")
		f.when(a.Finalize, " FINALIZE")
	case *ColView:
		f.colView(a)
	case *SetOptions:
		f.w(map[bool]string{false: "SET ", true: "RESET "}[a.Reset])
		f.options(a.Options, " = ")
	default:
		f.renaming(a)
	}
}

func (f *formatter) dropPart(what string, ifExists bool, name Ident, cascade bool) {
	f.w("DROP ", what)
	f.when(ifExists, "IF EXISTS ")
	f.ident(name)
	f.when(cascade, " CASCADE")
}

// renaming writes the actions that change a name or owner.
func (f *formatter) renaming(a AlterAction) {
	switch a := a.(type) {
	case *RenameColumn:
		f.rename("COLUMN ", a.Name, a.NewName)
	case *RenameConstraint:
		f.rename("CONSTRAINT ", a.Name, a.NewName)
	case *RenamePartition:
		f.rename("PARTITION ", a.Name, a.NewName)
	case *RenameTo:
		f.w("RENAME TO ")
		f.ident(a.NewName)
	case *SetSchema:
		f.w("SET SCHEMA ")
		f.ident(a.Schema)
	case *OwnerTo:
		f.w("OWNER TO ")
		f.ident(a.Owner)
	default:
		f.alterColumn(a)
	}
}

func (f *formatter) rename(what string, old, name Ident) {
	f.w("RENAME ", what)
	f.ident(old)
	f.w(" TO ")
	f.ident(name)
}

// alterColumn writes the actions of ALTER COLUMN.
func (f *formatter) alterColumn(a AlterAction) {
	f.w("ALTER COLUMN ")
	switch a := a.(type) {
	case *AlterColumnType:
		f.ident(a.Column)
		f.w(" TYPE ")
		f.typeName(a.Type)
		if a.Collation != nil {
			f.w(" COLLATE ")
			f.object(*a.Collation)
		}
		f.clause(" USING ", a.Using)
	case *AlterColumnDefault:
		f.ident(a.Column)
		f.when(a.Default == nil, " DROP DEFAULT")
		f.clause(" SET DEFAULT ", a.Default)
	case *AlterColumnNotNull:
		f.ident(a.Column)
		f.w(map[bool]string{false: " DROP NOT NULL", true: " SET NOT NULL"}[a.NotNull])
	case *AlterColumnStatistics:
		f.ident(a.Column)
		f.w(" SET STATISTICS ")
		f.int(a.Target)
	case *AddIdentity:
		f.ident(a.Column)
		f.w(" ADD ")
		f.identity(a.Identity)
	case *SetIdentity:
		f.setIdentity(a)
	case *DropIdentity:
		f.ident(a.Column)
		f.w(" DROP ", map[bool]string{false: "IDENTITY", true: "EXPRESSION"}[a.Expression])
		f.when(a.IfExists, " IF EXISTS")
	default:
		panic(fmt.Sprintf("sql: Format of %T", a))
	}
}

func (f *formatter) setIdentity(a *SetIdentity) {
	f.ident(a.Column)
	if a.Generated != nil {
		f.w(" SET GENERATED ", map[bool]string{true: "ALWAYS", false: "BY DEFAULT"}[a.Generated.Always])
	}
	for _, o := range a.Options {
		f.sequenceOptions(" SET ", []SequenceOption{o})
	}
}

func (f *formatter) colView(a *ColView) {
	if a.Partition.Name != "" {
		f.w("MODIFY PARTITION ")
		f.ident(a.Partition)
		f.w(" ")
	}
	f.w([]string{"COLVIEW", "COLVIEW", "COLVIEW NOCOLVIEW", "NOCOLVIEW", "COLVIEW AUTO"}[a.Mode])
	f.optColumns(a.Columns)
}
