//! PostgreSQL in one of the groups, and `pgbench` as its clients.

use super::figures::{Figures, percentiles};
use super::settings::Lengths;
use crate::host::{Host, ended};
use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

/// A user without rights; PostgreSQL refuses to be root.
const USER: u32 = 65534;
const CLIENTS: u32 = 8;

pub(super) struct Database {
    programs: PathBuf,
    /// Where it listens and writes its log.
    run: PathBuf,
    /// Where its files are, while it runs.
    running: Option<(PathBuf, &'static str)>,
}

/// Where the newest PostgreSQL has its programs.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let version = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions.map(|entry| entry.path()).max_by_key(version)?;
    Some(newest.join("bin")).filter(|programs| programs.join("pgbench").exists())
}

impl Database {
    /// A database below the source of a host; none without PostgreSQL.
    pub(super) fn new(host: &Host, lengths: Lengths) -> Result<Option<Self>, String> {
        let Some(programs) = programs() else {
            println!("skipped: no PostgreSQL (scripts/setup.sh installs it)");
            return Ok(None);
        };
        let run = host.scratch().join("run");
        for directory in [&run, &host.source("database")] {
            fs::create_dir(directory).unwrap();
            chown(directory, Some(USER), Some(USER)).unwrap();
        }
        let mut database = Self { programs, run, running: None };
        host.make_group("first");
        let source = host.source("");
        let at = source.join("database");
        let made = format!("initdb --no-sync --auth=trust -U bench -D {}", at.display());
        ended(database.as_user(host, "first", &made))?;
        // As installed, but for where it listens; and no checkpoint falls into one run and not into
        // another.
        let more = format!(
            "listen_addresses = ''\nunix_socket_directories = '{}'\ncheckpoint_timeout = 1h\n\
             max_wal_size = 8GB\nautovacuum = off\n",
            database.run.display()
        );
        let file = at.join("postgresql.conf");
        let usual = fs::read_to_string(&file).unwrap();
        fs::write(&file, usual + &more).unwrap();
        database.start(host, "first", &source)?;
        // 15 MB for each.
        let scale = (lengths.file_mib / 128).max(1);
        let fill = database.connected("pgbench", &format!("--quiet -i -s {scale} postgres"));
        ended(database.as_user(host, "first", &fill))?;
        database.stop(host)?;
        Ok(Some(database))
    }

    /// Starts a command as the database's user.
    fn as_user(&self, host: &Host, group: &str, command: &str) -> std::process::Child {
        host.start(&host.path_of(group), &self.command(command))
    }

    fn command(&self, command: &str) -> String {
        let (run, programs) = (self.run.display(), self.programs.display());
        format!(
            "setpriv --reuid={USER} --regid={USER} --clear-groups \
             env HOME={run} LC_ALL=C PATH={programs}:/usr/bin:/bin {command}"
        )
    }

    fn connected(&self, program: &str, options: &str) -> String {
        format!("{program} -h {} -U bench {options}", self.run.display())
    }

    fn control(&self, host: &Host, group: &str, at: &Path, how: &str) -> Result<(), String> {
        let log = self.run.join("log");
        let command = format!("pg_ctl -s -w -t 120 -D {} -l {} {how}", at.display(), log.display());
        let output = self.as_user(host, group, &command).wait_with_output().unwrap();
        let said = || fs::read_to_string(&log).unwrap_or_default();
        if output.status.success() { Ok(()) } else { Err(format!("pg_ctl {how}: {}", said())) }
    }

    /// Starts the database in a group, with its files below a directory.
    pub(super) fn start(
        &mut self,
        host: &Host,
        group: &'static str,
        directory: &Path,
    ) -> Result<(), String> {
        let at = directory.join("database");
        self.control(host, group, &at, "start")?;
        self.running = Some((at, group));
        Ok(())
    }

    pub(super) fn stop(&mut self, host: &Host) -> Result<(), String> {
        let Some((at, group)) = self.running.take() else { return Ok(()) };
        self.control(host, group, &at, "-m fast stop")
    }

    /// Nothing of an earlier run is left to be written.
    pub(super) fn settle(&self, host: &Host) -> Result<(), String> {
        for entry in fs::read_dir(&self.run).unwrap().flatten() {
            if entry.file_name().to_string_lossy().starts_with("transactions.") {
                fs::remove_file(entry.path()).map_err(|error| error.to_string())?;
            }
        }
        let (_, group) = self.running.as_ref().ok_or("the database does not run")?;
        let checkpoint = self.connected("psql", "-q -c checkpoint postgres");
        ended(self.as_user(host, group, &checkpoint)).map(drop)
    }

    /// The command of its clients, who write how long each transaction takes.
    pub(super) fn client(&self, seconds: u32) -> String {
        let log = self.run.join("transactions");
        let options =
            format!("-n -c {CLIENTS} -j 2 -T {seconds} -l --log-prefix={} postgres", log.display());
        self.command(&self.connected("pgbench", &options))
    }

    pub(super) fn figures(&self, said: &str) -> Result<Figures, String> {
        let rate = said.lines().find_map(|line| line.strip_prefix("tps = "));
        let rate = rate.and_then(|rest| rest.split(' ').next()?.parse().ok());
        let rate: f64 = rate.ok_or_else(|| format!("pgbench: {said}"))?;
        let mut latencies_ms = Vec::new();
        for entry in fs::read_dir(&self.run).unwrap().flatten() {
            if entry.file_name().to_string_lossy().starts_with("transactions.") {
                let log = fs::read_to_string(entry.path()).map_err(|error| error.to_string())?;
                // Client, transaction, its duration in microseconds, …
                let third = |line: &str| line.split(' ').nth(2)?.parse::<f64>().ok();
                latencies_ms.extend(log.lines().filter_map(third).map(|us| us / 1e3));
            }
        }
        Ok(Figures { rate, ios_per_s: rate, latency: percentiles(latencies_ms), fsync: None })
    }
}
