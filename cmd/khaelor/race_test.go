//go:build race

package main

// The race detector needs several times the memory of a program.
const underRace = true
