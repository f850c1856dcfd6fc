package weft_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"

	"github.com/weftdb/weft"
)

const exampleTable = `CREATE TABLE orders (id bigint PRIMARY KEY, customer int, amount numeric(12,2));
	INSERT INTO orders SELECT g, g % 2, g * 40 FROM generate_series(1, 4) g`

// The driver of database/sql is named weft; a data source is a directory, or ":memory:".
func Example() {
	db, err := sql.Open("weft", weft.InMemory)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(exampleTable); err != nil {
		log.Fatal(err)
	}
	rows, err := db.Query("SELECT id FROM orders WHERE amount > $1 ORDER BY id", 100)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			log.Fatal(err)
		}
		fmt.Println(id)
	}
	// Output:
	// 3
	// 4
}

// The native API gives a statement's rows and batches, its notices, and errors with SQLSTATE.
func ExampleOpen() {
	ctx := context.Background()
	db, err := weft.Open(ctx, weft.InMemory, weft.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, exampleTable); err != nil {
		log.Fatal(err)
	}
	rows, err := db.Query(ctx, "SELECT customer, sum(amount) FROM orders GROUP BY 1 ORDER BY 1")
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var customer int
		var total string
		if err := rows.Scan(&customer, &total); err != nil {
			log.Fatal(err)
		}
		fmt.Println(customer, total)
	}
	// Output:
	// 0 240.00
	// 1 160.00
}
