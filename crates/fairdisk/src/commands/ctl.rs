//! `fairdisk ctl`: shows running mounts and changes their settings. Without a running mount,
//! settings of groups can still be read and set, as they are stored with the cgroups.

mod kept;
mod marks;
mod offered;
mod rules;
mod scheduler;
mod table;

use super::limits::{ignored_note, unexamined_note};
use super::top::SortBy;
use crate::failure::Failure;
use crate::output::{self, diagnose, plain};
use clap::Subcommand;
use clap::builder::NonEmptyStringValueParser;
use fairdisk_lab::nearest::nearest;
use fairdisk_lab::results::value;
use fairdisk_mount::MountEntry;
use fairdisk_mount::control::{
    Answer, Ask, Client, ControlError, GroupEntry, Status, directories, running, socket_name,
};
use fairdisk_mount::identity::{Setting, group_path};
pub(super) use marks::names as mark_names;
pub(super) use offered::{hierarchies, mountpoints, tunables};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use table::table;

/// Look at running mounts, set the shares of groups, change the scheduler
///
/// `get` and `set` do without a mount: what is set is kept with the cgroup, and mounts to come find
/// it there.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    at: At,
    #[command(subcommand)]
    action: Action,
}

/// How long to wait for each daemon's answer when listing mounts for an error message.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long to wait for the answer to anything else, which takes milliseconds even on a busy disk:
/// a daemon that takes longer is stopped or hangs, and whoever asks has to be told.
const LONG_PATIENCE: Duration = Duration::from_secs(10);

/// The option that selects a mount.
#[derive(Debug, clap::Args)]
pub(super) struct At {
    /// A mount on the disk that is meant. Without it, or FAIRDISK_AT in the environment, all disks
    /// with mounts are listed, and what is set holds for all; else one has to be chosen
    #[arg(long, value_name = "MOUNTPOINT", global = true)]
    at: Option<PathBuf>,
}

impl At {
    /// The mount that was chosen, by the option or in the environment.
    fn mountpoint(&self) -> Option<PathBuf> {
        let set = || std::env::var_os("FAIRDISK_AT").filter(|at| !at.is_empty());
        self.at.clone().or_else(|| set().map(PathBuf::from))
    }
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Groups, what they ask for and what they got since the mount
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// What they asked for and got since a mark that `mark` has made
        #[arg(long, value_name = "MARK", value_parser = marks::name)]
        since: Option<String>,
        /// With --since, the column to sort by
        #[arg(long, value_enum, requires = "since", default_value_t, hide_default_value = true)]
        sort: SortBy,
    },
    /// Remember what groups have got until now, for `list --since`
    Mark {
        /// A name; one that is there already is made anew
        #[arg(value_parser = marks::name)]
        name: String,
    },
    /// Which mounts there are, with their processes, disks and schedulers
    Status {
        /// Print JSON, an object for each process
        #[arg(long)]
        json: bool,
    },
    /// What a group asks for
    Get {
        /// Its cgroup, as `list` shows it; `/` is whoever is in none
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        group: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Set what a group asks for: all of it or, if something cannot be, nothing
    #[command(after_help = "\
A group is a cgroup, and a cgroup is a directory, as in
  mkdir /sys/fs/cgroup/db                         make one
  echo PID > /sys/fs/cgroup/db/cgroup.procs       have a program in it
  fairdisk ctl set /db weight=800 --keep          its share, also after a restart
  fairdisk ctl set /db --at /mnt fsync_p99_ms=10  a target for its commits on one disk
Services of systemd have cgroups, as /system.slice/postgresql.service.")]
    Set {
        /// Its cgroup, as `list` shows it; `/` is whoever is in none
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        group: String,
        /// `weight=N` (1 to 10000) or `ioprio=N` (0, high, to 7); `idle=N`: how many ms, 0 to 1000,
        /// the disk is kept for the group when it has nothing queued; `min_iops=N`, `min_bps=N`: a
        /// floor; `max_iops=N`, `max_bps=N`: a ceiling, of which `burst_ms=N` may go at once;
        /// `max_read_iops=N`, `max_read_bps=N`, `max_write_iops=N`, `max_write_bps=N`: one of reads
        /// or of writes; `burst_iops=N`, `burst_bps=N`: the rate above a ceiling for bursts of
        /// `burst_for=60s`; `latency_p99_ms=N`, `fsync_p99_ms=N`: targets. Rates may be written as
        /// 10M, 10MB or 40MB/s, times as 2ms; `none`, or `max` for a ceiling, takes a setting
        /// back. With --at all but weight and ioprio are for that disk alone
        #[arg(required = true)]
        settings: Vec<String>,
        /// Also for a cgroup of this name to come, as after a restart: as a rule in `groups.d`
        #[arg(long)]
        keep: bool,
    },
    /// Answer Prometheus there from now on, or no longer
    Metrics {
        /// 127.0.0.1:9470, [::1]:9470, unix:/PATH, or `off`
        #[arg(value_name = "ADDRESS|off")]
        address: String,
    },
    /// The rules for groups, in /etc/fairdisk or where FAIRDISK_RULES says
    #[command(subcommand)]
    Rules(rules::Action),
    /// The scheduler and its tunables; with a name another one takes over, under load if need be
    ///
    /// The scheduler that runs already begins anew, and keeps the tunables that are not named.
    Scheduler {
        /// `cfq` or a name of `fairdisk catalog schedulers`; `fairdisk catalog schedulers NAME`
        /// shows what a mount runs under that name
        name: Option<String>,
        /// Tunables, as in `cfq.slice_idle_ms=0` or `rules.pace=false`; the table in front may be
        /// left out where only one has such a key; `default` takes a change back
        #[arg(value_name = "KEY=VALUE")]
        tunables: Vec<String>,
        /// Print JSON
        #[arg(long, conflicts_with = "name")]
        json: bool,
    },
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    if let Action::Rules(action) = &args.action {
        return rules::execute(action);
    }
    let clients = find(&args.at)?;
    match clients.is_empty() {
        true => kept::execute(&args.action),
        false => ask(clients, &args.action, args.at.mountpoint().is_some()),
    }
}

/// Does the action on each disk. What is set is for the `chosen` disk alone, or for all.
fn ask(mut clients: Vec<Client>, action: &Action, chosen: bool) -> Result<(), Failure> {
    let several = clients.len() > 1;
    match action {
        Action::List { json, since: Some(mark), sort } => {
            clients.iter_mut().try_for_each(|client| marks::show(client, mark, *sort, *json))
        }
        Action::Mark { name } => marks::set(&mut clients, name),
        Action::Status { json } => {
            clients.iter_mut().try_for_each(|client| process_of(client, *json))
        }
        Action::List { json, .. } => {
            for (at, client) in clients.iter_mut().enumerate() {
                let status = client.status()?;
                match json {
                    true => print_json(&status)?,
                    false if at > 0 => output::print(&format!("\n{}", table(&status)))?,
                    false => output::print(&table(&status))?,
                }
            }
            Ok(())
        }
        Action::Get { group, json } => {
            for client in &mut clients {
                let status = get(client, group)?;
                let Some(entry) = status.groups.first() else {
                    return Err(ControlError::Gibberish(format!("{status:?}")).into());
                };
                let of_disk = several.then(|| plain(&status.disk));
                show(entry, group, (of_disk.as_deref(), &status.scheduler), *json)?;
            }
            Ok(())
        }
        Action::Set { group, settings, keep } => set(clients, group, (settings, *keep), chosen),
        Action::Metrics { address } => {
            let address = Some(address.clone()).filter(|address| address != "off");
            only(clients)?.ask(&Ask::Metrics { address })?;
            Ok(())
        }
        Action::Rules(action) => rules::execute(action),
        Action::Scheduler { name: Some(name), tunables, .. } => {
            scheduler::change(clients, name, tunables)
        }
        Action::Scheduler { json, .. } => scheduler::show(&mut clients, *json),
    }
}

/// Shows the mounts of a process.
fn process_of(client: &mut Client, json: bool) -> Result<(), Failure> {
    let status = client.status()?;
    let pid = client.process();
    if json {
        return print_json(&StatusResults {
            pid,
            disk: &status.disk,
            scheduler: &status.scheduler,
            tunables: &status.tunables,
            device_model: status.device_model.as_deref(),
            costs: status.costs.as_deref(),
            io: status.io.as_deref(),
            cgroups: status.cgroups.as_deref(),
            uptime_s: status.uptime_s,
            mounts: &status.mounts,
            metrics: status.metrics.as_deref(),
        });
    }
    let Status { disk, mounts, scheduler, tunables, metrics, uptime_s, .. } = status;
    let pid = pid.map_or_else(|| "unknown".to_owned(), |pid| pid.to_string());
    let set: String = tunables.iter().map(|it| format!(" {it}")).collect();
    let metrics = metrics.map(|it| format!(", metrics at {it}")).unwrap_or_default();
    let disk = plain(&disk);
    let mut text = format!("{disk}: {scheduler}{set}, pid {pid}, up {uptime_s:.0} s{metrics}\n");
    for MountEntry { source, mountpoint } in &mounts {
        let _ = writeln!(text, "  {} on {}", plain(source), plain(mountpoint));
    }
    Ok(output::print(&text)?)
}

/// Sets what a group asks for on all disks, or on the one that is `chosen` alone. Where one of
/// several disks refuses, the settings are not stored, and the others find that out by themselves.
fn set(
    mut clients: Vec<Client>,
    group: &str,
    (settings, keep): (&[String], bool),
    chosen: bool,
) -> Result<(), Failure> {
    if keep && let Some(to_come) = rules::Kept::to_come(&mut clients, group, chosen)? {
        return to_come.keep(settings);
    }
    let keys = keys(settings);
    let mut kept = None;
    let (group, settings) = (group.to_owned(), settings.to_vec());
    let ask = Ask::Set { group: group.clone(), settings: settings.clone(), own: chosen };
    let mut notes: Vec<String> = Vec::new();
    for mut client in clients {
        client.ask(&ask).map_err(|error| with_hint(error, &keys))?;
        // The setting is in force, so a note that cannot be fetched is no failure.
        let status = get(&mut client, &group).ok();
        kept = status.as_ref().filter(|_| keep).map(|it| rules::Kept::of(it, chosen)).or(kept);
        let new = [ignored_note, unexamined_note].map(|note| note(status.as_ref()?, &keys));
        notes.extend(new.into_iter().flatten());
    }
    notes.dedup();
    notes.iter().for_each(|note| diagnose(note));
    kept.map_or(Ok(()), |kept| kept.keep(&settings))
}

/// Asks for the state of the group to which the tasks of the cgroup `group` belong.
fn get(client: &mut Client, group: &str) -> Result<Status, ControlError> {
    match client.ask(&Ask::Get { group: group.to_owned() })? {
        Answer::Status(status) => Ok(*status),
        other => Err(ControlError::Gibberish(format!("{other:?}"))),
    }
}

/// The keys of `KEY=VALUE` settings.
fn keys(settings: &[String]) -> Vec<&str> {
    let keys = settings.iter().filter_map(|setting| setting.split_once('='));
    keys.map(|(key, _)| key.trim()).collect()
}

/// The setting that the kernel calls `key` in `io.max`.
fn kernels(key: &str) -> Option<&'static str> {
    let names = [
        ("rbps", "max_read_bps"),
        ("wbps", "max_write_bps"),
        ("riops", "max_read_iops"),
        ("wiops", "max_write_iops"),
    ];
    names.into_iter().find_map(|(of_kernel, ours)| (of_kernel == key).then_some(ours))
}

/// Adds to a refusal the setting that the first unknown key was probably meant to be. The mount
/// decides first, because it may be of another version and know other settings.
fn with_hint(error: ControlError, keys: &[&str]) -> ControlError {
    let unknown = keys.iter().find(|key| !Setting::keys().any(|known| known == **key));
    let known = |key: &&str| kernels(key).or_else(|| nearest(key, Setting::keys()));
    match (error, unknown.and_then(known)) {
        (ControlError::Refused(why), Some(near))
            if unknown.is_some_and(|key| why.contains(key)) =>
        {
            ControlError::Refused(format!("{why}; did you mean `{near}`?"))
        }
        (error, _) => error,
    }
}

/// Prints the settings of `entry`, the group to which the cgroup `group` belongs, on one of several
/// disks.
fn show(
    entry: &GroupEntry,
    group: &str,
    (disk, scheduler): (Option<&str>, &str),
    json: bool,
) -> Result<(), Failure> {
    if json {
        return print_json(entry);
    }
    let disk = disk.map(|disk| format!("{disk}: ")).unwrap_or_default();
    let mut text = format!("{disk}{}\n", asks(entry, group, scheduler));
    for (key, origin) in &entry.origins {
        let _ = writeln!(text, "{disk}  {key} is from {}", plain(origin));
    }
    Ok(output::print(&text)?)
}

fn print_json(results: &impl Serialize) -> Result<(), Failure> {
    Ok(output::print_json(&value(results))?)
}

/// What `fairdisk ctl status --json` prints of the process that serves a disk.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StatusResults<'a> {
    /// Its number; null if it is not known.
    pid: Option<i32>,
    /// The kernel's name of the disk.
    disk: &'a str,
    /// The scheduler.
    scheduler: &'a str,
    /// Its tunables with another value than it has by itself, as `KEY=VALUE`.
    tunables: &'a [String],
    /// The device model that sets the pace.
    device_model: Option<&'a str>,
    /// The device whose costs the scheduler goes by.
    costs: Option<&'a str>,
    /// What performs the reads of a busy disk: `uring` or `threads`.
    io: Option<&'a str>,
    /// The hierarchy that groups come from.
    cgroups: Option<&'a str>,
    /// The time since the first mount.
    uptime_s: f64,
    /// The mounts on the disk.
    mounts: &'a [MountEntry],
    /// The address at which the metrics are served.
    metrics: Option<&'a str>,
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::Refused(why) => Self::BadInput(plain(&why).into_owned()),
            other => Self::Run(plain(&other.to_string()).into_owned()),
        }
    }
}

/// Connects to the daemon of the selected mount or, if none was selected, to all that run, of which
/// there must be some.
pub(super) fn connect_all(at: &At) -> Result<Vec<Client>, Failure> {
    let clients = find(at)?;
    match clients.is_empty() {
        true => Err(Failure::Run(NOBODY.to_owned())),
        false => Ok(clients),
    }
}

/// The only one of the clients.
fn only(mut clients: Vec<Client>) -> Result<Client, Failure> {
    if clients.len() > 1 {
        let text = "several mounts have schedulers of their own; choose one with --at:";
        return Err(Failure::BadInput(text.to_owned() + &ways_to(clients)));
    }
    clients.pop().ok_or_else(|| Failure::Run(NOBODY.to_owned()))
}

/// The one daemon that is meant.
///
/// # Errors
/// None answers, or several do and none was chosen.
pub(super) fn the_client(at: &At) -> Result<Client, Failure> {
    only(find(at)?)
}

/// Connects to the daemon of the selected mount or, if none was selected, to all that run. The
/// clients do not wait for ever.
///
/// # Errors
/// The selected mount does not answer.
fn find(at: &At) -> Result<Vec<Client>, Failure> {
    let mut clients = choose(at)?;
    let patient = clients.iter_mut().try_for_each(|it| it.wait_no_longer_than(LONG_PATIENCE));
    patient.map_err(|error| Failure::Run(error.to_string()))?;
    Ok(clients)
}

fn choose(at: &At) -> Result<Vec<Client>, Failure> {
    if let Some(mountpoint) = &at.mountpoint() {
        return reach(mountpoint).map(|client| vec![client]).map_err(|error| {
            let at = mountpoint.display();
            if matches!(error, ControlError::Silent { .. }) {
                return Failure::Run(format!("--at {at}: {error}"));
            }
            let others = ways_to(running());
            Failure::Run(match others.is_empty() {
                true => format!("--at {at}: {error}; {NOBODY}"),
                false => format!("--at {at}: {error}; what does answer:{others}"),
            })
        });
    }
    Ok(running())
}

/// Connects to the daemon of the mount at `mountpoint`, and has it confirm that it serves that
/// mount.
fn reach(mountpoint: &Path) -> Result<Client, ControlError> {
    let path = std::fs::canonicalize(mountpoint).or_else(|_| std::path::absolute(mountpoint));
    let path = path.unwrap_or_else(|_| mountpoint.to_owned());
    let (places, name) = (directories(), socket_name(&path));
    let there = places.iter().map(|place| place.join(&name)).find(|path| path.exists());
    let socket = there.unwrap_or_else(|| places[0].join(&name));
    let mut client = Client::connect(&socket)?;
    client.wait_no_longer_than(LONG_PATIENCE).map_err(ControlError::Lost)?;
    match client.ask(&Ask::Mounts)? {
        Answer::Mounts(all) if all.iter().any(|it| *it.mountpoint == *path.to_string_lossy()) => {
            Ok(client)
        }
        Answer::Mounts(_) => Err(ControlError::Refused("it is not mounted there".to_owned())),
        other => Err(ControlError::Gibberish(format!("{other:?}"))),
    }
}

const NOBODY: &str =
    "no mount that schedules was found (start one with fairdisk mount SOURCE MOUNTPOINT)";

/// The `--at` option of each mount that the clients serve, one per line, for an error message.
fn ways_to(clients: Vec<Client>) -> String {
    let mut text = String::new();
    for mut client in clients {
        // A daemon that hangs must not delay the list of the others for long.
        let patient = client.wait_no_longer_than(PATIENCE);
        let Some(status) = patient.ok().and_then(|()| client.status().ok()) else { continue };
        for mount in status.mounts {
            let (at, disk) = (plain(&mount.mountpoint), plain(&status.disk));
            let _ = write!(text, "\n  --at {at} ({disk})");
        }
    }
    text
}

/// The settings of a group in the syntax of `ctl set`, with the weight that a priority stands for,
/// and what the scheduler ignores.
fn asks(entry: &GroupEntry, group: &str, scheduler: &str) -> String {
    let (share, others) = entry.asks.split_once(' ').unwrap_or((&entry.asks, ""));
    let worth = entry.ioprio.map(|_| format!(" (weight {})", entry.weight)).unwrap_or_default();
    let inside = entry.parent.as_ref().map(|parent| format!(" in {}", plain(parent)));
    let inside = inside.unwrap_or_default();
    let others = if others.is_empty() { String::new() } else { format!(" {others}") };
    let is_own = entry.cgroup == entry.path || group_path(group) == entry.path;
    let part = if is_own { String::new() } else { format!(" as part of {}", plain(&entry.path)) };
    let ignored = match entry.ignored.join(", ") {
        none if none.is_empty() => none,
        some => format!(" [{scheduler} takes no notice of {some}]"),
    };
    let refused = match entry.refused.join(" ") {
        none if none.is_empty() => none,
        some => format!(" [{scheduler} refused {some}]"),
    };
    let elsewhere = match entry.replaced.join(" ") {
        none if none.is_empty() => none,
        some => format!(" [other disks: {some}]"),
    };
    format!("{share}{worth}{others}{inside}{part}{elsewhere}{ignored}{refused}")
}

/// The least part of the disk's time, in percent, that is worth a line.
pub(super) const DEFERRED_LEAST: f64 = 1.0;

/// A time in milliseconds, with microseconds up to 100 ms; `-` if there is none.
pub(super) fn milliseconds(ms: Option<f64>) -> String {
    ms.map_or_else(
        || "-".to_owned(),
        |ms| if ms < 100.0 { format!("{ms:.3}") } else { format!("{ms:.1}") },
    )
}
