#!/usr/bin/env bash
# Meant to be sourced after common.sh: a private PostgreSQL in the group `database`, and `pgbench` as
# its clients. $scale is of pgbench, 15 MB each, and $seconds how long a run takes.

clients=8
running=
bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
[ -x "$bin/pgbench" ] || bin=$(dirname "$(command -v pgbench || echo /nowhere/x)")
user=nobody

# The command that becomes another one, of a user without rights.
as_nobody=(setpriv --reuid=$user --regid="$(id -g $user)" --clear-groups env LC_ALL=C PATH="$bin:$PATH")

# As such a user, in the group of the database.
as_user() { in_group database "${as_nobody[@]}" HOME="$scratch" "$@"; }

# Where the database is; it listens on a socket in $scratch/run alone.
start_database() {
  as_user pg_ctl --silent -w -t 120 -D "$1/database" -l "$scratch/run/log" start ||
    { tail -n 5 "$scratch/run/log" >&2; die "PostgreSQL does not start"; }
  running=$1/database
}

stop_database() {
  as_user pg_ctl --silent -w -t 120 -m fast -D "$running" stop
  running=
}

# DIRECTORY, more lines of its configuration: a database, made where the disk is not yet slow.
make_database() {
  install -d -o $user "$1/database"
  as_user initdb --no-sync --auth=trust -U bench -D "$1/database" >"$scratch/run/initdb" ||
    die "initdb failed"
  # As installed, but for where it listens; and no checkpoint falls into one run and not into another.
  cat >>"$1/database/postgresql.conf" <<CONF
listen_addresses = ''
unix_socket_directories = '$scratch/run'
checkpoint_timeout = 1h
max_wal_size = 8GB
autovacuum = off
${2:-}
CONF
  start_database "$1"
  as_user pgbench --quiet -h "$scratch/run" -U bench -i -s "$scale" postgres 2>/dev/null ||
    die "pgbench -i failed"
  stop_database
}

# Nothing of an earlier run is left to be written.
settle() { as_user psql -q -h "$scratch/run" -U bench -c checkpoint postgres; }

# Transactions per second in $tps and the latencies' mean in $latency, ms.
bench() {
  as_user pgbench -n -h "$scratch/run" -U bench -c $clients -j 2 -T "$seconds" postgres \
    >"$scratch/run/bench" 2>&1
  tps=$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$scratch/run/bench")
  latency=$(sed -n 's/^latency average = \([0-9.]*\).*/\1/p' "$scratch/run/bench")
  [ -n "$tps" ] || { cat "$scratch/run/bench" >&2; die "pgbench failed"; }
}

mean() { awk -v a="$1" -v b="$2" 'BEGIN { print (a + b) / 2 }'; }

# Ends the database before what is mounted goes away.
clean_up_all() {
  [ -z "$running" ] || stop_database
  clean_up
}

# What is needed and where it is run; what was started ends with the script.
start_postgres() {
  need setpriv
  [ -x "$bin/pgbench" ] || skip "no PostgreSQL (scripts/setup.sh installs it)"
  find_hierarchy
  start_scratch
  trap clean_up_all EXIT
  group database
  install -d -o $user "$scratch/run"
}
