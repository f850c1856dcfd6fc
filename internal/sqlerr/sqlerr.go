// Package sqlerr defines the one error type that crosses weft's layers.
//
// Every error a user can cause carries a SQLSTATE code and, where it helps, a position in the
// statement's text, a detail, a hint and the name of the object concerned. The root package
// exports the type as *weft.Error; its field names are those of pgconn.PgError, so code written
// for PostgreSQL drivers keeps working.
package sqlerr

import (
	"errors"
	"fmt"
	"strings"
)

// Code is a SQLSTATE: five characters, as in PostgreSQL's appendix A.
type Code string

// The codes weft raises.
const (
	SuccessfulCompletion         Code = "00000"
	FeatureNotSupported          Code = "0A000"
	CardinalityViolation         Code = "21000"
	StringDataRightTruncation    Code = "22001"
	NumericValueOutOfRange       Code = "22003"
	DatetimeFieldOverflow        Code = "22008"
	DivisionByZero               Code = "22012"
	IntervalFieldOverflow        Code = "22015"
	InvalidArgumentForLogarithm  Code = "2201E"
	InvalidArgumentForPower      Code = "2201F"
	InvalidRowCountInLimit       Code = "2201W"
	InvalidRowCountInOffset      Code = "2201X"
	SubstringError               Code = "22011"
	InvalidParameterValue        Code = "22023"
	InvalidEscapeSequence        Code = "22025"
	InvalidTextRepresentation    Code = "22P02"
	InvalidDatetimeFormat        Code = "22007"
	BadCopyFileFormat            Code = "22P04"
	UntranslatableCharacter      Code = "22P05"
	CharacterNotInRepertoire     Code = "22021"
	NotNullViolation             Code = "23502"
	ForeignKeyViolation          Code = "23503"
	UniqueViolation              Code = "23505"
	CheckViolation               Code = "23514"
	ActiveTransaction            Code = "25001"
	ReadOnlyTransaction          Code = "25006"
	NoActiveTransaction          Code = "25P01"
	InFailedTransaction          Code = "25P02"
	InvalidCursorName            Code = "34000"
	InvalidSchemaName            Code = "3F000"
	InvalidSavepoint             Code = "3B001"
	SerializationFailure         Code = "40001"
	DeadlockDetected             Code = "40P01"
	SyntaxError                  Code = "42601"
	InvalidName                  Code = "42602"
	NameTooLong                  Code = "42622"
	DuplicateColumn              Code = "42701"
	AmbiguousColumn              Code = "42702"
	UndefinedColumn              Code = "42703"
	UndefinedObject              Code = "42704"
	UndefinedStatement           Code = "26000"
	DuplicateObject              Code = "42710"
	DuplicateAlias               Code = "42712"
	DuplicateFunction            Code = "42723"
	AmbiguousFunction            Code = "42725"
	GroupingError                Code = "42803"
	DatatypeMismatch             Code = "42804"
	WrongObjectType              Code = "42809"
	CannotCoerce                 Code = "42846"
	UndefinedFunction            Code = "42883"
	UndefinedTable               Code = "42P01"
	UndefinedParameter           Code = "42P02"
	DuplicatePreparedStatement   Code = "42P05"
	DuplicateTable               Code = "42P07"
	AmbiguousParameter           Code = "42P08"
	InvalidColumnReference       Code = "42P10"
	InvalidTableDefinition       Code = "42P16"
	IndeterminateDatatype        Code = "42P18"
	InvalidRecursion             Code = "42P19"
	OutOfMemory                  Code = "53200"
	DiskFull                     Code = "53100"
	ConfigurationLimitExceeded   Code = "53400"
	StatementTooComplex          Code = "54001"
	TooManyColumns               Code = "54011"
	ProgramLimitExceeded         Code = "54000"
	DependentObjectsStillExist   Code = "2BP01"
	ObjectNotInPrerequisiteState Code = "55000"
	SequenceLimitExceeded        Code = "2200H"
	InvalidObjectDefinition      Code = "42P17"
	IdleInTransactionTimeout     Code = "25P03"
	GeneratedAlways              Code = "428C9"
	InvalidColumnDefinition      Code = "42611"
	ReservedName                 Code = "42939"
	InvalidForeignKey            Code = "42830"
	ObjectInUse                  Code = "55006"
	CantChangeRuntimeParam       Code = "55P02"
	LockNotAvailable             Code = "55P03"
	QueryCanceled                Code = "57014"
	AdminShutdown                Code = "57P01"
	CannotConnectNow             Code = "57P03"
	SystemError                  Code = "58000"
	UndefinedFile                Code = "58P01"
	DuplicateFile                Code = "58P02"
	IOError                      Code = "58030"
	InternalError                Code = "XX000"
	DataCorrupted                Code = "XX001"
	IndexCorrupted               Code = "XX002"
)

// Error is an error with a SQLSTATE. It is immutable after it has been returned; the With methods
// return changed copies.
type Error struct {
	Code           Code
	Message        string
	Detail         string
	Hint           string
	Position       int // 1-based byte offset into the statement's text; 0 = none
	SchemaName     string
	TableName      string
	ColumnName     string
	ConstraintName string
	cause          error
	stack          string
}

// New makes an error with a formatted message. A %w verb sets the error that Unwrap returns; %q is as
// in Text.
func New(code Code, format string, args ...any) *Error {
	if false {
		_ = fmt.Errorf(format, args...) // so that go vet compares format and args
	}
	err := fmt.Errorf(plainQuotes(format), args...)
	return &Error{Code: code, Message: err.Error(), cause: errors.Unwrap(err)}
}

// Text formats a message. Its %q, and that of all functions here, puts the text between double quotes
// and leaves it as it is, as PostgreSQL does: Go's would escape quotes and backslashes in names.
func Text(format string, args ...any) string {
	if false {
		_ = fmt.Sprintf(format, args...) // so that go vet compares format and args
	}
	return fmt.Sprintf(plainQuotes(format), args...)
}

func plainQuotes(format string) string { return strings.ReplaceAll(format, "%q", `"%s"`) }

// Error returns message and code, as PostgreSQL drivers print them.
func (e *Error) Error() string { return e.Message + " (SQLSTATE " + string(e.Code) + ")" }

// Unwrap returns the underlying error, if any.
func (e *Error) Unwrap() error { return e.cause }

// Is makes errors.Is(err, &Error{Code: c}) true for every error with code c.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Message == "" && t.Code == e.Code
}

func (e *Error) clone() *Error { c := *e; return &c }

// WithDetail returns a copy with a formatted detail line.
func (e *Error) WithDetail(format string, args ...any) *Error {
	c := e.clone()
	c.Detail = Text(format, args...)
	return c
}

// WithHint returns a copy with a formatted hint line.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := e.clone()
	c.Hint = Text(format, args...)
	return c
}

// At returns a copy that points at the 0-based byte offset of the statement's text. A position set
// earlier, closer to the cause, is kept.
func (e *Error) At(offset int) *Error {
	if e.Position != 0 {
		return e
	}
	c := e.clone()
	c.Position = offset + 1
	return c
}

// WithTable returns a copy that names a table.
func (e *Error) WithTable(table string) *Error {
	c := e.clone()
	c.TableName = table
	return c
}

// WithColumn returns a copy that names a column.
func (e *Error) WithColumn(column string) *Error {
	c := e.clone()
	c.ColumnName = column
	return c
}

// WithConstraint returns a copy that names a constraint.
func (e *Error) WithConstraint(name string) *Error {
	c := e.clone()
	c.ConstraintName = name
	return c
}

// CodeOf returns the SQLSTATE of err, XX000 for an error without one and 00000 for nil.
func CodeOf(err error) Code {
	if err == nil {
		return SuccessfulCompletion
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return InternalError
}

// OfData reports whether the code blames values: of a data exception, or more rows than one where
// one is allowed. The same statement can succeed on other data.
func (c Code) OfData() bool { return strings.HasPrefix(string(c), "22") || c == CardinalityViolation }
