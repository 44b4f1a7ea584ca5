#!/usr/bin/env bash
# What cargo calls instead of a test program. It writes the program down for test.sh, which runs it
# in one of its lanes: the package, where it runs and the program, apart by tabs. Tests of
# documentation run at once.
case $1 in
*/deps/*) printf '%s\t%s\t%s\n' "$CARGO_PKG_NAME" "$PWD" "$1" >>"$FAIRDISK_TEST_PROGRAMS" ;;
*) exec "$@" ;;
esac
