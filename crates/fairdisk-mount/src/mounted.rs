//! A mounted tree.

use crate::caller::Privileges;
use crate::errors::{Lack, MountError, MountProblem};
use crate::filesystem::PassThrough;
use crate::gate::Gate;
use crate::guardian::{Guarded, Guardian};
use crate::made_up::is_made_up;
use crate::mountpoint::{self, Places};
use crate::notices::Notices;
use crate::options::MountOptions;
use crate::own_devices::OwnDevice;
use crate::tree::{MountCounts, Tree};
use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};
use rustix::fd::AsFd as _;
use rustix::mount::MountFlags;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

/// A mounted tree, unmounted when dropped.
pub struct Mounted {
    mountpoint: PathBuf,
    device: Option<u64>,
    /// Mounted by ourselves, as root; otherwise by a helper.
    own: bool,
    tree: Arc<Tree>,
    session: Option<BackgroundSession>,
    guarded: Option<Guarded>,
    _own_device: Option<OwnDevice>,
}

impl std::fmt::Debug for Mounted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mounted({})", self.mountpoint.display())
    }
}

/// Looks at a mount without keeping it.
#[derive(Clone, Debug)]
pub struct Watch(Weak<Tree>);

impl Watch {
    /// What happened so far; nothing once the mount is gone.
    #[must_use]
    pub fn counts(&self) -> MountCounts {
        self.0.upgrade().map(|tree| tree.counts()).unwrap_or_default()
    }

    /// Bytes each account may have on their way to the disk.
    #[must_use]
    pub fn dirty_limit(&self) -> u64 {
        self.0.upgrade().map_or(0, |tree| tree.options.dirty_limit)
    }

    /// Bytes on their way to the disk, by the number of the account.
    #[must_use]
    pub fn dirty(&self) -> BTreeMap<u32, u64> {
        self.0.upgrade().map(|tree| tree.accounts.all()).unwrap_or_default()
    }
}

impl Mounted {
    /// Shows what is in `source` at `mountpoint`; file data pass `gate`.
    ///
    /// # Errors
    /// It cannot be mounted; the error says why and what to do.
    pub fn mount(
        source: &Path,
        mountpoint: &Path,
        options: MountOptions,
        gate: Arc<dyn Gate>,
    ) -> Result<Self, MountError> {
        let places = mountpoint::check(source, mountpoint)?;
        raise_limits();
        let tree = Tree::new(&places.source, options, gate).map_err(|error| {
            if Path::new("/proc/self/fd").exists() {
                MountError::os(&places.source, "open it", error)
            } else {
                MountError::lacking(&places.mountpoint, Lack::NoProc)
            }
        })?;
        demand_stored(&places.source, is_made_up(tree.nodes.root()))?;
        let tree = Arc::new(tree);
        let own = Privileges::find().is_root();
        let session = start(&places, &tree, own)?;
        let (mountpoint, session) = (places.mountpoint, Some(session));
        let device = mountpoint::device(&mountpoint);
        let own_device = device.map(OwnDevice::new);
        let mounted =
            Self { mountpoint, device, own, tree, session, guarded: None, _own_device: own_device };
        if let Some(device) = mounted.device {
            mountpoint::read_ahead(device, mounted.tree.options.read_ahead_kib);
        }
        Ok(mounted)
    }

    /// Has it ended by a guardian if this process is killed.
    pub fn have_guarded(&mut self, guardian: Option<&Arc<Guardian>>) {
        let Some((guardian, device)) = guardian.zip(self.device) else { return };
        let (guarded, watched) = guardian.guard(device, &self.mountpoint);
        if let Err(error) = watched {
            let mountpoint = self.mountpoint.display();
            tracing::warn!(%mountpoint, %error, "no guardian for this mount");
        }
        self.guarded = Some(guarded);
    }

    /// Where it is mounted.
    #[must_use]
    pub fn mountpoint(&self) -> &Path {
        &self.mountpoint
    }

    /// What happened so far.
    #[must_use]
    pub fn counts(&self) -> MountCounts {
        self.tree.counts()
    }

    /// For those who look now and then.
    #[must_use]
    pub fn watch(&self) -> Watch {
        Watch(Arc::downgrade(&self.tree))
    }

    /// To be called every few seconds: lets go of file systems below the source that nobody has
    /// used since, and tries again to have the mount guarded if that failed.
    pub fn rest(&self) {
        self.tree.nodes.close_unused();
        self.guarded.iter().for_each(Guarded::try_again);
    }

    /// Whether it is not mounted any longer: somebody else unmounted it.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.session.as_ref().is_none_or(|session| session.guard.is_finished())
    }

    /// Waits until somebody else has unmounted it.
    pub fn wait(mut self) {
        if let Some(session) = self.session.take() {
            // Whatever ended it: it is over.
            let _ = session.join();
        }
        self.tree.accounts.wait_until_clean();
    }

    /// Unmounts. When it returns, everything written through the mount has passed the gate.
    ///
    /// # Errors
    /// Somebody still uses it; then it stays mounted.
    pub fn unmount(&mut self) -> Result<(), MountError> {
        self.take_out()?;
        self.end_session()?;
        self.tree.accounts.wait_until_clean();
        Ok(())
    }

    /// Takes it out of the tree. Where the system mounts for us, its session ends when nobody has
    /// anything of it any more, be it a copy of the mount elsewhere: that is not waited for.
    pub(crate) fn take_out(&mut self) -> Result<(), MountError> {
        if !self.own {
            self.end_session()
        } else if self.is_there() {
            mountpoint::release(&self.mountpoint)
        } else if self.is_attached() {
            // Below something else.
            Err(MountError::new(&self.mountpoint, MountProblem::Busy))
        } else {
            Ok(())
        }
    }

    /// Takes it out of the tree, or, where somebody still uses it, unmounts it for all who come:
    /// whoever has something open there is served until that is closed, or for as long as this
    /// process lives. One that lies below something else, or has copies, stays there.
    ///
    /// # Errors
    /// The system refuses.
    pub fn let_go(&mut self) -> Result<(), MountError> {
        let taken = self.take_out();
        if taken.is_err() {
            self.detach().map_err(|error| MountError::os(&self.mountpoint, "unmount", error))?;
        }
        if taken.is_err() || self.is_attached() {
            self.tell_lingering();
        }
        Ok(())
    }

    /// It is on its way out and stays with somebody for now; says with whom.
    pub(crate) fn tell_lingering(&self) {
        let mountpoint = self.mountpoint.display();
        match self.places().as_deref() {
            Some([]) | None => tracing::warn!(
                %mountpoint,
                "detached: served until what is open there is closed"
            ),
            Some(places) => tracing::warn!(
                %mountpoint,
                still_at = ?places,
                "still mounted, below something else or as a copy: served until that is unmounted"
            ),
        }
    }

    fn end_session(&mut self) -> Result<(), MountError> {
        let Some(session) = self.session.take() else { return Ok(()) };
        let ended = if self.own { session.join() } else { session.umount_and_join() };
        ended.map_err(|error| MountError::os(&self.mountpoint, "unmount", error))
    }

    /// Unmounts for all who come; who has something open there keeps it.
    pub(crate) fn detach(&self) -> io::Result<()> {
        if self.is_there() { mountpoint::detach(&self.mountpoint) } else { Ok(()) }
    }

    /// Whether what is mounted there is ours, not something older below it.
    pub(crate) fn is_there(&self) -> bool {
        !self.is_over() && mountpoint::device(&self.mountpoint) == self.device
    }

    /// Whether it is in the tree, be it below something else or where its place was moved to:
    /// somebody may have taken it out for all who come, with those staying who have something open.
    pub(crate) fn is_attached(&self) -> bool {
        // No path is walked: one that leads through a disk that hangs would hold up everybody.
        !self.is_over() && self.places().is_none_or(|places| !places.is_empty())
    }

    /// Where it is mounted, copies of the mount included, as far as that can be told.
    pub(crate) fn places(&self) -> Option<Vec<PathBuf>> {
        self.device.and_then(mountpoint::places)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.session.is_none() || self.unmount().is_ok() {
            return;
        }
        // Those who still use it keep it for as long as this process lives.
        if self.detach().is_ok() {
            self.tree.accounts.wait_until_clean();
        }
    }
}

/// Refuses a source whose files the kernel makes up, or that does not say whether it does.
fn demand_stored(source: &Path, is_made_up: io::Result<bool>) -> Result<(), MountError> {
    match is_made_up {
        Ok(false) => Ok(()),
        Ok(true) => Err(MountError::new(source, MountProblem::SourceMadeUp)),
        Err(error) => Err(MountError::os(source, "look at its file system", error)),
    }
}

fn start(places: &Places, tree: &Arc<Tree>, own: bool) -> Result<BackgroundSession, MountError> {
    let options = &tree.options;
    let flags = mountpoint::flags(tree.nodes.root(), options);
    let acl = if options.allow_other { SessionACL::All } else { SessionACL::Owner };
    let mut config = Config::default();
    config.acl = acl;
    config.n_threads = Some(options.readers.max(1));
    config.clone_fd = options.readers > 1;
    let filesystem = PassThrough::new(Arc::clone(tree));
    let give_up = |error| {
        if own {
            // What a helper has mounted goes with its session.
            let _ = mountpoint::detach(&places.mountpoint);
        }
        MountError::os(&places.mountpoint, "mount", error)
    };
    let fuse = mountpoint::open_fuse(&places.mountpoint)?;
    let session = if own {
        mountpoint::attach(places, &fuse, flags, options)?;
        Session::from_fd(filesystem, fuse, acl, config).map_err(give_up)?
    } else {
        drop(fuse);
        if mountpoint::helper().is_none() {
            return Err(MountError::lacking(&places.mountpoint, Lack::NotPermitted));
        }
        config.mount_options = helper_options(places, flags);
        Session::new(filesystem, &places.mountpoint, &config).map_err(|error| {
            // What the helper said, which ends a line.
            let said = error.to_string();
            give_up(io::Error::new(error.kind(), format!("fusermount3: {}", said.trim())))
        })?
    };
    let notices = Notices::start(session.as_fd()).map_err(give_up)?;
    let _ = tree.notices.set(notices);
    session.spawn().map_err(give_up)
}

fn helper_options(places: &Places, flags: MountFlags) -> Vec<MountOption> {
    let mut options = vec![
        MountOption::FSName(places.source.display().to_string().replace(',', "\\,")),
        MountOption::Subtype("fairdisk".to_owned()),
        MountOption::DefaultPermissions,
        MountOption::NoSuid,
        MountOption::NoDev,
    ];
    if flags.contains(MountFlags::RDONLY) {
        options.push(MountOption::RO);
    }
    if flags.contains(MountFlags::NOEXEC) {
        options.push(MountOption::NoExec);
    }
    options
}

/// Limits of whoever starts the mount are not those of its users: every open file of theirs is a
/// descriptor of ours, and the kernel holds what they write to their own limits before.
fn raise_limits() {
    for resource in [Resource::Nofile, Resource::Fsize] {
        let maximum = getrlimit(resource).maximum;
        let _ = setrlimit(resource, Rlimit { current: maximum, maximum });
    }
    if let Some(bytes) = getrlimit(Resource::Fsize).maximum {
        tracing::warn!(bytes, "a hard limit on the size of files holds for all users");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_does_not_answer_is_not_taken_for_made_up() {
        let refused = |is| demand_stored(Path::new("/src"), is).unwrap_err().to_string();
        assert!(
            refused(Ok(true)).contains("the kernel makes up the files"),
            "{}",
            refused(Ok(true))
        );
        let stale = || Err(io::Error::from_raw_os_error(libc::ESTALE));
        let says = "/src: cannot look at its file system: Stale file handle";
        assert!(refused(stale()).starts_with(says), "{}", refused(stale()));
        assert!(demand_stored(Path::new("/src"), Ok(false)).is_ok());
    }
}
