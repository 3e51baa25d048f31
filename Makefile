# drip: the few commands one needs. `make help` lists them.
# Each target first installs, by package name, what is missing (.ci/install-tools); Rust is assumed.

CARGO      ?= cargo
# Versions of clang whose bitcode the tests read.
TEST_CLANGS ?= 14 19
# Extra words for the benchmark, e.g. make bench ARGS=--quick.
ARGS       ?=
DRIP       := target/release/drip

# What `make dist` packs for; any target that rustup knows.
DIST_TARGET ?= x86_64-unknown-linux-musl

.PHONY: help build demo test fmt lint tidy unit test-html screenshots bench install dist tools test-tools browser-tools debug-build

help:
	@echo 'make demo         build drip and let it find the leaks of examples/inventory'
	@echo 'make test         format, lints, tidy, all tests (what continuous integration runs)'
	@echo 'make test-html    only the tests of the HTML report, in a headless Chromium'
	@echo 'make screenshots  the pictures of the documentation'
	@echo 'make dist         a static binary with manual and completions, as an archive in dist/'
	@echo 'make bench        measure drip and its peers on real programs (hours; ARGS=--quick: minutes)'
	@echo 'make install      install the drip command with cargo'

tools:
	@.ci/install-tools any

test-tools:
	@.ci/install-tools $(TEST_CLANGS)

build: tools
	$(CARGO) build --release --package drip-cli

# The example leaks on purpose: exit code 1 (findings) is what the demo has to show.
demo: build
	@echo '$$ drip check --output-format full --output-format html=target/demo.html examples/inventory/src/*.c'
	@$(DRIP) check --output-format full --output-format html=target/demo.html examples/inventory/src/*.c; code=$$?; \
	case $$code in \
	  1) echo; echo "demo: drip found the leaks of the example (exit code 1 = findings); as a page: target/demo.html" ;; \
	  0) echo "demo: no leak found, but the example has some" >&2; exit 1 ;; \
	  *) echo "demo: drip failed with exit code $$code" >&2; exit $$code ;; \
	esac

# The browser comes last: it needs the binary that the other tests have built.
test: test-tools fmt lint tidy unit test-html

fmt: test-tools
	$(CARGO) fmt --all --check

lint: fmt
	$(CARGO) clippy --workspace --all-targets -- -D warnings

tidy: lint
	$(CARGO) xtask tidy

unit: tidy
	$(CARGO) test --workspace

# Chromium and Node.js by package name; playwright-core, which drives them, from the npm registry.
browser-tools:
	@.ci/install-tools browser
	@cd tests/browser && npm install --no-audit --no-fund --no-package-lock --silent

# As a part of `make test` it takes the binary that the tests have built; by itself it builds one.
test-html: browser-tools $(if $(filter test,$(MAKECMDGOALS)),unit,debug-build)
	DRIP="$$($(CARGO) metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/debug/drip" \
	  node --test --test-reporter=spec tests/browser/page.test.mjs

debug-build: tools
	$(CARGO) build --package drip-cli

screenshots: build browser-tools
	DRIP=$(abspath $(DRIP)) node tests/browser/screenshots.mjs docs

dist: tools
	@DIST_TARGET=$(DIST_TARGET) CARGO="$(CARGO)" .ci/dist

# Fetches Debian's source packages. The analyses of the injected leaks run inside of xtask, hence a profile that
# optimises; it is built in a third of the time that drip itself takes.
bench:
	@.ci/install-tools bench
	$(CARGO) run --profile tools --quiet --package xtask -- bench $(ARGS)

install: tools
	$(CARGO) install --path crates/cli
