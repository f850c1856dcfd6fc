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

// A transaction that lost against another one, or was chosen to end a deadlock, is run again from its beginning.
func ExampleIsSerializationFailure() {
	db, err := sql.Open("weft", weft.InMemory)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(exampleTable); err != nil {
		log.Fatal(err)
	}
	move := func(from, to int64, amount string) error {
		tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: sql.LevelSerializable})
		if err != nil {
			return err
		}
		defer tx.Rollback()
		for _, change := range []struct {
			id     int64
			amount string
		}{{from, "-" + amount}, {to, amount}} {
			if _, err := tx.Exec("UPDATE orders SET amount = amount + $2 WHERE id = $1", change.id, change.amount); err != nil {
				return err
			}
		}
		return tx.Commit()
	}
	for {
		if err = move(4, 1, "50"); !weft.IsSerializationFailure(err) {
			break
		}
	}
	if err != nil {
		log.Fatal(err)
	}
	var amount string
	if err := db.QueryRow("SELECT amount FROM orders WHERE id = $1", 1).Scan(&amount); err != nil {
		log.Fatal(err)
	}
	fmt.Println(amount)
	// Output: 90.00
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
