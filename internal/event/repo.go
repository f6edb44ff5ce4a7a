package event

var repoFacts = []kind{fact[RepoMapRecorded]()}

// RepoMapRecorded keeps the outline of the repository placed in the session tier.
type RepoMapRecorded struct {
	Text           string `json:"text"`
	TokensEstimate int64  `json:"tokensEstimate"`
}

func (RepoMapRecorded) durable() string { return "repo.map-recorded" }
