package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/khaelor/khaelor/internal/disk"
	"github.com/khaelor/khaelor/internal/event"
)

// List shows the sessions of one project, or of all when project is "", the
// newest first. A log that cannot be read is listed with its Problem.
func (s *Store) List(project string) ([]Meta, error) {
	projects := []string{project}
	if project == "" {
		var err error
		if projects, err = s.projects(); err != nil {
			return nil, err
		}
	}
	var all []Meta
	for _, p := range projects {
		logs, sidecars, err := s.logs(p)
		if err != nil {
			return nil, err
		}
		for ref, entry := range logs {
			all = append(all, s.metaOf(ref, entry, sidecars[ref.ID]))
		}
	}
	slices.SortFunc(all, func(a, b Meta) int {
		if a.UpdatedAt != b.UpdatedAt {
			return int(max(-1, min(1, b.UpdatedAt-a.UpdatedAt)))
		}
		return strings.Compare(b.ID, a.ID)
	})
	return all, nil
}

// metaOf reads the sidecar or, when that is missing or older than the log,
// the log, and then writes the sidecar of a large one anew.
func (s *Store) metaOf(ref Ref, entry disk.Entry, sidecar bool) Meta {
	if sidecar {
		if m, ok := s.readMeta(ref); ok && m.LogSize == entry.Size {
			return m
		}
	}
	m, err := s.summarise(ref)
	if err != nil {
		return Meta{
			ID: ref.ID, Project: ref.Project, UpdatedAt: entry.ModTime.UnixMilli(),
			TokenUsage: []ModelTokens{}, LogSize: entry.Size, Problem: err.Error(),
		}
	}
	if m.LogSize >= worthASidecar {
		if err := s.writeMeta(ref, m); err != nil {
			s.report(err)
		}
	}
	return m
}

// worthASidecar is the size of a log, in bytes, that takes about as long to
// read as a sidecar to write safely. Below it a list that finds thousands of
// logs without one had better read them again.
const worthASidecar = 1 << 20

// summarise reads a log for its summary. It decodes only the lines that the
// summary is made of, so that a list over many large logs stays quick;
// finding damage is the business of Open and Check.
func (s *Store) summarise(ref Ref) (Meta, error) {
	file, err := s.dir.Open(ref.file(logSuffix))
	if err != nil {
		return Meta{}, fmt.Errorf("read session %s: %w", ref.ID, err)
	}
	defer file.Close()
	in := newLines(file)
	var sum summary
	var size, events int64
	for {
		raw, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Meta{}, fmt.Errorf("read session %s: %w", ref.ID, err)
		}
		size += int64(len(raw))
		if h, ok := headOf(raw); ok && events > 0 && !h.summarised() {
			events++
			sum.meta.UpdatedAt = max(sum.meta.UpdatedAt, h.ts)
			continue
		}
		r, err := decodeRaw(raw)
		if err != nil && events == 0 {
			return Meta{}, damaged(ref, 1, err.Error())
		}
		if err == nil {
			events++
			sum.apply(r)
		}
	}
	if events == 0 {
		return Meta{}, damaged(ref, 1, "it holds no whole event")
	}
	m := sum.of(ref, size)
	m.Events = events
	return m, nil
}

// head is what a summary needs of every line.
type head struct {
	name string
	ts   int64
}

// headOf reads a whole line's head from its canonical form. It is not ok in
// any other form, and then the line has to be decoded.
func headOf(raw []byte) (head, bool) {
	const longest = 512
	front, _, ok := bytes.Cut(raw[:min(len(raw), longest)], []byte(`,"payload":`))
	if !ok || !bytes.HasSuffix(raw, []byte("}}\n")) {
		return head{}, false
	}
	_, rest, _ := bytes.Cut(front, []byte(`,"ts":`))
	digits, rest, _ := bytes.Cut(rest, []byte(`,"type":"`))
	name, _, closed := bytes.Cut(rest, []byte(`"`))
	ts, err := strconv.ParseInt(string(digits), 10, 64)
	return head{name: string(name), ts: ts}, closed && err == nil
}

// summarised says that summary.apply has a case for the line.
func (h head) summarised() bool {
	switch h.name {
	case event.NameOf(event.SessionRenamed{}), event.NameOf(event.ModelChanged{}),
		event.NameOf(event.UserMessageCreated{}), event.NameOf(event.MessageDequeued{}),
		event.NameOf(event.ModelRequestStarted{}), event.NameOf(event.ModelResponseCompleted{}),
		event.NameOf(event.TaskCompleted{}), event.NameOf(event.TaskFailed{}), event.NameOf(event.Interrupted{}):
		return true
	}
	return false
}
