package fakeapi

import (
	"crypto/sha256"
	"time"
)

// Life times of a cache entry and the number of blocks looked at for each
// breakpoint, its own included, as the prompt caching documentation gives them.
const (
	shortLife = 5 * time.Minute
	longLife  = time.Hour
	lookBack  = 20
)

// cache holds the entries by the chain hash of the block they end at. Entries
// of different models never meet, because the chain begins with the model.
type cache map[[sha256.Size]byte]entry

type entry struct {
	expires time.Time
	life    time.Duration
}

// Usage is a response's usage as the API reports it, in tokens.
type Usage struct {
	InputTokens              int       `json:"input_tokens"`
	CacheCreationInputTokens int       `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int       `json:"cache_read_input_tokens"`
	CacheCreation            *Creation `json:"cache_creation,omitempty"`
	OutputTokens             int       `json:"output_tokens"`
	ServiceTier              string    `json:"service_tier,omitempty"`
}

// Creation splits CacheCreationInputTokens by life time.
type Creation struct {
	Short int `json:"ephemeral_5m_input_tokens"`
	Long  int `json:"ephemeral_1h_input_tokens"`
}

// use charges a prompt that is answered at now: what was read from the cache,
// what was written, what was neither. It renews what it read and writes what the
// breakpoints say; a prefix of fewer than least tokens is not written.
func (c cache) use(p prompt, least int, now time.Time) Usage {
	points := p.points(least)
	hit := c.longest(p, points, now)
	made := &Creation{}
	u := Usage{CacheCreation: made, ServiceTier: "standard"}
	if hit >= 0 {
		u.CacheReadInputTokens = p[hit].upTo
		e := c[p[hit].chain]
		c[p[hit].chain] = entry{expires: now.Add(e.life), life: e.life}
	}
	covered := u.CacheReadInputTokens
	for _, i := range points {
		if i <= hit {
			continue
		}
		n := p[i].upTo - covered
		covered = p[i].upTo
		if p[i].life == longLife {
			made.Long += n
		} else {
			made.Short += n
		}
		c[p[i].chain] = entry{expires: now.Add(p[i].life), life: p[i].life}
	}
	u.CacheCreationInputTokens = made.Short + made.Long
	u.InputTokens = p.tokens() - covered
	return u
}

// points are the breakpoints that count.
func (p prompt) points(least int) []int {
	var at []int
	for i, s := range p {
		if s.life > 0 && s.upTo >= least {
			at = append(at, i)
		}
	}
	return at
}

// longest finds the longest live entry in reach of a breakpoint; -1 when there
// is none.
func (c cache) longest(p prompt, points []int, now time.Time) int {
	hit := -1
	for _, point := range points {
		for i := point; i > hit && i > point-lookBack; i-- {
			if e, ok := c[p[i].chain]; ok && now.Before(e.expires) {
				hit = i
				break
			}
		}
	}
	return hit
}
