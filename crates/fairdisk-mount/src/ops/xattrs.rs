//! Extended attributes, POSIX ACLs among them.

use crate::caller::{Caller, User};
use crate::sys::fsid;
use crate::sys::proc_fd::ProcFd;
use crate::tree::Tree;
use rustix::fs::{XattrFlags, getxattr, listxattr, removexattr, setxattr};
use std::ffi::OsStr;
use std::io;

/// Bytes of the longest value or list there can be.
const VALUE_BYTES_MAX: usize = 64 << 10;
/// The ACL that permissions go with.
const ACCESS_ACL: &str = "system.posix_acl_access";

impl Tree {
    /// The value of an attribute.
    pub(crate) fn xattr(&self, node: u64, name: &OsStr) -> io::Result<Vec<u8>> {
        let fd = self.nodes.refer(node)?;
        let mut value = vec![0; VALUE_BYTES_MAX];
        let len = getxattr(ProcFd::path(&fd), name, &mut value[..])?;
        value.truncate(len);
        Ok(value)
    }

    /// The names of all attributes, each with a zero byte after it.
    pub(crate) fn xattr_names(&self, node: u64) -> io::Result<Vec<u8>> {
        let fd = self.nodes.refer(node)?;
        let mut names = vec![0; VALUE_BYTES_MAX];
        let len = listxattr(ProcFd::path(&fd), &mut names[..])?;
        names.truncate(len);
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
        if name != ACCESS_ACL || caller.uid == 0 || !self.privileges.is_root() {
            return Ok(setxattr(ProcFd::path(&fd), name, value, flags)?);
        }
        // Who is not in the file's group loses the set-group-id bit with a new ACL: the file
        // system below decides that, so it has to see the caller's group.
        let _clearing = self.privileges.write_as(User::ROOT, true)?;
        let _group = fsid::Group::become_for_now(caller.gid)?;
        Ok(setxattr(ProcFd::path(&fd), name, value, flags)?)
    }

    /// Removes an attribute.
    pub(crate) fn remove_xattr(&self, node: u64, name: &OsStr) -> io::Result<()> {
        let fd = self.nodes.refer(node)?;
        Ok(removexattr(ProcFd::path(&fd), name)?)
    }
}
