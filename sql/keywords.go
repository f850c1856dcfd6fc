package sql

// The keywords with the meaning they have in the grammar, in alphabetical order. Words that are only
// reserved or only classified have constants too, so that the table below can stay in step.
const (
	kwAbort = firstKeyword + iota
	kwAbsolute
	kwAction
	kwAdd
	kwAll
	kwAlter
	kwAlways
	kwAnalyse
	kwAnalyze
	kwAnd
	kwAny
	kwArray
	kwAs
	kwAsc
	kwAsensitive
	kwAsymmetric
	kwAt
	kwAttach
	kwAuthorization
	kwAuto
	kwBackward
	kwBegin
	kwBetween
	kwBigint
	kwBinary
	kwBit
	kwBoolean
	kwBoth
	kwBy
	kwCache
	kwCascade
	kwCascaded
	kwCase
	kwCast
	kwChain
	kwChar
	kwCharacter
	kwCharacteristics
	kwCheck
	kwCheckpoint
	kwClose
	kwCoalesce
	kwCollate
	kwCollation
	kwColumn
	kwColview
	kwCommit
	kwCommitted
	kwConcurrently
	kwConflict
	kwConstraint
	kwConstraints
	kwContinue
	kwCopy
	kwCreate
	kwCross
	kwCsv
	kwCube
	kwCurrent
	kwCurrentCatalog
	kwCurrentDate
	kwCurrentRole
	kwCurrentSchema
	kwCurrentTime
	kwCurrentTimestamp
	kwCurrentUser
	kwCursor
	kwCycle
	kwData
	kwDay
	kwDeallocate
	kwDec
	kwDecimal
	kwDeclare
	kwDefault
	kwDeferrable
	kwDeferred
	kwDelete
	kwDelimiter
	kwDesc
	kwDetach
	kwDiscard
	kwDistinct
	kwDistribute
	kwDo
	kwDouble
	kwDrop
	kwElse
	kwEncoding
	kwEnd
	kwEscape
	kwExcept
	kwExclude
	kwExcluding
	kwExecute
	kwExists
	kwExplain
	kwExpression
	kwExtract
	kwFalse
	kwFetch
	kwFilter
	kwFinalize
	kwFirst
	kwFloat
	kwFollowing
	kwFor
	kwForce
	kwForeign
	kwForward
	kwFreeze
	kwFrom
	kwFull
	kwGenerated
	kwGlobal
	kwGrant
	kwGreatest
	kwGroup
	kwGrouping
	kwGroups
	kwHaving
	kwHeader
	kwHold
	kwHour
	kwIdentity
	kwIf
	kwIlike
	kwImmediate
	kwIn
	kwInclude
	kwIncluding
	kwIncrement
	kwIndex
	kwInherit
	kwInherits
	kwInitially
	kwInner
	kwInout
	kwInsensitive
	kwInsert
	kwInt
	kwInteger
	kwIntersect
	kwInterval
	kwInto
	kwIs
	kwIsnull
	kwIsolation
	kwJoin
	kwKey
	kwLast
	kwLateral
	kwLeading
	kwLeast
	kwLeft
	kwLess
	kwLevel
	kwLike
	kwLimit
	kwLocal
	kwLocaltime
	kwLocaltimestamp
	kwLock
	kwLocked
	kwMatch
	kwMatched
	kwMaterialized
	kwMaxvalue
	kwMerge
	kwMinus
	kwMinute
	kwMinvalue
	kwMode
	kwModify
	kwMonth
	kwMove
	kwNames
	kwNational
	kwNatural
	kwNchar
	kwNext
	kwNo
	kwNocolview
	kwNone
	kwNormalize
	kwNot
	kwNothing
	kwNotnull
	kwNowait
	kwNull
	kwNullif
	kwNulls
	kwNumeric
	kwOf
	kwOffset
	kwOids
	kwOn
	kwOnly
	kwOperator
	kwOption
	kwOptions
	kwOr
	kwOrder
	kwOrdinality
	kwOthers
	kwOut
	kwOuter
	kwOver
	kwOverlaps
	kwOverlay
	kwOverriding
	kwOwned
	kwOwner
	kwPartial
	kwPartition
	kwPlacing
	kwPlans
	kwPosition
	kwPreceding
	kwPrecision
	kwPrepare
	kwPrepared
	kwPreserve
	kwPrimary
	kwPrior
	kwProgram
	kwQuote
	kwRange
	kwRead
	kwReal
	kwRecursive
	kwReferences
	kwRefresh
	kwRelative
	kwRelease
	kwRename
	kwRepeatable
	kwReplace
	kwReset
	kwRestart
	kwRestrict
	kwReturning
	kwRight
	kwRole
	kwRollback
	kwRollup
	kwRow
	kwRows
	kwSavepoint
	kwSchema
	kwScroll
	kwSearch
	kwSecond
	kwSelect
	kwSequence
	kwSequences
	kwSerializable
	kwSession
	kwSessionUser
	kwSet
	kwSetof
	kwSets
	kwShare
	kwShow
	kwSimilar
	kwSimple
	kwSkip
	kwSmallint
	kwSome
	kwStart
	kwStatistics
	kwStdin
	kwStdout
	kwStored
	kwSubstring
	kwSymmetric
	kwSystem
	kwTable
	kwTablesample
	kwTablespace
	kwTemp
	kwTemporary
	kwThan
	kwThen
	kwTies
	kwTime
	kwTimestamp
	kwTo
	kwTrailing
	kwTransaction
	kwTreat
	kwTrim
	kwTrue
	kwTruncate
	kwType
	kwUnbounded
	kwUncommitted
	kwUnion
	kwUnique
	kwUnknown
	kwUnlogged
	kwUpdate
	kwUser
	kwUsing
	kwVacuum
	kwValid
	kwValidate
	kwValue
	kwValues
	kwVarchar
	kwVariadic
	kwVarying
	kwVerbose
	kwView
	kwWhen
	kwWhere
	kwWindow
	kwWith
	kwWithin
	kwWithout
	kwWork
	kwWrite
	kwXmlattributes
	kwXmlconcat
	kwXmlelement
	kwXmlexists
	kwXmlforest
	kwXmlnamespaces
	kwXmlparse
	kwXmlpi
	kwXmlroot
	kwXmlserialize
	kwXmltable
	kwYear
	kwZone
)

// keywordTable is indexed by kind - firstKeyword. Classes are those of PostgreSQL 15; day, hour and the
// other units of time may follow an expression as its name, which PostgreSQL does not allow.
var keywordTable = [...]keyword{
	{"abort", unreserved, false},
	{"absolute", unreserved, false},
	{"action", unreserved, false},
	{"add", unreserved, false},
	{"all", reserved, false},
	{"alter", unreserved, false},
	{"always", unreserved, false},
	{"analyse", reserved, false},
	{"analyze", reserved, false},
	{"and", reserved, false},
	{"any", reserved, false},
	{"array", reserved, true},
	{"as", reserved, true},
	{"asc", reserved, false},
	{"asensitive", unreserved, false},
	{"asymmetric", reserved, false},
	{"at", unreserved, false},
	{"attach", unreserved, false},
	{"authorization", typeFuncName, false},
	{"auto", unreserved, false},
	{"backward", unreserved, false},
	{"begin", unreserved, false},
	{"between", colName, false},
	{"bigint", colName, false},
	{"binary", typeFuncName, false},
	{"bit", colName, false},
	{"boolean", colName, false},
	{"both", reserved, false},
	{"by", unreserved, false},
	{"cache", unreserved, false},
	{"cascade", unreserved, false},
	{"cascaded", unreserved, false},
	{"case", reserved, false},
	{"cast", reserved, false},
	{"chain", unreserved, false},
	{"char", colName, true},
	{"character", colName, true},
	{"characteristics", unreserved, false},
	{"check", reserved, false},
	{"checkpoint", unreserved, false},
	{"close", unreserved, false},
	{"coalesce", colName, false},
	{"collate", reserved, false},
	{"collation", typeFuncName, false},
	{"column", reserved, false},
	{"colview", unreserved, false},
	{"commit", unreserved, false},
	{"committed", unreserved, false},
	{"concurrently", typeFuncName, false},
	{"conflict", unreserved, false},
	{"constraint", reserved, false},
	{"constraints", unreserved, false},
	{"continue", unreserved, false},
	{"copy", unreserved, false},
	{"create", reserved, true},
	{"cross", typeFuncName, false},
	{"csv", unreserved, false},
	{"cube", unreserved, false},
	{"current", unreserved, false},
	{"current_catalog", reserved, false},
	{"current_date", reserved, false},
	{"current_role", reserved, false},
	{"current_schema", typeFuncName, false},
	{"current_time", reserved, false},
	{"current_timestamp", reserved, false},
	{"current_user", reserved, false},
	{"cursor", unreserved, false},
	{"cycle", unreserved, false},
	{"data", unreserved, false},
	{"day", unreserved, false},
	{"deallocate", unreserved, false},
	{"dec", colName, false},
	{"decimal", colName, false},
	{"declare", unreserved, false},
	{"default", reserved, false},
	{"deferrable", reserved, false},
	{"deferred", unreserved, false},
	{"delete", unreserved, false},
	{"delimiter", unreserved, false},
	{"desc", reserved, false},
	{"detach", unreserved, false},
	{"discard", unreserved, false},
	{"distinct", reserved, false},
	{"distribute", unreserved, false},
	{"do", reserved, false},
	{"double", unreserved, false},
	{"drop", unreserved, false},
	{"else", reserved, false},
	{"encoding", unreserved, false},
	{"end", reserved, false},
	{"escape", unreserved, false},
	{"except", reserved, true},
	{"exclude", unreserved, false},
	{"excluding", unreserved, false},
	{"execute", unreserved, false},
	{"exists", colName, false},
	{"explain", unreserved, false},
	{"expression", unreserved, false},
	{"extract", colName, false},
	{"false", reserved, false},
	{"fetch", reserved, true},
	{"filter", unreserved, true},
	{"finalize", unreserved, false},
	{"first", unreserved, false},
	{"float", colName, false},
	{"following", unreserved, false},
	{"for", reserved, true},
	{"force", unreserved, false},
	{"foreign", reserved, false},
	{"forward", unreserved, false},
	{"freeze", typeFuncName, false},
	{"from", reserved, true},
	{"full", typeFuncName, false},
	{"generated", unreserved, false},
	{"global", unreserved, false},
	{"grant", reserved, true},
	{"greatest", colName, false},
	{"group", reserved, true},
	{"grouping", colName, false},
	{"groups", unreserved, false},
	{"having", reserved, true},
	{"header", unreserved, false},
	{"hold", unreserved, false},
	{"hour", unreserved, false},
	{"identity", unreserved, false},
	{"if", unreserved, false},
	{"ilike", typeFuncName, false},
	{"immediate", unreserved, false},
	{"in", reserved, false},
	{"include", unreserved, false},
	{"including", unreserved, false},
	{"increment", unreserved, false},
	{"index", unreserved, false},
	{"inherit", unreserved, false},
	{"inherits", unreserved, false},
	{"initially", reserved, false},
	{"inner", typeFuncName, false},
	{"inout", colName, false},
	{"insensitive", unreserved, false},
	{"insert", unreserved, false},
	{"int", colName, false},
	{"integer", colName, false},
	{"intersect", reserved, true},
	{"interval", colName, false},
	{"into", reserved, true},
	{"is", typeFuncName, false},
	{"isnull", typeFuncName, true},
	{"isolation", unreserved, false},
	{"join", typeFuncName, false},
	{"key", unreserved, false},
	{"last", unreserved, false},
	{"lateral", reserved, false},
	{"leading", reserved, false},
	{"least", colName, false},
	{"left", typeFuncName, false},
	{"less", unreserved, false},
	{"level", unreserved, false},
	{"like", typeFuncName, false},
	{"limit", reserved, true},
	{"local", unreserved, false},
	{"localtime", reserved, false},
	{"localtimestamp", reserved, false},
	{"lock", unreserved, false},
	{"locked", unreserved, false},
	{"match", unreserved, false},
	{"matched", unreserved, false},
	{"materialized", unreserved, false},
	{"maxvalue", unreserved, false},
	{"merge", unreserved, false},
	{"minus", unreserved, false},
	{"minute", unreserved, false},
	{"minvalue", unreserved, false},
	{"mode", unreserved, false},
	{"modify", unreserved, false},
	{"month", unreserved, false},
	{"move", unreserved, false},
	{"names", unreserved, false},
	{"national", colName, false},
	{"natural", typeFuncName, false},
	{"nchar", colName, false},
	{"next", unreserved, false},
	{"no", unreserved, false},
	{"nocolview", unreserved, false},
	{"none", colName, false},
	{"normalize", colName, false},
	{"not", reserved, false},
	{"nothing", unreserved, false},
	{"notnull", typeFuncName, true},
	{"nowait", unreserved, false},
	{"null", reserved, false},
	{"nullif", colName, false},
	{"nulls", unreserved, false},
	{"numeric", colName, false},
	{"of", unreserved, false},
	{"offset", reserved, true},
	{"oids", unreserved, false},
	{"on", reserved, true},
	{"only", reserved, false},
	{"operator", unreserved, false},
	{"option", unreserved, false},
	{"options", unreserved, false},
	{"or", reserved, false},
	{"order", reserved, true},
	{"ordinality", unreserved, false},
	{"others", unreserved, false},
	{"out", colName, false},
	{"outer", typeFuncName, false},
	{"over", unreserved, true},
	{"overlaps", typeFuncName, true},
	{"overlay", colName, false},
	{"overriding", unreserved, false},
	{"owned", unreserved, false},
	{"owner", unreserved, false},
	{"partial", unreserved, false},
	{"partition", unreserved, false},
	{"placing", reserved, false},
	{"plans", unreserved, false},
	{"position", colName, false},
	{"preceding", unreserved, false},
	{"precision", colName, true},
	{"prepare", unreserved, false},
	{"prepared", unreserved, false},
	{"preserve", unreserved, false},
	{"primary", reserved, false},
	{"prior", unreserved, false},
	{"program", unreserved, false},
	{"quote", unreserved, false},
	{"range", unreserved, false},
	{"read", unreserved, false},
	{"real", colName, false},
	{"recursive", unreserved, false},
	{"references", reserved, false},
	{"refresh", unreserved, false},
	{"relative", unreserved, false},
	{"release", unreserved, false},
	{"rename", unreserved, false},
	{"repeatable", unreserved, false},
	{"replace", unreserved, false},
	{"reset", unreserved, false},
	{"restart", unreserved, false},
	{"restrict", unreserved, false},
	{"returning", reserved, true},
	{"right", typeFuncName, false},
	{"role", unreserved, false},
	{"rollback", unreserved, false},
	{"rollup", unreserved, false},
	{"row", colName, false},
	{"rows", unreserved, false},
	{"savepoint", unreserved, false},
	{"schema", unreserved, false},
	{"scroll", unreserved, false},
	{"search", unreserved, false},
	{"second", unreserved, false},
	{"select", reserved, false},
	{"sequence", unreserved, false},
	{"sequences", unreserved, false},
	{"serializable", unreserved, false},
	{"session", unreserved, false},
	{"session_user", reserved, false},
	{"set", unreserved, false},
	{"setof", colName, false},
	{"sets", unreserved, false},
	{"share", unreserved, false},
	{"show", unreserved, false},
	{"similar", typeFuncName, false},
	{"simple", unreserved, false},
	{"skip", unreserved, false},
	{"smallint", colName, false},
	{"some", reserved, false},
	{"start", unreserved, false},
	{"statistics", unreserved, false},
	{"stdin", unreserved, false},
	{"stdout", unreserved, false},
	{"stored", unreserved, false},
	{"substring", colName, false},
	{"symmetric", reserved, false},
	{"system", unreserved, false},
	{"table", reserved, false},
	{"tablesample", typeFuncName, false},
	{"tablespace", unreserved, false},
	{"temp", unreserved, false},
	{"temporary", unreserved, false},
	{"than", unreserved, false},
	{"then", reserved, false},
	{"ties", unreserved, false},
	{"time", colName, false},
	{"timestamp", colName, false},
	{"to", reserved, true},
	{"trailing", reserved, false},
	{"transaction", unreserved, false},
	{"treat", colName, false},
	{"trim", colName, false},
	{"true", reserved, false},
	{"truncate", unreserved, false},
	{"type", unreserved, false},
	{"unbounded", unreserved, false},
	{"uncommitted", unreserved, false},
	{"union", reserved, true},
	{"unique", reserved, false},
	{"unknown", unreserved, false},
	{"unlogged", unreserved, false},
	{"update", unreserved, false},
	{"user", reserved, false},
	{"using", reserved, false},
	{"vacuum", unreserved, false},
	{"valid", unreserved, false},
	{"validate", unreserved, false},
	{"value", unreserved, false},
	{"values", colName, false},
	{"varchar", colName, false},
	{"variadic", reserved, false},
	{"varying", unreserved, true},
	{"verbose", typeFuncName, false},
	{"view", unreserved, false},
	{"when", reserved, false},
	{"where", reserved, true},
	{"window", reserved, true},
	{"with", reserved, true},
	{"within", unreserved, true},
	{"without", unreserved, true},
	{"work", unreserved, false},
	{"write", unreserved, false},
	{"xmlattributes", colName, false},
	{"xmlconcat", colName, false},
	{"xmlelement", colName, false},
	{"xmlexists", colName, false},
	{"xmlforest", colName, false},
	{"xmlnamespaces", colName, false},
	{"xmlparse", colName, false},
	{"xmlpi", colName, false},
	{"xmlroot", colName, false},
	{"xmlserialize", colName, false},
	{"xmltable", colName, false},
	{"year", unreserved, false},
	{"zone", unreserved, false},
}
