//! Direct I/O and buffered writes, from a task's call to bios and back.

use super::config::{PAGE_BYTES, PAGE_SECTORS};
use super::integrity::Mark;
use super::io::{Io, IoKind, Pending};
use super::task::{Call, Step, Task};
use super::{Event, Machine};
use crate::host::Mapped;
use crate::host::memory::{Memory, PageId};
use crate::workload::FileIo;
use fairdisk_core::{
    Bio, Elevator, Flags, GroupId, Instant, IoPrio, Lba, Op, SECTOR_BYTES, Sectors, SegmentLimits,
    Segments, Span,
};
use std::ops::Range;

impl<E: Elevator> Machine<E> {
    /// Starts the current I/O. Cached I/O stays in memory; dirty data in the range of any other is
    /// written back first.
    #[inline]
    pub(super) fn begin_transfer(&mut self, index: u32) -> bool {
        let task = &mut self.tasks[index as usize];
        let FileIo { op, offset, .. } = task.current;
        if self.write_back.is_some() {
            if task.is_cached() {
                task.paging.slept &= task.is_mapped();
                task.step = Step::DirtyPages(offset);
                return true;
            }
            if !task.is_buffered() && matches!(op, Op::Read | Op::Write) {
                task.step = Step::Clean;
                return true;
            }
        }
        self.transfer(index)
    }

    /// Starts to submit the current I/O.
    #[inline]
    pub(super) fn transfer(&mut self, index: u32) -> bool {
        let task = &self.tasks[index as usize];
        let FileIo { op, offset, bytes, file, .. } = task.current;
        let cached = task.is_cached();
        let is_buffered = task.is_buffered();
        if !matches!(op, Op::Read | Op::Flush) {
            let whole = offset.div_ceil(PAGE_BYTES)..(offset + bytes) / PAGE_BYTES;
            let touched = offset / PAGE_BYTES..(offset + bytes).div_ceil(PAGE_BYTES);
            self.supersede(file, whole.clone());
            let hand = &mut self.hands[index as usize];
            match op == Op::Write && is_buffered {
                // Nobody waits here for memory: only what is there already is kept.
                true if self.reclaiming.is_some() => {
                    self.pages.read(file, whole);
                }
                true => self.pages.written_by(hand, file, whole),
                false => self.pages.overtaken_by(hand, file, touched),
            }
        }
        let task = &mut self.tasks[index as usize];
        let kind = if cached {
            task.dirty_bytes += bytes;
            IoKind::WriteBehind { task: index }
        } else {
            task.outstanding += 1;
            IoKind::Data { task: index, file }
        };
        let mut io = Io::new(kind, task.io_started, op);
        io.bytes = bytes;
        let disk = self.files[file as usize].disk;
        let io = self.disks[disk].ios.insert(io);
        let pending = Pending { disk, io, at: offset, end: offset + bytes };
        self.task(index).step = Step::Submit(pending);
        true
    }

    /// Maps and submits the I/O piece by piece; stops where a metadata block must be read first.
    pub(super) fn submit_pending(
        &mut self,
        now: Instant,
        index: u32,
        mut pending: Pending,
    ) -> bool {
        let file = self.tasks[index as usize].current.file as usize;
        let Pending { disk, io, .. } = pending;
        let queue = &self.disks[disk];
        let bio_bytes_max = queue.bio_bytes_max;
        let Io { kind, op, .. } = *queue.ios.get(io);
        let is_by_pages = queue.segments.is_some() && matches!(kind, IoKind::Pages { .. });
        while pending.at < pending.end {
            let Some(mapped) = self.map(index, file as u32, pending.at) else {
                self.task(index).step = Step::Submit(pending);
                self.begin_allocation(index, 1);
                return true;
            };
            match mapped {
                Mapped::NeedsBlock(lba) => {
                    self.task(index).step = Step::Submit(pending);
                    self.read_metadata(now, index, (disk, lba));
                    return false;
                }
                Mapped::At(lba, contiguous) => {
                    // From the sector that contains the first byte to the one that contains the
                    // last.
                    let within = pending.at % SECTOR_BYTES;
                    let bytes = contiguous.min(pending.end - pending.at);
                    let (bytes, segments) = match is_by_pages {
                        true => self.of_pages(disk, file as u32, pending.at, bytes),
                        false => (bytes.min(bio_bytes_max - within), None),
                    };
                    let sectors = Sectors((within + bytes).div_ceil(SECTOR_BYTES) as u32);
                    self.submit_part(now, index, (disk, io), (lba, sectors), segments);
                    pending.at += bytes;
                }
            }
        }
        self.sent_off(now, disk, kind, op);
        let goes_on = match kind {
            IoKind::Pages { .. } => self.missing_sent(index),
            _ => self.submitted(now, index),
        };
        self.all_made(now, disk, io);
        goes_on
    }

    /// How much of a stretch of a file in the page cache one bio to a disk carries, and in which
    /// segments its pages lie, if the disk's adapter counts them and memory is page by page.
    #[inline(never)]
    pub(super) fn of_pages(
        &self,
        disk: u32,
        file: u32,
        at: u64,
        bytes: u64,
    ) -> (u64, Option<Segments>) {
        let queue = &self.disks[disk];
        let (Some(limits), Some(memory)) = (&queue.segments, self.pages.frames()) else {
            return (bytes.min(queue.bio_bytes_max), None);
        };
        let end = at + bytes.min(queue.pages_bytes_max);
        let (end, segments) = segments(memory, limits, file, at..end);
        (end - at, segments)
    }

    /// Submits the next part of an I/O.
    #[inline(never)]
    fn submit_part(
        &mut self,
        now: Instant,
        index: u32,
        (disk, io): (u32, u32),
        (start, sectors): (Lba, Sectors),
        segments: Option<Segments>,
    ) {
        let bio = self.bio(index, (disk, io), start, sectors);
        self.submit_pages(now, disk, bio, segments);
    }

    #[inline(always)]
    fn bio(&mut self, index: u32, (at, io): (u32, u32), start: Lba, sectors: Sectors) -> Bio {
        let disk = &mut self.disks[at];
        let (id, &Io { kind, op, .. }) = disk.ios.add_part(io);
        let host_flusher = disk.flusher;
        let is_behind = matches!(kind, IoKind::WriteBehind { .. });
        let task = &self.tasks[index as usize];
        let integrity = self.config.integrity_writes;
        let by_flush = is_behind && self.is_flushed_soon(task);
        let mark = match () {
            () if let Some((sync, flags)) = task.current.marked => Mark { sync, flags },
            () if self.config.meta_hint && matches!(kind, IoKind::Metadata { .. }) => {
                Mark { flags: Flags::META, ..Mark::SYNC }
            }
            () if by_flush => integrity.data(),
            () if is_behind => Mark::ASYNC,
            () if op == Op::Write && task.write_through => {
                let Mark { sync, flags } = integrity.data();
                Mark { sync: sync || !task.is_buffered(), flags: flags | Flags::FUA }
            }
            () => Mark::SYNC,
        };
        let flusher = is_behind && !by_flush && self.config.async_of_submitter;
        Bio {
            id,
            task: if flusher { host_flusher } else { task.numbers.on(at) },
            group: if flusher { GroupId::ROOT } else { task.group },
            op,
            start,
            sectors,
            sync: mark.sync,
            flags: mark.flags,
            ioprio: if flusher {
                IoPrio::UNSET
            } else {
                task.current.ioprio.unwrap_or(task.ioprio)
            },
        }
    }

    /// Whether the task's write would still be dirty when its flush comes, so that the flush
    /// submits it.
    #[inline(never)]
    fn is_flushed_soon(&self, task: &Task) -> bool {
        let stream = &self.tasks[task.stream_of as usize].stream;
        let writes = stream.writes_before_flush();
        writes.is_some_and(|writes| {
            writes.saturating_mul(task.current.bytes) < self.config.write_behind_bytes
        })
    }

    /// Reads a metadata block of a disk for a task, which waits for it.
    pub(super) fn read_metadata(&mut self, now: Instant, index: u32, (disk, lba): (u32, Lba)) {
        self.task(index).paging.slept = true;
        let io = Io::new(IoKind::Metadata { task: index }, now, Op::Read);
        let io = self.disks[disk].ios.insert(io);
        self.submit_part(now, index, (disk, io), (lba, PAGE_SECTORS), None);
        self.all_made(now, disk, io);
    }

    /// Continues after the current I/O was submitted. Returns whether the task does so at once.
    fn submitted(&mut self, now: Instant, index: u32) -> bool {
        let limit = self.config.write_behind_bytes;
        let copy = self.cpus.spec().page_copy.as_ns();
        let task = self.task(index);
        if !task.is_cached() {
            return self.sent(now, index);
        }
        if task.dirty_bytes > limit {
            task.step = Step::Full;
        } else if task.is_mapped() {
            // Its pages were copied one by one.
            return self.pages_used(now, index);
        } else {
            let burst = Span::from_ns(copy * task.current.bytes.div_ceil(PAGE_BYTES));
            task.step = Step::Written;
            self.run_later(now, index, burst);
        }
        false
    }

    /// Returns from a write whose data has been copied into the page cache.
    pub(super) fn written(&mut self, now: Instant, index: u32) -> bool {
        let task = self.task(index);
        task.step = Step::Fetch;
        let call = task.call();
        self.returned(now, index, call, now);
        true
    }

    /// Continues after a direct I/O was submitted. Within a batch, the next one follows in the same
    /// system call. Every fio engine waits for a trim, however deep its queue.
    fn sent(&mut self, now: Instant, index: u32) -> bool {
        let task = self.task(index);
        let trims = task.current.op == Op::Discard;
        if trims || task.is_full() {
            task.batched = 0;
            task.step = if trims { Step::Trimming } else { Step::Full };
            return false;
        }
        task.step = Step::Fetch;
        task.batched += 1;
        if task.batched < task.batch {
            return true;
        }
        task.batched = 0;
        self.turn_around(now, index);
        false
    }

    pub(super) fn data_done(&mut self, now: Instant, index: u32, file: u32, io: &Io) {
        let Io { op, bytes, started, failed, .. } = *io;
        let task = self.task(index);
        task.outstanding -= 1;
        let call = Call { file, op, bytes, started, failed };
        match task.step {
            // A failed read does not set the file's times.
            Step::Full if task.outstanding <= task.refill_at && op == Op::Read && !failed => {
                task.step = Step::TouchAfter(call);
                return self.events.push(now, Event::Run(index));
            }
            Step::Full if task.outstanding <= task.refill_at => {
                return self.come_back(now, index, call);
            }
            Step::Trimming if op == Op::Discard => {
                self.come_back(now, index, call);
                return self.take_up(index, 1);
            }
            Step::Settling | Step::Draining if task.outstanding == 0 => {
                task.step = Step::Fetch;
                self.events.push(now, Event::Run(index));
            }
            _ => {}
        }
        self.returned(now, index, call, now);
    }

    #[inline(never)]
    pub(super) fn write_behind_done(&mut self, now: Instant, index: u32, bytes: u64) {
        let limit = self.config.write_behind_bytes;
        let task = self.task(index);
        task.dirty_bytes -= bytes;
        let ready = match task.step {
            Step::Full => task.dirty_bytes <= limit,
            Step::Syncing if task.dirty_bytes == 0 => return self.flush(now, index),
            Step::Exited => return self.forget(now, index),
            _ => false,
        };
        if ready {
            let call = task.call();
            self.come_back(now, index, call);
        }
    }
}

/// The segments of bytes of a file in the page cache, up to as many as an adapter takes, and where
/// these end.
#[cold]
fn segments(
    memory: &Memory,
    limits: &SegmentLimits,
    file: u32,
    bytes: Range<u64>,
) -> (u64, Option<Segments>) {
    let mut segments: Option<Segments> = None;
    for page in bytes.start / PAGE_BYTES..bytes.end.div_ceil(PAGE_BYTES) {
        let frame = memory.frame(PageId::of_file(file, page));
        let next = frame.map_or(Segments::scattered(PAGE_SECTORS), Segments::of_frame);
        let more = segments.map_or(next, |segments| segments.then(next, limits));
        if more.count() > limits.segments_max {
            return (page * PAGE_BYTES, segments);
        }
        segments = Some(more);
    }
    (bytes.end, segments)
}
