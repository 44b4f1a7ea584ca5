//! The mounts of a disk whose scheduler this process runs.

use super::observer::Observer;
use super::{Args, ROUND, disk, scheduler};
use crate::failure::Failure;
use crate::notify;
use fairdisk_mount::control::{self, About, Choice, Claim, Server, Settings};
use fairdisk_mount::identity::Hierarchy;
use fairdisk_mount::identity::rules::{Directory, Shared};
use fairdisk_mount::metrics::{Address, Listener, Page, Switch, SwitchError};
use fairdisk_mount::{BlockDevice, Mounts, Rounds, ScheduledGate};
use fairdisk_plane::disk::Served;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The default scheduler.
const SCHEDULER: &str = "fair";

/// The parts with which a disk is to be run.
pub(super) struct Engine {
    name: String,
    pub(super) choice: Choice,
    disk: disk::Kind,
    pub(super) hierarchy: Option<Hierarchy>,
}

impl Engine {
    /// Checks that everything that was asked for exists.
    pub(super) fn check(args: &Args) -> Result<Self, Failure> {
        let hierarchy = Hierarchy::find(args.cgroups.as_deref()).map_err(|error| {
            match error.is_bad_input() {
                true => Failure::BadInput(format!("--cgroups: {error}")),
                false => Failure::Run(error.to_string()),
            }
        })?;
        let name = args.scheduler.clone().unwrap_or_else(|| SCHEDULER.to_owned());
        scheduler::id(&name).map_err(|error| Failure::BadInput(format!("--scheduler: {error}")))?;
        let choice = scheduler::find(&name, &args.tunable)
            .map_err(|error| Failure::BadInput(format!("--tunable {error}")))?;
        Ok(Self { name, choice, disk: disk::Kind::of(args)?, hierarchy })
    }
}

/// Mounts and serves until the last mount on the disk has ended. Without a claim, other mounts
/// cannot join.
pub(super) fn run(
    args: &Args,
    engine: Engine,
    device: &BlockDevice,
    claim: Option<Claim>,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    if engine.hierarchy.is_none() {
        args.remark("no cgroup hierarchy is mounted; everybody is in one group");
    }
    let cgroups = engine.hierarchy.as_ref().map(|it| it.name().to_owned());
    let spec = engine.choice.spec;
    let disk = disk::start(args, &spec, &engine.disk, device)?;
    if spec.honours().costs && engine.disk.could_be_measured(device) {
        tracing::info!("what requests cost there is not known; see fairdisk calibrate");
    }
    let (scheduler, io) = (Some(engine.name.clone()), Some(disk.served().name().to_owned()));
    let settings = Settings { scheduler, io, cgroups, ..args.settings(None, &[]) };
    let (disk_name, choice) = (device.name.clone(), engine.choice);
    let about = About { disk: disk_name, settings, choice, find: scheduler::find };
    if let (disk::Io::Auto, Served::Threads(why)) = (args.io, disk.served()) {
        tracing::warn!(%why, "no io_uring");
    }
    let (rules, loaded) = Shared::of(Directory::of_user());
    loaded.problems.iter().for_each(|why| args.remark(&format!("{why}; that file does not count")));
    let hierarchy = engine.hierarchy.map(|it| it.for_disk(&device.name).with_rules(rules));
    let gate = Arc::new(ScheduledGate::new(disk, &engine.name, hierarchy));
    let listener = args.metrics.as_ref().map(listen).transpose()?;
    let socket = claim.as_ref().map_or_else(|| socket_of(args), |it| it.socket().to_owned());
    let mounts = Arc::new(Mounts::new(gate, &socket, args.guardian()));
    let mountpoint = mounts
        .mount(&args.source, &args.mountpoint, args.options())?
        .unwrap_or_else(|| args.mountpoint.clone());
    let page = Page::new(Arc::clone(&mounts), args.device_model.clone(), device.name.clone());
    let metrics = Arc::new(Switch::new(page));
    if let Some((address, listener)) = args.metrics.as_ref().zip(listener) {
        metrics.serve(address, listener).map_err(|error| not_told(address, &error))?;
    }
    let server = answer(args, &socket, (&mounts, &metrics), about);
    args.say_served(&mountpoint, &engine.name);
    let public = Public { _server: server, _metrics: metrics, _claim: claim };
    serve(&mounts, &mountpoint, args.detached, public, stop)
}

/// The means by which others find us. They are dropped at the end, together with the claim, so that
/// the next mount on the disk runs it itself.
struct Public {
    _server: Option<Server>,
    _metrics: Arc<Switch>,
    _claim: Option<Claim>,
}

/// Listens for scrapes. Called before anything is mounted, so that a bad address is reported first.
fn listen(address: &Address) -> Result<Listener, Failure> {
    address.listen().map_err(|error| not_told(address, &SwitchError::Listen(error)))
}

fn not_told(address: &Address, why: &SwitchError) -> Failure {
    Failure::Run(format!("--metrics {address}: {why}"))
}

/// The path of the control socket of a mount that others cannot join.
fn socket_of(args: &Args) -> PathBuf {
    let at = std::fs::canonicalize(&args.mountpoint).unwrap_or_else(|_| args.mountpoint.clone());
    control::directory().join(control::socket_name(&at))
}

/// Starts the control server. A mount works without it, too.
fn answer(
    args: &Args,
    socket: &Path,
    (mounts, metrics): (&Arc<Mounts>, &Arc<Switch>),
    about: About,
) -> Option<Server> {
    match Server::start(socket, Arc::clone(mounts), Arc::clone(metrics), about) {
        Ok(server) => Some(server),
        Err(error) => {
            args.remark(&format!("fairdisk ctl will not work: {}: {error}", socket.display()));
            None
        }
    }
}

/// Serves until the last mount has ended. A signal ends all mounts, except that the first signal to
/// a process in the foreground spares those that have joined it.
fn serve(
    mounts: &Mounts,
    own: &Path,
    detached: bool,
    public: Public,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let (mut ended, mut public) = (Ok(()), Some(public));
    let mut only_own = !detached;
    let mut nobody_stays = false;
    let mut observer = Observer::default();
    let (mut rounds, mut is_next_round) = (Rounds::every(ROUND), true);
    loop {
        while mounts.reap().is_some() {}
        if is_next_round {
            observer.look_now_and_then(mounts);
        }
        if mounts.are_over() {
            // Later mounts run the disk themselves, however long this takes.
            drop(public.take());
            if mounts.gate().jobs_left() == 0 {
                return ended;
            }
        }
        if stop.load(Ordering::Relaxed) && !nobody_stays {
            notify::tell("STOPPING=1");
            let goes = |at: &Path, all: &[&Path]| !only_own || at == own || !all.contains(&own);
            nobody_stays = mounts.close_if(|all| all.iter().all(|at| goes(at, all)));
            if nobody_stays {
                mounts.gate().let_all_through();
            }
            let all = mounts.list();
            let all: Vec<&Path> = all.iter().map(|mount| Path::new(&mount.mountpoint)).collect();
            for at in all.iter().filter(|at| goes(at, &all)) {
                ended = ended.and(unmount(mounts, at, nobody_stays));
            }
            only_own = false;
            if nobody_stays {
                // Later mounts run the disk themselves, however long this takes.
                drop(public.take());
                // The flag stays set, so that the next signal ends the program, whatever is left.
                tell_left(mounts);
                continue;
            }
            stop.store(false, Ordering::Relaxed);
            for left in mounts.list() {
                // A service manager that waits for our end has to wait for the end of these, too.
                notify::tell(&format!("EXTEND_TIMEOUT_USEC={}", u64::MAX / 2));
                let mountpoint = left.mountpoint;
                tracing::warn!(mountpoint, "still served; the next Ctrl-C unmounts it");
            }
            continue;
        }
        is_next_round = rounds.wait();
    }
}

/// Logs how much must be written out before this process ends.
fn tell_left(mounts: &Mounts) {
    let bytes = mounts.left_behind();
    if bytes > 0 {
        tracing::warn!(bytes, "still being written out; the next signal ends without it");
    }
}

/// Unmounts, or detaches a mount that is in use, whose users may stay. Waits for dirty data unless
/// all mounts end.
fn unmount(mounts: &Mounts, at: &Path, all_go: bool) -> Result<(), Failure> {
    let done = if all_go { mounts.release(at) } else { mounts.unmount(at) };
    if done.is_ok() {
        return Ok(());
    }
    Ok(mounts.let_go(at)?)
}
