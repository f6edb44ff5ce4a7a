package event

var phaseFacts = []kind{fact[PhaseEntered](), fact[DesignProposed](), fact[DesignApproved](), fact[DesignRejected]()}

// Actor says who caused a change of phase or approved a design.
type Actor string

const (
	ByUser   Actor = "user"
	ByModel  Actor = "model"
	ByConfig Actor = "config"
)

// PhaseEntered changes the policy that tool calls are held to.
type PhaseEntered struct {
	Phase string `json:"phase"`
	From  string `json:"from"`
	By    Actor  `json:"by"`
}

// DesignProposed shows a design for approval.
type DesignProposed struct {
	DesignID string `json:"designId"`
	Title    string `json:"title"`
	Markdown string `json:"markdown"`
}

// DesignApproved lets building begin.
type DesignApproved struct {
	DesignID string `json:"designId"`
	By       Actor  `json:"by"`
}

// DesignRejected sends the design back.
type DesignRejected struct {
	DesignID string `json:"designId"`
	Feedback string `json:"feedback"`
}

func (PhaseEntered) durable() string   { return "phase.entered" }
func (DesignProposed) durable() string { return "phase.design-proposed" }
func (DesignApproved) durable() string { return "phase.design-approved" }
func (DesignRejected) durable() string { return "phase.design-rejected" }
