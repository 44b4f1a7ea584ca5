//! Directory entries: looking up, creating, removing and renaming them.

use crate::files::descriptor::{Descriptor, one_more};
use crate::files::nodes::{Found, Going, ROOT, Referred, demand_name};
use crate::mounting::made_up::refuse_made_up;
use crate::requests::attributes::device_from_wire;
use crate::requests::caller::{Caller, User};
use crate::requests::tree::Tree;
use crate::sys::proc_fd::ProcFd;
use rustix::fs::{
    AtFlags, FileType, Mode, RenameFlags, linkat, mkdirat, mknodat, readlinkat, renameat_with,
    symlinkat, unlinkat,
};
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;

impl Tree {
    /// Looks up a name.
    pub(crate) fn look_up(&self, parent: u64, name: &OsStr) -> io::Result<Found> {
        let found = self.nodes.look_up(&self.nodes.refer(parent)?, name)?;
        self.freshen(found.node, &found.stat);
        Ok(found)
    }

    /// Subtracts `count` lookups of a node. Closing the returned descriptors may take a while.
    pub(crate) fn forget(&self, node: u64, count: u64) -> Vec<Arc<Descriptor>> {
        if node == ROOT {
            return Vec::new();
        }
        let last = self.nodes.forget(node, count);
        self.states.forgotten(node, || self.nodes.knows(node));
        last
    }

    /// Creates a file other than a directory.
    pub(crate) fn make_node(
        &self,
        parent: u64,
        name: &OsStr,
        (mode, device): (u32, u32),
        caller: Caller,
    ) -> io::Result<Found> {
        demand_name(name)?;
        let parent = self.nodes.refer(parent)?;
        let kind = FileType::from_raw_mode(mode);
        let device = device_from_wire(device);
        let mode = Mode::from_raw_mode(mode & 0o7777);
        self.making(caller, || mknodat(&parent, name, kind, mode, device))?;
        self.nodes.look_up(&parent, name)
    }

    /// Creates a directory.
    pub(crate) fn make_directory(
        &self,
        parent: u64,
        name: &OsStr,
        mode: u32,
        caller: Caller,
    ) -> io::Result<Found> {
        demand_name(name)?;
        let parent = self.nodes.refer(parent)?;
        let mode = Mode::from_raw_mode(mode & 0o7777);
        self.making(caller, || mkdirat(&parent, name, mode))?;
        self.nodes.look_up(&parent, name)
    }

    /// Creates a symbolic link. Its target is never followed by us.
    pub(crate) fn make_symlink(
        &self,
        parent: u64,
        name: &OsStr,
        target: &Path,
        caller: Caller,
    ) -> io::Result<Found> {
        demand_name(name)?;
        let parent = self.nodes.refer(parent)?;
        self.making(caller, || symlinkat(target, &parent, name))?;
        self.nodes.look_up(&parent, name)
    }

    /// Reads a symbolic link.
    pub(crate) fn read_symlink(&self, node: u64) -> io::Result<Vec<u8>> {
        let link = self.nodes.refer(node)?;
        refuse_made_up(&link)?;
        let target = readlinkat(link, "", Vec::new())?;
        Ok(target.into_bytes())
    }

    /// Creates a hard link.
    pub(crate) fn link(
        &self,
        node: u64,
        parent: u64,
        name: &OsStr,
        caller: Caller,
    ) -> io::Result<Found> {
        demand_name(name)?;
        let (file, parent) = (self.nodes.refer(node)?, self.nodes.refer(parent)?);
        let (dir, follow) = (self.proc_fd.dir(), AtFlags::SYMLINK_FOLLOW);
        let link = || linkat(dir, ProcFd::name(&file), &parent, name, follow);
        self.touching(node, &file, || self.making(caller, link))?;
        self.nodes.look_up(&parent, name)
    }

    /// Removes a name, which must be that of a directory if `directory`.
    pub(crate) fn remove(
        &self,
        parent: u64,
        name: &OsStr,
        directory: bool,
        caller: Caller,
    ) -> io::Result<()> {
        demand_name(name)?;
        let parent = self.nodes.refer(parent)?;
        let going = self.hold(&parent, name, caller.user);
        let flags = if directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        let done = self.making(caller, || unlinkat(&parent, name, flags));
        self.gone(going, done.is_ok(), (&parent, name));
        done
    }

    /// Keeps a file open while a name is removed: by the descriptor of who has it open, or by one
    /// that counts as that of the user who removes the name.
    fn hold(&self, parent: &Referred, name: &OsStr, user: User) -> Option<Going> {
        self.nodes.hold(parent, name, |node, fd| {
            match self.states.find(node).and_then(|state| state.descriptor()) {
                Some(open) => Ok(open),
                None => Ok(Arc::new(Descriptor::of(fd, Arc::default(), one_more(user)?))),
            }
        })
    }

    /// Notes whether the name of a file that is kept open has been removed.
    fn gone(&self, going: Option<Going>, is_gone: bool, (parent, name): (&Referred, &OsStr)) {
        let Some(going) = going else { return };
        if !is_gone {
            return self.nodes.stays(going, parent, name);
        }
        if going.frees {
            let state = self.states.find(going.node);
            if state.is_none_or(|state| state.removed()) {
                self.states.leaving.expect(going.fd.file());
            }
        }
    }

    /// Makes a change to a directory in the name of the caller.
    pub(crate) fn making<T>(
        &self,
        caller: Caller,
        mut change: impl FnMut() -> rustix::io::Result<T>,
    ) -> io::Result<T> {
        let _acting = self.privileges.act_as(caller)?;
        self.states.leaving.with_space(|| Ok(change()?))
    }

    /// Renames or exchanges names.
    pub(crate) fn rename(
        &self,
        (parent, name): (u64, &OsStr),
        (new_parent, new_name): (u64, &OsStr),
        flags: u32,
        caller: Caller,
    ) -> io::Result<()> {
        demand_name(name)?;
        demand_name(new_name)?;
        let (parent, new_parent) = (self.nodes.refer(parent)?, self.nodes.refer(new_parent)?);
        let flags = RenameFlags::from_bits_retain(flags);
        let replaces = !flags.intersects(RenameFlags::NOREPLACE | RenameFlags::EXCHANGE);
        let going = replaces.then(|| self.hold(&new_parent, new_name, caller.user)).flatten();
        let exchange = flags.contains(RenameFlags::EXCHANGE);
        let moving = [
            self.nodes.moving(&parent, name),
            exchange.then(|| self.nodes.moving(&new_parent, new_name)).flatten(),
        ];
        let rename =
            || self.making(caller, || renameat_with(&parent, name, &new_parent, new_name, flags));
        let done = match self.nodes.find(&parent, name) {
            Some((node, file)) => self.touching(node, file, rename),
            None => rename(),
        };
        self.gone(going, done.is_ok(), (&new_parent, new_name));
        let mut names = [(&parent, name), (&new_parent, new_name)];
        if done.is_ok() {
            names.swap(0, 1);
        }
        for (moving, (parent, name)) in moving.into_iter().zip(names) {
            moving.into_iter().for_each(|moving| self.nodes.moved(moving, parent, name));
        }
        done
    }
}
