#!/usr/bin/env bash
# Chooses a Rust toolchain; meant to be sourced. The one pinned in rust-toolchain.toml if rustup has
# it or can fetch it, else any installed one that is new enough, with a note.

toolchain_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$toolchain_root" || exit 1

toolchain_value() { sed -n "s/^$1 = \"\(.*\)\"/\1/p" "$2" | head -n 1; }

toolchain_choose() {
  local pinned least found name version
  pinned=$(toolchain_value channel rust-toolchain.toml)
  least=$(toolchain_value rust-version Cargo.toml)

  if ! command -v cargo >/dev/null && [ -r "$HOME/.cargo/env" ]; then
    # A fresh rustup that the shell has not seen yet.
    . "$HOME/.cargo/env"
  fi
  if ! command -v cargo >/dev/null; then
    echo "error: no cargo found; install Rust $least or later, from https://rustup.rs for example" >&2
    return 1
  fi
  # Somebody chose already.
  [ -n "${RUSTUP_TOOLCHAIN:-}" ] && return 0

  if ! command -v rustup >/dev/null; then
    toolchain_new_enough "$(rustc --version)" "$least" && return 0
    echo "error: $(rustc --version) is too old; Rust $least or later is needed" >&2
    return 1
  fi
  toolchain_complete "$pinned" && return 0
  echo "note: fetching Rust $pinned with rustfmt and clippy" >&2
  if RUST_BACKTRACE=0 rustup toolchain install "$pinned" --profile minimal --no-self-update \
    --component rustfmt --component clippy >&2 && toolchain_complete "$pinned"; then
    return 0
  fi
  # No network, or no such component there. Complete ones first, then any that compiles.
  for found in complete any; do
    while read -r name _; do
      version=$(rustup run "$name" rustc --version 2>/dev/null) || continue
      toolchain_new_enough "$version" "$least" || continue
      [ "$found" = any ] || toolchain_complete "$name" || continue
      export RUSTUP_TOOLCHAIN="$name"
      echo "note: Rust $pinned cannot be had; using $version instead" >&2
      return 0
    done < <(toolchain_installed)
  done
  echo "error: Rust $pinned cannot be fetched and no installed toolchain is $least or later" >&2
  return 1
}

# The installed toolchains, the default one first.
toolchain_installed() {
  rustup toolchain list 2>/dev/null | grep '(.*default.*)'
  rustup toolchain list 2>/dev/null | grep -v '(.*default.*)'
}

# Whether rustup has this toolchain with everything `make test` uses; fetches nothing.
toolchain_complete() {
  rustup toolchain list 2>/dev/null | grep -q "^$1\(-\| \|\$\)" || return 1
  RUSTUP_TOOLCHAIN=$1 cargo fmt --version >/dev/null 2>&1 &&
    RUSTUP_TOOLCHAIN=$1 cargo clippy --version >/dev/null 2>&1
}

# "rustc 1.95.0 (…)" against "1.95".
toolchain_new_enough() {
  local have
  have=$(sed -n 's/^rustc \([0-9.]*\).*/\1/p' <<<"$1")
  [ -n "$have" ] && [ "$(printf '%s\n%s\n' "$2" "$have" | sort -V | head -n 1)" = "$2" ]
}

toolchain_choose || { return 1 2>/dev/null || exit 1; }
