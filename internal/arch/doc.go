// Package arch holds the tests that keep the layout of this module true: who
// may import whom, which rooms touch the world, and a few habits that a reader
// relies on everywhere.
//
// It promises that a file which breaks a rule fails the build with its line
// and the reason for the rule, and that each rule has been seen failing: every
// one has a planted violation among the tests. Rules read syntax only, so that
// the whole tree takes well under a second; what needs types is left to vet
// and staticcheck. Test files are free of the rules.
//
// A rule that stands in the way of clearer code is changed in its table,
// together with its reason. Start reading with the tables: layers_test.go,
// then gates_test.go.
package arch
