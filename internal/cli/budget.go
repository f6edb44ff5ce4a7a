package cli

import (
	"fmt"
	"time"

	"github.com/khaelor/khaelor/internal/config"
	"github.com/khaelor/khaelor/internal/engine"
	"github.com/khaelor/khaelor/internal/session"
)

// budget is the lowest of the limits on what the session may cost.
type budget struct {
	usd     float64 // 0 is no limit
	setting string  // where it comes from
}

// lower takes a limit in when it is one.
func (b *budget) lower(usd float64, setting string) {
	if usd > 0 && (b.usd == 0 || usd < b.usd) {
		b.usd, b.setting = usd, setting
	}
}

// bound sets the session's limit; day is what the day leaves, 0 for no limit.
// The engine counts what the session cost on earlier days, too.
func (c *conversation) bound(o *engine.Options, day float64) {
	settings := c.project.config
	c.budget.lower(settings.MaxCost, "maxCost")
	c.budget.lower(settings.Budget.Session, "budget.session")
	if day > 0 {
		own, _ := c.log.Fold().Usage.Cost(c.project.price)
		c.budget.lower(own+day, "budget.day")
	}
	o.MaxCost = c.budget.usd
}

// leftOfDay is what the sessions of all projects leave of the day's budget, in
// US dollars, 0 when there is none. A session counts whole on the day of its
// newest fact.
func (p *project) leftOfDay() (float64, error) {
	budget := p.config.Budget.Day
	if budget <= 0 {
		return 0, nil
	}
	metas, err := p.sessions.List("")
	if err != nil {
		return 0, err
	}
	spent, unknown := 0.0, 0
	for _, m := range metas {
		if !p.today(m) {
			continue
		}
		usd, known := m.Usage().Cost(p.price)
		if !known || m.Problem != "" {
			unknown++
		}
		spent += usd
	}
	if unknown > 0 {
		p.warnings = append(p.warnings, config.Warning{File: "budget.day", Msg: fmt.Sprintf(
			"%d sessions of today are not counted, since what they cost is not known; give their models a price in the configuration", unknown)})
	}
	if spent >= budget {
		return 0, budgetError{fmt.Errorf("today's sessions cost $%.4f of a budget of $%.4f: raise budget.day to go on today", spent, budget)}
	}
	return budget - spent, nil
}

// today says whether a session's newest fact is of the present day, where the
// user is.
func (p *project) today(m session.Meta) bool {
	now := p.app.Clock.Now()
	year, month, day := now.Date()
	return m.UpdatedAt >= time.Date(year, month, day, 0, 0, 0, 0, now.Location()).UnixMilli()
}
