// Command depot prints what is stored.
package main

import (
	"fmt"
	"os"

	"example.org/depot/depot"
)

var verbose = os.Getenv("VERBOSE") != ""

func main() {
	store := depot.New(8)
	store.Put(depot.Box{Label: "tea"})
	fmt.Println(store.Count())
}
