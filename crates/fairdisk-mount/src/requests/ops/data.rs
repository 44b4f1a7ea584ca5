//! File data: every read, write and flush becomes a piece for the gate.

use crate::clock;
use crate::data::appends::Turn;
use crate::data::dirty::{Chunk, Then};
use crate::data::gate::{Job as _, Piece};
use crate::data::held::Held;
use crate::data::jobs::{FlushJob, Flushed, ReadJob, WriteJob, WriteOutJob};
use crate::data::landed::{Landed, Target};
use crate::files::descriptor::Descriptor;
use crate::files::open_file::{FileState, OpenFile};
use crate::requests::answers::errno;
use crate::requests::caller::User;
use crate::requests::tree::Tree;
use crate::trouble;
use fairdisk_core::{Flags, Lba, Op, SECTOR_BYTES, Sectors, Span};
use fuser::{LockOwner, ReplyData, ReplyEmpty, ReplyWrite, Request, WriteFlags};
use rustix::io::ReadWriteFlags;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The properties of a write request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    /// The calling thread; 0 if there is none.
    pub(crate) caller: u32,
    pub(crate) user: User,
    pub(crate) offset: u64,
    /// The current open flags of the file, such as O_DIRECT and O_SYNC.
    pub(crate) flags: i32,
    /// Whether the data comes from the kernel's cache, as written through a memory map. Nobody
    /// waits for it, whatever the flags.
    pub(crate) from_cache: bool,
    /// Whether the kernel's cache does not get the data. Then no page is locked until the answer.
    pub(crate) past_cache: bool,
    /// Whether set-user-id and set-group-id bits are to be cleared.
    pub(crate) clear: bool,
}

impl Written {
    /// The write that the kernel requests.
    pub(crate) fn of(
        request: &Request,
        file: &OpenFile,
        (how, flags, owner): (WriteFlags, i32, Option<LockOwner>),
        offset: u64,
    ) -> Self {
        let from_cache = how.contains(WriteFlags::FUSE_WRITE_CACHE);
        Self {
            caller: request.pid(),
            // Write-back from the kernel's cache has no caller.
            user: if from_cache { file.state.user() } else { User::of(request) },
            offset,
            flags,
            from_cache,
            // The kernel names the owner only of what goes past its cache.
            past_cache: owner.is_some(),
            clear: how.contains(WriteFlags::FUSE_WRITE_KILL_SUIDGID),
        }
    }

    /// The write of a copy within the kernel below. The kernel above drops its pages afterwards.
    pub(crate) fn by_copying(request: &Request, offset: u64) -> Self {
        let user = User::of(request);
        Self {
            caller: request.pid(),
            user,
            offset,
            flags: 0,
            from_cache: false,
            past_cache: false,
            clear: !user.is_root(),
        }
    }

    /// Where to write. With O_APPEND that is the end of the file, which the caller cannot know.
    pub(crate) const fn target(&self) -> Target {
        let appends = self.flags & libc::O_APPEND != 0 && !self.from_cache;
        if appends { Target::End } else { Target::At(self.offset) }
    }

    /// Whether this may be a part of a longer append with O_DIRECT, which the kernel has split.
    pub(crate) const fn is_append_past_cache(&self) -> bool {
        matches!(self.target(), Target::End) && self.flags & libc::O_DIRECT != 0
    }

    /// Whether the write is answered once the data is in the page cache below.
    pub(crate) const fn is_buffered(&self) -> bool {
        let waits = libc::O_DIRECT | libc::O_DSYNC | libc::O_SYNC;
        self.from_cache || self.flags & waits == 0
    }

    /// What the scheduler is told of a write that is answered once it is on the disk: whether that
    /// means that it is durable, or that the disk may still have it in its cache.
    const fn durability(&self) -> Flags {
        if self.flags & (libc::O_DSYNC | libc::O_SYNC) == 0 { Flags::NONE } else { Flags::FUA }
    }
}

impl Tree {
    /// A piece of I/O on `len` bytes of a file, which is open as `fd`.
    fn piece(
        &self,
        (file, fd): (&FileState, &Descriptor),
        (caller, op, sync): (u32, Op, bool),
        offset: u64,
        len: u64,
    ) -> Piece {
        let start = match op {
            Op::Flush => Lba(0),
            _ => file.extents().position(fd, offset),
        };
        let sectors = Sectors(len.div_ceil(SECTOR_BYTES) as u32);
        // A read or synchronous write occupies a thread that waits for it anyway; write-back and
        // flushes may be submitted by any thread.
        let may_wait = sync && op != Op::Flush;
        let (flags, file, account, waited) = (Flags::NONE, file.node, None, Span::ZERO);
        Piece { caller, op, start, sectors, sync, may_wait, flags, file, account, waited }
    }

    /// Whether a read at `offset` can be submitted without waiting for the disk.
    pub(crate) fn submits_at_once(&self, file: &OpenFile, offset: u64) -> bool {
        self.gate.has_performers() && file.state.knows_extent(offset)
    }

    /// Reads. If not `may_wait`, the thread does not wait for the disk.
    pub(crate) fn read(
        self: &Arc<Self>,
        file: Arc<OpenFile>,
        (caller, flags): (u32, i32),
        (offset, len): (u64, usize),
        may_wait: bool,
        reply: ReplyData,
    ) {
        let about = (caller, Op::Read, true);
        let piece = Piece { may_wait, ..self.piece(file.parts(), about, offset, len as u64) };
        let direct = flags & libc::O_DIRECT != 0;
        let job = ReadJob::new(Arc::clone(self), file, (offset, len), direct, reply);
        self.gate.submit(piece, Box::new(job));
    }

    /// A copy of what is written, until the write is done.
    pub(crate) fn held(&self, written: Written, data: &[u8]) -> Held {
        Held::copy(data, written.user, &self.overflow)
    }

    /// Prepares a write that is answered once it is on the disk.
    pub(crate) fn write_through(
        self: &Arc<Self>,
        file: Arc<OpenFile>,
        written: Written,
        data: &[u8],
    ) -> impl FnOnce(ReplyWrite) + Send + 'static {
        let data = self.held(written, data);
        let (tree, len) = (Arc::clone(self), data.len());
        move |reply| {
            file.state.used_by(written.caller, written.user);
            let about = (written.caller, Op::Write, true);
            let piece = tree.piece(file.parts(), about, written.offset, len as u64);
            let piece = Piece { flags: written.durability(), ..piece };
            let job = WriteJob {
                tree: Arc::clone(&tree),
                file: Arc::clone(&file),
                written,
                data,
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

    /// Writes to the page cache below and starts write-back. The answer is given at once, or once
    /// the writer is within its limit.
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
                let (tree, to) = (Arc::clone(self), Arc::clone(file));
                let then = Box::new(move || {
                    let answer = Box::new(move || reply.written(landed.len as u32));
                    tree.answer_written(&to, &written, landed.start..landed.end, answer);
                });
                self.dirtied(file, written, (landed.start, landed.end), then);
            }
            Err(error) => {
                trouble::tell("write", &file.fd, &error);
                reply.error(errno(error));
            }
        }
    }

    /// Compares where the data landed with where the kernel believes it to be. If they differ, the
    /// kernel's cached data is stale. Also records appends through the page cache, behind which
    /// direct appends continue.
    pub(crate) fn correct(&self, file: &OpenFile, written: &Written, landed: Landed) {
        let appends = matches!(written.target(), Target::End);
        if appends && !written.is_append_past_cache() && landed.len > 0 {
            file.appended_in_cache(written.offset, landed);
        }
        if landed.len > 0 && landed.start != written.offset {
            self.stale(file.state.node);
        }
    }

    /// Answers a write. If it went past the kernel's cache, the kernel first drops what it may have
    /// cached of the range.
    pub(crate) fn answer_written(
        &self,
        file: &OpenFile,
        written: &Written,
        range: Range<u64>,
        answer: Then,
    ) {
        let Some(notices) = self.notices.get().filter(|_| written.past_cache) else {
            return answer();
        };
        let Some(dropping) = file.state.cached().begin_drop(range) else { return answer() };
        let (state, range) = (Arc::clone(&file.state), dropping.range.clone());
        let then = Box::new(move || state.cached().dropped(&dropping));
        notices.drop_pages(file.state.node, range, then, answer);
    }

    /// Notes that a range of the page cache below is dirty, starts its write-back, and runs `then`
    /// once the writer is within its limit.
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
        file.begin_write_out(&self.proc_fd);
        let account = self.gate.account(written.caller, file.state.node);
        let (caller, user) = (written.caller, written.user);
        let chunk = Chunk { start, end, caller, user, account, urgent: false, number: 0 };
        let noted = {
            // Charged under the lock, before the piece can be finished and credited.
            let mut ranges = file.state.ranges();
            let noted = ranges.note(chunk);
            self.accounts.charge(account, noted.charge);
            noted
        };
        noted.send.into_iter().for_each(|chunk| self.send(&file.state, chunk, false));
        if self.accounts.admit(account, then) {
            self.counts.held_back.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sends a piece of write-back to the gate. If not `may_wait`, the thread does not wait for the
    /// disk, as it belongs to a writer whose write is not answered yet, or finishes other jobs.
    fn send(self: &Arc<Self>, file: &Arc<FileState>, chunk: Chunk, may_wait: bool) {
        let Some(fd) = file.write_out_descriptor() else { return self.written_out(file, &chunk) };
        let about = (chunk.caller, Op::Write, chunk.urgent);
        let piece = self.piece((file, &fd), about, chunk.start, chunk.bytes());
        let piece = Piece { may_wait, account: Some(chunk.account), ..piece };
        let job = WriteOutJob { tree: Arc::clone(self), file: Arc::clone(file), chunk };
        self.gate.submit(piece, Box::new(job));
    }

    /// Notes that a piece of write-back is done, or needless because the file is removed.
    pub(crate) fn written_out(self: &Arc<Self>, file: &Arc<FileState>, chunk: &Chunk) {
        let (next, free) = file.ranges().finished(chunk);
        if let Some(next) = next {
            self.send(file, next, false);
        }
        self.accounts.settle(chunk.account, chunk.bytes());
        free.into_iter().for_each(|then| then());
    }

    /// Makes a file durable, once the earlier writes to it have been written back.
    pub(crate) fn flush(
        self: &Arc<Self>,
        file: Arc<OpenFile>,
        caller: u32,
        data_only: bool,
        reply: ReplyEmpty,
    ) {
        let (tree, flushed, asked) = (Arc::clone(self), Arc::clone(&file), clock::now());
        let then: Then = Box::new(move || {
            let piece = tree.piece(flushed.parts(), (caller, Op::Flush, true), 0, 0);
            let piece = Piece { waited: clock::now() - asked, ..piece };
            let job = FlushJob { what: Flushed::File(flushed), data_only, reply };
            tree.gate.submit(piece, Box::new(job));
        });
        let (waiting, to_hurry) = {
            let mut ranges = file.state.ranges();
            (ranges.when_clean(then), ranges.hurry())
        };
        // Noted before the gate is told, so that a piece on its way there is not missed.
        if let Some(below) = to_hurry {
            file.state.await_below(below);
            self.gate.hurry();
        }
        match waiting {
            Ok(Some(chunk)) => self.send(&file.state, chunk, true),
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
            Err(error) => return reply.error(errno(error)),
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
            waited: Span::ZERO,
        };
        let job = FlushJob { what: Flushed::Directory(directory), data_only, reply };
        self.gate.submit(piece, Box::new(job));
    }
}
