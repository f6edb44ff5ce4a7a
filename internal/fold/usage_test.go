package fold

import (
	"math"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

func used(request string, u event.ModelUsage) event.Fact {
	return event.ModelResponseCompleted{RequestID: request, Usage: u}
}

func startedOn(request, model string, purpose event.Purpose) event.Fact {
	return event.ModelRequestStarted{RequestID: request, Model: model, Purpose: purpose}
}

func prices(model string) (Price, bool) {
	p, ok := map[string]Price{
		"m": {Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75},
		"x": {Input: 1, Output: 5, CacheRead: 0.1, CacheWrite: 1.25},
	}[model]
	return p, ok
}

func TestTokensAreCountedOnce(t *testing.T) {
	u := folded(Usage{}, records(
		startedOn("r1", "m", event.PurposeMain),
		used("r1", event.ModelUsage{InputTokens: 10, OutputTokens: 7, CacheReadTokens: 5, CacheWriteTokens: 3}),
		used("other", event.ModelUsage{InputTokens: 1000}),
	))
	tokens, responses := u.Total()
	want := event.ModelUsage{InputTokens: 10, OutputTokens: 7, CacheReadTokens: 5, CacheWriteTokens: 3}
	if tokens != want || responses != 1 {
		t.Errorf("total %+v in %d responses, want %+v in 1", tokens, responses, want)
	}
}

func TestCachedTokensOfAllTurnsAreInTheCost(t *testing.T) {
	var l log
	for i, read := range []int64{1000, 2000, 3000} {
		id := string(rune('a' + i))
		l.add(startedOn(id, "m", event.PurposeMain), used(id, event.ModelUsage{CacheReadTokens: read}))
	}
	u := folded(Usage{}, l.records)
	if tokens, _ := u.Total(); tokens.CacheReadTokens != 6000 {
		t.Errorf("%d tokens were read from the cache, want 6000", tokens.CacheReadTokens)
	}
	if usd, known := u.Cost(prices); !known || !near(usd, 6000*0.3/1e6) {
		t.Errorf("the cost is %v (known: %t)", usd, known)
	}
}

func TestEachModelIsPricedByItself(t *testing.T) {
	u := folded(Usage{}, records(
		startedOn("r1", "m", event.PurposeMain), used("r1", event.ModelUsage{InputTokens: 1e6, OutputTokens: 1e6, CacheWriteTokens: 1e6}),
		startedOn("c1", "x", event.PurposeCompaction), used("c1", event.ModelUsage{InputTokens: 1e6}),
		startedOn("r2", "m", event.PurposeMain), used("r2", event.ModelUsage{OutputTokens: 1e6}),
		startedOn("r3", "m", event.PurposeMain), attemptFailed("r3", event.ErrorRetryable),
	))
	if len(u.Models) != 2 || u.Models[0].Model != "m" || u.Models[0].Responses != 2 || u.Models[1].Responses != 1 {
		t.Errorf("by model: %+v", u.Models)
	}
	if usd, known := u.Cost(prices); !known || !near(usd, 3+15+3.75+1+15) {
		t.Errorf("the cost is %v (known: %t)", usd, known)
	}
}

func TestTheCostIsNotKnownWhenAPriceIsNot(t *testing.T) {
	if usd, known := (Usage{}).Cost(prices); !known || usd != 0 {
		t.Errorf("nothing used costs %v (known: %t)", usd, known)
	}
	u := folded(Usage{}, records(
		startedOn("r1", "m", event.PurposeMain), used("r1", event.ModelUsage{InputTokens: 1}),
		startedOn("r2", "new", event.PurposeMain), used("r2", event.ModelUsage{InputTokens: 1}),
	))
	if usd, known := u.Cost(prices); known || usd != 0 {
		t.Errorf("a model without a price makes the cost %v (known: %t)", usd, known)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestWhatAFailedAttemptTookIsCountedToo(t *testing.T) {
	u := folded(Usage{}, records(
		startedOn("r1", "m", event.PurposeMain),
		event.ModelRequestFailed{RequestID: "r1", Kind: event.ErrorCancelled, Usage: &event.ModelUsage{InputTokens: 100, OutputTokens: 2}},
		startedOn("r2", "m", event.PurposeMain), used("r2", event.ModelUsage{InputTokens: 10, OutputTokens: 7}),
	))
	tokens, responses := u.Total()
	if want := (event.ModelUsage{InputTokens: 110, OutputTokens: 9}); tokens != want || responses != 1 {
		t.Errorf("%+v in %d responses, want %+v in 1", tokens, responses, want)
	}
}
