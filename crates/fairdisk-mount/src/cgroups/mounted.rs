//! The directory of groups, mounted.

use super::error::CgroupError;
use super::filesystem::Groups;
use super::version1::{self, Left, OWN_NAME, Say, Turn};
use crate::caller::Privileges;
use crate::errors::{MountError, MountProblem};
use crate::identity::{Hierarchy, VERSION2};
use crate::mountpoint::{self, Places};
use crate::options::MountOptions;
use fuser::{BackgroundSession, Config, Session, SessionACL};
use rustix::mount::MountFlags;
use std::fs;
use std::path::{Path, PathBuf};

/// Threads that answer; a `cfq.stat` waits for the mounts it asks.
const THREADS: usize = 4;

/// Groups, shown as a directory. Unmounted when dropped.
#[derive(Debug)]
pub struct CgroupMount {
    name: String,
    mountpoint: PathBuf,
    hierarchy: Hierarchy,
    session: Option<BackgroundSession>,
    say: Say,
}

impl CgroupMount {
    /// Shows the groups of the hierarchy called `name` in a directory; mounts the hierarchy first
    /// if it is not mounted yet. If that, or putting it away, takes a while, `say` says why.
    ///
    /// # Errors
    /// It cannot be mounted; the error says why, and what works without it.
    pub fn mount(name: &str, directory: &Path, say: Say) -> Result<Self, CgroupError> {
        version1::check_name(name)?;
        if !Privileges::find().is_root() {
            return Err(CgroupError::NotRoot);
        }
        // Said before anything is mounted.
        mountpoint::open_fuse(directory)?;
        let turn = Turn::wait(say)?;
        let hierarchy = version1::find_or_mount(&turn, name)?;
        let name = hierarchy.name().to_owned();
        let shown = Self::show(&name, directory, hierarchy, say);
        if shown.is_err() {
            let _ = version1::put_away(&turn, &name);
        }
        shown
    }

    fn show(
        name: &str,
        directory: &Path,
        hierarchy: Hierarchy,
        say: Say,
    ) -> Result<Self, CgroupError> {
        let places = mountpoint::check(hierarchy.mount(), directory)?;
        let failed = |error| MountError::os(&places.mountpoint, "mount", error);
        let groups = Groups::new(hierarchy.clone()).map_err(failed)?;
        let session = start(&places, groups)?;
        let mountpoint = places.mountpoint;
        Ok(Self { name: name.to_owned(), mountpoint, hierarchy, session: Some(session), say })
    }

    /// Where groups are shown.
    #[must_use]
    pub fn mountpoint(&self) -> &Path {
        &self.mountpoint
    }

    /// Where they come from.
    #[must_use]
    pub const fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// Whether somebody else has unmounted it.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.session.as_ref().is_none_or(|session| session.guard.is_finished())
    }

    /// Unmounts it, and the hierarchy if it is ours and has no groups. Who still uses the directory
    /// is cut off.
    ///
    /// # Errors
    /// It cannot be unmounted.
    pub fn unmount(mut self) -> Result<Left, CgroupError> {
        self.end()?;
        Ok(version1::put_away(&Turn::wait(self.say)?, &self.name))
    }

    fn end(&mut self) -> Result<(), CgroupError> {
        if !self.is_over() {
            match mountpoint::release(&self.mountpoint) {
                Err(error) if matches!(error.problem(), MountProblem::Busy) => {
                    let failed = |error| MountError::os(&self.mountpoint, "unmount", error);
                    mountpoint::detach(&self.mountpoint).map_err(failed)?;
                    // It ends when the last one lets go, or with this process.
                    self.session = None;
                    return Ok(());
                }
                other => other?,
            }
        }
        if let Some(session) = self.session.take() {
            // Whatever ended it: it is over.
            let _ = session.join();
        }
        Ok(())
    }
}

impl Drop for CgroupMount {
    fn drop(&mut self) {
        if self.session.is_some()
            && self.end().is_ok()
            && let Ok(turn) = Turn::wait(self.say)
        {
            let _ = version1::put_away(&turn, &self.name);
        }
    }
}

fn start(places: &Places, groups: Groups) -> Result<BackgroundSession, MountError> {
    let failed = |error| MountError::os(&places.mountpoint, "mount", error);
    let fuse = mountpoint::open_fuse(&places.mountpoint)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let options = MountOptions { allow_other: true, ..MountOptions::default() };
    mountpoint::attach(places, &fuse, flags, &options)?;
    let mut config = Config::default();
    config.acl = SessionACL::All;
    config.n_threads = Some(THREADS);
    let session = Session::from_fd(groups, fuse, SessionACL::All, config);
    session.and_then(Session::spawn).map_err(|error| {
        let _ = mountpoint::detach(&places.mountpoint);
        failed(error)
    })
}

/// Where the hierarchy called `name` is mounted, or was.
fn place_of(name: &str) -> PathBuf {
    let there = Hierarchy::find(Some(name)).ok().flatten();
    there.map_or_else(|| version1::directory(name), |it| it.mount().to_owned())
}

/// Unmounts the groups shown in a directory, and their hierarchy if it is ours, has no groups and
/// is called `name`. If that takes a while, `say` says why.
///
/// # Errors
/// No groups are shown there, or somebody still uses them.
pub fn unmount(name: &str, directory: &Path, say: Say) -> Result<Left, CgroupError> {
    version1::check_name(name)?;
    if !Privileges::find().is_root() {
        return Err(CgroupError::NotRoot);
    }
    let turn = Turn::wait(say)?;
    // A directory whose daemon has died has no real path any more.
    let real = |path: &Path| fs::canonicalize(path).or_else(|_| std::path::absolute(path));
    let directory = real(directory).unwrap_or_else(|_| directory.to_owned());
    let shows = |name: &&str| mountpoint::shown_at(&place_of(name)).contains(&directory);
    // Our own may have been stood in for by the tree of version 2.
    let stands_in = (name == OWN_NAME).then_some(VERSION2);
    let Some(name) = [name].into_iter().chain(stands_in).find(shows) else {
        return Err(CgroupError::NotOurs(directory));
    };
    mountpoint::release(&directory)?;
    Ok(version1::put_away(&turn, name))
}
