package fold

import "github.com/khaelor/khaelor/internal/event"

// Usage adds up the tokens the API reported, by model.
type Usage struct {
	Models []ModelUsage // in the order of first use
	newest event.ModelRequestStarted
}

// ModelUsage is what one model was asked and answered.
type ModelUsage struct {
	Model     string
	Responses int
	Tokens    event.ModelUsage
}

// Price is what a model costs, in US dollars per million tokens.
type Price struct{ Input, Output, CacheRead, CacheWrite float64 }

// Apply folds one fact.
func (u Usage) Apply(r event.Record) Usage {
	switch p := r.Fact.(type) {
	case event.ModelRequestStarted:
		u.newest = p
	case event.ModelResponseCompleted:
		if p.RequestID == u.newest.RequestID {
			u.Models = added(u.Models, ModelUsage{Model: u.newest.Model, Responses: 1, Tokens: p.Usage})
		}
	case event.ModelRequestFailed:
		if p.RequestID == u.newest.RequestID && p.Usage != nil {
			u.Models = added(u.Models, ModelUsage{Model: u.newest.Model, Tokens: *p.Usage})
		}
	}
	return u
}

func added(models []ModelUsage, more ModelUsage) []ModelUsage {
	copied := append([]ModelUsage(nil), models...)
	for i := range copied {
		if copied[i].Model == more.Model {
			copied[i].Responses += more.Responses
			copied[i].Tokens = plus(copied[i].Tokens, more.Tokens)
			return copied
		}
	}
	return append(copied, more)
}

func plus(a, b event.ModelUsage) event.ModelUsage {
	return event.ModelUsage{
		InputTokens:      a.InputTokens + b.InputTokens,
		OutputTokens:     a.OutputTokens + b.OutputTokens,
		CacheReadTokens:  a.CacheReadTokens + b.CacheReadTokens,
		CacheWriteTokens: a.CacheWriteTokens + b.CacheWriteTokens,
	}
}

// Total adds up all models.
func (u Usage) Total() (tokens event.ModelUsage, responses int) {
	for _, m := range u.Models {
		tokens = plus(tokens, m.Tokens)
		responses += m.Responses
	}
	return tokens, responses
}

// Cost is what all calls cost in US dollars. It is not known when any model
// that was used has no price.
func (u Usage) Cost(price func(model string) (Price, bool)) (usd float64, known bool) {
	for _, m := range u.Models {
		p, ok := price(m.Model)
		if !ok {
			return 0, false
		}
		usd += p.Of(m.Tokens)
	}
	return usd, true
}

// Of is what the tokens cost in US dollars.
func (p Price) Of(t event.ModelUsage) float64 {
	return (float64(t.InputTokens)*p.Input + float64(t.OutputTokens)*p.Output +
		float64(t.CacheReadTokens)*p.CacheRead + float64(t.CacheWriteTokens)*p.CacheWrite) / 1e6
}
