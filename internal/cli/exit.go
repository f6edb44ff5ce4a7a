package cli

import (
	"errors"
	"fmt"

	"github.com/khaelor/khaelor/internal/anthropic"
	"github.com/khaelor/khaelor/internal/config"
	"github.com/khaelor/khaelor/internal/event"
)

// The exit codes of the contract (§2, §15).
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitPermission  = 3
	exitUnverified  = 4
	exitBudget      = 5
	exitInterrupted = 130
	exitTerminated  = 143
)

// Outcome is how a run ended, in the words of the JSON result.
type Outcome string

const (
	outcomeCompleted   Outcome = "completed"
	outcomeUnverified  Outcome = "completed-unverified"
	outcomeFailed      Outcome = "failed"
	outcomeInterrupted Outcome = "interrupted"
	outcomePermission  Outcome = "permission-denied"
	outcomeBudget      Outcome = "budget-exhausted"
)

var outcomeCodes = map[Outcome]int{
	outcomeCompleted: exitOK, outcomeUnverified: exitUnverified, outcomeFailed: exitFailed,
	outcomeInterrupted: exitInterrupted, outcomePermission: exitPermission, outcomeBudget: exitBudget,
}

// outcomeOf reads the end of a task. A task without one failed.
func outcomeOf(result event.Fact) (Outcome, reason) {
	switch p := result.(type) {
	case event.TaskCompleted:
		if len(p.Evidence.UnresolvedIssues) > 0 {
			return outcomeUnverified, ""
		}
		return outcomeCompleted, ""
	case event.Interrupted:
		return outcomeInterrupted, "interrupted"
	case event.TaskFailed:
		switch p.Reason {
		case event.FailedIterations, event.FailedCost, event.FailedTime:
			return outcomeBudget, reason(p.Detail)
		case event.FailedPermission:
			return outcomePermission, reason(p.Detail)
		}
		return outcomeFailed, reason(p.Detail)
	}
	return outcomeFailed, "the task did not come to an end"
}

// usageError is a command line or a configuration that cannot be used.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// budgetError is a limit that leaves nothing to begin with.
type budgetError struct{ error }

func (e budgetError) Unwrap() error { return e.error }

// outcomeOfError is the outcome of a run that ended before its task did.
func outcomeOfError(err error) Outcome {
	if errors.As(err, new(budgetError)) {
		return outcomeBudget
	}
	return outcomeFailed
}

// exitError ends the program with a code; what is to be said has been said.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// report says what went wrong and returns the exit code.
func (a *App) report(err error) int {
	if err == nil {
		return exitOK
	}
	var code exitError
	if errors.As(err, &code) {
		return int(code)
	}
	fmt.Fprintf(a.Stderr, "khaelor: %v\n", err)
	return codeOf(err)
}

func codeOf(err error) int {
	var (
		usage    usageError
		settings *config.Error
		client   *anthropic.ConfigError
	)
	if errors.As(err, &usage) || errors.As(err, &settings) || errors.As(err, &client) {
		return exitUsage
	}
	return outcomeCodes[outcomeOfError(err)]
}
