//! `fairdisk ctl`: looks at running mounts and changes them.

use super::top::rates::quantile;
use crate::failure::Failure;
use crate::output;
use clap::Subcommand;
use fairdisk_mount::control::{
    Ask, Client, ControlError, GroupEntry, Status, directories, running, socket_name,
};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Look at running mounts, set the shares of groups, change the scheduler
use std::time::Duration;
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    at: At,
    #[command(subcommand)]
    action: Action,
}

/// Which mount.
#[derive(Debug, clap::Args)]
/// Who says nothing for so long is not named.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) struct At {
    /// A mount on the disk that is meant; needed if there are several disks with mounts
    #[arg(long, value_name = "MOUNTPOINT", global = true)]
    at: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Groups, what they ask for and what they got since the mount
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// What a group asks for
    Get {
        /// Its cgroup, as `list` shows it
        group: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Set what a group asks for: all of it or, if something cannot be, nothing
    Set {
        /// Its cgroup, as `list` shows it
        group: String,
        /// `weight=N` (1 to 10000) or `ioprio=N` (0, high, to 7); `idle=N`: how many ms, 0 to 1000,
        /// the disk is kept for the group when it has nothing queued; `min_iops=N`, `min_bps=N`: a
        /// floor; `max_iops=N`, `max_bps=N`: a ceiling, of which `burst_ms=N` may go at once;
        /// `latency_p99_ms=N`: a target. N may end in K, M or G; `none` takes a setting back
        #[arg(required = true)]
        settings: Vec<String>,
    },
    /// Another scheduler takes over, under load if need be
    Scheduler {
        /// Its name in `fairdisk catalog schedulers`
        name: String,
    },
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let mut client = connect(&args.at)?;
    match &args.action {
        Action::List { json } => {
            let status = client.status()?;
            if *json {
                return print_json(serde_json::to_value(&status));
            }
            Ok(output::print(&table(&status))?)
        }
        Action::Get { group, json } => {
            let status = client.status()?;
            let path = format!("/{}", group.trim_matches('/'));
            let Some(entry) = status.groups.iter().find(|entry| entry.path == path) else {
                let error =
                    format!("no group `{group}` has used the mount (see fairdisk ctl list)");
                return Err(Failure::BadInput(error));
            };
            if *json {
                return print_json(serde_json::to_value(entry));
            }
            Ok(output::print(&(asks(entry) + "\n"))?)
        }
        Action::Set { group, settings } => {
            client.ask(&Ask::Set { group: group.clone(), settings: settings.clone() })?;
            Ok(())
        }
        Action::Scheduler { name } => {
            client.ask(&Ask::Scheduler { name: name.clone() })?;
            Ok(())
        }
    }
}

fn print_json(value: serde_json::Result<serde_json::Value>) -> Result<(), Failure> {
    let value = value.map_err(|error| Failure::Run(error.to_string()))?;
    Ok(output::print_json(&value)?)
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::Refused(why) => Self::BadInput(why),
            other => Self::Run(other.to_string()),
        }
    }
}

pub(super) fn connect(at: &At) -> Result<Client, Failure> {
    if let Some(mountpoint) = &at.at {
        let places = directories();
        let path = std::path::absolute(mountpoint).unwrap_or_else(|_| mountpoint.clone());
        let name = socket_name(&path);
        let there = places.iter().map(|place| place.join(&name)).find(|path| path.exists());
        let socket = there.unwrap_or_else(|| places[0].join(&name));
        return Client::connect(&socket).map_err(|error| {
            let (at, others) = (mountpoint.display(), ways_to(running()));
            Failure::Run(match others.is_empty() {
                true => format!("--at {at}: {error}; {NOBODY}"),
                false => format!("--at {at}: {error}; what does answer:{others}"),
            })
        });
    }
    let mut clients = running();
    match (clients.pop(), clients.is_empty()) {
        (Some(client), true) => Ok(client),
        (Some(last), false) => {
            clients.push(last);
            let text = "several disks have mounts; choose one with --at:";
            Err(Failure::BadInput(text.to_owned() + &ways_to(clients)))
        }
        (None, _) => Err(Failure::Run(NOBODY.to_owned())),
    }
}

const NOBODY: &str = "no mount is running (start one with fairdisk mount SOURCE MOUNTPOINT)";

/// The mounts at the other end, and how to name each, in lines.
fn ways_to(clients: Vec<Client>) -> String {
    let mut text = String::new();
    for mut client in clients {
        // One that is stuck is not to keep us from the others.
        let patient = client.wait_no_longer_than(PATIENCE);
        let Some(status) = patient.ok().and_then(|()| client.status().ok()) else { continue };
        for mount in status.mounts {
            let _ = write!(text, "\n  --at {} ({})", mount.mountpoint, status.disk);
        }
    }
}

/// In the words of settings, and what a priority is worth.
fn asks(entry: &GroupEntry) -> String {
    let (share, others) = entry.asks.split_once(' ').unwrap_or((&entry.asks, ""));
    let worth = entry.ioprio.map(|_| format!(" (weight {})", entry.weight)).unwrap_or_default();
    let inside = entry.parent.as_ref().map(|parent| format!(" in {parent}")).unwrap_or_default();
    let others = if others.is_empty() { String::new() } else { format!(" {others}") };
    format!("{share}{worth}{others}{inside}")
}

fn table(status: &Status) -> String {
    let mounts = status.mounts.iter().map(|it| format!("{} on {}\n", it.source, it.mountpoint));
    let mut text: String = mounts.collect();
    let _ = writeln!(
        text,
        "{}, {}, reads by {}, groups from {}, up {:.0} s",
        status.disk,
        match &status.device_model {
            Some(model) => format!("{} at the pace of {model}", status.scheduler),
            None => status.scheduler.clone(),
        },
        status.io.as_deref().unwrap_or("threads"),
        status.cgroups.as_deref().unwrap_or("nowhere"),
        status.uptime_s
    );
    let whole: f64 = status.groups.iter().map(|group| group.device_time_ms).sum();
    let width = status.groups.iter().map(|group| group.path.len()).max().unwrap_or(0).max(5);
    let _ = writeln!(
        text,
        "{:width$}  weight   time %      reads     writes   MB read  MB writ.    p50 ms    p99 ms  longest wait ms",
        "group"
    );
    for group in &status.groups {
        let share = if whole > 0.0 { 100.0 * group.device_time_ms / whole } else { 0.0 };
        let _ = writeln!(
            text,
            "{:width$}  {:>6}   {share:>6.1} {:>10} {:>10} {:>9.1} {:>9.1} {:>9} {:>9}  {:>15.1}",
            group.path,
            group.weight,
            group.reads,
            group.writes,
            group.read_bytes as f64 / 1e6,
            group.written_bytes as f64 / 1e6,
            shown(quantile(&group.latency, 0.5)),
            shown(quantile(&group.latency, 0.99)),
            group.wait_max_ms,
        );
    }
    text
}

/// Milliseconds; `-` if nothing was counted.
fn shown(ms: Option<f64>) -> String {
    ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1}"))
}
