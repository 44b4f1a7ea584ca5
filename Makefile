# Every target sets up what it needs. Nothing here is needed to use cargo by itself.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test bench soak install lint fmt

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

demo: ## two groups share a disk: in the lab, then in real time; no root needed
	@. scripts/toolchain.sh && cargo run --release --locked -p fairdisk -- demo

test: ## format, lints, all tests, licences, documents; under 30 minutes on 2 cores
	@. scripts/toolchain.sh && scripts/setup.sh && scripts/test.sh

bench: ## what a decision, a simulated I/O and a run cost
	@. scripts/toolchain.sh && scripts/setup.sh && scripts/bench.sh

soak: ## the long forms of the tests: storms, properties, ablations
	@. scripts/toolchain.sh && scripts/setup.sh && scripts/soak.sh

install: ## the program, man pages, completions; as root mount.fairdisk and a unit (PREFIX, DESTDIR)
	@. scripts/toolchain.sh && PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install.sh

lint: ## clippy, warnings are errors
	@. scripts/toolchain.sh && cargo clippy --workspace --all-targets --locked -- -D warnings

fmt: ## formats the sources
	@. scripts/toolchain.sh && cargo fmt --all
