//! An open file of the hierarchy, or of our own.

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

/// Open, by whoever opened it.
#[derive(Debug)]
pub(super) enum OpenFile {
    /// The kernel's.
    Kernel {
        /// Open.
        file: File,
        /// Who opened it: writes are in that name.
        user: User,
        /// Whether tasks come and go through it.
        is_membership: bool,
    },
    /// Ours.
    Own {
        /// Which.
        file: OwnFile,
        /// In whose directory.
        node: Arc<Node>,
        /// What was read from the beginning last.
        text: Mutex<String>,
    },
}

impl OpenFile {
    /// Opens a file as `user`.
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

    /// Up to `size` bytes at `offset`. A text of ours is made when its beginning is read.
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

    /// Each write is a value of its own, wherever it is written. Who writes is `task`.
    pub(super) fn write(&self, hierarchy: &Hierarchy, task: u32, data: &[u8]) -> io::Result<usize> {
        match self {
            Self::Kernel { file, user, is_membership } => {
                let own = task.to_string();
                let moved = match (*is_membership, data.trim_ascii() == b"0") {
                    (true, true) if task != 0 => own.as_bytes(),
                    (true, false) if user.counts_as_we_do() => data,
                    // Whom we cannot see, or who would name another task than is meant.
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
