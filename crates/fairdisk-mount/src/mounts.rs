//! The mounts on one disk: they share its scheduler, and each comes and goes on its own.

use crate::control::Name;
use crate::errors::MountError;
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
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    list: Vec<One>,
    /// Those that are unmounted, with data still on their way to the disk or something open.
    leaving: Vec<Mounted>,
    /// Mounts that are just being made or unmounted.
    under_way: usize,
    /// The last one is gone; none is taken any more.
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
    /// None yet, on the disk behind `gate`; they will be asked after at `socket`.
    #[must_use]
    pub fn new(gate: Arc<ScheduledGate>, socket: &Path) -> Self {
        Self { gate, socket: socket.to_owned(), table: Mutex::default() }
    }

    /// The disk they share.
    #[must_use]
    pub const fn gate(&self) -> &Arc<ScheduledGate> {
        &self.gate
    }

    /// Mounts one more and says where it is; `None` if the last one has gone meanwhile.
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
        let made = Mounted::mount(source, mountpoint, options, gate).map(|mounted| {
            let at = mounted.mountpoint().to_owned();
            let name = Name::give(&at, &self.socket).ok();
            (One { source: source.to_owned(), mounted, name }, at)
        });
        let mut table = self.table();
        table.under_way -= 1;
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

    /// Unmounts one. When this returns, everything written through it has passed the gate. Nothing
    /// happens if it is not there any more.
    ///
    /// # Errors
    /// Somebody still uses it; then it stays mounted.
    pub fn unmount(&self, mountpoint: &Path) -> Result<(), MountError> {
        let Some(mut one) = self.take(|one| one.mounted.mountpoint() == mountpoint) else {
            return Ok(());
        };
        tracing::info!(mountpoint = %mountpoint.display(), "unmounting");
        let done = one.mounted.unmount();
        match &done {
            Ok(()) => tell_unmounted(mountpoint),
            Err(error) => tracing::warn!(%error, "not unmounted"),
        }
        let mut table = self.table();
        table.under_way -= 1;
        if done.is_err() {
            table.list.push(one);
        }
        done
    }

    /// Unmounts one that is still in use, for all who come: whoever has something open there is
    /// served until that is closed, or for as long as this process lives.
    ///
    /// # Errors
    /// The system refuses; then it is over for everybody.
    pub fn let_go(&self, mountpoint: &Path) -> Result<(), MountError> {
        let Some(One { mounted, name, .. }) =
            self.take(|one| one.mounted.mountpoint() == mountpoint)
        else {
            return Ok(());
        };
        drop(name);
        let detached = mounted.detach();
        let mut table = self.table();
        table.under_way -= 1;
        match detached {
            Ok(()) => {
                table.leaving.push(mounted);
                Ok(())
            }
            Err(error) => {
                drop(table);
                drop(mounted);
                Err(MountError::os(mountpoint, "unmount", error))
            }
        }
    }

    /// Forgets a mount that somebody else has unmounted, once everything written through it has
    /// passed the gate; says which. Waits for none.
    pub fn reap(&self) -> Option<PathBuf> {
        let mut table = self.table();
        let over = table.list.extract_if(.., |one| one.mounted.is_over());
        let over = over.map(|One { mounted, name, .. }| {
            // At once: somebody else may mount there meanwhile.
            drop(name);
            mounted
        });
        let over: Vec<Mounted> = over.collect();
        table.leaving.extend(over);
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

    /// Bytes that mounts which are unmounted still have on their way to the disk.
    #[must_use]
    pub fn left_behind(&self) -> u64 {
        self.table().leaving.iter().map(|mounted| mounted.counts().dirty_bytes).sum()
    }

    /// Waits for those that are on their way out: whoever mounts now was there after they had gone.
    pub fn settle(&self) {
        for _ in 0..SETTLE_LOOKS {
            while self.reap().is_some() {}
            let table = self.table();
            let list = &table.list;
            let going = !list.is_empty() && !list.iter().any(|one| one.mounted.is_there());
            if !going || table.under_way > 0 {
                return;
            }
            drop(table);
            std::thread::park_timeout(SETTLE_PAUSE);
        }
    }

    /// Whether the last one is gone. None is taken from then on.
    #[must_use]
    pub fn are_over(&self) -> bool {
        let mut table = self.table();
        table.closed |= table.is_empty();
        table.closed
    }

    /// Takes one out of the list; it is under way until the caller has done with it.
    fn take(&self, which: impl Fn(&One) -> bool) -> Option<One> {
        let mut table = self.table();
        let at = table.list.iter().position(which)?;
        table.under_way += 1;
        Some(table.list.remove(at))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
