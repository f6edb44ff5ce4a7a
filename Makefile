# What is done to this module, by hand and in CI. build, test and demo need Go
# and git only; lint also downloads its tools, whose versions tools/go.mod fixes.

GO ?= go
TOOL = $(GO) tool -modfile=tools/go.mod
FUZZTIME ?= 30s
SOAK_CHECKS ?= 20000

.PHONY: build demo test lint bench fuzz soak stress

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o bin/ ./cmd/...

# A whole session against a scripted model on this machine: no key, no network.
demo: build
	bin/khaelor demo

# RACE=1 looks for data races too; that takes a C compiler.
test:
	$(GO) test $(if $(RACE),-race) ./...

lint:
	$(GO) vet ./...
	@unformatted=$$($(TOOL) gofumpt -l cmd internal) && if [ -n "$$unformatted" ]; then \
		echo "not formatted (run: $(TOOL) gofumpt -w FILE):"; echo "$$unformatted"; exit 1; fi
	$(TOOL) staticcheck ./...
	$(GO) test -count=1 ./internal/arch

# The numbers of our own parts beside their bars.
bench:
	KHAELOR_BENCH=1 $(GO) test -count=1 -run TestBenchTable -v ./internal/bench

# Every fuzz target in turn, FUZZTIME each.
fuzz:
	@grep -roE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' ./cmd ./internal | sed 's|/[^/]*:func | |' | sort | \
	while read -r pkg target; do \
		echo "fuzz $$pkg $$target"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$pkg </dev/null || exit 1; \
	done

# Every property, SOAK_CHECKS random cases each instead of a hundred.
soak:
	$(GO) test -count=1 -timeout 0 \
		$$(grep -rl '"pgregory.net/rapid"' --include='*_test.go' ./cmd ./internal | xargs -n1 dirname | sort -u) \
		-rapid.checks=$(SOAK_CHECKS)

# Hundreds of processes that are hard to be rid of, all at once; see the test.
# What the program itself takes of memory is told.
stress:
	KHAELOR_STRESS=500 KHAELOR_STRESS_MB=100 $(GO) test -count=1 -timeout 30m -run TestManyUnruly -v ./cmd/khaelor
