package tool

import "errors"

// ErrNobody says that nobody is there to answer a question.
var ErrNobody = errors.New("nobody is there to ask")

// Question is what a call wants to know of the user.
type Question struct {
	Text     string
	Options  []string // to choose from; words of one's own are always possible
	Multiple bool     // several options may be chosen
}
