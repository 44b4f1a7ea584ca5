#!/usr/bin/env bash
# Runs a test program, as cargo calls it, so that it says of each test how long it took. Tests of
# documentation are no programs of that kind.
case $1 in
*/deps/*) exec env RUSTC_BOOTSTRAP=1 "$@" -Zunstable-options --report-time ;;
*) exec "$@" ;;
esac
