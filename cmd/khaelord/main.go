// Command khaelord is the entry point of the daemon, for service managers. The
// daemon is not part of this version, and the program says so.
package main

import "os"

func main() {
	os.Stderr.WriteString("khaelord: this version has no daemon; use khaelor\n")
	os.Exit(2)
}
