//! The mounts on one disk, which share its scheduler and come and go independently.

use super::errors::MountError;
use super::mounted::{Mounted, Watch};
use super::options::MountOptions;
use crate::control::Name;
use crate::data::scheduled::ScheduledGate;
use crate::ending::guardian::Guardian;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The number of checks on a mount that was just unmounted and may need a moment to end.
const SETTLE_LOOKS: u32 = 200;
/// The interval between these checks.
const SETTLE_PAUSE: Duration = Duration::from_millis(5);

/// A mount in a list: its source and its mount point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MountEntry {
    /// The path of the source directory.
    pub source: String,
    /// The path of the mount point.
    pub mountpoint: String,
}

/// The mounts on one disk.
pub struct Mounts {
    gate: Arc<ScheduledGate>,
    /// The control socket.
    socket: PathBuf,
    /// The guardian, which ends the mounts if this process is killed.
    guardian: Option<Arc<Guardian>>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    list: Vec<One>,
    /// Mounts that were unmounted, but still have dirty data or open files.
    leaving: Vec<Mounted>,
    /// The number of mounts that are being mounted at the moment.
    coming: usize,
    /// The number of mounts that are being unmounted or waited for at the moment.
    going: usize,
    /// Whether no further mount is accepted, because the last one has ended or is to end.
    closed: bool,
}

struct One {
    source: PathBuf,
    mounted: Mounted,
    /// The name of the mount at the control socket. `None` if it could not be created; the mount
    /// works without.
    name: Option<Name>,
}

impl Table {
    const fn is_empty(&self) -> bool {
        self.list.is_empty() && self.leaving.is_empty() && self.coming == 0 && self.going == 0
    }

    /// Whether nothing stays, and what is there ends in a moment: without what is still being
    /// written out, unless that `counts`.
    fn is_ending(&self, counts: bool) -> bool {
        let writes = |mounted: &Mounted| mounted.is_over() && !mounted.has_left();
        let stays = !self.list.is_empty() || self.coming > 0;
        let stays = stays || !counts && self.leaving.iter().any(writes);
        !stays && !self.is_empty()
    }

    /// Moves mounts that somebody else has detached to those that are leaving, so that their places
    /// and names become free while files are still open there. Returns the names, for the caller to
    /// drop once the table is unlocked, since removing them may take a while.
    fn part(&mut self) -> Vec<Option<Name>> {
        let gone = self.list.extract_if(.., |one| !one.mounted.is_attached());
        let (gone, names): (Vec<_>, _) = gone.map(|one| (one.mounted, one.name)).unzip();
        self.leaving.extend(gone);
        names
    }

    fn close(&mut self) -> bool {
        self.closed |= self.is_empty();
        self.closed
    }
}

fn tell_unmounted(mountpoint: &Path) {
    tracing::info!(mountpoint = %mountpoint.display(), "unmounted");
}

impl std::fmt::Debug for Mounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.list()).finish()
    }
}

impl Mounts {
    /// A table without mounts for the disk behind `gate`, with the control socket `socket`. The
    /// guardian ends the mounts if this process is killed.
    #[must_use]
    pub fn new(gate: Arc<ScheduledGate>, socket: &Path, guardian: Option<Arc<Guardian>>) -> Self {
        Self { gate, socket: socket.to_owned(), guardian, table: Mutex::default() }
    }

    /// The gate of the disk.
    #[must_use]
    pub const fn gate(&self) -> &Arc<ScheduledGate> {
        &self.gate
    }

    /// Adds a mount and returns its mount point; `None` if no further mounts are accepted.
    ///
    /// # Errors
    /// The mount is impossible; the error says why and what to do.
    pub fn mount(
        &self,
        source: &Path,
        mountpoint: &Path,
        options: MountOptions,
    ) -> Result<Option<PathBuf>, MountError> {
        {
            let mut table = self.table();
            if table.closed {
                return Ok(None);
            }
            table.coming += 1;
        }
        let gate = Arc::new(self.gate.for_mount());
        let made = Mounted::mount(source, mountpoint, options, gate).map(|mut mounted| {
            mounted.have_guarded(self.guardian.as_ref());
            let at = mounted.mountpoint().to_owned();
            let name = Name::give(&at, &self.socket);
            let name = name.inspect_err(|error| {
                tracing::warn!(mountpoint = %at.display(), %error, "no name for this mount");
            });
            let name = name.ok();
            (One { source: source.to_owned(), mounted, name }, at)
        });
        let mut table = self.table();
        table.coming -= 1;
        if table.closed {
            // All mounts have been told to end meanwhile. Dropping the new one unmounts it.
            drop(table);
            return made.map(|_| None);
        }
        made.map(|(one, at)| {
            let (source, mountpoint, pid) = (source.display(), at.display(), std::process::id());
            let scheduler = self.gate.scheduler();
            tracing::info!(%source, %mountpoint, scheduler, pid, "mounted");
            table.list.push(one);
            Some(at)
        })
    }

    /// The current mounts, the oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<MountEntry> {
        self.watches().into_iter().map(|(entry, _)| entry).collect()
    }

    /// The number of writes without a task, through all current mounts.
    #[must_use]
    pub fn unattributed_writes(&self) -> u64 {
        self.watches().iter().map(|(_, watch)| watch.counts().orphan_writes).sum()
    }

    /// The current mounts, with handles for observing them.
    #[must_use]
    pub fn watches(&self) -> Vec<(MountEntry, Watch)> {
        let table = self.table();
        let watch = |one: &One| {
            let entry = MountEntry {
                source: one.source.to_string_lossy().into_owned(),
                mountpoint: one.mounted.mountpoint().to_string_lossy().into_owned(),
            };
            (entry, one.mounted.watch())
        };
        table.list.iter().map(watch).collect()
    }

    /// Unmounts a mount. When this returns, everything written through it has passed the gate,
    /// unless a copy of the mount exists, which continues to be served. Does nothing if there is no
    /// such mount.
    ///
    /// # Errors
    /// The mount is in use and stays.
    pub fn unmount(&self, mountpoint: &Path) -> Result<(), MountError> {
        let Some(mounted) = self.begin_to_unmount(mountpoint)? else { return Ok(()) };
        for _ in 0..SETTLE_LOOKS {
            if mounted.is_over() {
                mounted.wait();
                tell_unmounted(mountpoint);
                self.table().going -= 1;
                return Ok(());
            }
            fairdisk_plane::pause(SETTLE_PAUSE);
        }
        mounted.tell_lingering();
        self.leave(mounted);
        Ok(())
    }

    /// Unmounts a mount without waiting for its dirty data.
    ///
    /// # Errors
    /// The mount is in use and stays.
    pub fn release(&self, mountpoint: &Path) -> Result<(), MountError> {
        if let Some(mounted) = self.begin_to_unmount(mountpoint)? {
            if mounted.is_attached() {
                mounted.tell_lingering();
            }
            self.leave(mounted);
        }
        Ok(())
    }

    /// Moves a mount that was being unmounted to those that are leaving.
    fn leave(&self, mounted: Mounted) {
        let mut table = self.table();
        table.going -= 1;
        table.leaving.push(mounted);
    }

    /// Begins to unmount a mount, which counts as going until the caller is finished with it.
    fn begin_to_unmount(&self, mountpoint: &Path) -> Result<Option<Mounted>, MountError> {
        let Some(mut one) = self.take(mountpoint) else { return Ok(None) };
        tracing::info!(mountpoint = %mountpoint.display(), "unmounting");
        if let Err(error) = one.mounted.take_out() {
            tracing::warn!(%error, "not unmounted");
            let mut table = self.table();
            table.going -= 1;
            table.list.push(one);
            return Err(error);
        }
        Ok(Some(one.mounted))
    }

    /// Detaches a mount that is in use: open files are served until they are closed, or until this
    /// process ends. A mount that is covered by another, or has copies, remains there.
    ///
    /// # Errors
    /// The system refuses; then the mount has ended for everybody.
    pub fn let_go(&self, mountpoint: &Path) -> Result<(), MountError> {
        let Some(One { mounted, .. }) = self.take(mountpoint) else { return Ok(()) };
        if let Err(error) = mounted.detach() {
            self.table().going -= 1;
            drop(mounted);
            return Err(MountError::os(mountpoint, "unmount", error));
        }
        mounted.tell_lingering();
        self.leave(mounted);
        Ok(())
    }

    /// Removes a mount that has ended and has no dirty data from those that are leaving, and
    /// returns its mount point. Does not wait for any.
    pub fn reap(&self) -> Option<PathBuf> {
        // Dropped after the table is unlocked.
        let _names;
        let mut table = self.table();
        _names = table.part();
        let clean = table.leaving.iter().position(Mounted::has_left)?;
        let mounted = table.leaving.remove(clean);
        table.going += 1;
        drop(table);
        let at = mounted.mountpoint().to_owned();
        mounted.wait();
        tell_unmounted(&at);
        self.table().going -= 1;
        Some(at)
    }

    /// Periodic work, to be done every second: looks whether somebody else has changed files that
    /// are open.
    pub fn look_below(&self) {
        // Not locked, as a file system below may hang.
        self.watches().iter().for_each(|(_, watch)| watch.look_below());
    }

    /// Periodic work, to be done every few seconds: releases file systems below the sources that
    /// have not been used since the last call.
    pub fn rest(&self) {
        self.table().list.iter().for_each(|one| one.mounted.rest());
    }

    /// The dirty bytes of mounts that were unmounted.
    #[must_use]
    pub fn left_behind(&self) -> u64 {
        self.table().leaving.iter().map(|mounted| mounted.counts().dirty_bytes).sum()
    }

    /// The number of unfinished requests if no mount is left, else 0.
    #[must_use]
    pub fn jobs_left_behind(&self) -> usize {
        if self.table().list.is_empty() { self.gate.jobs_left() } else { 0 }
    }

    /// Waits for mounts that are about to end, so that the caller's decision does not depend on
    /// them. If it is `until_written`, also waits for those that have ended and still write out
    /// what is dirty, which may take longer.
    pub fn settle(&self, until_written: bool) {
        for _ in 0..SETTLE_LOOKS {
            while self.reap().is_some() {}
            if !self.table().is_ending(until_written) {
                return;
            }
            fairdisk_plane::pause(SETTLE_PAUSE);
        }
    }

    /// Whether the last mount has ended. No further mount is accepted afterwards.
    #[must_use]
    pub fn are_over(&self) -> bool {
        let mut table = self.table();
        table.close() && table.is_empty()
    }

    /// Whether no further mount is accepted.
    #[must_use]
    pub fn are_closed(&self) -> bool {
        self.table().close()
    }

    /// Stops accepting mounts if `all_go` returns true for the current mount points. Returns
    /// whether no further mount is accepted.
    pub fn close_if(&self, all_go: impl FnOnce(&[&Path]) -> bool) -> bool {
        let mut table = self.table();
        let there: Vec<&Path> = table.list.iter().map(|one| one.mounted.mountpoint()).collect();
        table.closed |= all_go(&there);
        table.closed
    }

    /// Removes the mount at `mountpoint` from the table, the visible one if there are several. It
    /// counts as going until the caller is finished with it.
    fn take(&self, mountpoint: &Path) -> Option<One> {
        // Dropped after the table is unlocked.
        let _names;
        let mut table = self.table();
        _names = table.part();
        let is_at = |one: &One| one.mounted.mountpoint() == mountpoint;
        let seen = table.list.iter().position(|one| is_at(one) && one.mounted.is_there());
        // The mount may be covered by another one.
        let at = seen.or_else(|| table.list.iter().position(is_at))?;
        table.going += 1;
        Some(table.list.remove(at))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::EngineConfig;
    use fairdisk_plane::backend::Preference;
    use fairdisk_plane::disk::{Device, Disk};
    use fairdisk_sched::SchedulerSpec;
    use fairdisk_sched::noop::NoopParams;
    use rustix::mount::UnmountFlags;

    /// The only mount of a disk, just after it has ended; `None` if mounts are not possible here.
    fn ended(place: &Path) -> Option<Mounts> {
        if !rustix::process::geteuid().is_root() || !Path::new("/dev/fuse").exists() {
            println!("skipped: mounting needs root and /dev/fuse");
            return None;
        }
        let [source, at] = ["source", "mount"].map(|name| place.join(name));
        [&source, &at].iter().for_each(|path| std::fs::create_dir(path).unwrap());
        let scheduler = SchedulerSpec::Noop(NoopParams).build();
        let (config, how) = (EngineConfig::default(), Preference::Threads);
        let disk = Disk::start(scheduler, config, Device::Fixed, 1, how).unwrap();
        let gate = Arc::new(ScheduledGate::new(disk, "noop", None));
        let mounts = Mounts::new(gate, &place.join("socket"), None);
        mounts.mount(&source, &at, MountOptions::default()).unwrap();
        // Child processes of other tests hold our descriptors until they execute their program.
        while rustix::mount::unmount(&at, UnmountFlags::empty()).is_err() {
            fairdisk_plane::pause(SETTLE_PAUSE);
        }
        while !mounts.table().list[0].mounted.is_over() {
            fairdisk_plane::pause(SETTLE_PAUSE);
        }
        drop(mounts.table().part());
        Some(mounts)
    }

    /// Whoever looks may do so before anybody has noticed the end, or while somebody deals with it.
    #[test]
    fn a_mount_that_has_ended_is_waited_for_until_nothing_is_left_of_it() {
        let place = tempfile::tempdir().unwrap();
        let Some(mounts) = ended(place.path()) else { return };
        let mut table = mounts.table();
        assert!(table.is_ending(false), "nobody has noticed it");
        let mounted = table.leaving.pop().unwrap();
        table.going += 1;
        assert!(table.is_ending(false), "somebody has it in hand");
        assert!(!table.close());
        drop(table);
        mounts.leave(mounted);
        mounts.settle(false);
        assert!(mounts.are_closed());
    }

    /// Only whoever needs the disk without it waits for what a mount has left.
    #[test]
    fn what_a_mount_has_written_is_waited_for_on_demand() {
        let place = tempfile::tempdir().unwrap();
        let Some(mounts) = ended(place.path()) else { return };
        let tree = Arc::clone(&mounts.table().leaving[0].tree);
        tree.accounts.charge(0, 4096);
        mounts.settle(false);
        let (left, over) = (mounts.left_behind(), mounts.are_closed());
        let is_ending = mounts.table().is_ending(true);
        // Before anything can fail, as a mount is dropped only when it is clean.
        tree.accounts.settle(0, 4096);
        assert_eq!((left, over, is_ending), (4096, false, true));
        mounts.settle(true);
        assert!(mounts.are_closed());
    }
}
