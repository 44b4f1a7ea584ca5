//! `fairdisk mount`: shares a real disk between real programs.
//!
//! The first mount on a disk runs its scheduler; later ones join it.

pub(crate) mod disk;
mod join;
mod observer;
mod own;
pub(super) mod scheduler;

use self::observer::{LOOK_ROUNDS, REST_ROUNDS};
use super::daemon;
use crate::failure::Failure;
use crate::interrupt;
use crate::log::LogArgs;
use crate::notify;
use crate::number_arg::within;
use crate::output::diagnose;
use crate::selection;
use clap::builder::{PathBufValueParser, TypedValueParser as _};
use fairdisk_core::Span;
use fairdisk_lab::catalog::library::is_path;
use fairdisk_mount::control::{self, Settings, Turn};
use fairdisk_mount::identity::Hierarchy;
use fairdisk_mount::metrics::Address;
use fairdisk_mount::{
    BlockDevice, Guardian, MountError, MountOptions, Mounted, OpenGate, Rounds, end_at_first_panic,
    give_memory_back, tell_unsaid,
};
use fairdisk_plane::disk::DEPTH_MAX;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The interval at which to check whether a mount has ended.
const PAUSE: Duration = Duration::from_millis(100);

/// The interval of the periodic work on the mounts of this process.
const ROUND: Span = Span::from_ms(100);

/// Share a directory's disk between cgroups
///
/// Everything below SOURCE appears at MOUNTPOINT. Whoever reads or writes there gets the disk in
/// turns, by the weight of its cgroup and, inside it, by its ionice class and level. What goes to
/// SOURCE directly is not scheduled. Mounts whose sources are on one disk share it: the first runs
/// the scheduler, the others join.
#[derive(Debug, clap::Args)]
#[command(after_help = "Set a group's share:   fairdisk ctl set /GROUP weight=200\n\
    See who gets what:     fairdisk ctl list\n\
    Unmount:               umount MOUNTPOINT, or Ctrl-C with --foreground")]
pub(crate) struct Args {
    /// The directory whose disk is shared
    // Absolute, since whoever reads it in a log or a list does not know our working directory.
    #[arg(value_parser = PathBufValueParser::new().map(absolute_path))]
    source: PathBuf,
    /// An empty directory where its contents appear
    mountpoint: PathBuf,
    /// Who decides: fair, two-layer-cfq, cfq, bfq or another of `fairdisk catalog schedulers`
    /// [default: fair, or who decides on that disk already]
    #[arg(long, value_name = "NAME", value_parser = selection::scheduler)]
    scheduler: Option<String>,
    /// A tunable of the scheduler, as in cfq.slice_idle_ms=0; `fairdisk ctl scheduler` lists them
    /// (may be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    tunable: Vec<String>,
    /// The cgroup hierarchy groups come from: `v2`, or the name or a controller of a version 1
    /// hierarchy [default: `fairdisk` if mounted, else v2, else blkio]
    #[arg(long, value_name = "NAME")]
    cgroups: Option<String>,
    /// Keep to the timing of this disk of the catalogue (or a .toml file)
    #[arg(long, value_name = "NAME")]
    device_model: Option<String>,
    /// What requests cost there: a file of `fairdisk calibrate`, or a disk of the catalogue that is
    /// like it. Without, an access counts like 16 KiB
    #[arg(long, value_name = "NAME", conflicts_with = "device_model")]
    costs: Option<String>,
    /// Requests at the disk at once [default: 32 or 16, whichever does more, and 1 while the disk
    /// is as slow as one that turns; a model's own]
    #[arg(long, value_name = "N", value_parser = within::<u32>(1..=DEPTH_MAX.into()))]
    depth: Option<u32>,
    /// What performs the direct reads of a busy disk
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    io: disk::Io,
    /// MiB a group may have written and not yet on the disk before its writers wait
    #[arg(long, value_name = "MIB", default_value_t = 32,
          value_parser = within::<u32>(1..=65_536))]
    dirty_mib: u32,
    /// Allow no changes
    #[arg(long)]
    read_only: bool,
    /// Run no programs from there
    #[arg(long)]
    no_exec: bool,
    /// Let other users in, with their own permissions
    #[arg(long)]
    allow_other: bool,
    #[allow(rustdoc::broken_intra_doc_links, reason = "an address in brackets is no link")]
    /// Answer Prometheus there: 127.0.0.1:9470, [::1]:9470 or unix:/PATH
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<Address>,
    /// Schedule nothing: what the mount itself costs
    #[arg(long, conflicts_with_all = ["scheduler", "tunable", "device_model", "costs", "depth", "io",
                                      "cgroups", "metrics"])]
    unscheduled: bool,
    /// A scheduler of its own, even if other mounts on the disk have one
    #[arg(long, conflicts_with = "unscheduled")]
    separate: bool,
    #[command(flatten)]
    log: LogArgs,
    /// Stay in the foreground; Ctrl-C unmounts
    #[arg(long)]
    foreground: bool,
    /// Started in the background: says on standard output when it is mounted
    #[arg(long, hide = true, requires = "foreground")]
    detached: bool,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    if !args.foreground {
        return daemon::start(&["mount"]);
    }
    args.log.start(args.detached)?;
    end_at_first_panic();
    let served = serve(args);
    tell_unsaid(true);
    served.inspect_err(|failure| {
        // In the foreground the error is printed at the end.
        if args.detached {
            tracing::error!(error = %failure.message(), "failed");
        }
    })
}

/// Raises the CPU priority of this process as far as permitted: programs wait for it, so their next
/// requests should not wait for a CPU.
fn go_first() {
    // Without the permission we keep the default priority.
    let _ = rustix::process::setpriority_process(None, -20);
}

fn serve(args: &Args) -> Result<(), Failure> {
    if args.detached {
        daemon::detach();
    }
    let stop = interrupt::stop_flag()?;
    go_first();
    if args.unscheduled {
        return unscheduled(args, &stop);
    }
    // Bad arguments are reported before another process is involved.
    let engine = own::Engine::check(args)?;
    let disk = BlockDevice::of(&args.source)
        .map_err(|error| MountError::of_source(&args.source, error))?;
    if let Some(why) = disk.doubt() {
        args.remark(&format!("{}: {why}", shown(&args.source)));
    }
    if args.separate {
        return own::run(args, engine, &disk, None, &stop);
    }
    loop {
        match control::claim(&disk) {
            Ok(Turn::Ours(claim)) => return own::run(args, engine, &disk, Some(claim), &stop),
            Ok(Turn::Theirs(client)) => match join::mount(args, &engine, client)? {
                join::Outcome::Joined(joined) => return joined.stay(args, &stop),
                join::Outcome::Gone => fairdisk_plane::pause(PAUSE),
            },
            Err(error @ control::ClaimError::NoPlace { .. }) => {
                args.remark(&format!("this mount has a scheduler of its own: {error}"));
                return own::run(args, engine, &disk, None, &stop);
            }
            Err(error) => return Err(Failure::Run(error.to_string())),
        }
    }
}

impl Args {
    fn options(&self) -> MountOptions {
        MountOptions {
            read_only: self.read_only,
            no_exec: self.no_exec,
            allow_other: self.allow_other,
            dirty_limit: u64::from(self.dirty_mib) << 20,
            ..MountOptions::default()
        }
    }

    /// The settings that are asked for, with these `tunables`.
    fn settings(&self, hierarchy: Option<&Hierarchy>, tunables: &[String]) -> Settings {
        Settings {
            scheduler: self.scheduler.clone(),
            tunables: tunables.to_vec(),
            device_model: self.device_model.clone(),
            costs: self.costs.as_deref().map(absolute),
            depth: self.depth,
            io: self.io.name().map(ToOwned::to_owned),
            cgroups: self.cgroups.as_ref().and(hierarchy).map(|it| it.name().to_owned()),
            metrics: self.metrics.as_ref().map(ToString::to_string),
        }
    }

    /// The guardian, which ends our mounts if this process is killed. A mount works without one,
    /// too.
    fn guardian(&self) -> Option<Arc<Guardian>> {
        let started = Guardian::start();
        let tell = |error: &_| self.remark(&format!("cannot start a guardian: {error}"));
        started.inspect_err(tell).ok().map(Arc::new)
    }

    /// Reports a note to whoever started us and to the log.
    fn remark(&self, text: &str) {
        if self.detached {
            diagnose(&format!("note: {text}"));
        }
        tracing::warn!("{text}");
    }

    /// Like [`say_ready`](Self::say_ready), for a mount that this process serves. Also tells the
    /// user if its log goes nowhere.
    fn say_served(&self, mountpoint: &Path, scheduler: &str) {
        if self.detached {
            let unheard = self.log.goes_nowhere();
            unheard.iter().for_each(|why| diagnose(&format!("note: {why}")));
        }
        self.say_ready(mountpoint, scheduler, std::process::id());
    }

    /// Tells the waiting command and the service manager that the mount is ready, and which process
    /// serves it.
    fn say_ready(&self, mountpoint: &Path, scheduler: &str, process: u32) {
        let text = format!(
            "mounted source={} mountpoint={} scheduler={scheduler} pid={process}",
            shown(&self.source),
            shown(mountpoint),
        );
        if self.detached {
            daemon::say_ready(&text);
        }
        notify::tell(&format!("READY=1\nSTATUS={text}"));
    }
}

fn absolute_path(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// The name of a device; for a file the one path that it has for everybody.
fn absolute(device: &str) -> String {
    let path = is_path(device).then(|| std::fs::canonicalize(device).ok()).flatten();
    path.map_or_else(|| device.to_owned(), |path| shown(&path))
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Serves a mount without a scheduler.
fn unscheduled(args: &Args, stop: &AtomicBool) -> Result<(), Failure> {
    let gate = Arc::new(OpenGate);
    let mut mounted = Mounted::mount(&args.source, &args.mountpoint, args.options(), gate)?;
    mounted.have_guarded(args.guardian().as_ref());
    args.say_served(mounted.mountpoint(), "none");
    tell_mounted(args, mounted.mountpoint(), "none", std::process::id());
    let (mut rounds, mut round, mut goes) = (Rounds::every(ROUND), 0_u32, false);
    while !mounted.is_over() {
        if !goes && stop.load(Ordering::Relaxed) {
            goes = true;
            notify::tell("STOPPING=1");
            tracing::info!(mountpoint = %args.mountpoint.display(), "unmounting");
            mounted.let_go()?;
        }
        if rounds.wait() {
            round = round.wrapping_add(1);
            if round.is_multiple_of(LOOK_ROUNDS) {
                mounted.look_below();
            }
            if round.is_multiple_of(REST_ROUNDS) {
                mounted.rest();
                give_memory_back();
            }
        }
    }
    mounted.wait();
    tell_unmounted(&args.mountpoint);
    Ok(())
}

/// Logs a mount that is not in the table of a disk in this process; the table logs its own.
fn tell_mounted(args: &Args, mountpoint: &Path, scheduler: &str, pid: u32) {
    let (source, mountpoint) = (args.source.display(), mountpoint.display());
    tracing::info!(%source, %mountpoint, scheduler, pid, "mounted");
}

fn tell_unmounted(mountpoint: &Path) {
    tracing::info!(mountpoint = %mountpoint.display(), "unmounted");
}
