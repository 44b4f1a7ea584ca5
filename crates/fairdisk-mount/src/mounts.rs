//! The mounts on one disk: they share its scheduler, and each comes and goes on its own.

use crate::control::Name;
use crate::errors::MountError;
use crate::guardian::Guardian;
use crate::mounted::{Mounted, Watch};
use crate::options::MountOptions;
use crate::scheduled::ScheduledGate;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a mount that was just unmounted may take to end, in looks.
const SETTLE_LOOKS: u32 = 200;
const SETTLE_PAUSE: Duration = Duration::from_millis(5);

/// What is mounted where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountEntry {
    /// What is mounted.
    pub source: String,
    /// Where.
    pub mountpoint: String,
}

/// The mounts on one disk.
pub struct Mounts {
    gate: Arc<ScheduledGate>,
    /// The socket where they are asked after.
    socket: PathBuf,
    /// Ends them if this process is killed.
    guardian: Option<Arc<Guardian>>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    list: Vec<One>,
    /// Those that are unmounted, with data still on their way to the disk or something open.
    leaving: Vec<Mounted>,
    /// Mounts that are just being made or unmounted.
    under_way: usize,
    /// None is taken any more: the last one is gone, or goes.
    closed: bool,
}

struct One {
    source: PathBuf,
    mounted: Mounted,
    /// Its name at the socket; a mount that nobody can ask after is still a mount.
    name: Option<Name>,
}

impl Table {
    const fn is_empty(&self) -> bool {
        self.list.is_empty() && self.leaving.is_empty() && self.under_way == 0
    }

    /// Those that somebody else has taken out of the tree are on their way out, however long those
    /// who have something open there stay. Their places and names are for others at once; to take
    /// a name away may take a while, so that the caller does it when others can have the table.
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
    /// None yet, on the disk behind `gate`; they will be asked after at `socket`, and `guardian`
    /// ends them if this process is killed.
    #[must_use]
    pub fn new(gate: Arc<ScheduledGate>, socket: &Path, guardian: Option<Arc<Guardian>>) -> Self {
        Self { gate, socket: socket.to_owned(), guardian, table: Mutex::default() }
    }

    /// The disk they share.
    #[must_use]
    pub const fn gate(&self) -> &Arc<ScheduledGate> {
        &self.gate
    }

    /// Mounts one more and says where it is; `None` if none is taken any more.
    ///
    /// # Errors
    /// It cannot be mounted; the error says why and what to do.
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
            table.under_way += 1;
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
        table.under_way -= 1;
        if table.closed {
            // Somebody has said meanwhile that all go. What is dropped is unmounted.
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

    /// What is mounted, the oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<MountEntry> {
        self.watches().into_iter().map(|(entry, _)| entry).collect()
    }

    /// Writes that came from no task, through all that are mounted.
    #[must_use]
    pub fn unattributed_writes(&self) -> u64 {
        self.watches().iter().map(|(_, watch)| watch.counts().orphan_writes).sum()
    }

    /// What is mounted, for those who look now and then.
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

    /// Unmounts one. When this returns, everything written through it has passed the gate; not if
    /// there is a copy of the mount, which is served on. Nothing happens if it is not there any
    /// more.
    ///
    /// # Errors
    /// Somebody still uses it; then it stays mounted.
    pub fn unmount(&self, mountpoint: &Path) -> Result<(), MountError> {
        let Some(mounted) = self.begin_to_unmount(mountpoint)? else { return Ok(()) };
        for _ in 0..SETTLE_LOOKS {
            if mounted.is_over() {
                mounted.wait();
                tell_unmounted(mountpoint);
                self.table().under_way -= 1;
                return Ok(());
            }
            fairdisk_plane::pause(SETTLE_PAUSE);
        }
        mounted.tell_lingering();
        self.leave(mounted);
        Ok(())
    }

    /// The same without waiting for what is on its way to the disk.
    ///
    /// # Errors
    /// Somebody still uses it; then it stays mounted.
    pub fn release(&self, mountpoint: &Path) -> Result<(), MountError> {
        if let Some(mounted) = self.begin_to_unmount(mountpoint)? {
            if mounted.is_attached() {
                mounted.tell_lingering();
            }
            self.leave(mounted);
        }
        Ok(())
    }

    /// One that was under way is on its way out, however long those who have something of it stay.
    fn leave(&self, mounted: Mounted) {
        let mut table = self.table();
        table.under_way -= 1;
        table.leaving.push(mounted);
    }

    /// Takes one out of the tree; it is under way until the caller has done with it.
    fn begin_to_unmount(&self, mountpoint: &Path) -> Result<Option<Mounted>, MountError> {
        let Some(mut one) = self.take(mountpoint) else { return Ok(None) };
        tracing::info!(mountpoint = %mountpoint.display(), "unmounting");
        if let Err(error) = one.mounted.take_out() {
            tracing::warn!(%error, "not unmounted");
            let mut table = self.table();
            table.under_way -= 1;
            table.list.push(one);
            return Err(error);
        }
        Ok(Some(one.mounted))
    }

    /// Unmounts one that is still in use, for all who come: whoever has something open there is
    /// served until that is closed, or for as long as this process lives. One that lies below
    /// something else, or has copies, stays there.
    ///
    /// # Errors
    /// The system refuses; then it is over for everybody.
    pub fn let_go(&self, mountpoint: &Path) -> Result<(), MountError> {
        let Some(One { mounted, .. }) = self.take(mountpoint) else { return Ok(()) };
        if let Err(error) = mounted.detach() {
            self.table().under_way -= 1;
            drop(mounted);
            return Err(MountError::os(mountpoint, "unmount", error));
        }
        mounted.tell_lingering();
        self.leave(mounted);
        Ok(())
    }

    /// Forgets a mount that somebody else has unmounted, once everything written through it has
    /// passed the gate; says which. Waits for none.
    pub fn reap(&self) -> Option<PathBuf> {
        // Dropped when others can have the table.
        let _names;
        let mut table = self.table();
        _names = table.part();
        let has_left = |mounted: &Mounted| mounted.is_over() && mounted.counts().dirty_bytes == 0;
        let clean = table.leaving.iter().position(has_left)?;
        let mounted = table.leaving.remove(clean);
        table.under_way += 1;
        drop(table);
        let at = mounted.mountpoint().to_owned();
        mounted.wait();
        tell_unmounted(&at);
        self.table().under_way -= 1;
        Some(at)
    }

    /// To be called every few seconds: lets go of file systems below the sources that nobody has
    /// used since.
    pub fn rest(&self) {
        self.table().list.iter().for_each(|one| one.mounted.rest());
    }

    /// Bytes that mounts which are unmounted still have on their way to the disk.
    #[must_use]
    pub fn left_behind(&self) -> u64 {
        self.table().leaving.iter().map(|mounted| mounted.counts().dirty_bytes).sum()
    }

    /// Requests that are at the disk or wait for it when no mount is left.
    #[must_use]
    pub fn jobs_left_behind(&self) -> usize {
        if self.table().list.is_empty() { self.gate.jobs_left() } else { 0 }
    }

    /// Waits for those that are on their way out: whoever mounts now was there after they had gone.
    pub fn settle(&self) {
        for _ in 0..SETTLE_LOOKS {
            while self.reap().is_some() {}
            let table = self.table();
            let going = table.leaving.iter().any(|mounted| !mounted.is_over());
            if !table.list.is_empty() || !going || table.under_way > 0 {
                return;
            }
            drop(table);
            fairdisk_plane::pause(SETTLE_PAUSE);
        }
    }

    /// Whether the last one is gone. None is taken from then on.
    #[must_use]
    pub fn are_over(&self) -> bool {
        let mut table = self.table();
        table.close() && table.is_empty()
    }

    /// Whether none is taken any more.
    #[must_use]
    pub fn are_closed(&self) -> bool {
        self.table().close()
    }

    /// Takes none any more if `all_go` of those that are there. Whether that is so is the answer.
    pub fn close_if(&self, all_go: impl FnOnce(&[&Path]) -> bool) -> bool {
        let mut table = self.table();
        let there: Vec<&Path> = table.list.iter().map(|one| one.mounted.mountpoint()).collect();
        table.closed |= all_go(&there);
        table.closed
    }

    /// Takes the one that is to be seen at a place out of the list; it is under way until the
    /// caller has done with it.
    fn take(&self, mountpoint: &Path) -> Option<One> {
        // Dropped when others can have the table.
        let _names;
        let mut table = self.table();
        _names = table.part();
        let is_at = |one: &One| one.mounted.mountpoint() == mountpoint;
        let seen = table.list.iter().position(|one| is_at(one) && one.mounted.is_there());
        // It may lie below something else.
        let at = seen.or_else(|| table.list.iter().position(is_at))?;
        table.under_way += 1;
        Some(table.list.remove(at))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
