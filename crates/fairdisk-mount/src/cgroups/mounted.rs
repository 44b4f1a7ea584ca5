//! Mounting and unmounting the directory of groups.

use super::error::CgroupError;
use super::filesystem::Groups;
use super::version1::{self, Left, OWN_NAME, Say, Turn};
use crate::identity::{Hierarchy, VERSION2};
use crate::mounting::errors::{MountError, MountProblem};
use crate::mounting::mountpoint::{self, Places};
use crate::mounting::options::MountOptions;
use crate::requests::caller::Privileges;
use fuser::{BackgroundSession, Config, Session, SessionACL};
use rustix::mount::MountFlags;
use std::fs;
use std::path::{Path, PathBuf};

/// The number of threads that serve requests. Several, since reading a `cfq.stat` waits for the
/// daemons it queries.
const THREADS: usize = 4;

/// A mounted directory of groups, unmounted when dropped.
#[derive(Debug)]
pub struct CgroupMount {
    name: String,
    mountpoint: PathBuf,
    hierarchy: Hierarchy,
    session: Option<BackgroundSession>,
    say: Say,
}

impl CgroupMount {
    /// Shows the groups of the hierarchy called `name` in a directory, after mounting the hierarchy
    /// if necessary. If other processes are mounting or unmounting at the same time, `say` is told
    /// what is waited for.
    ///
    /// # Errors
    /// The mount is impossible; the error says why, and what works without it.
    pub fn mount(name: &str, directory: &Path, say: Say) -> Result<Self, CgroupError> {
        version1::check_name(name)?;
        if !Privileges::find().is_root() {
            return Err(CgroupError::NotRoot);
        }
        // Fails early, before anything is mounted.
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

    /// The directory in which groups are shown.
    #[must_use]
    pub fn mountpoint(&self) -> &Path {
        &self.mountpoint
    }

    /// The hierarchy that the groups come from.
    #[must_use]
    pub const fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// Whether the mount has ended, because somebody else unmounted it.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.session.as_ref().is_none_or(|session| session.guard.is_finished())
    }

    /// Unmounts the directory, and also the hierarchy if it is ours and has no groups. Programs
    /// that still use the directory lose access.
    ///
    /// # Errors
    /// The directory cannot be unmounted.
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
                    // The session ends with its last user, or with this process.
                    self.session = None;
                    return Ok(());
                }
                other => other?,
            }
        }
        if let Some(session) = self.session.take() {
            // The mount is over, whatever ended the session.
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

/// The place at which the hierarchy called `name` is mounted, or would be.
fn place_of(name: &str) -> PathBuf {
    let there = Hierarchy::find(Some(name)).ok().flatten();
    there.map_or_else(|| version1::directory(name), |it| it.mount().to_owned())
}

/// Unmounts the groups shown in a directory, and also their hierarchy if it is called `name`, is
/// ours and has no groups. If other processes are mounting or unmounting at the same time, `say` is
/// told what is waited for.
///
/// # Errors
/// No groups are shown there, or the directory is in use.
pub fn unmount(name: &str, directory: &Path, say: Say) -> Result<Left, CgroupError> {
    version1::check_name(name)?;
    if !Privileges::find().is_root() {
        return Err(CgroupError::NotRoot);
    }
    let turn = Turn::wait(say)?;
    // The path of a directory whose daemon has died cannot be resolved.
    let real = |path: &Path| fs::canonicalize(path).or_else(|_| std::path::absolute(path));
    let directory = real(directory).unwrap_or_else(|_| directory.to_owned());
    let shows = |name: &&str| mountpoint::shown_at(&place_of(name)).contains(&directory);
    // The tree of version 2 may have been shown in place of our own hierarchy.
    let stands_in = (name == OWN_NAME).then_some(VERSION2);
    let Some(name) = [name].into_iter().chain(stands_in).find(shows) else {
        return Err(CgroupError::NotOurs(directory));
    };
    mountpoint::release(&directory)?;
    Ok(version1::put_away(&turn, name))
}
