// Package oracle compares weft's TPC-H generator with another port of dbgen. It is a module of its
// own, because that port brings dependencies the product must not have. Run it by hand:
//
//	cd bench/oracle && go test -count=1 .
package oracle
