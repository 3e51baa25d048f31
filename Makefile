# drip: the few commands one needs. `make help` lists them.
# Each target first installs, by package name, what is missing (.ci/install-tools); Rust is assumed.

CARGO      ?= cargo
# Versions of clang whose bitcode the tests read.
TEST_CLANGS ?= 14 19
# Extra words for the benchmark, e.g. make bench ARGS="--runs 5".
ARGS       ?=
DRIP       := target/release/drip

.PHONY: help build demo test fmt lint tidy unit bench install tools test-tools

help:
	@echo 'make demo      build drip and let it find the leaks of examples/inventory'
	@echo 'make test      format, lints, tidy, all tests (what continuous integration runs)'
	@echo 'make bench     measure drip; ARGS="…" is handed to cargo xtask bench'
	@echo 'make install   install the drip command with cargo'

tools:
	@.ci/install-tools any

test-tools:
	@.ci/install-tools $(TEST_CLANGS)

build: tools
	$(CARGO) build --release --package drip-cli

# The example leaks on purpose: exit code 1 (findings) is what the demo has to show.
demo: build
	@echo '$$ drip check examples/inventory/src/*.c'
	@$(DRIP) check examples/inventory/src/*.c; code=$$?; \
	case $$code in \
	  1) echo; echo "demo: drip found the leaks of the example (exit code 1 = findings)" ;; \
	  0) echo "demo: no leak found, but the example has some" >&2; exit 1 ;; \
	  *) echo "demo: drip failed with exit code $$code" >&2; exit $$code ;; \
	esac

test: test-tools fmt lint tidy unit

fmt: test-tools
	$(CARGO) fmt --all --check

lint: fmt
	$(CARGO) clippy --workspace --all-targets -- -D warnings

tidy: lint
	$(CARGO) xtask tidy

unit: tidy
	$(CARGO) test --workspace

bench: test-tools
	$(CARGO) xtask bench $(if $(ARGS),$(ARGS),frontend)

install: tools
	$(CARGO) install --path crates/cli
