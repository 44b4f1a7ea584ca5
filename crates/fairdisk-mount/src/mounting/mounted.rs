//! The life of a mount: mounting, observing and unmounting.

use super::errors::{Lack, MountError, MountProblem};
use super::made_up::is_made_up;
use super::mountpoint::{self, Places};
use super::options::MountOptions;
use super::own_devices::OwnDevice;
use crate::data::gate::Gate;
use crate::ending::guardian::{Guarded, Guardian};
use crate::memory;
use crate::requests::caller::Privileges;
use crate::requests::filesystem::PassThrough;
use crate::requests::notices::Notices;
use crate::requests::tree::{MountCounts, Tree};
use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};
use rustix::fd::AsFd as _;
use rustix::mount::MountFlags;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

/// A mount, unmounted when dropped.
pub struct Mounted {
    mountpoint: PathBuf,
    device: Option<u64>,
    /// Whether we made the mount ourselves, as root, and not through the helper fusermount3.
    own: bool,
    pub(super) tree: Arc<Tree>,
    session: Option<BackgroundSession>,
    guarded: Option<Guarded>,
    _own_device: Option<OwnDevice>,
}

impl std::fmt::Debug for Mounted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mounted({})", self.mountpoint.display())
    }
}

/// A weak handle for observing a mount.
#[derive(Clone, Debug)]
pub struct Watch(Weak<Tree>);

impl Watch {
    /// The counters of the mount; zeroes once it is gone.
    #[must_use]
    pub fn counts(&self) -> MountCounts {
        self.0.upgrade().map(|tree| tree.counts()).unwrap_or_default()
    }

    /// Looks whether somebody else has changed files that are open, as [`Mounted::look_below`].
    pub fn look_below(&self) {
        self.0.upgrade().into_iter().for_each(|tree| tree.look_below());
    }

    /// The limit on dirty bytes per account.
    #[must_use]
    pub fn dirty_limit(&self) -> u64 {
        self.0.upgrade().map_or(0, |tree| tree.options.dirty_limit)
    }

    /// The dirty bytes of each account that has any, by its number.
    #[must_use]
    pub fn dirty(&self) -> BTreeMap<u32, u64> {
        self.0.upgrade().map(|tree| tree.accounts.all()).unwrap_or_default()
    }
}

impl Mounted {
    /// Mounts `source` at `mountpoint`. I/O on file data passes `gate`.
    ///
    /// # Errors
    /// The mount is impossible; the error says why and what to do.
    pub fn mount(
        source: &Path,
        mountpoint: &Path,
        options: MountOptions,
        gate: Arc<dyn Gate>,
    ) -> Result<Self, MountError> {
        let places = mountpoint::check(source, mountpoint)?;
        memory::set_up();
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

    /// Has the guardian end the mount if this process is killed.
    pub fn have_guarded(&mut self, guardian: Option<&Arc<Guardian>>) {
        let Some((guardian, device)) = guardian.zip(self.device) else { return };
        let (guarded, watched) = guardian.guard(device, &self.mountpoint);
        if let Err(error) = watched {
            let mountpoint = self.mountpoint.display();
            tracing::warn!(%mountpoint, %error, "no guardian for this mount");
        }
        self.guarded = Some(guarded);
    }

    /// The path of the mount point.
    #[must_use]
    pub fn mountpoint(&self) -> &Path {
        &self.mountpoint
    }

    /// The counters of the mount.
    #[must_use]
    pub fn counts(&self) -> MountCounts {
        self.tree.counts()
    }

    /// A handle for observing the mount.
    #[must_use]
    pub fn watch(&self) -> Watch {
        Watch(Arc::downgrade(&self.tree))
    }

    /// Periodic work, to be done every few seconds: releases file systems below the source that
    /// have not been used since the last call, and registers with the guardian if that has failed.
    pub fn rest(&self) {
        self.tree.nodes.close_unused();
        self.guarded.iter().for_each(Guarded::try_again);
    }

    /// Periodic work, to be done every second: looks whether somebody else has changed files that
    /// are open, and has the kernel drop what it has cached of them. Programs that have a file open
    /// or mapped need not ask for anything but data.
    pub fn look_below(&self) {
        self.tree.look_below();
    }

    /// Whether the mount has ended, because somebody else unmounted it.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.session.as_ref().is_none_or(|session| session.guard.is_finished())
    }

    /// Whether the mount has ended and everything written through it has been written out.
    pub(crate) fn has_left(&self) -> bool {
        self.is_over() && self.counts().dirty_bytes == 0
    }

    /// Waits until somebody else unmounts it, and until no data is dirty.
    pub fn wait(mut self) {
        if let Some(session) = self.session.take() {
            // The mount is over, whatever ended the session.
            let _ = session.join();
        }
        self.tree.accounts.wait_until_clean();
    }

    /// Unmounts. When this returns, everything written through the mount has passed the gate and
    /// been written out.
    ///
    /// # Errors
    /// The mount is in use and stays.
    pub fn unmount(&mut self) -> Result<(), MountError> {
        self.take_out()?;
        self.end_session()?;
        self.tree.accounts.wait_until_clean();
        Ok(())
    }

    /// Removes the mount from the directory tree. If we made the mount ourselves, its session ends
    /// only once nobody uses it, for example through a copy of the mount elsewhere; that is not
    /// waited for.
    pub(crate) fn take_out(&mut self) -> Result<(), MountError> {
        if !self.own {
            self.end_session()
        } else if self.is_there() {
            mountpoint::release(&self.mountpoint)
        } else if self.is_attached() {
            // Another mount covers it.
            Err(MountError::new(&self.mountpoint, MountProblem::Busy))
        } else {
            Ok(())
        }
    }

    /// Removes the mount from the directory tree or, if it is in use, detaches it: open files are
    /// served until they are closed, or until this process ends. A mount that is covered by
    /// another, or has copies, remains there.
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

    /// Logs that the mount is still in use, and where.
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

    /// Detaches the mount from the directory tree; files that are open remain usable.
    pub(crate) fn detach(&self) -> io::Result<()> {
        if self.is_there() { mountpoint::detach(&self.mountpoint) } else { Ok(()) }
    }

    /// Whether our mount is the one visible at the mount point.
    pub(crate) fn is_there(&self) -> bool {
        !self.is_over() && mountpoint::device(&self.mountpoint) == self.device
    }

    /// Whether the mount is anywhere in the directory tree, be it covered by another or moved.
    /// Somebody may have detached it.
    pub(crate) fn is_attached(&self) -> bool {
        // No path is resolved, because one that leads through a disk that hangs would block
        // everybody.
        !self.is_over() && self.places().is_none_or(|places| !places.is_empty())
    }

    /// The places at which it is mounted, including copies of the mount; `None` if that cannot be
    /// told.
    pub(crate) fn places(&self) -> Option<Vec<PathBuf>> {
        self.device.and_then(mountpoint::places)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.session.is_none() || self.unmount().is_ok() {
            return;
        }
        // Those who use it keep it until this process ends.
        if self.detach().is_ok() {
            self.tree.accounts.wait_until_clean();
        }
    }
}

/// Refuses a source in a pseudo file system, or one whose file system cannot be determined.
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
            // A mount made by the helper ends with its session.
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
            // The message of the helper, which ends in a newline.
            let said = error.to_string();
            give_up(io::Error::new(error.kind(), format!("fusermount3: {}", said.trim())))
        })?
    };
    let notices = Notices::start(session.as_fd()).map_err(give_up)?;
    let _ = tree.notices.set(notices);
    tree.states.mounted(session.notifier());
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

/// The hard limit on open files to which root raises a lower one.
const OPEN_FILES: u64 = 1 << 19;

/// Raises soft limits to the hard ones. The limits of whoever starts the mount should not restrict
/// its users: every open file of theirs is a descriptor of ours, and the kernel has already applied
/// their own limits on file sizes. Root's hard limit on open files is raised as well, as far as the
/// system permits: it may come from a login, and is to serve all users.
fn raise_limits() {
    for resource in [Resource::Nofile, Resource::Fsize] {
        let maximum = getrlimit(resource).maximum;
        let _ = setrlimit(resource, Rlimit { current: maximum, maximum });
    }
    let system = fs::read_to_string("/proc/sys/fs/nr_open").ok();
    let most = system
        .and_then(|most| most.trim().parse().ok())
        .map_or(0, |most: u64| most.min(OPEN_FILES));
    if getrlimit(Resource::Nofile).maximum.is_some_and(|maximum| maximum < most) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: Some(most) });
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
