package event

var fileFacts = []kind{fact[FileRead](), fact[FileModified]()}

// FileRead says what the model has seen of a file.
type FileRead struct {
	Path      string `json:"path"` // relative to the working directory when inside it
	Range     *Span  `json:"range,omitempty"`
	Bytes     int64  `json:"bytes"`
	MtimeMS   int64  `json:"mtimeMs"`
	ToolUseID string `json:"toolUseId"`
	SHA256    string `json:"sha256,omitempty"` // lower-case hex of the whole file
}

// FileOperation says how a file was changed.
type FileOperation string

const (
	FileWritten  FileOperation = "write"
	FileEdited   FileOperation = "edit"
	FileExecuted FileOperation = "exec" // by a command that ran, not by a file tool
)

// FileModified says that a file of the project changed under our hands.
type FileModified struct {
	Path         string        `json:"path"`
	Operation    FileOperation `json:"operation"`
	DiffStats    DiffStats     `json:"diffStats"`
	Diff         string        `json:"diff,omitempty"` // unified, capped at 32 KiB with a marker
	ToolUseID    string        `json:"toolUseId"`
	BeforeSHA256 string        `json:"beforeSha256,omitempty"` // "" when it did not exist, or nobody knows
	AfterSHA256  string        `json:"afterSha256,omitempty"`  // "" when it is gone, or too large to keep
}

func (FileRead) durable() string     { return "file.read" }
func (FileModified) durable() string { return "file.modified" }
