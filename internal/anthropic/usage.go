package anthropic

// Usage is what the server says a request took, in tokens.
type Usage struct {
	InputTokens, OutputTokens         int64
	CacheReadTokens, CacheWriteTokens int64
	// CacheWrite1hTokens is the part of CacheWriteTokens kept for an hour,
	// which costs more.
	CacheWrite1hTokens int64
	// Known is set once the server gave any figure: zeros without it mean
	// nothing.
	Known bool
}

// wireUsage has pointers because a figure that is left out is not zero.
type wireUsage struct {
	InputTokens         *int64 `json:"input_tokens"`
	OutputTokens        *int64 `json:"output_tokens"`
	CacheReadTokens     *int64 `json:"cache_read_input_tokens"`
	CacheCreationTokens *int64 `json:"cache_creation_input_tokens"`
	CacheCreation       *struct {
		OneHour *int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

// replace takes over the figures that are there. The server's later figures
// are totals, not additions.
func (u *Usage) replace(w *wireUsage) {
	if w == nil {
		return
	}
	u.take(&u.InputTokens, w.InputTokens)
	u.take(&u.OutputTokens, w.OutputTokens)
	u.take(&u.CacheReadTokens, w.CacheReadTokens)
	u.take(&u.CacheWriteTokens, w.CacheCreationTokens)
	if w.CacheCreation != nil {
		u.take(&u.CacheWrite1hTokens, w.CacheCreation.OneHour)
	}
}

func (u *Usage) take(figure, given *int64) {
	if given != nil {
		*figure, u.Known = *given, true
	}
}
