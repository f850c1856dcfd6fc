// Package sql turns SQL text into a syntax tree and a syntax tree back into SQL text.
//
// The grammar is PostgreSQL 15's, plus the column-view statements (COLVIEW), DISTRIBUTE BY, inline
// partition lists and optimizer hints. The package knows nothing of catalogs or types: names are
// not looked up, operators are kept by their spelling, and statements that the engine does not
// execute are parsed all the same, so that the layers above decide what is supported.
//
//	Parse, ParseOne, ParseExpr   text to tree
//	NextStatement                where a statement ends in a buffer being typed
//	Format                       tree to canonical text; parsing it yields an equal tree
//	Inspect                      visits every node
//	ColumnLabel                  what a result column without an alias is called
//
// ast*.go define the tree; token.go, keywords.go and lexer*.go the tokens;
// parser_*.go one group of statements each; format_*.go the way back.
package sql
