package event

var processFacts = []kind{fact[ProcessStarted](), fact[ProcessExited]()}

// ProcessStarted says that a background process runs.
type ProcessStarted struct {
	ProcessID string `json:"processId"` // ours, stable when the system reuses the pid
	PID       int    `json:"pid"`
	Command   string `json:"command"`
	Cwd       string `json:"cwd"`
	Name      string `json:"name,omitempty"`
	ToolUseID string `json:"toolUseId"`
}

// ExitCause says why a process ended.
type ExitCause string

const (
	ExitedByItself ExitCause = "exited"
	StoppedByTool  ExitCause = "stopped-by-tool"
	EndedByUs      ExitCause = "khaelor-shutdown"
	Crashed        ExitCause = "crashed"
)

// ProcessExited ends a background process.
type ProcessExited struct {
	ProcessID  string    `json:"processId"`
	ExitCode   *int      `json:"exitCode"` // nil when a signal killed it
	Cause      ExitCause `json:"cause"`
	DurationMS int64     `json:"durationMs"`
}

func (ProcessStarted) durable() string { return "process.started" }
func (ProcessExited) durable() string  { return "process.exited" }

// OutputStream is stdout or stderr.
type OutputStream string

const (
	Stdout OutputStream = "stdout"
	Stderr OutputStream = "stderr"
)

// ProcessOutput is a piece of a background process's output.
type ProcessOutput struct {
	ProcessID string       `json:"processId"`
	Stream    OutputStream `json:"stream"`
	Chunk     string       `json:"chunk"`
}

func (ProcessOutput) ephemeral() string { return "process.output" }
