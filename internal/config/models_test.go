package config

import "testing"

func TestModelDataComesFromTheNarrowestPatterns(t *testing.T) {
	text := `{"models": {
		"local-*": {"window": 32768, "maxOutput": 4096},
		"local-priced": {"input": 1, "output": 2},
		"claude-haiku-4-5": {"output": 7}
	}}`
	cfg, _ := mustLoad(t, memory{"/h/config.json": text}, everywhere)
	sonnet := ModelData{
		Prices: Prices{Input: 3, Output: 15, CacheRead: 0.30, CacheWrite5m: 3.75, CacheWrite1h: 6},
		Window: 200000, MaxOutput: 64000, MinCacheTokens: 1024, Thinking: "budget",
	}
	haiku := ModelData{
		Prices: Prices{Input: 1, Output: 7, CacheRead: 0.10, CacheWrite5m: 1.25, CacheWrite1h: 2},
		Window: 200000, MaxOutput: 64000, MinCacheTokens: 4096, Thinking: "budget",
	}
	tests := []struct {
		id    string
		want  ModelData
		known bool
	}{
		{"claude-sonnet-4-5", sonnet, true},
		{"claude-sonnet-4-5-20250929", sonnet, true},
		{"claude-haiku-4-5-20251001", haiku, true},
		{"claude-sonnet-4-50", ModelData{Window: 200000, MaxOutput: 32000, MinCacheTokens: 4096, Thinking: "none"}, false},
		{"local-a", ModelData{Window: 32768, MaxOutput: 4096, MinCacheTokens: 4096, Thinking: "none"}, false},
		{"local-priced", ModelData{
			Prices: Prices{1, 2, 1, 1, 1}, Window: 32768, MaxOutput: 4096, MinCacheTokens: 4096, Thinking: "none",
		}, true},
	}
	for _, tt := range tests {
		got, known := cfg.ModelData(tt.id)
		if got != tt.want || known != tt.known {
			t.Errorf("%s: %+v, known %v", tt.id, got, known)
		}
	}
	if got := cfg.OutputLimit("local-a"); got != 4096 {
		t.Errorf("output limit %d", got)
	}
	if got := cfg.OutputLimit("claude-sonnet-4-5"); got != 32000 {
		t.Errorf("output limit %d", got)
	}
}

func TestAStarStandsForAnyText(t *testing.T) {
	tests := []struct {
		pattern, id string
		want        bool
	}{
		{"*", "", true},
		{"a*", "a/b", true},
		{"*b", "ab", true},
		{"a*c*e", "abcde", true},
		{"a*c", "abcd", false},
		{"", "a", false},
		{"ab", "ab", true},
		{"a*", "b", false},
	}
	for _, tt := range tests {
		if got := glob(tt.pattern, tt.id); got != tt.want {
			t.Errorf("glob(%q, %q) = %v", tt.pattern, tt.id, got)
		}
	}
}
