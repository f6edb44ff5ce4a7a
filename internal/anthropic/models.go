package anthropic

import (
	"context"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
)

// maxModels ends the paging of a server that never says it is at its end.
const maxModels = 2000

// ModelInfo is a model the server offers. A figure the server leaves out is 0.
type ModelInfo struct {
	ID, DisplayName                 string
	MaxInputTokens, MaxOutputTokens int64
}

// Models asks the server which models it has, newest first. Its errors are
// *Error.
func (c *Client) Models(ctx context.Context) ([]ModelInfo, error) {
	const op = "list the models"
	if err := c.ready(op); err != nil {
		return nil, err
	}
	run, dog, release := c.begin(ctx)
	defer release()
	var models []ModelInfo
	pages := c.sdk.Models.ListAutoPaging(run, sdk.ModelListParams{})
	for len(models) < maxModels && pages.Next() {
		dog.progress()
		m := pages.Current()
		models = append(models, ModelInfo{
			ID: m.ID, DisplayName: m.DisplayName,
			MaxInputTokens: m.MaxInputTokens, MaxOutputTokens: m.MaxTokens,
		})
	}
	if err := pages.Err(); err != nil {
		return nil, c.failure(ctx, run, op, err, nil)
	}
	return models, nil
}
