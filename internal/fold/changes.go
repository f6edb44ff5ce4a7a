package fold

import (
	"slices"

	"github.com/khaelor/khaelor/internal/event"
)

// Changes knows what the model has seen of files, what was changed, and what
// was different before we came (seed 003 §6.4).
type Changes struct {
	Baseline *event.GitBaseline // the newest
	reads    list[Sighting]
	edits    list[Edit]
}

// Sighting is what was known of a file's content at one time: it was read,
// or written by us. An empty SHA256 means that it was gone.
type Sighting struct {
	Path   string
	SHA256 string
	Seq    int64
	// Shown says that the model knows this content: it read the file, wrote all
	// of it, or edited what it knew. What a command made of a file, or an edit
	// of what somebody else had changed, it has not seen.
	Shown bool
}

// Edit is one change of one file.
type Edit struct {
	Seq int64
	event.FileModified
}

// FileChange sums up the edits of one file.
type FileChange struct {
	Path       string
	Operations []event.FileOperation
	Stats      event.DiffStats
	ToolUseIDs []string
	LastSeq    int64
}

// Apply folds one fact.
func (c Changes) Apply(r event.Record) Changes {
	switch p := r.Fact.(type) {
	case event.BaselineRecorded:
		c.Baseline = &p.Baseline
	case event.FileRead:
		c.reads = c.reads.add(Sighting{Path: p.Path, SHA256: p.SHA256, Seq: r.Seq, Shown: true})
	case event.FileModified:
		c.edits = c.edits.add(Edit{Seq: r.Seq, FileModified: p})
		c.reads = c.reads.add(Sighting{Path: p.Path, SHA256: p.AfterSHA256, Seq: r.Seq, Shown: c.shows(p)})
	}
	return c
}

// shows says whether the model knows what a change made of a file.
func (c Changes) shows(m event.FileModified) bool {
	switch m.Operation {
	case event.FileWritten:
		return true
	case event.FileEdited:
		seen, ok := c.Seen(m.Path)
		return ok && seen.SHA256 == m.BeforeSHA256
	}
	return false
}

// Seen is the newest content of a file that the model knows.
func (c Changes) Seen(path string) (Sighting, bool) {
	return c.newest(func(s Sighting) bool { return s.Path == path && s.Shown })
}

// Latest is the newest content of a file that is known at all.
func (c Changes) Latest(path string) (Sighting, bool) {
	return c.newest(func(s Sighting) bool { return s.Path == path })
}

func (c Changes) newest(wanted func(Sighting) bool) (Sighting, bool) {
	for _, s := range slices.Backward(c.reads.items) {
		if wanted(s) {
			return s, true
		}
	}
	return Sighting{}, false
}

// Known are the newest sightings of the files seen last, at most so many.
func (c Changes) Known(most int) []Sighting {
	var known []Sighting
	listed := map[string]bool{}
	for _, s := range slices.Backward(c.reads.items) {
		if len(known) == most {
			break
		}
		if !listed[s.Path] {
			listed[s.Path] = true
			known = append(known, s)
		}
	}
	return known
}

// Edits are all changes in order. The slice must not be changed.
func (c Changes) Edits() []Edit { return c.edits.items }

// Since sums up the changes after a fact, by file in order of first change.
func (c Changes) Since(seq int64) []FileChange {
	var files []FileChange
	at := map[string]int{}
	for _, e := range c.edits.items {
		if e.Seq <= seq {
			continue
		}
		i, ok := at[e.Path]
		if !ok {
			i = len(files)
			at[e.Path] = i
			files = append(files, FileChange{Path: e.Path})
		}
		f := &files[i]
		if !slices.Contains(f.Operations, e.Operation) {
			f.Operations = append(f.Operations, e.Operation)
		}
		f.Stats.Added += e.DiffStats.Added
		f.Stats.Removed += e.DiffStats.Removed
		f.ToolUseIDs = append(f.ToolUseIDs, e.ToolUseID)
		f.LastSeq = e.Seq
	}
	return files
}
