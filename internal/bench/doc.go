// Package bench measures our own parts and prints the figures beside the bars
// of the contract (§14).
//
// It has no code of its own: TestBenchTable runs the real engine against the
// scripted model, the real log on the real disk, and the built program, and
// prints one row a figure. It never fails for being slow; a person, or
// `make bench` before and after a change, compares. Start reading there.
package bench
