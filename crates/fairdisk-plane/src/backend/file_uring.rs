//! A backend that serves a file through `io_uring`: no threads, and one system call for many
//! requests.

use super::file_ops::{DISCARD, ZERO, is_durable, offset_of};
use super::{Backend, Chosen, Done, Ring, in_range};
use crate::buffer::Buffer;
use crate::clock::Clock;
use crate::failure::Failure;
use crate::file::TargetFile;
use fairdisk_core::{Instant, Op, Request};
use io_uring::{opcode, squeue, types};
use rustix::fs::FallocateFlags;
use rustix::io::{Errno, ReadWriteFlags};
use std::io;
use std::os::fd::AsRawFd;

/// A backend that serves up to `depth` requests at once through a ring.
#[derive(Debug)]
pub struct FileUring {
    ring: Ring,
    target: TargetFile,
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
    ready: Vec<Done>,
    /// A fatal error, which the next wait returns.
    broken: Option<io::Error>,
    why: String,
}

/// A request that the kernel is working on.
#[derive(Debug)]
struct Slot {
    request: Request,
    data: Buffer,
    moved: usize,
    step: Step,
}

/// The step of a request that the kernel is working on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The operation of the request itself.
    Own,
    /// For write-zeroes where the file system cannot zero a range: zeroes are written as data.
    Zeroes,
    /// The fdatasync(2) after write-zeroes that must be durable.
    Sync,
}

impl FileUring {
    /// Serves `target` through `ring`, which must have been made for `depth`. `why`, the reason for
    /// choosing this backend, goes into the report.
    #[must_use]
    pub fn new(target: TargetFile, ring: Ring, depth: u32, why: &str) -> Self {
        Self {
            ring,
            target,
            slots: (0..depth).map(|_| None).collect(),
            free: (0..depth as usize).rev().collect(),
            ready: Vec::new(),
            broken: None,
            why: why.to_owned(),
        }
    }

    fn at_kernel(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Submits the current step of a slot to the kernel.
    fn start(&mut self, index: usize) {
        let Some(slot) = &mut self.slots[index] else { return };
        let entry = entry(&self.target, slot).user_data(index as u64);
        // SAFETY: the entry points into `slot.data`, whose heap memory stays where it is, is not
        // touched while the slot is taken, and is freed only after the completion was reaped:
        // `finish` runs only then, and `drop` waits for all completions or leaks the slots.
        let pushed = unsafe { self.ring.push(&entry) };
        if let Err(error) = pushed {
            self.broken.get_or_insert(error);
        }
    }

    fn reap(&mut self) {
        while let Some(completion) = self.ring.next() {
            let index = completion.user_data() as usize;
            let Some(Some(slot)) = self.slots.get_mut(index) else { continue };
            match slot.advance(completion.result()) {
                Progress::Again => self.start(index),
                Progress::Finished(result) => self.finish(index, result),
            }
        }
    }

    fn finish(&mut self, index: usize, result: Result<(), Failure>) {
        let Some(slot) = self.slots[index].take() else { return };
        self.free.push(index);
        // The buffer with zeroes is ours; the caller passed none.
        let data = if slot.request.op == Op::WriteZeroes { Buffer::empty() } else { slot.data };
        self.ready.push(Done { id: slot.request.id, data, result });
    }
}

enum Progress {
    Again,
    Finished(Result<(), Failure>),
}

impl Slot {
    /// Processes the result of the current step.
    fn advance(&mut self, result: i32) -> Progress {
        if result < 0 {
            return self.failed(Errno::from_raw_os_error(-result));
        }
        let moves = self.step == Step::Zeroes || matches!(self.request.op, Op::Read | Op::Write);
        if moves && self.step != Step::Sync {
            return self.moved_on(result as usize);
        }
        if self.step == Step::Own && self.request.op == Op::WriteZeroes && is_durable(&self.request)
        {
            self.step = Step::Sync;
            return Progress::Again;
        }
        Progress::Finished(Ok(()))
    }

    fn moved_on(&mut self, bytes: usize) -> Progress {
        self.moved += bytes;
        if self.moved == self.data.bytes().len() {
            Progress::Finished(Ok(()))
        } else if bytes == 0 {
            Progress::Finished(Err(Failure::Short))
        } else {
            Progress::Again
        }
    }

    fn failed(&mut self, errno: Errno) -> Progress {
        match (errno, self.request.op) {
            (Errno::INTR | Errno::AGAIN, _) => Progress::Again,
            (Errno::OPNOTSUPP, Op::Discard) => Progress::Finished(Ok(())),
            (Errno::OPNOTSUPP, Op::WriteZeroes) if self.step == Step::Own => {
                self.step = Step::Zeroes;
                self.data = Buffer::zeroed(self.request.sectors.bytes() as usize);
                Progress::Again
            }
            _ => Progress::Finished(Err(errno.into())),
        }
    }
}

fn entry(target: &TargetFile, slot: &mut Slot) -> squeue::Entry {
    let request = slot.request;
    let offset = offset_of(&request);
    match (slot.step, request.op) {
        (Step::Own, Op::Read) | (Step::Own, Op::Write) | (Step::Zeroes, _) => {
            move_entry(target, slot, offset)
        }
        (Step::Sync, _) | (Step::Own, Op::Flush) => {
            let fd = types::Fd(target.fd().as_raw_fd());
            opcode::Fsync::new(fd).flags(types::FsyncFlags::DATASYNC).build()
        }
        (Step::Own, Op::Discard) => fallocate_entry(target, &request, offset, DISCARD),
        (Step::Own, Op::WriteZeroes) => fallocate_entry(target, &request, offset, ZERO),
    }
}

fn move_entry(target: &TargetFile, slot: &mut Slot, offset: u64) -> squeue::Entry {
    let offset = offset + slot.moved as u64;
    let rest = &mut slot.data.bytes_mut()[slot.moved..];
    // Requests are far below 4 GiB. A longer one would be truncated to a multiple of the page size,
    // complete short, and continue from there.
    let len = u32::try_from(rest.len()).unwrap_or(!4095);
    let fd = types::Fd(target.fd_for(offset, u64::from(len)).as_raw_fd());
    if slot.request.op == Op::Read {
        return opcode::Read::new(fd, rest.as_mut_ptr(), len).offset(offset).build();
    }
    let durable = is_durable(&slot.request);
    let flags = if durable { ReadWriteFlags::DSYNC } else { ReadWriteFlags::empty() };
    let write = opcode::Write::new(fd, rest.as_ptr(), len).offset(offset);
    write.rw_flags(flags.bits() as i32).build()
}

fn fallocate_entry(
    target: &TargetFile,
    request: &Request,
    offset: u64,
    mode: FallocateFlags,
) -> squeue::Entry {
    let fd = types::Fd(target.fd().as_raw_fd());
    let entry = opcode::Fallocate::new(fd, request.sectors.bytes());
    entry.offset(offset).mode(mode.bits() as i32).build()
}

impl Backend for FileUring {
    fn depth(&self) -> u32 {
        self.slots.len() as u32
    }

    fn capacity_sectors(&self) -> u64 {
        self.target.capacity_sectors()
    }

    fn in_flight(&self) -> u32 {
        (self.at_kernel() + self.ready.len()) as u32
    }

    fn submit(&mut self, _now: Instant, request: &Request, data: Buffer) {
        if let Err(failure) = in_range(request, self.target.capacity_sectors()) {
            self.ready.push(Done { id: request.id, data, result: Err(failure) });
            return;
        }
        let Some(index) = self.free.pop() else { panic!("more requests than the depth") };
        self.slots[index] = Some(Slot { request: *request, data, moved: 0, step: Step::Own });
        self.start(index);
    }

    fn wait(
        &mut self,
        clock: &dyn Clock,
        deadline: Option<Instant>,
        done: &mut Vec<Done>,
    ) -> io::Result<()> {
        loop {
            self.reap();
            if let Some(error) = self.broken.take() {
                return Err(error);
            }
            if self.at_kernel() == 0 || !self.ready.is_empty() {
                // Submits new requests even when completions keep arriving.
                self.ring.flush()?;
                break;
            }
            if !self.ring.pause(clock, deadline)? {
                self.reap();
                break;
            }
        }
        if self.ready.is_empty()
            && self.at_kernel() == 0
            && let Some(deadline) = deadline
        {
            clock.pass_until(deadline);
        }
        done.append(&mut self.ready);
        Ok(())
    }

    fn chosen(&self) -> Chosen {
        Chosen::new("io_uring", &self.why)
    }
}

impl Drop for FileUring {
    /// Waits for the kernel, which may still write into the buffers. If that fails, the buffers are
    /// leaked, since they must outlive the kernel's work.
    fn drop(&mut self) {
        while self.at_kernel() > 0 {
            if self.broken.is_some() || self.ring.enter(1, None).is_err() {
                std::mem::forget(std::mem::take(&mut self.slots));
                return;
            }
            self.reap();
        }
    }
}
