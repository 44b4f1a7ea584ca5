//! `fairdisk mount`: real programs share a real disk.

mod disk;

use super::daemon;
use crate::failure::Failure;
use crate::interrupt;
use crate::notify;
use crate::output::diagnose;
use fairdisk_mount::control::{self, About, Server};
use fairdisk_mount::identity::Hierarchy;
use fairdisk_mount::metrics::{Address, Listener, MetricsServer, Page};
use fairdisk_mount::{Gate, MountOptions, Mounted, OpenGate, ScheduledGate, scheduler};
use fairdisk_sched::SchedulerSpec;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Share a directory's disk between cgroups
///
/// Everything below SOURCE appears at MOUNTPOINT. Whoever reads or writes there gets the disk in
/// turns, by the weight of its cgroup and, inside it, by its ionice class and level. What goes to
/// SOURCE directly is not scheduled.
#[derive(Debug, clap::Args)]
#[command(after_help = "Set a group's share:   fairdisk ctl set /GROUP weight=200\n\
    See who gets what:     fairdisk ctl list\n\
    Unmount:               umount MOUNTPOINT, or Ctrl-C with --foreground")]
pub(crate) struct Args {
    /// The directory whose disk is shared
    source: PathBuf,
    /// An empty directory where its contents appear
    mountpoint: PathBuf,
    /// Who decides: two-layer-cfq, cfq, deadline or noop
    #[arg(long, value_name = "NAME", default_value = "two-layer-cfq")]
    scheduler: String,
    /// The cgroup hierarchy groups come from: `v2`, or the name or a controller of a version 1
    /// hierarchy [default: `fairdisk` if mounted, else v2, else blkio]
    #[arg(long, value_name = "NAME")]
    cgroups: Option<String>,
    /// Keep to the timing of this disk of the catalogue (or a .toml file)
    #[arg(long, value_name = "NAME")]
    device_model: Option<String>,
    /// Requests at the disk at once [default: 1 for a rotating disk, else 32; a model's own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    depth: Option<u32>,
    /// MiB a group may have written and not yet on the disk before its writers wait
    #[arg(long, value_name = "MIB", default_value_t = 32,
          value_parser = clap::value_parser!(u32).range(1..=65_536))]
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
    /// Answer Prometheus there: 127.0.0.1:9470, [::1]:9470 or unix:/PATH
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<Address>,
    /// Schedule nothing: what the mount itself costs
    #[arg(long, conflicts_with_all = ["device_model", "depth", "cgroups", "metrics"])]
    unscheduled: bool,
    /// Stay in the foreground; Ctrl-C unmounts
    #[arg(long)]
    foreground: bool,
    /// Started in the background: says on standard output when it is mounted
    #[arg(long, hide = true, requires = "foreground")]
    detached: bool,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    if args.foreground { serve(args) } else { daemon::start() }
}

/// Programs wait for us: when they have been served, what comes next must not wait for a CPU.
fn go_first() {
    // Without the right to it we are as nice as others.
    let _ = rustix::process::setpriority_process(None, -20);
}

/// What lets file data through.
enum Way {
    Open,
    Scheduled(Arc<ScheduledGate>),
}

fn serve(args: &Args) -> Result<(), Failure> {
    if args.detached {
        daemon::detach();
    }
    let stop = interrupt::stop_flag()?;
    go_first();
    let options = MountOptions {
        read_only: args.read_only,
        no_exec: args.no_exec,
        allow_other: args.allow_other,
        dirty_limit: u64::from(args.dirty_mib) << 20,
        ..MountOptions::default()
    };
    let way = if args.unscheduled { Way::Open } else { Way::Scheduled(Arc::new(gate(args)?)) };
    let through: Arc<dyn Gate> = match &way {
        Way::Open => Arc::new(OpenGate),
        Way::Scheduled(gate) => Arc::clone(gate) as Arc<dyn Gate>,
    };
    let listener = args.metrics.as_ref().map(listen).transpose()?;
    let mounted = Mounted::mount(&args.source, &args.mountpoint, options, through)
        .map_err(|error| Failure::BadInput(error.to_string()))?;
    let servers = match way {
        Way::Open => None,
        Way::Scheduled(gate) => {
            let metrics = listener.map(|at| tell_metrics(args, &mounted, &gate, at)).transpose()?;
            Some((answer(args, &mounted, gate), metrics))
        }
    };
    say_ready(args, &mounted);
    let ended = wait(mounted, &stop);
    drop(servers);
    ended
}

/// Said before anything is mounted.
fn listen(address: &Address) -> Result<Listener, Failure> {
    address
        .listen()
        .map_err(|error| Failure::Run(format!("--metrics {address}: cannot listen there: {error}")))
}

fn tell_metrics(
    args: &Args,
    mounted: &Mounted,
    gate: &Arc<ScheduledGate>,
    listener: Listener,
) -> Result<MetricsServer, Failure> {
    let page = Page::new(Arc::clone(gate), about(args, mounted), mounted.watch());
    MetricsServer::start(listener, page)
        .map_err(|error| Failure::Run(format!("cannot start threads: {error}")))
}

fn about(args: &Args, mounted: &Mounted) -> About {
    About {
        source: args.source.clone(),
        mountpoint: mounted.mountpoint().to_owned(),
        scheduler: args.scheduler.clone(),
        device_model: args.device_model.clone(),
    }
}

fn gate(args: &Args) -> Result<ScheduledGate, Failure> {
    let hierarchy = Hierarchy::find(args.cgroups.as_deref())
        .map_err(|error| Failure::BadInput(format!("--cgroups: {error}")))?;
    if hierarchy.is_none() {
        diagnose("note: no cgroup hierarchy is mounted; everybody is in one group");
    }
    let spec = scheduler(&args.scheduler).ok_or_else(|| {
        let known = SchedulerSpec::NAMES.join(", ");
        Failure::BadInput(format!("--scheduler {}: known are {known}", args.scheduler))
    })?;
    Ok(ScheduledGate::new(disk::start(args, &spec)?, hierarchy))
}

/// A mount that nobody can ask is still a mount.
fn answer(args: &Args, mounted: &Mounted, gate: Arc<ScheduledGate>) -> Option<Server> {
    let path = control::directory().join(control::socket_name(mounted.mountpoint()));
    match Server::start(&path, gate, about(args, mounted)) {
        Ok(server) => Some(server),
        Err(error) => {
            diagnose(&format!("note: fairdisk ctl will not work: {}: {error}", path.display()));
            None
        }
    }
}

fn say_ready(args: &Args, mounted: &Mounted) {
    let text = format!(
        "mounted source={} mountpoint={} scheduler={}",
        shown(&args.source),
        shown(mounted.mountpoint()),
        if args.unscheduled { "none" } else { &args.scheduler }
    );
    if args.detached {
        daemon::say_ready(&text);
    } else {
        diagnose(&text);
    }
    notify::tell(&format!("READY=1\nSTATUS={text}"));
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Until somebody unmounts it or wants us to.
fn wait(mut mounted: Mounted, stop: &AtomicBool) -> Result<(), Failure> {
    while !stop.load(Ordering::Relaxed) {
        if mounted.is_over() {
            mounted.wait();
            diagnose("unmounted");
            return Ok(());
        }
        std::thread::park_timeout(Duration::from_millis(100));
    }
    notify::tell("STOPPING=1");
    diagnose("unmounting: what was written goes to the disk first");
    mounted.unmount().map_err(|error| Failure::Run(error.to_string()))?;
    diagnose("unmounted");
    Ok(())
}
