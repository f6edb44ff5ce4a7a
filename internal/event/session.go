package event

var sessionFacts = []kind{
	fact[SessionStarted](), fact[SessionResumed](), fact[SessionRenamed](), fact[SessionForked](),
	fact[ModelChanged](), fact[BaselineRecorded](),
}

// SessionStarted is the first fact of every log.
type SessionStarted struct {
	Title            string  `json:"title"`
	ProjectHash      string  `json:"projectHash"`
	WorkingDirectory string  `json:"workingDirectory"`
	GitBranch        *string `json:"gitBranch"` // nil outside a repository and on a detached head
	Model            string  `json:"model"`
	AuxModel         string  `json:"auxModel"`
	KhaelorVersion   string  `json:"khaelorVersion"`
	ParentSessionID  string  `json:"parentSessionId,omitempty"` // the session whose subtask this is
}

// SessionResumed says that a program opened the log again.
type SessionResumed struct {
	KhaelorVersion string       `json:"khaelorVersion"`
	ReplayedSeq    int64        `json:"replayedSeq"` // the highest seq that was replayed
	Model          string       `json:"model"`
	ToolNames      List[string] `json:"toolNames"`
}

// SessionRenamed gives the session another title.
type SessionRenamed struct {
	Title string `json:"title"`
}

// SessionForked says that the facts before it are a copy of another log.
type SessionForked struct {
	FromSessionID string `json:"fromSessionId"`
	AtSeq         int64  `json:"atSeq"`
}

// ChangeReason says who changed the model.
type ChangeReason string

const (
	ChangedByUser   ChangeReason = "user"
	ChangedByConfig ChangeReason = "config"
)

// ModelChanged ends one lineage of the prompt cache: thinking made by the
// earlier model is not sent to the later one.
type ModelChanged struct {
	From   string       `json:"from"`
	To     string       `json:"to"`
	Reason ChangeReason `json:"reason"`
}

// BaselineMoment says when a baseline was taken.
type BaselineMoment string

const (
	AtSessionStart BaselineMoment = "session-start"
	BeforeEdit     BaselineMoment = "pre-first-edit"
)

// GitBaseline is the state of the repository that was there before us.
type GitBaseline struct {
	Branch         string       `json:"branch"`
	DirtyFiles     List[string] `json:"dirtyFiles"`
	UntrackedFiles List[string] `json:"untrackedFiles"`
	DiffHash       string       `json:"diffHash"` // hex SHA-256 of `git diff HEAD` at that time
}

// BaselineRecorded keeps what was changed in the repository before we came.
type BaselineRecorded struct {
	When     BaselineMoment `json:"when"`
	Baseline GitBaseline    `json:"baseline"`
}

func (SessionStarted) durable() string   { return "session.started" }
func (SessionResumed) durable() string   { return "session.resumed" }
func (SessionRenamed) durable() string   { return "session.renamed" }
func (SessionForked) durable() string    { return "session.forked" }
func (ModelChanged) durable() string     { return "session.model-changed" }
func (BaselineRecorded) durable() string { return "git.baseline-recorded" }
