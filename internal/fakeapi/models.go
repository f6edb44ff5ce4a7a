package fakeapi

import (
	"encoding/json"
	"net/http"
	"slices"
)

// Model is one entry of the models endpoint, and what the rules need of it.
type Model struct {
	ID             string `json:"id"`
	DisplayName    string `json:"display_name"`     // empty: the id
	MaxInputTokens int    `json:"max_input_tokens"` // the window in tokens; 0: Script.Window
	MaxTokens      int    `json:"max_tokens"`       // the largest output in tokens; 0: no limit
	MinCachePrefix int    `json:"min_cache_prefix"` // the shortest prefix that is cached, in tokens; 0: Script.MinCachePrefix
}

// modelSince is the creation date every fake model has.
const modelSince = "2026-01-01T00:00:00Z"

// model finds a model by id. A script that lists none has every model.
func (s Script) model(id string) (Model, bool) {
	m := Model{ID: id}
	if len(s.Models) > 0 {
		i := slices.IndexFunc(s.Models, func(m Model) bool { return m.ID == id })
		if i < 0 {
			return Model{}, false
		}
		m = s.Models[i]
	}
	if m.DisplayName == "" {
		m.DisplayName = m.ID
	}
	if m.MaxInputTokens == 0 {
		m.MaxInputTokens = s.window()
	}
	if m.MinCachePrefix == 0 {
		m.MinCachePrefix = s.minCachePrefix()
	}
	return m, true
}

// modelInfo is a model as the models endpoint shows it.
type modelInfo struct {
	Type           string `json:"type"`
	ID             string `json:"id"`
	DisplayName    string `json:"display_name"`
	CreatedAt      string `json:"created_at"`
	MaxInputTokens int    `json:"max_input_tokens"`
	MaxTokens      *int   `json:"max_tokens"`
}

func (m Model) info() modelInfo {
	info := modelInfo{Type: "model", ID: m.ID, DisplayName: m.DisplayName, CreatedAt: modelSince, MaxInputTokens: m.MaxInputTokens}
	if m.MaxTokens > 0 {
		info.MaxTokens = &m.MaxTokens
	}
	return info
}

func (s *Server) listModels(w http.ResponseWriter, _ *http.Request, x *Exchange, _ []byte) {
	page := struct {
		Data    []modelInfo `json:"data"`
		HasMore bool        `json:"has_more"`
		FirstID *string     `json:"first_id"`
		LastID  *string     `json:"last_id"`
	}{Data: []modelInfo{}}
	for _, listed := range s.opts.Script.Models {
		m, _ := s.opts.Script.model(listed.ID)
		page.Data = append(page.Data, m.info())
	}
	if n := len(page.Data); n > 0 {
		page.FirstID, page.LastID = &page.Data[0].ID, &page.Data[n-1].ID
	}
	s.answerJSON(w, x, page)
}

func (s *Server) showModel(w http.ResponseWriter, x *Exchange, id string) {
	m, ok := s.opts.Script.model(id)
	if !ok {
		s.refuse(w, x, &Fault{Status: http.StatusNotFound, Message: "model: " + id})
		return
	}
	s.answerJSON(w, x, m.info())
}

func (s *Server) countTokens(w http.ResponseWriter, _ *http.Request, x *Exchange, body []byte) {
	req, f := s.admit(x, body, true)
	if f != nil {
		s.refuse(w, x, f)
		return
	}
	s.answerJSON(w, x, map[string]int{"input_tokens": req.prompt.tokens()})
}

func (s *Server) answerJSON(w http.ResponseWriter, x *Exchange, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		// Only a script block that is not JSON can do this, and check refuses those.
		s.refuse(w, x, &Fault{Status: http.StatusInternalServerError, Message: err.Error()})
		return
	}
	s.finish(x, http.StatusOK, 0, nil)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data) // a client that left needs no answer
}
