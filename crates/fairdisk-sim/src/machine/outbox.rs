//! What comes out of the engines: requests for the disks, and news for the tasks of the machine.

use super::disk::Disk;
use super::io::{IoKind, Ios};
use super::task::Task;
use super::{Event, Machine, MachineConfig};
use fairdisk_core::{
    BioId, Effect, Effects, Elevator, GroupId, Input, Instant, Op, Request, Sleeper, TaskId,
};

/// A request for a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The number of the disk.
    pub disk: u32,
    /// The request.
    pub request: Request,
    /// The group whose data it transfers. It differs from the group that is charged with D5, or
    /// when a task waits for data that others have dirtied.
    pub owner: GroupId,
    /// The segments of its data, if the disk's adapter counts them, else 0.
    pub segments: u32,
}

#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// The effects of the last input.
    pub(super) effects: Effects,
    /// Requests for the disks.
    issued: Vec<Issued>,
    /// The disk and the id of bios that have completed, and of which their I/Os have not been told.
    finished: Vec<(u32, BioId, bool)>,
    /// Tasks that slept for a request slot of a disk and have been woken.
    woken: Vec<(u32, Sleeper, TaskId)>,
}

impl<E: Elevator> Machine<E> {
    /// Gives the requests for the disks to the shell, which submits each.
    #[inline(always)]
    pub fn take_issued(&mut self, submit: impl FnMut(&Issued)) {
        self.outbox.issued.iter().for_each(submit);
        self.outbox.issued.clear();
    }

    /// Passes an input to the engine of a disk, and sorts its effects.
    #[inline(never)]
    pub(super) fn feed(&mut self, now: Instant, at: u32, input: Input<E>) {
        self.feed_here(now, at, input);
    }

    /// The same as a part of its caller, for the two inputs of which there is one for each request:
    /// what it is need not be found out.
    #[inline(always)]
    pub(super) fn feed_here(&mut self, now: Instant, at: u32, input: Input<E>) {
        let Outbox { effects, issued, finished, woken, .. } = &mut self.outbox;
        let disk = &mut self.disks[at];
        disk.engine.handle(now, input, effects);
        self.ticks.set(at, effects.wake_at);
        if let Some(refusal) = effects.change_refused {
            self.refused.get_or_insert(refusal);
        }
        for effect in effects.as_slice() {
            match effect {
                Effect::Issue(request) => {
                    let owner = disk.owner(&self.config, &self.tasks, request);
                    let segments = match disk.segments {
                        Some(_) => disk.engine.segments(request.id).unwrap_or_default(),
                        None => 0,
                    };
                    issued.push(Issued { disk: at, request: *request, owner, segments });
                }
                Effect::Finish { bio, ok, .. } => finished.push((at, *bio, *ok)),
                Effect::Sleep { task } => disk.backlogs[task.0 as usize].asleep += 1,
                Effect::Wake { sleeper, task } => woken.push((at, *sleeper, *task)),
                Effect::Cancelled(_) => {}
            }
        }
    }

    #[inline(always)]
    pub(super) fn settle(&mut self, now: Instant) {
        if !self.outbox.finished.is_empty() {
            self.tell_owners(now);
        }
        if !self.outbox.woken.is_empty() {
            self.wake_sleepers(now);
        }
    }

    /// Reports completed bios to the I/Os they belong to, whose tasks may submit more.
    fn tell_owners(&mut self, now: Instant) {
        let mut at = 0;
        while let Some(&(disk, bio, ok)) = self.outbox.finished.get(at) {
            let index = Ios::index_of(bio);
            if self.disks[disk].ios.part_done(index, ok) {
                self.io_done(now, disk, index);
            }
            at += 1;
        }
        self.outbox.finished.clear();
    }

    /// Lets tasks that were woken for a slot compete for a CPU. Tasks whose I/O has completed come
    /// first, because a request completes before its slot is freed ("Linux Device Drivers", 3rd
    /// edition, chapter 16, "Request Completion").
    #[inline(never)]
    fn wake_sleepers(&mut self, now: Instant) {
        for (disk, sleeper, task) in self.outbox.woken.drain(..) {
            self.events.push(now, Event::Woken(disk, sleeper, task));
        }
    }
}

impl<E: Elevator> Disk<E> {
    /// The group whose data the request transfers.
    #[inline]
    fn owner(&self, config: &MachineConfig, tasks: &[Task], request: &Request) -> GroupId {
        let may_differ = match config.write_back {
            Some(_) => request.op == Op::Write,
            None => config.async_of_submitter && request.group == GroupId::ROOT,
        };
        if !may_differ {
            return request.group;
        }
        let io = self.engine.first_bio(request.id);
        match io.map(|bio| self.ios.get(Ios::index_of(bio.id)).kind) {
            Some(IoKind::WriteBehind { task } | IoKind::WriteBack { owner: task, .. }) => {
                tasks[task as usize].group
            }
            _ => request.group,
        }
    }
}
