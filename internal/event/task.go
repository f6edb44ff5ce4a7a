package event

var taskFacts = []kind{
	fact[VerificationRequested](), fact[TaskCompleted](), fact[TaskFailed](), fact[ChecksCompleted](),
}

// CheckResult is what one check of the project said.
type CheckResult struct {
	Command    string `json:"command"`
	ExitCode   int    `json:"exitCode"`
	Summary    string `json:"summary"`
	DurationMS int64  `json:"durationMs"`
}

// CompletionEvidence is what a finished task can show, from recorded facts.
type CompletionEvidence struct {
	Objective        string            `json:"objective"`
	ChangedFiles     List[string]      `json:"changedFiles"`
	Checks           List[CheckResult] `json:"checks"`
	UnresolvedIssues List[string]      `json:"unresolvedIssues"`
}

// VerificationRequested withholds an answer until the project's checks ran.
type VerificationRequested struct {
	Attempt              int          `json:"attempt"` // 1 or 2
	DetectedChecks       List[string] `json:"detectedChecks"`
	WithheldCandidateSeq int64        `json:"withheldCandidateSeq"`
	ModelText            string       `json:"modelText"`
}

// TaskCompleted ends a task that the model calls done.
type TaskCompleted struct {
	Evidence CompletionEvidence `json:"evidence"`
}

// FailureReason says why a task failed.
type FailureReason string

const (
	FailedModel      FailureReason = "model-fatal-error"
	FailedIterations FailureReason = "iteration-budget-exhausted"
	FailedAbandoned  FailureReason = "user-abandoned"
	FailedCost       FailureReason = "cost-budget-exhausted"
	FailedTime       FailureReason = "time-budget-exhausted"
	FailedPermission FailureReason = "permission-denied"
	FailedRefusal    FailureReason = "refusal"
	FailedOutput     FailureReason = "output-limit"
	FailedDoomLoop   FailureReason = "doom-loop"
)

// TaskFailed ends a task that cannot go on.
type TaskFailed struct {
	Reason FailureReason `json:"reason"`
	Detail string        `json:"detail"` // says what to do about it
}

// CheckTrigger says why the project's checks ran.
type CheckTrigger string

const (
	ChecksAfterEdits   CheckTrigger = "edit-batch"
	ChecksAtCompletion CheckTrigger = "completion"
	ChecksByUser       CheckTrigger = "user"
)

// ChecksCompleted is a run of the project's checks by us, not by the model.
type ChecksCompleted struct {
	Trigger   CheckTrigger      `json:"trigger"`
	Checks    List[CheckResult] `json:"checks"`
	Round     int               `json:"round"`
	ModelText string            `json:"modelText"`
	AfterSeq  int64             `json:"afterSeq"`
}

func (VerificationRequested) durable() string { return "task.verification-requested" }
func (TaskCompleted) durable() string         { return "task.completed" }
func (TaskFailed) durable() string            { return "task.failed" }
func (ChecksCompleted) durable() string       { return "verify.checks-completed" }
