//! Open files of the directory of groups: the kernel's, and our own.

use super::nodes::Node;
use super::own_file::OwnFile;
use super::user::User;
use crate::identity::Hierarchy;
use crate::sys::proc_fd::ProcFd;
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};

/// A file, open on behalf of a user.
#[derive(Debug)]
pub(super) enum OpenFile {
    /// A file of the kernel's.
    Kernel {
        /// The open file.
        file: File,
        /// The user who opened it, in whose name it is written.
        user: User,
        /// Whether writing to it moves tasks.
        is_membership: bool,
    },
    /// A file of our own.
    Own {
        /// Which file.
        file: OwnFile,
        /// The directory of the file.
        node: Arc<Node>,
        /// The text as of the last read from the beginning.
        text: Mutex<String>,
    },
}

impl OpenFile {
    /// Opens a file on behalf of `user`.
    pub(super) fn open(
        proc_fd: &ProcFd,
        node: Arc<Node>,
        user: User,
        flags: OFlags,
    ) -> io::Result<Self> {
        if let Some(file) = node.own {
            return Ok(Self::Own { file, node, text: Mutex::default() });
        }
        let _being = user.be()?;
        let file = File::from(proc_fd.reopen(&*node.fd, flags)?);
        Ok(Self::Kernel { file, user, is_membership: node.is_membership })
    }

    /// Reads up to `size` bytes at `offset`. The text of one of our own files is generated when it
    /// is read from the beginning.
    pub(super) fn read(
        &self,
        hierarchy: &Hierarchy,
        offset: u64,
        size: usize,
    ) -> io::Result<Vec<u8>> {
        match self {
            Self::Kernel { file, .. } => {
                let mut data = vec![0; size];
                let length = file.read_at(&mut data, offset)?;
                data.truncate(length);
                Ok(data)
            }
            Self::Own { file, node, text } => {
                let mut text = text.lock().unwrap_or_else(PoisonError::into_inner);
                if offset == 0 {
                    *text = file.text(hierarchy, &node.group(hierarchy.mount())?);
                }
                let from = usize::try_from(offset).unwrap_or(usize::MAX).min(text.len());
                let to = from.saturating_add(size).min(text.len());
                Ok(text.as_bytes()[from..to].to_vec())
            }
        }
    }

    /// Writes a value. Each write is a complete value, whatever its offset. `task` is the writer.
    pub(super) fn write(&self, hierarchy: &Hierarchy, task: u32, data: &[u8]) -> io::Result<usize> {
        match self {
            Self::Kernel { file, user, is_membership } => {
                let own = task.to_string();
                let moved = match (*is_membership, data.trim_ascii() == b"0") {
                    (true, true) if task != 0 => own.as_bytes(),
                    (true, false) if user.counts_as_we_do() => data,
                    // The writer cannot be seen from here, or its process numbers are not ours.
                    (true, _) => return Err(Errno::SRCH.into()),
                    (false, _) => data,
                };
                let _being = user.be()?;
                file.write_at(moved, 0)?;
            }
            Self::Own { file, node, .. } => {
                file.take(hierarchy, &node.group(hierarchy.mount())?, data)?;
            }
        }
        Ok(data.len())
    }
}
