// Package config owns the settings of the program: what they are, where each
// one came from, and the instruction files people leave for the model.
//
// One table (Fields) names every setting with its default, its values and its
// help; defaults, the JSON schema, `config show` and the reading of files all
// come from it. Load merges the layers
//
//	shipped < ~/.khaelor/config.json < <repo>/.khaelor/config.json
//	        < <repo>/.khaelor/config.local.json < --config FILE < environment < flags
//
// key by key; permission rules are concatenated, each with its origin. A file
// that cannot be read as JSON with comments, or a value of the wrong kind, is
// an *Error with file, line and column, never a silent default: deny rules
// would vanish. Unknown keys are warnings. What a project's files may not set,
// they cannot set, whatever they say.
//
// The package reads through Files and writes through disk.Dir; it never sees
// the operating system. What a rule means is left to the permission package.
// Start reading at Config, then Load.
package config

import "time"

// Config is the effective configuration. Invariant: a Config from Load holds a
// valid value for every field of the table.
type Config struct {
	Model           string        // id of the main model
	AuxModel        string        // id of the cheaper model for summaries
	Thinking        string        // off, adaptive, always
	ThinkingBudget  int           // tokens, for models that take a budget
	MaxOutputTokens int           // tokens; see OutputLimit
	MaxTurns        int           // model calls of one task; 0 = no limit
	MaxCost         float64       // USD of the session; 0 = no limit
	Timeout         time.Duration // of one run; 0 = no limit
	CacheTTL        string        // 5m or 1h
	Stall           time.Duration // silence in a stream that counts as a network fault
	BaseURL         string        // "" = the provider's own
	APIKey          Secret
	AuthToken       Secret
	PermissionMode  string // default, accept-edits, plan, bypass
	Permissions     Permissions
	Env             Env
	Sandbox         Sandbox
	Bash            Bash
	Process         Process
	Web             Web
	Compaction      Compaction
	Budget          Budget
	Verify          Verify
	Theme           string // auto, dark, light

	models  map[string]modelEntry
	origins map[string]Origin
}

// Permissions is what the layers say about what may run.
type Permissions struct {
	Rules             []Rule             // of every layer; their order has no meaning
	Defaults          map[string]Default // by capability; later layers win
	ProtectedBranches []string           // branch globs; layers add to each other
}

// Rule is one permission rule as it was written.
type Rule struct {
	Action string // allow, ask, deny
	Text   string // process.execute(go test *), Bash(npm test:*), …
	Origin Origin
}

// Default is the action of a capability that no rule decides.
type Default struct {
	Action string // allow, ask, deny
	Origin Origin
}

// Env says which variables children of the tools get back.
type Env struct {
	Allow []string // names or globs, removed from the list of withheld ones
}

// Sandbox is how commands are contained.
type Sandbox struct {
	Mode     string   // auto, required, off
	Writable []string // further folders commands may write
}

// Bash is how long and how much a command may be.
type Bash struct {
	Timeout    time.Duration // after which a command goes on in the background
	MaxTimeout time.Duration // the most a call may ask for
}

// Process is how background processes run.
type Process struct {
	PTY bool // on a terminal of their own
}

// Web is what web_fetch may reach.
type Web struct {
	AllowPrivate []string // host or host:port
}

// Compaction chooses who writes the summary.
type Compaction struct {
	Model string // auto, main, aux
}

// Budget is spending that stops the next model call.
type Budget struct {
	Session float64 // USD of one session; 0 = no limit
	Day     float64 // USD of all sessions of a day; 0 = no limit
}

// Verify says whether the project's checks gate completion.
type Verify struct {
	Enabled bool
	Rounds  int // how often the model is sent back to failing checks
}

// Origin is where a value came from.
type Origin struct {
	Layer Layer
	File  string // path, variable or flag; "" for a shipped default
	Line  int    // 1-based; 0 when there is no line
}

// Origin says where the value of a setting came from.
func (c Config) Origin(key string) Origin { return c.origins[key] }

// OutputLimit is MaxOutputTokens, or the model's own limit where that is lower.
func (c Config) OutputLimit(model string) int {
	data, _ := c.ModelData(model)
	return min(c.MaxOutputTokens, data.MaxOutput)
}

// Fields is the table of settings. Its order is the order of `config show`.
func Fields() []Field {
	return []Field{
		text("model", `"claude-sonnet-4-5"`, "model that does the work",
			func(c *Config) *string { return &c.Model }).from("ANTHROPIC_MODEL"),
		text("auxModel", `"claude-haiku-4-5"`, "cheaper model for summaries",
			func(c *Config) *string { return &c.AuxModel }),
		choice("thinking", `"adaptive"`, "when the model thinks before it answers",
			[]string{"off", "adaptive", "always"}, func(c *Config) *string { return &c.Thinking }),
		count("thinkingBudget", `8192`, "tokens of thinking, for models that take a budget", 1024,
			func(c *Config) *int { return &c.ThinkingBudget }),
		count("maxOutputTokens", `32000`, "tokens of one answer, lowered to what the model can do", 1,
			func(c *Config) *int { return &c.MaxOutputTokens }),
		count("maxTurns", `0`, "model calls of one task; 0 means no limit", 0,
			func(c *Config) *int { return &c.MaxTurns }),
		money("maxCost", `0`, "USD the session may spend; 0 means no limit",
			func(c *Config) *float64 { return &c.MaxCost }),
		duration("timeout", `"0s"`, "time of one run (90s, 10m, 1h); 0s means no limit",
			func(c *Config) *time.Duration { return &c.Timeout }),
		choice("permissionMode", `"default"`, "what happens to calls that no rule decides",
			[]string{"default", "accept-edits", "plan", "bypass"},
			func(c *Config) *string { return &c.PermissionMode }).spelled(modeSpellings),
		rules("permissions.allow", "allow", "rules for what runs without a question"),
		rules("permissions.ask", "ask", "rules for what always asks"),
		rules("permissions.deny", "deny", "rules for what never runs"),
		defaults("permissions.defaults", "action of each capability that no rule decides"),
		extend("permissions.protectedBranches", `["main", "master", "release/*"]`,
			"branches that are never force-pushed or deleted; layers add to each other",
			func(c *Config) *[]string { return &c.Permissions.ProtectedBranches }),
		list("env.allow", `[]`, "environment variables that commands get although they look like secrets",
			func(c *Config) *[]string { return &c.Env.Allow }).userOnly(),
		choice("sandbox.mode", `"auto"`, "whether commands run contained",
			[]string{"auto", "required", "off"}, func(c *Config) *string { return &c.Sandbox.Mode }).userOnly(),
		list("sandbox.writable", `[]`, "further folders that contained commands may write",
			func(c *Config) *[]string { return &c.Sandbox.Writable }).userOnly(),
		millis("bash.timeoutMs", `120000`, "milliseconds after which a command goes on in the background",
			func(c *Config) *time.Duration { return &c.Bash.Timeout }).from("BASH_DEFAULT_TIMEOUT_MS"),
		millis("bash.maxTimeoutMs", `600000`, "milliseconds a call may ask for at most",
			func(c *Config) *time.Duration { return &c.Bash.MaxTimeout }).from("BASH_MAX_TIMEOUT_MS"),
		toggle("process.pty", `false`, "whether background processes run on a terminal of their own",
			func(c *Config) *bool { return &c.Process.PTY }).userOnly(),
		list("web.allowPrivate", `[]`, "hosts (host or host:port) that web_fetch may reach though their address is private",
			func(c *Config) *[]string { return &c.Web.AllowPrivate }).userOnly(),
		text("baseURL", `""`, "address of the Messages API; empty means the provider's own",
			func(c *Config) *string { return &c.BaseURL }).userOnly().from("ANTHROPIC_BASE_URL"),
		secret("apiKey", "API key", func(c *Config) *Secret { return &c.APIKey }).from("ANTHROPIC_API_KEY"),
		secret("authToken", "bearer token used instead of a key",
			func(c *Config) *Secret { return &c.AuthToken }).from("ANTHROPIC_AUTH_TOKEN"),
		choice("cacheTTL", `"5m"`, "how long the provider keeps the cached prompt",
			[]string{"5m", "1h"}, func(c *Config) *string { return &c.CacheTTL }),
		seconds("stallSeconds", `90`, "seconds of silence in a stream that count as a network fault",
			func(c *Config) *time.Duration { return &c.Stall }),
		choice("compaction.model", `"auto"`, "who writes the summary of a long conversation",
			[]string{"auto", "main", "aux"}, func(c *Config) *string { return &c.Compaction.Model }),
		money("budget.session", `0`, "USD any session may spend, whatever maxCost allows; 0 means no limit",
			func(c *Config) *float64 { return &c.Budget.Session }),
		money("budget.day", `0`, "USD all sessions of a day may spend together; 0 means no limit",
			func(c *Config) *float64 { return &c.Budget.Day }),
		toggle("verify.enabled", `true`, "run the project's checks before a task counts as done",
			func(c *Config) *bool { return &c.Verify.Enabled }),
		count("verify.rounds", `2`, "how often the model is sent back to failing checks", 0,
			func(c *Config) *int { return &c.Verify.Rounds }),
		choice("theme", `"auto"`, "colours of the screen",
			[]string{"auto", "dark", "light"}, func(c *Config) *string { return &c.Theme }),
		models("models", "prices and limits by model id or glob"),
	}
}
