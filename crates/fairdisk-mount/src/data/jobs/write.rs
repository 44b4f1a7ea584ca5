//! The job that writes data and answers once it is on the disk.

use crate::data::appends::Appended;
use crate::data::dirty::Then;
use crate::data::gate::Job;
use crate::data::held::Held;
use crate::data::landed::Landed;
use crate::files::open_file::OpenFile;
use crate::requests::answers::errno;
use crate::requests::ops::Written;
use crate::requests::tree::Tree;
use crate::sys::range::write_out;
use crate::trouble;
use fuser::ReplyWrite;
use rustix::io::ReadWriteFlags;
use std::io;
use std::sync::Arc;

/// Writes a range of a file with direct I/O, or through the page cache and then to the disk.
pub(crate) struct WriteJob {
    pub(crate) tree: Arc<Tree>,
    pub(crate) file: Arc<OpenFile>,
    pub(crate) written: Written,
    pub(crate) data: Held,
    pub(crate) landed: Landed,
    pub(crate) reply: ReplyWrite,
}

impl WriteJob {
    fn durability(&self) -> ReadWriteFlags {
        let flags = self.written.flags;
        if flags & libc::O_SYNC == libc::O_SYNC {
            ReadWriteFlags::SYNC
        } else if flags & libc::O_DSYNC != 0 {
            ReadWriteFlags::DSYNC
        } else {
            ReadWriteFlags::empty()
        }
    }

    fn write(&mut self, direct: bool) -> io::Result<()> {
        let flags = self.durability();
        let file = Arc::clone(&self.file);
        let (offset, target) = (self.written.offset, self.written.target());
        let past = direct.then(|| file.direct(&self.tree.proc_fd, offset, self.data.len() as u64));
        let past = past.flatten();
        let fd = past.unwrap_or(&file.fd);
        let done = file.write(fd, target, self.data.bytes(), flags);
        let done = done.and_then(|landed| {
            self.landed = landed;
            match past.is_none() && flags.is_empty() {
                true => write_out(fd, landed.start, landed.end - landed.start),
                false => Ok(()),
            }
        });
        // A direct write without a sync flag does not consume write-back errors of the page cache.
        let waits_for_cache = past.is_none() || !flags.is_empty();
        if let Err(error) = &done
            && waits_for_cache
            && !is_refusal(error)
        {
            file.told_below();
        }
        done
    }
}

/// Whether the write was refused as such, so that it has reported no earlier error of the file.
fn is_refusal(error: &io::Error) -> bool {
    let refusals = [libc::EINVAL, libc::EPERM, libc::EBADF, libc::EFBIG];
    error.raw_os_error().is_some_and(|errno| refusals.contains(&errno))
}

impl Job for WriteJob {
    fn perform(&mut self) -> io::Result<()> {
        self.data.load()?;
        let tree = Arc::clone(&self.tree);
        let _acting = tree.privileges.write_as(self.written.user, self.written.clear)?;
        let direct = self.written.flags & libc::O_DIRECT != 0;
        let file = Arc::clone(&self.file);
        let done = file.change(|| match self.write(direct) {
            // The alignment was not sufficient for direct I/O after all, so go through the page
            // cache.
            Err(error) if direct && error.raw_os_error() == Some(libc::EINVAL) => self.write(false),
            other => other,
        });
        self.file.state.extents().written_out(self.landed.start);
        done
    }

    fn finish(self: Box<Self>, result: io::Result<()>) {
        let Self { tree, file, written, data, landed, reply } = *self;
        let len = data.len();
        let failed = match &result {
            Ok(()) if landed.len == len => None,
            Ok(()) => Some(landed.errno.unwrap_or(libc::EIO)),
            Err(error) => Some(error.raw_os_error().unwrap_or(libc::EIO)),
        };
        let in_order = written.is_append_past_cache();
        if in_order {
            let (offset, Landed { start, end, len: landed, .. }) = (written.offset, landed);
            file.appended(Appended { offset, len, landed, start, end, failed });
        }
        let answer: Then = match result {
            Ok(()) => {
                tree.correct(&file, &written, landed);
                Box::new(move || reply.written(landed.len as u32))
            }
            Err(error) => {
                trouble::tell("write", &file.fd, &error);
                Box::new(move || reply.error(errno(error)))
            }
        };
        // A write that failed may have changed some of the data, too.
        let aimed = written.offset..written.offset + len as u64;
        let start = if landed.len > 0 { landed.start.min(aimed.start) } else { aimed.start };
        tree.answer_written(&file, &written, start..aimed.end.max(landed.end), answer);
        drop(data);
        // Only after the answer, since whoever waits for this write need not wait for others.
        if in_order {
            file.next_appends();
        }
    }
}
