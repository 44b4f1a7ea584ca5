//! File data: every read, write and flush becomes a piece for the gate.

use crate::appends::Turn;
use crate::caller::User;
use crate::dirty::{Chunk, Then};
use crate::gate::{Job as _, Piece};
use crate::jobs::{FlushJob, Flushed, ReadJob, WriteJob, WriteOutJob};
use crate::landed::{Landed, Target};
use crate::open_file::OpenFile;
use crate::tree::Tree;
use fairdisk_core::{Flags, Lba, Op, SECTOR_BYTES, Sectors};
use fuser::{ReplyData, ReplyEmpty, ReplyWrite};
use rustix::io::ReadWriteFlags;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A write as it came in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    /// The thread; 0 for nobody.
    pub(crate) caller: u32,
    pub(crate) user: User,
    pub(crate) offset: u64,
    /// How the file is open now: past the cache, durable.
    pub(crate) flags: i32,
    /// From a memory map: whatever the flags say, nobody waits.
    pub(crate) from_cache: bool,
    /// Set-user-id bits fall.
    pub(crate) clear: bool,
}

impl Written {
    /// Where it goes. Whoever appends does not know where the end is by now.
    pub(crate) const fn target(&self) -> Target {
        let appends = self.flags & libc::O_APPEND != 0 && !self.from_cache;
        if appends { Target::End } else { Target::At(self.offset) }
    }

    /// Whether it may be a piece of a longer one that is to be appended.
    pub(crate) const fn is_append_past_cache(&self) -> bool {
        matches!(self.target(), Target::End) && self.flags & libc::O_DIRECT != 0
    }

    /// Whether the answer is given when the data are in the page cache below.
    pub(crate) const fn is_buffered(&self) -> bool {
        let waits = libc::O_DIRECT | libc::O_DSYNC | libc::O_SYNC;
        self.from_cache || self.flags & waits == 0
    }
}

impl Tree {
    /// A piece of I/O on `len` bytes of a file.
    fn piece(
        &self,
        file: &OpenFile,
        (caller, op, sync): (u32, Op, bool),
        offset: u64,
        len: u64,
    ) -> Piece {
        let start = match op {
            Op::Flush => Lba(0),
            _ => file.state.extents().position(&file.fd, offset),
        };
        let sectors = Sectors(len.div_ceil(SECTOR_BYTES) as u32);
        // Somebody waits in the thread that submits a read or a synchronous write; what is written
        // back or flushed may come from any thread.
        let may_wait = sync && op != Op::Flush;
        let (flags, file) = (Flags::NONE, file.state.node);
        Piece { caller, op, start, sectors, sync, may_wait, flags, file, account: None }
    }

    /// Whether a read at `offset` can be submitted without waiting for the disk.
    pub(crate) fn submits_at_once(&self, file: &OpenFile, offset: u64) -> bool {
        self.gate.has_performers() && file.state.knows_extent(offset)
    }

    /// Reads. The thread goes on at once unless it `may_wait`.
    pub(crate) fn read(
        self: &Arc<Self>,
        file: Arc<OpenFile>,
        (caller, flags): (u32, i32),
        (offset, len): (u64, usize),
        may_wait: bool,
        reply: ReplyData,
    ) {
        let about = (caller, Op::Read, true);
        let piece = Piece { may_wait, ..self.piece(&file, about, offset, len as u64) };
        let direct = flags & libc::O_DIRECT != 0;
        let job = ReadJob::new(Arc::clone(self), file, (offset, len), direct, reply);
        self.gate.submit(piece, Box::new(job));
    }

    /// Writes, and answers when it is on the disk.
    pub(crate) fn write_through(
        self: &Arc<Self>,
        file: Arc<OpenFile>,
        written: Written,
        data: &[u8],
    ) -> impl FnOnce(ReplyWrite) + Send + 'static {
        let mut buffer = self.buffers.take(data.len());
        buffer.bytes_mut()[..data.len()].copy_from_slice(data);
        let (tree, len) = (Arc::clone(self), data.len());
        move |reply| {
            file.state.used_by(written.caller, written.user);
            let about = (written.caller, Op::Write, true);
            let piece = tree.piece(&file, about, written.offset, len as u64);
            let job = WriteJob {
                tree: Arc::clone(&tree),
                file: Arc::clone(&file),
                written,
                len,
                buffer,
                landed: Landed::default(),
                reply,
            };
            let job = Box::new(job);
            if !written.is_append_past_cache() {
                return tree.gate.submit(piece, job);
            }
            let turn = move |turn| match turn {
                Turn::Goes { may_wait } => tree.gate.submit(Piece { may_wait, ..piece }, job),
                Turn::Fails { errno } => job.finish(Err(io::Error::from_raw_os_error(errno))),
            };
            file.append_in_order(written.offset, Box::new(turn));
        }
    }

    /// Writes to the page cache below and answers; what became dirty is on its way to the disk.
    pub(crate) fn write_buffered(
        self: &Arc<Self>,
        file: &Arc<OpenFile>,
        written: Written,
        data: &[u8],
        reply: ReplyWrite,
    ) {
        let done = self.privileges.write_as(written.user, written.clear).and_then(|_acting| {
            let flags = ReadWriteFlags::empty();
            file.change(|| file.write(&file.fd, written.target(), data, flags))
        });
        match done {
            Ok(landed) => {
                self.correct(file, &written, landed);
                let then = Box::new(move || reply.written(landed.len as u32));
                self.dirtied(file, written, (landed.start, landed.end), then);
            }
            Err(error) => reply.error(error.into()),
        }
    }

    /// What was written should be where the kernel takes it to be; otherwise it hears that it is
    /// wrong. Appends past the cache go on behind what was appended in it.
    pub(crate) fn correct(&self, file: &OpenFile, written: &Written, landed: Landed) {
        let appends = matches!(written.target(), Target::End);
        if appends && !written.is_append_past_cache() && landed.len > 0 {
            file.appended_in_cache(written.offset, landed);
        }
        if landed.len > 0 && landed.start != written.offset {
            self.stale(file.state.node);
        }
    }

    /// A stretch of the page cache below has changed: has them written out, and goes on as soon
    /// as the writer is within its limit.
    pub(crate) fn dirtied(
        self: &Arc<Self>,
        file: &Arc<OpenFile>,
        written: Written,
        (start, end): (u64, u64),
        then: Then,
    ) {
        file.state.used_by(written.caller, written.user);
        if written.caller == 0 {
            self.counts.orphan_writes.fetch_add(1, Ordering::Relaxed);
        }
        if !self.gate.paces_write_back() || start == end {
            return then();
        }
        let account = self.gate.account(written.caller, file.state.node);
        let (caller, user) = (written.caller, written.user);
        let chunk = Chunk { start, end, caller, user, account, urgent: false, number: 0 };
        let noted = {
            // Charged before anybody can finish and settle it.
            let mut ranges = file.state.ranges();
            let noted = ranges.note(chunk);
            self.accounts.charge(account, noted.charge);
            noted
        };
        noted.send.into_iter().for_each(|chunk| self.send(file, chunk, false));
        if self.accounts.admit(account, then) {
            self.counts.held_back.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sends what is to be written out to the gate. The thread goes on at once unless it
    /// `may_wait`: not if it is that of a writer who waits for nothing yet, or one that finishes
    /// what others asked for.
    pub(crate) fn send(self: &Arc<Self>, file: &Arc<OpenFile>, chunk: Chunk, may_wait: bool) {
        let about = (chunk.caller, Op::Write, chunk.urgent);
        let piece = self.piece(file, about, chunk.start, chunk.bytes());
        let piece = Piece { may_wait, account: Some(chunk.account), ..piece };
        let job = WriteOutJob { tree: Arc::clone(self), file: Arc::clone(file), chunk };
        self.gate.submit(piece, Box::new(job));
    }

    /// Makes a file durable, once what was written to it before is on the disk.
    pub(crate) fn flush(
        self: &Arc<Self>,
        file: Arc<OpenFile>,
        caller: u32,
        data_only: bool,
        reply: ReplyEmpty,
    ) {
        let (tree, flushed) = (Arc::clone(self), Arc::clone(&file));
        let then: Then = Box::new(move || {
            let piece = tree.piece(&flushed, (caller, Op::Flush, true), 0, 0);
            let job = FlushJob { what: Flushed::File(flushed), data_only, reply };
            tree.gate.submit(piece, Box::new(job));
        });
        let waiting = file.state.ranges().when_clean(then);
        match waiting {
            Ok(Some(chunk)) => self.send(&file, chunk, true),
            Ok(None) => {}
            Err(then) => then(),
        }
    }

    /// Makes a directory durable.
    pub(crate) fn flush_directory(
        &self,
        number: u64,
        caller: u32,
        data_only: bool,
        reply: ReplyEmpty,
    ) {
        let directory = match self.directory(number) {
            Ok(directory) => directory,
            Err(error) => return reply.error(error.into()),
        };
        let piece = Piece {
            caller,
            op: Op::Flush,
            start: Lba(0),
            sectors: Sectors(0),
            sync: true,
            may_wait: false,
            flags: Flags::META,
            file: 0,
            account: None,
        };
        let job = FlushJob { what: Flushed::Directory(directory), data_only, reply };
        self.gate.submit(piece, Box::new(job));
    }
}
