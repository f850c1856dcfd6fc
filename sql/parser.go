package sql

import "github.com/weftdb/weft/internal/sqlerr"

// Parse parses the statements of text, which are separated by semicolons.
func Parse(text string) ([]Statement, error) {
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "parser not built yet")
}

// ParseOne parses text that holds exactly one statement.
func ParseOne(text string) (Statement, error) {
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "parser not built yet")
}

// ParseExpr parses a value expression.
func ParseExpr(text string) (Expr, error) {
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "parser not built yet")
}
