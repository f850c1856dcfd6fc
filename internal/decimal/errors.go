package decimal

import "github.com/weftdb/weft/internal/sqlerr"

// The errors of numeric, in PostgreSQL's words.
var (
	ErrOverflow       = sqlerr.New(sqlerr.NumericValueOutOfRange, "value overflows numeric format")
	ErrDivisionByZero = sqlerr.New(sqlerr.DivisionByZero, "division by zero")
	errNegativeSqrt   = sqlerr.New(sqlerr.InvalidArgumentForPower, "cannot take square root of a negative number")
	errLogZero        = sqlerr.New(sqlerr.InvalidArgumentForLogarithm, "cannot take logarithm of zero")
	errLogNegative    = sqlerr.New(sqlerr.InvalidArgumentForLogarithm, "cannot take logarithm of a negative number")
	errZeroPower      = sqlerr.New(sqlerr.InvalidArgumentForPower, "zero raised to a negative power is undefined")
	errComplexPower   = sqlerr.New(sqlerr.InvalidArgumentForPower, "a negative number raised to a non-integer power yields a complex result")
)
