package session

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// Outcome says how the newest task of a session ended.
type Outcome string

const (
	OutcomeNone        Outcome = "" // no task has ended, or one is open
	OutcomeCompleted   Outcome = "completed"
	OutcomeFailed      Outcome = "failed"
	OutcomeInterrupted Outcome = "interrupted"
)

// Meta is what a list shows of a session: a fold of its log, kept in a
// sidecar so that the log need not be read again.
type Meta struct {
	ID               string        `json:"id"`
	Title            string        `json:"title"`
	Project          string        `json:"project"`   // the folder: the project's hash
	CreatedAt        int64         `json:"createdAt"` // milliseconds since the Unix epoch
	UpdatedAt        int64         `json:"updatedAt"` // the same, of the newest fact
	Model            string        `json:"model"`
	TokenUsage       []ModelTokens `json:"tokenUsage"`
	GitBranch        string        `json:"gitBranch"`
	WorkingDirectory string        `json:"workingDirectory"`
	ParentSessionID  string        `json:"parentSessionId,omitempty"`
	FirstMessage     string        `json:"firstMessage"` // of the user, shortened to one line
	Outcome          Outcome       `json:"outcome"`
	Events           int64         `json:"events"`
	LogSize          int64         `json:"logSize"` // bytes of the log that this was made of

	// Problem says why the log could not be read; the rest is what the file
	// system knows then. It is not part of the sidecar.
	Problem string `json:"-"`
}

// ModelTokens is what one model was asked and answered, as the API counted.
type ModelTokens struct {
	Model     string `json:"model"`
	Responses int    `json:"responses"`
	event.ModelUsage
}

// Usage is the token usage as the fold has it, for reckoning the cost.
func (m Meta) Usage() fold.Usage {
	var u fold.Usage
	for _, t := range m.TokenUsage {
		u.Models = append(u.Models, fold.ModelUsage{Model: t.Model, Responses: t.Responses, Tokens: t.ModelUsage})
	}
	return u
}

// summary folds a Meta from records, or from the few of them that matter.
type summary struct {
	meta  Meta
	usage fold.Usage
}

func (s *summary) apply(r event.Record) {
	m := &s.meta
	m.Events, m.UpdatedAt = r.Seq, max(m.UpdatedAt, r.TS)
	switch p := r.Fact.(type) {
	case event.SessionStarted:
		m.CreatedAt, m.Title, m.Model, m.WorkingDirectory, m.ParentSessionID = r.TS, p.Title, p.Model, p.WorkingDirectory, p.ParentSessionID
		if p.GitBranch != nil {
			m.GitBranch = *p.GitBranch
		}
	case event.SessionRenamed:
		m.Title = p.Title
	case event.ModelChanged:
		m.Model = p.To
	case event.UserMessageCreated:
		m.Outcome = OutcomeNone
		if m.FirstMessage == "" {
			m.FirstMessage = oneLine(p.Text)
		}
	case event.MessageDequeued:
		if p.By == event.TakenByEngine {
			m.Outcome = OutcomeNone
		}
	case event.ModelRequestStarted, event.ModelResponseCompleted:
		s.usage = s.usage.Apply(r)
	case event.TaskCompleted:
		m.Outcome = OutcomeCompleted
	case event.TaskFailed:
		m.Outcome = OutcomeFailed
	case event.Interrupted:
		m.Outcome = OutcomeInterrupted
	}
}

// of is the summary as the sidecar of a log of size bytes.
func (s *summary) of(ref Ref, size int64) Meta {
	m := s.meta
	m.ID, m.Project, m.LogSize = ref.ID, ref.Project, size
	m.TokenUsage = []ModelTokens{}
	for _, u := range s.usage.Models {
		m.TokenUsage = append(m.TokenUsage, ModelTokens{Model: u.Model, Responses: u.Responses, ModelUsage: u.Tokens})
	}
	return m
}

// oneLine shortens a message to what fits in a list.
func oneLine(text string) string {
	const most = 100 // characters
	line := strings.Join(strings.Fields(text[:min(len(text), 16*most)]), " ")
	if utf8.RuneCountInString(line) <= most {
		return strings.ToValidUTF8(line, "")
	}
	return string([]rune(line)[:most-1]) + "…"
}

func (s *Store) writeMeta(ref Ref, m Meta) error {
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode sidecar: %w", err)
	}
	if err := s.dir.WriteFile(ref.file(metaSuffix), append(data, '\n')); err != nil {
		return failedWrite(ref.file(metaSuffix), err)
	}
	return nil
}

// readMeta reads a sidecar. It is not trusted: whatever is wrong with it, the
// log is read instead.
func (s *Store) readMeta(ref Ref) (Meta, bool) {
	file, err := s.dir.Open(ref.file(metaSuffix))
	if err != nil {
		return Meta{}, false
	}
	defer file.Close()
	var m Meta
	data, err := io.ReadAll(file)
	if err != nil || json.Unmarshal(data, &m) != nil || m.ID != ref.ID || m.Project != ref.Project {
		return Meta{}, false
	}
	return m, true
}
