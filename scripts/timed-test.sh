#!/usr/bin/env bash
# Runs a test program, as cargo calls it, so that it says of each test how long it took.
exec env RUSTC_BOOTSTRAP=1 "$@" -Zunstable-options --report-time
