package bus_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/bus"
	"github.com/khaelor/khaelor/internal/event"
)

func record(seq int64, f event.Fact) event.Record { return event.Record{Seq: seq, Fact: f} }

func TestFactsReachTypedSubscribersInOrderOfPublicationAndSubscription(t *testing.T) {
	b := bus.New(func(err error) { t.Error(err) })
	var got []string
	bus.On(b, func(r event.Record, p event.SteeringQueued) { got = append(got, "first "+p.Text) })
	b.OnAny(func(r event.Record) { got = append(got, "any "+r.Name()) }, nil)
	bus.On(b, func(r event.Record, p event.SteeringQueued) { got = append(got, "second "+p.Text) })
	b.Publish(record(1, event.SteeringQueued{Text: "a"}))
	b.Publish(record(2, event.SessionRenamed{Title: "t"}))
	want := []string{"first a", "any user.steering-queued", "second a", "any session.renamed"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNoticesReachOnlyTheSubscribersOfTheirType(t *testing.T) {
	b := bus.New(func(err error) { t.Error(err) })
	var text, other int
	bus.OnNotice(b, func(_ event.Live, d event.ModelTextDelta) { text++ })
	bus.OnNotice(b, func(_ event.Live, d event.ToolOutput) { other++ })
	b.Notify(event.Live{Notice: event.ModelTextDelta{Text: "x"}})
	if text != 1 || other != 0 {
		t.Errorf("text %d, other %d; want 1, 0", text, other)
	}
}

func TestASubscriberThatPanicsIsReportedAndDisturbsNobody(t *testing.T) {
	var reports []string
	b := bus.New(func(err error) { reports = append(reports, err.Error()) })
	var reached int
	b.OnAny(func(event.Record) { panic("boom") }, nil)
	b.OnAny(func(event.Record) { reached++ }, nil)
	b.Publish(record(1, event.SessionRenamed{}))
	if reached != 1 || len(reports) != 1 || !strings.Contains(reports[0], "session.renamed panicked: boom") {
		t.Errorf("reached %d, reports %q", reached, reports)
	}
}

func TestAnUnsubscribedHandlerHearsNothingAndLeavesNothing(t *testing.T) {
	b := bus.New(func(err error) { t.Error(err) })
	var heard int
	stop := bus.On(b, func(event.Record, event.SessionRenamed) { heard++ })
	stop()
	stop()
	b.Publish(record(1, event.SessionRenamed{}))
	if heard != 0 || b.Subscribers() != 0 {
		t.Errorf("heard %d, %d subscribers left", heard, b.Subscribers())
	}
}

func TestAHandlerMayUnsubscribeItselfDuringDelivery(t *testing.T) {
	b := bus.New(func(err error) { t.Error(err) })
	var heard int
	var stop func()
	stop = b.OnAny(func(event.Record) { heard++; stop() }, nil)
	b.Publish(record(1, event.SessionRenamed{}))
	b.Publish(record(2, event.SessionRenamed{}))
	if heard != 1 {
		t.Errorf("heard %d times, want once", heard)
	}
}
