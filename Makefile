# Every target sets up what it needs. Nothing here is needed to use cargo by itself.

SHELL := /bin/bash
# Where this file is, for those who call it from elsewhere.
HERE := $(shell cd "$(dir $(lastword $(MAKEFILE_LIST)))" && pwd)/
.DEFAULT_GOAL := help
.PHONY: help demo test bench soak install package docs lint fmt

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' "$(lastword $(MAKEFILE_LIST))"

demo: ## two groups share a disk: in the lab, then in real time; no root needed
	@. "$(HERE)"scripts/toolchain.sh && cargo run --profile demo --locked -p fairdisk -- demo

test: ## format, lints, all tests, licences, documents; under 30 minutes on 2 cores
	@. "$(HERE)"scripts/toolchain.sh && scripts/setup.sh && scripts/test.sh

bench: ## what a decision, a simulated I/O and a run cost, and who gets what of a disk (PART=real-disk)
	@. "$(HERE)"scripts/toolchain.sh && scripts/setup.sh && scripts/bench.sh $(PART)

soak: ## the long forms of the tests: storms, properties, ablations
	@. "$(HERE)"scripts/toolchain.sh && scripts/setup.sh && scripts/soak.sh

install: ## the program, man pages, completions; as root mount.fairdisk and a unit (PREFIX, DESTDIR)
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" "$(HERE)"scripts/install.sh

docs: ## the book with its notebooks run, a search, and links checked, in target/book
	@"$(HERE)"scripts/docs.sh

package: ## a Debian package, a wheel and, if Rust's musl target can be had, a static program, in target/package
	@"$(HERE)"scripts/package.sh

lint: ## clippy, warnings are errors
	@. "$(HERE)"scripts/toolchain.sh && cargo clippy --workspace --all-targets --locked -- -D warnings

fmt: ## formats the sources
	@. "$(HERE)"scripts/toolchain.sh && cargo fmt --all
