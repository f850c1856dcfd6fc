package weft

import (
	"errors"

	"github.com/weftdb/weft/internal/sqlerr"
)

// Error is what a failed statement returns: a SQLSTATE code with message, detail, hint and position.
// Get it with errors.As.
type Error = sqlerr.Error

// IsUniqueViolation reports whether err says that a key exists already.
func IsUniqueViolation(err error) bool { return hasCode(err, sqlerr.UniqueViolation) }

// IsSerializationFailure reports whether err asks to repeat the transaction: it lost against a
// concurrent one, by conflict or deadlock.
func IsSerializationFailure(err error) bool {
	return hasCode(err, sqlerr.SerializationFailure) || hasCode(err, sqlerr.DeadlockDetected)
}

func hasCode(err error, code sqlerr.Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}
