//! A mount on a disk whose scheduler another process runs, which then serves the mount.

use super::own::Engine;
use super::{Args, PAUSE, shown, tell_mounted, tell_unmounted};
use crate::failure::Failure;
use crate::notify;
use fairdisk_mount::control::{self, Answer, Ask, Client, ControlError, Wanted};
use fairdisk_mount::is_mount;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a process that runs the disk may take to say that it is there.
const PATIENCE: Duration = Duration::from_secs(10);

/// The result of asking the other process.
pub(super) enum Outcome {
    Joined(Joined),
    /// The process that ran the disk has ended.
    Gone,
}

/// A mount that another process serves.
pub(super) struct Joined {
    client: Client,
    mountpoint: PathBuf,
}

/// Asks the process behind `client` to mount what `args` specify.
pub(super) fn mount(args: &Args, engine: &Engine, mut client: Client) -> Result<Outcome, Failure> {
    let mountpoint = std::path::absolute(&args.mountpoint)
        .map_err(|error| Failure::BadInput(format!("{}: {error}", shown(&args.mountpoint))))?;
    let wanted = Wanted {
        source: args.source.clone().into(),
        mountpoint: mountpoint.into(),
        options: args.options(),
        settings: args.settings(engine.hierarchy.as_ref(), &engine.choice.named(&args.tunable)),
        namespace: control::namespace(),
    };
    match client.is_there_within(PATIENCE) {
        Ok(()) => {}
        Err(ControlError::Lost(_)) => return Ok(Outcome::Gone),
        Err(error) => {
            return Err(Failure::Run(format!(
                "{error}; end it, or use --separate for a scheduler of your own"
            )));
        }
    }
    match client.ask(&Ask::Mount(Box::new(wanted))) {
        Ok(Answer::Mounted(at)) => Ok(Outcome::Joined(Joined { client, mountpoint: at.into() })),
        Ok(Answer::Over) | Err(ControlError::Lost(_)) => Ok(Outcome::Gone),
        Ok(other) => Err(ControlError::Gibberish(format!("{other:?}")).into()),
        Err(error) => Err(error.into()),
    }
}

impl Joined {
    /// In the foreground, stays until the mount ends, and unmounts it on Ctrl-C.
    pub(super) fn stay(mut self, args: &Args, stop: &AtomicBool) -> Result<(), Failure> {
        let process = self.client.process().unwrap_or_default();
        let scheduler = self.client.status()?.scheduler;
        let process = process.unsigned_abs();
        args.say_ready(&self.mountpoint, &scheduler, process);
        tell_mounted(args, &self.mountpoint, &scheduler, process);
        if args.detached {
            return Ok(());
        }
        while self.ask_if_there()? {
            if stop.load(Ordering::Relaxed) {
                notify::tell("STOPPING=1");
                tracing::info!(mountpoint = %self.mountpoint.display(), "unmounting");
                let mountpoint = self.mountpoint.clone().into_os_string();
                match self.client.ask(&Ask::Unmount { mountpoint }) {
                    Ok(_) => {}
                    // The other process is ending, too. What it still has to write is its own
                    // responsibility.
                    Err(ControlError::Lost(_)) if !is_mount(&self.mountpoint) => {}
                    Err(error) => return Err(Failure::Run(error.to_string())),
                }
                break;
            }
            fairdisk_plane::pause(PAUSE);
        }
        tell_unmounted(&self.mountpoint);
        Ok(())
    }

    /// Asks the other process whether the mount still exists.
    fn ask_if_there(&mut self) -> Result<bool, Failure> {
        let at = shown(&self.mountpoint);
        match self.client.ask(&Ask::Mounts) {
            Ok(Answer::Mounts(mounts)) => Ok(mounts.iter().any(|mount| mount.mountpoint == at)),
            Ok(other) => Err(ControlError::Gibberish(format!("{other:?}")).into()),
            // The other process was told to end, and unmounted before it did.
            Err(_) if !is_mount(&self.mountpoint) => Ok(false),
            Err(error) => Err(Failure::Run(format!(
                "{at}: the process that ran the disk is gone ({error}); unmount and mount again"
            ))),
        }
    }
}
