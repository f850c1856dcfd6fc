module github.com/weftdb/weft/bench/oracle

go 1.26.0

require (
	github.com/pingcap/go-tpc v1.0.7
	github.com/weftdb/weft v0.0.0
)

require (
	github.com/klauspost/cpuid/v2 v2.2.10 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/weftdb/weft => ../..
