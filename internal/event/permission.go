package event

import "encoding/json"

var permissionFacts = []kind{fact[PermissionRequested](), fact[PermissionGranted](), fact[PermissionDenied]()}

// Grant is a rule the user may store.
type Grant struct {
	Capability string `json:"capability"`
	Pattern    string `json:"pattern"`
}

// PermissionRequested asks the user. Without an answer in the log the
// question is still open, after a restart too.
type PermissionRequested struct {
	PermissionRequestID string   `json:"permissionRequestId"`
	ToolUseID           string   `json:"toolUseId"`
	Capability          string   `json:"capability"`
	Descriptor          string   `json:"descriptor"`
	Suggestion          *Grant   `json:"suggestion,omitempty"`
	Capabilities        []string `json:"capabilities,omitempty"`
	CallHash            string   `json:"callHash,omitempty"` // hex SHA-256 of what would run
}

// GrantScope says how long an answer holds.
type GrantScope string

const (
	GrantOnce    GrantScope = "once"
	GrantSession GrantScope = "session"
	GrantProject GrantScope = "always-project"
)

// PermissionGranted allows the call.
type PermissionGranted struct {
	PermissionRequestID string          `json:"permissionRequestId"`
	Scope               GrantScope      `json:"scope"`
	Feedback            string          `json:"feedback,omitempty"`
	EditedInput         json.RawMessage `json:"editedInput,omitempty"`
}

// DenialSource says who refused.
type DenialSource string

const (
	DeniedByUser     DenialSource = "user"
	DeniedByPolicy   DenialSource = "policy"
	DeniedByHardline DenialSource = "hardline"
	DeniedByTimeout  DenialSource = "timeout"
)

// PermissionDenied refuses the call.
type PermissionDenied struct {
	PermissionRequestID string       `json:"permissionRequestId"`
	Source              DenialSource `json:"source"`
	Feedback            string       `json:"feedback"` // told to the model
}

func (PermissionRequested) durable() string { return "permission.requested" }
func (PermissionGranted) durable() string   { return "permission.granted" }
func (PermissionDenied) durable() string    { return "permission.denied" }
