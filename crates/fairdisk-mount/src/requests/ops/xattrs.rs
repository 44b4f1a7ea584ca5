//! Extended attributes, including POSIX ACLs, and inode flags.

use crate::requests::caller::{ActingAs, Caller, Standing};
use crate::requests::tree::Tree;
use crate::sys::inode_flags::{changes, pass_on};
use crate::sys::proc_fd::ProcFd;
use rustix::fs::{XattrFlags, getxattr, listxattr, removexattr, setxattr};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;

/// The largest size in bytes of a value or a list of names.
const VALUE_BYTES_MAX: usize = 64 << 10;
/// The prefix of attributes that only an administrator of the machine can see.
const TRUSTED: &[u8] = b"trusted.";
/// The prefix of attributes for security modules of the kernel, which removes some of them by
/// itself when a file is written.
const SECURITY: &[u8] = b"security.";

/// The attributes with POSIX ACLs. A file system without support for them is reported as a file
/// without ACLs: the kernel queries them to check permissions, and would pass another error on.
const ACLS: [&str; 2] = ["system.posix_acl_access", "system.posix_acl_default"];

/// The size in bytes of the first attempt, into which nearly all values fit. Nearly all files have
/// none, and allocating room for the largest takes longer than the query.
const FEW_BYTES: usize = 512;

/// The complete result of `ask`, which fills a buffer.
fn whole(ask: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> io::Result<Vec<u8>> {
    let mut few = [0; FEW_BYTES];
    match ask(&mut few) {
        Err(Errno::RANGE) => {
            let mut many = vec![0; VALUE_BYTES_MAX];
            let len = ask(&mut many)?;
            many.truncate(len);
            Ok(many)
        }
        len => Ok(few[..len?].to_vec()),
    }
}

impl Tree {
    /// The value of an attribute.
    pub(crate) fn xattr(&self, node: u64, name: &OsStr) -> io::Result<Vec<u8>> {
        let fd = self.nodes.refer(node)?;
        let path = ProcFd::path(&fd);
        whole(|room| getxattr(&path, name, room)).map_err(|error| {
            let has_none = error.raw_os_error() == Some(libc::EOPNOTSUPP);
            let is_acl = ACLS.iter().any(|acl| name == *acl);
            if has_none && is_acl { Errno::NODATA.into() } else { error }
        })
    }

    /// The names of the attributes that the caller may see, each followed by a zero byte.
    pub(crate) fn xattr_names(&self, node: u64, caller: Caller) -> io::Result<Vec<u8>> {
        let fd = self.nodes.refer(node)?;
        let path = ProcFd::path(&fd);
        let mut names = whole(|room| listxattr(&path, room))?;
        let is_trusted = |name: &[u8]| name.starts_with(TRUSTED);
        let mut each = names.split_inclusive(|byte| *byte == 0);
        // Attributes whose values the kernel would refuse are not listed.
        if each.any(is_trusted) && !Standing::administers(caller.thread, caller.user) {
            let each = names.split_inclusive(|byte| *byte == 0);
            names = each.filter(|name| !is_trusted(name)).flatten().copied().collect();
        }
        Ok(names)
    }

    /// Sets an attribute.
    pub(crate) fn set_xattr(
        &self,
        node: u64,
        name: &OsStr,
        value: &[u8],
        flags: i32,
        caller: Caller,
    ) -> io::Result<()> {
        let fd = self.nodes.refer(node)?;
        let flags = XattrFlags::from_bits_retain(flags as u32);
        self.touching(node, &fd, || {
            let _acting = self.attributing(name, caller)?;
            let path = ProcFd::path(&fd);
            self.states.leaving.with_space(|| Ok(setxattr(&path, name, value, flags)?))
        })
    }

    /// Removes an attribute.
    pub(crate) fn remove_xattr(&self, node: u64, name: &OsStr, caller: Caller) -> io::Result<()> {
        let fd = self.nodes.refer(node)?;
        self.touching(node, &fd, || {
            let _acting = self.attributing(name, caller)?;
            Ok(removexattr(ProcFd::path(&fd), name)?)
        })
    }

    /// Gets or sets the inode flags of an open file or directory, as chattr(1) and lsattr(1) do.
    /// The kernel above has checked the ownership, and who may set the immutable flag. It does not
    /// know that the file's change time changes.
    pub(crate) fn inode_flags(
        &self,
        file: (u64, u64, bool),
        (command, data): (u32, &[u8]),
        caller: Caller,
    ) -> io::Result<Vec<u8>> {
        let said = self.pass_flags_on(file, (command, data), caller)?;
        if changes(command) {
            self.states.attributes_changed(file.0);
        }
        Ok(said)
    }

    fn pass_flags_on(
        &self,
        (node, handle, is_directory): (u64, u64, bool),
        (command, data): (u32, &[u8]),
        caller: Caller,
    ) -> io::Result<Vec<u8>> {
        if is_directory {
            let directory = self.directory(handle)?;
            let _acting = self.privileges.act_as(caller)?;
            return pass_on(&*directory, command, data);
        }
        let file = self.file(handle)?;
        self.touching(node, &file.fd, || {
            let _acting = self.privileges.act_as(caller)?;
            pass_on(&file.fd, command, data)
        })
    }

    /// Acts as the caller, except for attributes of security modules, about which the kernel above
    /// has asked the module.
    fn attributing(&self, name: &OsStr, caller: Caller) -> io::Result<Option<ActingAs<'_>>> {
        if name.as_bytes().starts_with(SECURITY) {
            return Ok(None);
        }
        self.privileges.act_as(caller).map(Some)
    }
}
